//! What all requests to one endpoint share: its circuit, its places and its rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::breaker::Breaker;
use super::concurrency::Places;
use super::rate::Rate;

/// Limits of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointLimits {
    /// Most requests under way at once, at least 1.
    pub max_concurrent: usize,
    /// Most requests that wait for a place or for the rate; more are refused as busy.
    pub max_waiting: u32,
    /// Longest wait for a place, and again for the rate.
    pub longest_wait: Duration,
    /// Most requests a minute, which may come all at once; 0: no limit.
    pub requests_per_minute: u32,
    /// Longest Retry-After of the provider that is waited for; more is refused at once.
    pub longest_pause: Duration,
    /// Failures in a row after which the circuit opens; 0: never.
    pub breaker_failures: u32,
    /// How long it stays open before one request tries again.
    pub breaker_pause: Duration,
}

impl Default for EndpointLimits {
    fn default() -> Self {
        Self {
            max_concurrent: 16,
            max_waiting: 256,
            longest_wait: Duration::from_secs(300),
            requests_per_minute: 0,
            longest_pause: Duration::from_secs(30),
            breaker_failures: 5,
            breaker_pause: Duration::from_secs(30),
        }
    }
}

/// Whether an endpoint is asked at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circuit {
    /// It is asked.
    Closed,
    /// It failed too often and is left alone for a while.
    Open,
    /// One request tries, or may try, whether it is well again.
    HalfOpen,
}

/// What an endpoint is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointState {
    /// Where it is.
    pub base_url: String,
    /// Whether it is asked at all.
    pub circuit: Circuit,
    /// Requests under way.
    pub requests: u32,
    /// Requests that wait for a place or for the rate.
    pub waiting: u32,
}

/// The shared state of an endpoint. Made once and kept as long as its limits stay the same.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) base_url: String,
    pub(super) breaker: Breaker,
    pub(super) places: Places,
    pub(super) rate: Rate,
    requests: Gauge,
}

impl Endpoint {
    /// An endpoint that nobody has asked yet.
    pub fn new(base_url: impl Into<String>, limits: &EndpointLimits) -> Self {
        Self {
            base_url: base_url.into(),
            breaker: Breaker::new(limits.breaker_failures, limits.breaker_pause),
            places: Places::new(limits),
            rate: Rate::new(limits),
            requests: Gauge::default(),
        }
    }

    /// What it is doing now.
    pub fn state(&self) -> EndpointState {
        EndpointState {
            base_url: self.base_url.clone(),
            circuit: self.breaker.circuit(),
            requests: self.requests.count(),
            waiting: self.places.waiting.count() + self.rate.waiting.count(),
        }
    }

    /// Counts a request as under way until the result is dropped.
    pub(super) fn under_way(&self) -> Counted {
        self.requests.enter()
    }
}

/// Counts who is somewhere.
#[derive(Debug, Clone, Default)]
pub(super) struct Gauge(Arc<AtomicU32>);

impl Gauge {
    pub(super) fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.0))
    }
}

/// Is counted until it is dropped.
#[derive(Debug)]
pub(super) struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
