//! What programs of tools may use up, as the owner of a daemon says.

use std::time::Duration;

use agentd_domain::ToolResult;
use agentd_sandbox::Limits;

use super::running::{Bounds, KEPT};

/// What programs that tools start may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// A command that builds or tests.
    pub command: Limits,
    /// A script that computes.
    pub script: Limits,
    /// Longest run, when a call says nothing.
    pub usual_time: Duration,
    /// Longest run that a call may ask for.
    pub longest_time: Duration,
    /// Bytes of one stream of output that are kept, half of them from its end.
    pub output_bytes: usize,
    /// Jobs of a session that run at the same time.
    pub jobs: usize,
    /// Longest run of a job, and of a terminal.
    pub job_time: Duration,
    /// Terminals of a session that are open at the same time.
    pub terminals: usize,
}

/// The numbers of spec k.3.
impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            command: Limits::BUILD,
            script: Limits::SCRIPT,
            usual_time: Duration::from_secs(30),
            longest_time: Duration::from_secs(120),
            output_bytes: KEPT,
            jobs: 8,
            job_time: Duration::from_secs(3_600),
            terminals: 2,
        }
    }
}

impl ProcessLimits {
    /// How long a call may run that asked for this many seconds.
    ///
    /// # Errors
    /// The result of a call that asked for too many, or none.
    pub(crate) fn time(&self, asked_seconds: Option<u32>) -> Result<Duration, ToolResult> {
        within(asked_seconds, self.usual_time, self.longest_time)
    }

    /// How long a job may run whose call asked for this many seconds.
    ///
    /// # Errors
    /// The result of a call that asked for too many, or none.
    pub(super) fn time_of_job(&self, asked_seconds: Option<u32>) -> Result<Duration, ToolResult> {
        within(asked_seconds, self.job_time, self.job_time)
    }

    /// Of a run of this length.
    pub(crate) fn bounds(&self, time: Duration) -> Bounds {
        Bounds { time, kept_bytes: self.output_bytes }
    }
}

fn within(asked: Option<u32>, usual: Duration, most: Duration) -> Result<Duration, ToolResult> {
    let Some(seconds) = asked else { return Ok(usual) };
    let time = Duration::from_secs(seconds.into());
    if time.is_zero() || time > most {
        let most = most.as_secs();
        return Err(invalid(format!("timeout_s is {seconds}: give 1 to {most}.")));
    }
    Ok(time)
}

/// The result of a call whose arguments cannot be carried out.
pub(super) fn invalid(message: String) -> ToolResult {
    ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", message)
}
