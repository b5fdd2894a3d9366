//! Looking at what runs in the background, and ending it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, SessionId, ToolResult, cut_line};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use super::jobs::{Job, Jobs};
use super::limits::{ProcessLimits, invalid};
use super::per_session::RunsOn as _;
use super::told::call_time;
use crate::{About, Rank, ToolContext, TypedTool};

/// Longest id that is shown, in characters.
const MAX_ID: usize = 40;

/// Arguments of job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// wait: until it ends; read: what it wrote since the last time.
    action: What,
    /// Of the job; not for list.
    id: Option<String>,
    /// Longest wait in seconds, 1 to 120; 30 when left out.
    timeout_s: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum What {
    List,
    Read,
    Wait,
    Kill,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct JobTool {
    pub(super) jobs: Arc<Jobs>,
    pub(super) limits: ProcessLimits,
}

#[async_trait]
impl TypedTool for JobTool {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "job",
            description: "Looks at commands that run_command has started in the background: lists \
                          them, reads their output, waits for their end, or ends them.",
            capabilities: Capabilities::PROCESS,
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        Some(call_time(self.limits.time(arguments.timeout_s).unwrap_or(self.limits.longest_time)))
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let _time = self.limits.time(arguments.timeout_s)?;
        let summary = match arguments.action {
            What::List => "list jobs".to_owned(),
            What::Read => format!("read job {}", self.job(ctx, arguments)?.id()),
            What::Wait => format!("wait for job {}", self.job(ctx, arguments)?.id()),
            What::Kill => format!("end job {}", self.job(ctx, arguments)?.id()),
        };
        // It starts and changes nothing: what a job does was planned when it was started.
        Ok(Action { summary, targets: Vec::new() })
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        if arguments.action == What::List {
            return self.list(ctx);
        }
        let running = async {
            let job = self.job(ctx, &arguments)?;
            match arguments.action {
                What::List | What::Read => {}
                What::Wait => {
                    let time = self.limits.time(arguments.timeout_s)?;
                    let _goes_on = timeout(time, job.life().over.cancelled()).await;
                }
                What::Kill => job.life().end().await,
            }
            Ok(job.read())
        };
        running.await.unwrap_or_else(|refused: ToolResult| refused)
    }

    fn session_note(&self, session: SessionId) -> Option<String> {
        let ended: Vec<String> =
            self.jobs.all(session).iter().filter_map(|job| job.news_of_end()).collect();
        (!ended.is_empty()).then(|| format!("since the last turn {}", ended.join("; ")))
    }

    async fn end_session(&self, session: Option<SessionId>) {
        self.jobs.end(session).await;
    }
}

impl JobTool {
    fn job(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Arc<Job>, ToolResult> {
        let Some(id) = arguments.id.as_deref().map(str::trim).filter(|id| !id.is_empty()) else {
            return Err(invalid("give the id of the job; the action list shows them.".to_owned()));
        };
        self.jobs.find(ctx.session, id).ok_or_else(|| {
            ToolResult::fatal(
                "NO_SUCH_JOB",
                format!(
                    "There is no job '{}' in this session. Jobs end with the daemon, so one from \
                     before its last start is over; the action list shows the others.",
                    cut_line(id, MAX_ID)
                ),
            )
        })
    }

    fn list(&self, ctx: &ToolContext) -> ToolResult {
        let mut text = String::new();
        for job in self.jobs.all(ctx.session) {
            // Writing to a string cannot fail.
            let _ok = writeln!(text, "{}", job.listed());
        }
        if text.is_empty() {
            text.push_str("[no jobs]\n");
        }
        text.push_str(
            "[Jobs end with the daemon: what was started before its last start is over.]",
        );
        ToolResult::success(text)
    }
}
