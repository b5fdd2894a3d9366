//! Whether a call may run with what holds at this moment: the modes and rules of its session, those
//! of the configuration, and those that are stored for its workspace or for all.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, PermissionRule};
use agentd_tools::{Permission, PermissionRequest, PreparedCall, permit};

use crate::rules;
use crate::session::{SessionDeps, Standing};

/// Decides on a call.
pub(crate) async fn decide(
    deps: &SessionDeps,
    workspace: &Path,
    standing: &Standing,
    prepared: &PreparedCall,
    action: &Action,
) -> Permission {
    let root = rules::root_of(workspace).await;
    let configured = Arc::clone(&deps.config.borrow().rules);
    let stored = match deps.rules.all(&*deps.store).await {
        Ok(stored) => stored,
        // One of them may be what forbids.
        Err(error) => {
            let because = format!("the stored rules cannot be read: {error}; {}", error.hint());
            return Permission::Deny { because };
        }
    };
    let shared = configured.iter().chain(stored.iter());
    let all: Vec<PermissionRule> = shared
        .filter(|rule| rules::holds_in(rule, &root))
        .chain(standing.rules.iter())
        .cloned()
        .collect();
    permit(&PermissionRequest {
        mode: standing.mode,
        work_mode: standing.work_mode,
        rules: &all,
        // Aliases are resolved by now: rules name the tool that runs.
        tool: &prepared.tool.spec().name,
        mcp_server: None,
        capabilities: prepared.capabilities,
        action,
    })
}
