//! Leaves an endpoint alone that keeps failing.
//!
//! Closed: requests pass. After so many failures in a row, or when half of the last twenty requests
//! failed, it opens: requests are refused at once. After a pause one request may try (half-open); what
//! comes of it closes the circuit or opens it again. Being told to slow down is no failure: whoever says
//! so is alive, and `rate` sees to it. However often one request is tried, it fails once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tower::util::{BoxCloneSyncService, service_fn};

use super::adapt::{ModelService, ask};
use super::endpoint::{Circuit, Endpoint};
use super::observed::{Observer, observed};
use super::progress::Progress;
use crate::{LlmError, Request, StreamPart};

/// Requests that the ratio of failures is taken over.
const WINDOW: usize = 20;
/// The circuit opens when this many of them failed.
const WINDOW_FAILURES: usize = 10;

/// Puts the layer around a service of this endpoint.
pub(super) fn layer(
    inner: ModelService,
    endpoint: Arc<Endpoint>,
    progress: Progress,
) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |request: Request| {
        let (inner, endpoint, progress) = (inner.clone(), Arc::clone(&endpoint), progress.clone());
        async move {
            let mut pass = Pass::ask(endpoint, progress)?;
            match ask(&inner, request).await {
                Ok(stream) => Ok(observed(stream, pass)),
                Err(error) => {
                    pass.error(&error);
                    Err(error)
                }
            }
        }
    }))
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The endpoint works, whether or not it liked the request.
    Alive,
    Failed,
    /// The caller left, or it was never sent.
    Unknown,
}

impl Outcome {
    fn of(error: &LlmError) -> Self {
        match error {
            LlmError::Connect { .. }
            | LlmError::FirstByteTimeout { .. }
            | LlmError::IdleTimeout { .. }
            | LlmError::Cut
            | LlmError::Server { .. } => Self::Failed,
            // What has nothing to say answers; the conversation may be why.
            LlmError::Empty
            | LlmError::Auth { .. }
            | LlmError::Quota { .. }
            | LlmError::RateLimited { .. }
            | LlmError::ContextOverflow { .. }
            | LlmError::NotFound { .. }
            | LlmError::Invalid { .. }
            | LlmError::Refused { .. }
            | LlmError::Protocol { .. }
            | LlmError::TooLarge { .. } => Self::Alive,
            LlmError::NoKey { .. }
            | LlmError::Budget { .. }
            | LlmError::Busy { .. }
            | LlmError::CircuitOpen { .. } => Self::Unknown,
        }
    }
}

#[derive(Debug)]
enum State {
    Closed {
        in_a_row: u32,
        /// Whether each of the last requests failed.
        recent: VecDeque<bool>,
    },
    /// Open until then; after it, whoever comes first may try.
    Open { until: Instant },
    /// Somebody tries.
    Probing,
}

impl State {
    fn closed() -> Self {
        Self::Closed { in_a_row: 0, recent: VecDeque::new() }
    }
}

/// The circuit of an endpoint.
#[derive(Debug)]
pub(super) struct Breaker {
    /// Failures in a row that open it; 0: it never opens.
    failures: u32,
    pause: Duration,
    state: Mutex<State>,
}

impl Breaker {
    pub(super) fn new(failures: u32, pause: Duration) -> Self {
        Self { failures, pause, state: Mutex::new(State::closed()) }
    }

    pub(super) fn circuit(&self) -> Circuit {
        match &*self.lock() {
            State::Closed { .. } => Circuit::Closed,
            State::Open { until } if *until > Instant::now() => Circuit::Open,
            State::Open { .. } | State::Probing => Circuit::HalfOpen,
        }
    }

    /// May a request pass, and is it the one that tries? Else: when to come back.
    fn enter(&self) -> Result<Probe, Duration> {
        let mut state = self.lock();
        match &*state {
            State::Closed { .. } => Ok(Probe::No),
            State::Open { until } => {
                let left = until.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return Err(left);
                }
                *state = State::Probing;
                Ok(Probe::Yes)
            }
            State::Probing => Err(self.pause),
        }
    }

    fn on_probe(&self, outcome: Outcome) {
        let mut state = self.lock();
        *state = match outcome {
            Outcome::Alive => State::closed(),
            Outcome::Failed => State::Open { until: Instant::now() + self.pause },
            // The next one tries.
            Outcome::Unknown => State::Open { until: Instant::now() },
        };
    }

    fn on_request(&self, base_url: &str, outcome: Outcome) {
        let mut state = self.lock();
        // What comes back late says nothing about an endpoint that is left alone by now.
        let State::Closed { in_a_row, recent } = &mut *state else { return };
        let failed = match outcome {
            Outcome::Unknown => return,
            Outcome::Alive => false,
            Outcome::Failed => true,
        };
        *in_a_row = if failed { in_a_row.saturating_add(1) } else { 0 };
        recent.push_back(failed);
        if recent.len() > WINDOW {
            recent.pop_front();
        }
        let failures = recent.iter().filter(|failed| **failed).count();
        let too_many = recent.len() == WINDOW && failures >= WINDOW_FAILURES;
        if self.failures > 0 && failed && (*in_a_row >= self.failures || too_many) {
            tracing::warn!(
                base_url,
                in_a_row = *in_a_row,
                failures,
                pause_ms = self.pause.as_millis(),
                "an endpoint failed too often and is left alone"
            );
            *state = State::Open { until: Instant::now() + self.pause };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    Yes,
    No,
}

/// A request that passed. What came of it is told when this is dropped.
pub(super) struct Pass {
    endpoint: Arc<Endpoint>,
    progress: Progress,
    probe: Probe,
    outcome: Outcome,
}

impl Pass {
    pub(super) fn ask(endpoint: Arc<Endpoint>, progress: Progress) -> Result<Self, LlmError> {
        progress.begin_attempt();
        match endpoint.breaker.enter() {
            Ok(probe) => Ok(Self { endpoint, progress, probe, outcome: Outcome::Unknown }),
            Err(retry_after) => {
                Err(LlmError::CircuitOpen { base_url: endpoint.base_url.clone(), retry_after })
            }
        }
    }

    /// The answer is there as a whole.
    pub(super) fn answered(&mut self) {
        self.outcome = Outcome::Alive;
    }
}

impl Observer for Pass {
    fn part(&mut self, part: &StreamPart) {
        if self.probe == Probe::Yes {
            // An answer has begun: the others need not wait for its end.
            self.probe = Probe::No;
            self.endpoint.breaker.on_probe(Outcome::Alive);
        }
        if matches!(part, StreamPart::Finished(_)) {
            self.outcome = Outcome::Alive;
        }
    }

    fn error(&mut self, error: &LlmError) {
        // Our own limits say nothing about the endpoint, not even that it is alive.
        if self.progress.is_sent() {
            self.outcome = Outcome::of(error);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        match self.probe {
            Probe::Yes => self.endpoint.breaker.on_probe(self.outcome),
            Probe::No if self.outcome == Outcome::Failed && !self.progress.fails_first() => {}
            Probe::No => self.endpoint.breaker.on_request(&self.endpoint.base_url, self.outcome),
        }
    }
}
