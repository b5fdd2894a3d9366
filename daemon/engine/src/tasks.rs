//! Starting tasks so that none is forgotten.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
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
        let caught = AssertUnwindSafe(future).catch_unwind().map(move |ended| {
            if let Err(panic) = ended {
                let message = panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_default();
                tracing::error!(message, "a task panicked");
            }
        });
        #[expect(clippy::disallowed_methods, reason = "the one place that spawns")]
        tokio::spawn(self.tracker.track_future(caught.instrument(span)));
    }

    /// Asks all tasks to end and waits until they have. The caller sets the deadline.
    pub async fn stop(&self) {
        self.cancel.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}
