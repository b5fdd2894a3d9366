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
        }
    }
}

impl ProcessLimits {
    /// How long a call may run that asked for this many seconds.
    ///
    /// # Errors
    /// The result of a call that asked for too many, or none.
    pub(crate) fn time(&self, asked_seconds: Option<u32>) -> Result<Duration, ToolResult> {
        let Some(seconds) = asked_seconds else { return Ok(self.usual_time) };
        let time = Duration::from_secs(seconds.into());
        if time.is_zero() || time > self.longest_time {
            let most = self.longest_time.as_secs();
            return Err(invalid(format!("timeout_s is {seconds}: give 1 to {most}.")));
        }
        Ok(time)
    }

    /// Of a run of this length.
    pub(crate) fn bounds(&self, time: Duration) -> Bounds {
        Bounds { time, kept_bytes: self.output_bytes }
    }
}

/// The result of a call whose arguments cannot be carried out.
pub(super) fn invalid(message: String) -> ToolResult {
    ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", message)
}
