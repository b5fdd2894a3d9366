//! Points at which a reply waits for the test.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds a reply back until the test releases it. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate {
    reached: Arc<watch::Sender<usize>>,
    released: Arc<watch::Sender<bool>>,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self {
            reached: Arc::new(watch::Sender::new(0)),
            released: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Lets every reply through that waits here now or later.
    pub fn release(&self) {
        self.released.send_replace(true);
    }

    /// Waits until a reply stands at the gate: everything before it has been written.
    #[expect(clippy::expect_used, reason = "the sender lives in self")]
    pub async fn reached(&self) {
        let mut reached = self.reached.subscribe();
        reached.wait_for(|count| *count > 0).await.expect("the sender lives");
    }

    #[expect(clippy::expect_used, reason = "the sender lives in self")]
    pub(crate) async fn pass(&self) {
        self.reached.send_modify(|count| *count += 1);
        let mut released = self.released.subscribe();
        released.wait_for(|released| *released).await.expect("the sender lives");
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
