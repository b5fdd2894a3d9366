//! Time and ids that tests decide on.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use agentd_domain::{Clock, IdSource, TimestampMs};

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct FakeClock(AtomicI64);

impl FakeClock {
    /// A clock that shows `ms` Unix milliseconds.
    pub fn at(ms: i64) -> Self {
        Self(AtomicI64::new(ms))
    }

    /// Sets it to `ms` Unix milliseconds; backwards too.
    pub fn set(&self, ms: i64) {
        self.0.store(ms, Ordering::Relaxed);
    }

    /// Moves it on by `ms` milliseconds.
    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(self.0.load(Ordering::Relaxed))
    }
}

/// Counts instead of throwing dice: the same calls give the same ids.
#[derive(Debug, Default)]
pub struct SeqIds(AtomicU64);

impl IdSource for SeqIds {
    fn random(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
