//! Starting tasks so that none is forgotten.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// Starts named, tracked tasks and waits for them at shutdown. Clones share the same set.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    cancel: CancellationToken,
}

impl Tasks {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The token that is cancelled when all tasks should end.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Starts a task in a span with its name. A panic in it is logged and ends only this task.
    pub fn spawn<F>(&self, name: &'static str, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let span = tracing::info_span!("task", name);
        let tracked = self.tracker.track_future(future.instrument(span));
        #[expect(clippy::disallowed_methods, reason = "the one place that spawns")]
        let handle = tokio::spawn(tracked);
        #[expect(clippy::disallowed_methods, reason = "the one place that spawns")]
        tokio::spawn(self.tracker.track_future(async move {
            if let Err(error) = handle.await
                && error.is_panic()
            {
                tracing::error!(task = name, %error, "a task panicked");
            }
        }));
    }

    /// Asks all tasks to end and waits until they have. The caller sets the deadline.
    pub async fn stop(&self) {
        self.cancel.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}
