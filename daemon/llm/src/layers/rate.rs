//! Lets so many requests a minute out to an endpoint, and none while the provider has asked for a
//! pause, whichever request it told so.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tower::util::{BoxCloneSyncService, service_fn};

use super::adapt::{ModelService, ask};
use super::clock::TokioClock;
use super::endpoint::{Counted, Endpoint, EndpointLimits, Gauge};
use super::observed::{Observer, observed};
use super::progress::Progress;
use crate::{LlmError, Request, StreamPart};

/// A pause that is asked for is believed up to here.
const LONGEST_BELIEVED_PAUSE: Duration = Duration::from_secs(3600);

/// Puts the layer around a service of this endpoint.
pub(super) fn layer(
    inner: ModelService,
    endpoint: Arc<Endpoint>,
    progress: Progress,
) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |request: Request| {
        let (inner, endpoint, progress) = (inner.clone(), Arc::clone(&endpoint), progress.clone());
        async move {
            endpoint.rate.pass(&endpoint.base_url).await?;
            progress.sent();
            let under_way = endpoint.under_way();
            match ask(&inner, request).await {
                Ok(stream) => {
                    let watch = Watch { endpoint: Arc::clone(&endpoint), _under_way: under_way };
                    Ok(observed(stream, watch))
                }
                Err(error) => {
                    endpoint.rate.note(&error);
                    Err(error)
                }
            }
        }
    }))
}

/// A request that is under way.
struct Watch {
    endpoint: Arc<Endpoint>,
    _under_way: Counted,
}

impl Observer for Watch {
    fn part(&mut self, _part: &StreamPart) {}

    fn error(&mut self, error: &LlmError) {
        self.endpoint.rate.note(error);
    }
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Nanos>>;

/// The rate of an endpoint.
#[derive(Debug)]
pub(super) struct Rate {
    limiter: Option<Limiter>,
    clock: TokioClock,
    /// One at a time waits for the rate; the others stand behind it in order.
    turnstile: Semaphore,
    pub(super) waiting: Gauge,
    /// Nothing goes out before.
    resume_at: Mutex<Option<Instant>>,
    longest_wait: Duration,
    longest_pause: Duration,
}

impl Rate {
    pub(super) fn new(limits: &EndpointLimits) -> Self {
        let clock = TokioClock::new();
        let limiter = NonZeroU32::new(limits.requests_per_minute)
            .map(|rate| RateLimiter::direct_with_clock(Quota::per_minute(rate), clock.clone()));
        Self {
            limiter,
            clock,
            turnstile: Semaphore::new(1),
            waiting: Gauge::default(),
            resume_at: Mutex::new(None),
            longest_wait: limits.longest_wait,
            longest_pause: limits.longest_pause,
        }
    }

    /// Waits until a request may go out.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the line; the rate counts nothing for it.
    pub(super) async fn pass(&self, base_url: &str) -> Result<(), LlmError> {
        let _waiting = self.waiting.enter();
        match tokio::time::timeout(self.longest_wait, self.wait()).await {
            Ok(passed) => passed,
            Err(_too_long) => Err(LlmError::Busy {
                base_url: base_url.to_owned(),
                detail: format!(
                    "the limit of requests a minute left no room in {} s",
                    self.longest_wait.as_secs()
                ),
            }),
        }
    }

    async fn wait(&self) -> Result<(), LlmError> {
        // The semaphore is never closed.
        let _first_in_line = self.turnstile.acquire().await;
        loop {
            let pause = self.pause();
            if pause > self.longest_pause {
                return Err(LlmError::RateLimited {
                    message: format!("it has asked for a pause of {} s more", pause.as_secs()),
                    retry_after: Some(pause),
                });
            }
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
                continue;
            }
            match self.limiter.as_ref().map(RateLimiter::check) {
                None | Some(Ok(())) => return Ok(()),
                Some(Err(early)) => {
                    tokio::time::sleep(early.wait_time_from(self.clock.now())).await;
                }
            }
        }
    }

    /// What is left of the pause that the provider asked for.
    fn pause(&self) -> Duration {
        let resume_at = *self.resume_at.lock().unwrap_or_else(PoisonError::into_inner);
        resume_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()))
    }

    /// Remembers a pause that the provider asks for.
    pub(super) fn note(&self, error: &LlmError) {
        let Some(pause) = error.retry_after() else { return };
        let until = Instant::now() + pause.min(LONGEST_BELIEVED_PAUSE);
        let mut resume_at = self.resume_at.lock().unwrap_or_else(PoisonError::into_inner);
        *resume_at = Some(resume_at.map_or(until, |at| at.max(until)));
    }
}
