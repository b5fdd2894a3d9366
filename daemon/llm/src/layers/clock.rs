//! Tokio's time for the rate limiters, so that tests can pause it.

use std::time::Duration;

use governor::clock::Clock;
use governor::nanos::Nanos;
use tokio::time::Instant;

/// The time since it was made, as tokio tells it.
#[derive(Debug, Clone)]
pub struct TokioClock {
    start: Instant,
}

impl TokioClock {
    /// A clock that begins now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        let elapsed: Duration = self.start.elapsed();
        Nanos::from(elapsed)
    }
}
