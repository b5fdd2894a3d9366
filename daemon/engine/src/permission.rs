//! Whether a call may run with what holds at this moment: the modes and rules of its session, those
//! of the configuration, and those that are stored for its workspace or for all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{Action, PermissionRule};
use agentd_store::ReadError;
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
    let all = match in_force(deps, workspace, standing).await {
        Ok(all) => all,
        // One of them may be what forbids.
        Err(error) => {
            let because = format!("the stored rules cannot be read: {error}; {}", error.hint());
            return Permission::Deny { because };
        }
    };
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

/// The protected files that rules open to calls of the session. Rules that cannot be read open none.
pub(crate) async fn readable(
    deps: &SessionDeps,
    workspace: &Path,
    standing: &Standing,
) -> Arc<[PathBuf]> {
    let rules = in_force(deps, workspace, standing).await.unwrap_or_default();
    agentd_tools::readable(&rules).map(PathBuf::from).collect()
}

/// The rules that hold in the session.
async fn in_force(
    deps: &SessionDeps,
    workspace: &Path,
    standing: &Standing,
) -> Result<Vec<PermissionRule>, ReadError> {
    let root = rules::root_of(workspace).await;
    let configured = Arc::clone(&deps.config.borrow().rules);
    let stored = deps.rules.all(&*deps.store).await?;
    let shared = configured.iter().chain(stored.iter());
    let held = shared.filter(|rule| rules::holds_in(rule, &root)).chain(standing.rules.iter());
    Ok(held.cloned().collect())
}
