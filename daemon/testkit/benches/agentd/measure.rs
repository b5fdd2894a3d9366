//! Samples and what is told of them.

use std::time::Duration;

/// Measured values, sorted.
#[derive(Debug)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// Milliseconds.
    pub(crate) fn of_durations(durations: &[Duration]) -> Self {
        Self::new(durations.iter().copied().map(ms).collect())
    }

    pub(crate) fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// The smallest value that `percent` of all do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }
}

pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Exact for all counts here.
pub(crate) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// Things per second.
pub(crate) fn rate(count: usize, took: Duration) -> f64 {
    float(count) / took.as_secs_f64()
}
