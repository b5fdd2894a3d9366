//! Work of several steps that must be done whole although its client may leave.

use agentd_engine::Tasks;
use tokio::sync::oneshot;
use tonic::Status;

use super::status;

/// Runs `work` in a task of its own and waits for what it gives.
///
/// # Cancel safety
/// Dropping the future leaves the work running to its end.
pub(super) async fn detached<T: Send + 'static>(
    tasks: &Tasks,
    name: &'static str,
    work: impl Future<Output = Result<T, Status>> + Send + 'static,
) -> Result<T, Status> {
    let (tx, rx) = oneshot::channel();
    tasks.spawn(name, async move {
        // The client may have left.
        let _left = tx.send(work.await);
    });
    rx.await.unwrap_or_else(|_panicked| Err(status::internal(name)))
}
