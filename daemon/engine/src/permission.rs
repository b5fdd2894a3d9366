//! Whether a call may run with what holds at this moment: the modes and rules of its session, those
//! of the configuration, and those that are stored for its workspace or for all.

use std::path::PathBuf;
use std::sync::Arc;

use agentd_domain::{Action, PermissionRule};
use agentd_store::ReadError;
use agentd_tools::{Permission, PermissionRequest, PreparedCall, permit};

use crate::roots::Roots;
use crate::rules;
use crate::session::{SessionDeps, Standing};

/// Decides on a call.
pub(crate) async fn decide(
    deps: &SessionDeps,
    roots: &Roots,
    standing: &Standing,
    prepared: &PreparedCall,
    action: &Action,
) -> Permission {
    let root = rules::root_of(&roots.workspace).await;
    let all = match in_force(deps, &root, standing).await {
        Ok(all) => all,
        // One of them may be what forbids.
        Err(error) => {
            let because = format!("the stored rules cannot be read: {error}; {}", error.hint());
            return Permission::Deny { because };
        }
    };
    // The further ones are kept without links.
    let further = roots.further.iter().cloned();
    let roots: Vec<PathBuf> = std::iter::once(PathBuf::from(&root)).chain(further).collect();
    permit(&PermissionRequest {
        roots: &roots,
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
    roots: &Roots,
    standing: &Standing,
) -> Arc<[PathBuf]> {
    let root = rules::root_of(&roots.workspace).await;
    let rules = in_force(deps, &root, standing).await.unwrap_or_default();
    agentd_tools::readable(&rules).map(PathBuf::from).collect()
}

/// The rules that hold in a session with this workspace.
async fn in_force(
    deps: &SessionDeps,
    root: &str,
    standing: &Standing,
) -> Result<Vec<PermissionRule>, ReadError> {
    let configured = Arc::clone(&deps.config.borrow().rules);
    let stored = deps.rules.all(&*deps.store).await?;
    let shared = configured.iter().chain(stored.iter());
    let held = shared.filter(|rule| rules::holds_in(rule, root)).chain(standing.rules.iter());
    Ok(held.cloned().collect())
}
