//! What the layers of one request tell each other about its attempts, which follow one another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by the layers of one request and of nothing else.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    is_sent: AtomicBool,
    has_failed: AtomicBool,
}

impl Progress {
    /// Another attempt is made; nothing has left yet.
    pub(super) fn begin_attempt(&self) {
        self.0.is_sent.store(false, Ordering::Relaxed);
    }

    /// The attempt goes out to the provider now.
    pub(super) fn sent(&self) {
        self.0.is_sent.store(true, Ordering::Relaxed);
    }

    /// Whether the attempt got past our own limits.
    pub(super) fn is_sent(&self) -> bool {
        self.0.is_sent.load(Ordering::Relaxed)
    }

    /// An attempt has failed. True for the first of the request.
    pub(super) fn fails_first(&self) -> bool {
        !self.0.has_failed.swap(true, Ordering::Relaxed)
    }
}
