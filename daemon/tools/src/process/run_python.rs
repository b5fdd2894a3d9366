//! Running Python code that nobody vouches for.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use agentd_sandbox::Programs;
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{MAX_SUMMARY, Ready, Wanted};
use super::limits::{ProcessLimits, invalid};
use super::told::{call_time, told};
use crate::{About, ToolContext, TypedTool};

/// Longest code in bytes (spec a.3).
const MAX_CODE: usize = 20_000;

/// How a shell, and the helper of the sandbox, answer for a program that is not there.
const NOT_FOUND: i32 = 127;
const CANNOT_RUN: &str = "cannot run python3:";

/// Arguments of run_python.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Python 3 code. Print what you want to see.
    code: String,
    /// Longest run in seconds, 1 to 120; 30 when left out.
    timeout_s: Option<u32>,
    /// Hosts that it needs, such as pypi.org.
    network: Option<Vec<String>>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct RunPython {
    pub(crate) programs: Arc<Programs>,
    pub(crate) limits: ProcessLimits,
}

#[async_trait]
impl TypedTool for RunPython {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "run_python",
            description: "Runs Python code in a sandbox of its own and gives its output. It can read \
                          the workspace but change nothing, has no input and only installed \
                          packages, and remembers nothing.",
            capabilities: Capabilities::PROCESS,
            aliases: &["python_executor", "execute_python", "toolkit_exec_python"],
        }
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        let time = self.limits.time(arguments.timeout_s).unwrap_or(self.limits.longest_time);
        Some(call_time(time))
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (Ready { target, .. }, _time) = self.ready(ctx, arguments).await?;
        let summary = format!("run Python: {}", cut_line(arguments.code.trim(), MAX_SUMMARY));
        Ok(Action { summary, targets: vec![target] })
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let running = async {
            let (ready, time) = self.ready(ctx, &arguments).await?;
            let ended = ready.run(planned, self.limits.bounds(time), &ctx.output).await?;
            if ended.code() == Some(NOT_FOUND) && ended.errors.starts_with(CANNOT_RUN) {
                return Err(ToolResult::fatal(
                    "MISSING_PROGRAM",
                    "The code was not run: there is no python3 where programs run. The package \
                     python3 of this system adds it; sandbox.path names further directories.",
                ));
            }
            Ok(told(ended))
        };
        running.await.unwrap_or_else(|refused: ToolResult| refused)
    }
}

impl RunPython {
    async fn ready(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
    ) -> Result<(Ready, Duration), ToolResult> {
        let Arguments { code, timeout_s, network } = arguments;
        if code.trim().is_empty() {
            return Err(invalid("code is empty.".to_owned()));
        }
        if code.len() > MAX_CODE {
            return Err(invalid(format!(
                "code is longer than {MAX_CODE} bytes: write it into a file and run that with \
                 run_command."
            )));
        }
        // Isolated: no variables, no packages of a user's home, no modules of the directory. What
        // is printed comes at once, so that it is there when the time is over.
        let argv = ["python3", "-I", "-B", "-u", "-c", code].map(str::to_owned).to_vec();
        let network = network.as_deref().unwrap_or_default();
        let wanted = Wanted { argv, cwd: None, writes: false, network, limits: self.limits.script };
        let time = self.limits.time(*timeout_s)?;
        Ok((Ready::of(&self.programs, ctx, wanted).await?, time))
    }
}
