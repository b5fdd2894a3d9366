//! Running a command in the sandbox, to its end.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use agentd_sandbox::{Profile, Programs};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{MAX_SUMMARY, Ready, Wanted, argv};
use super::jobs::{self, Jobs, too_many};
use super::limits::ProcessLimits;
use super::told::{call_time, line, told};
use crate::vcs::has_hooks;
use crate::{About, ToolContext, TypedTool};

/// Said where git changed its own files.
const NO_HOOKS: &str = "[Hooks are not run in the sandbox: the repository's were left out.]";

/// Arguments of run_command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A command line for bash.
    command: Option<String>,
    /// Instead of command: a program and its arguments, without a shell.
    argv: Option<Vec<String>>,
    /// Directory relative to the workspace.
    cwd: Option<String>,
    /// Longest run in seconds, 1 to 120; 30 when left out.
    timeout_s: Option<u32>,
    /// True: it changes no files.
    read_only: Option<bool>,
    /// Hosts that it needs, such as crates.io or *.crates.io; * alone: all of it.
    network: Option<Vec<String>>,
    /// True: it goes on while you do other things.
    background: Option<bool>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct RunCommand {
    pub(crate) programs: Arc<Programs>,
    pub(super) limits: ProcessLimits,
    pub(super) jobs: Arc<Jobs>,
}

#[async_trait]
impl TypedTool for RunCommand {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "run_command",
            description: "Runs a command in a sandbox and gives its output and exit code. It has no \
                          input and no terminal, writes only in the workspace, and what it leaves \
                          running is ended.",
            capabilities: Capabilities::PROCESS,
            aliases: &["runCommand"],
        }
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        let time = self.limits.time(arguments.timeout_s).unwrap_or(self.limits.longest_time);
        Some(call_time(time))
    }

    async fn missing(&self) -> Option<String> {
        self.programs.sandbox().await.err().map(|missing| missing.to_string())
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (Ready { command, target, .. }, _time) = self.ready(ctx, arguments).await?;
        let shown = match command.argv.as_slice() {
            [_bash, _c, script] if arguments.command.is_some() => script.clone(),
            argv => argv.join(" "),
        };
        let how = if arguments.background == Some(true) { " in the background" } else { "" };
        let summary = format!("run{how} {}", cut_line(&shown, MAX_SUMMARY));
        Ok(Action { summary, targets: vec![target] })
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let running = async {
            let (ready, time) = self.ready(ctx, &arguments).await?;
            let bounds = self.limits.bounds(time);
            let workspace_changed = ready.command.profile != Profile::ReadOnly;
            let result = if arguments.background == Some(true) {
                let child = ready.start(planned).await?;
                let shown = (planned.summary.clone(), workspace_changed);
                jobs::start(&self.jobs, ctx, child, shown, bounds)?
            } else {
                told(ready.run(planned, bounds, &ctx.output).await?)
            };
            let mut result = ToolResult { workspace_changed, ..result };
            if ready.command.profile == Profile::GitWrite && has_hooks(&ctx.workspace) {
                line(&mut result.output, NO_HOOKS);
            }
            Ok(result)
        };
        running.await.unwrap_or_else(|refused: ToolResult| refused)
    }
}

impl RunCommand {
    async fn ready(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
    ) -> Result<(Ready, Duration), ToolResult> {
        let wanted = Wanted {
            argv: argv(arguments.command.as_ref(), arguments.argv.as_ref())?,
            cwd: arguments.cwd.as_deref(),
            writes: arguments.read_only != Some(true),
            network: arguments.network.as_deref().unwrap_or_default(),
            limits: self.limits.command,
        };
        let time = if arguments.background == Some(true) {
            self.jobs.room(ctx.session).map_err(too_many)?;
            self.limits.time_of_job(arguments.timeout_s)?
        } else {
            self.limits.time(arguments.timeout_s)?
        };
        Ok((Ready::of(&self.programs, ctx, wanted).await?, time))
    }
}
