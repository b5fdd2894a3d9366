//! Whether a call may run, and what the model reads when it may not.

use agentd_domain::{Action, ToolResult, WorkMode};
use agentd_tools::{Permission, PermissionRequest, PreparedCall, permit};

use super::TurnTask;

impl TurnTask {
    /// Decides on a call with what holds at this moment.
    pub(super) fn decide(&self, prepared: &PreparedCall, action: &Action) -> Permission {
        permit(&PermissionRequest {
            mode: self.deps.config.borrow().permission_mode,
            work_mode: WorkMode::default(),
            rules: &[],
            // Aliases are resolved by now: rules name the tool that runs.
            tool: &prepared.tool.spec().name,
            mcp_server: None,
            capabilities: prepared.capabilities,
            action,
        })
    }
}

/// The result of a call that may not run.
pub(super) fn denied(because: &str) -> ToolResult {
    ToolResult::fatal(
        "PERMISSION_DENIED",
        format!("[not run: not permitted, because {because}. Do not try it in another way.]"),
    )
}
