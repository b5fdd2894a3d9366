//! How the export of traces goes, for `agentctl doctor`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counts since the start. All spans that ended and were sampled are in one of them, or wait.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    exported: AtomicU64,
    lost: AtomicU64,
    failure: Mutex<Option<String>>,
}

impl Figures {
    /// Spans that a collector took.
    pub(crate) fn exported(&self) -> u64 {
        self.exported.load(Ordering::Relaxed)
    }

    /// Spans that no collector will get.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Why the newest export failed; none when it did not.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(feature = "otel")]
impl Figures {
    pub(super) fn add_exported(&self, spans: usize) {
        self.exported.fetch_add(spans as u64, Ordering::Relaxed);
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn add_lost(&self, spans: usize) {
        self.lost.fetch_add(spans as u64, Ordering::Relaxed);
    }

    pub(super) fn failed(&self, failure: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }
}
