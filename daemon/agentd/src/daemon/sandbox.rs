//! Finding out at the start what shuts programs in, so that nobody learns it from a failed command.

use std::sync::Arc;

use agentd_sandbox::Programs;

use crate::checks;

/// Tries the backends; each takes a moment, and a few seconds at most. `status` and `doctor` tell
/// what came of it, and so does the log.
pub(super) async fn try_sandbox(programs: Arc<Programs>) {
    // What came of it is known afterwards.
    let _known = programs.backend().await;
    if let Some(warning) = checks::sandbox_warning(&programs.known()) {
        tracing::warn!("{warning}");
    }
}
