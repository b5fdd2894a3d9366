//! The real time and the real randomness.

use std::time::UNIX_EPOCH;

use agentd_domain::{Clock, IdSource, TimestampMs};

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
    fn now(&self) -> TimestampMs {
        let since_epoch = std::time::SystemTime::now().duration_since(UNIX_EPOCH);
        let ms = since_epoch.map_or(0, |since| since.as_millis());
        TimestampMs(i64::try_from(ms).unwrap_or(i64::MAX))
    }
}

/// Random bits for ids. They need to be unique, not secret.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn random(&self) -> u128 {
        fastrand::u128(..)
    }
}
