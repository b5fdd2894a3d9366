//! Lets so many requests into an endpoint at once. The others wait in order, or are refused when too
//! many wait.
//!
//! Tower's own concurrency limit gives the place back when the answer begins; here the answer's stream
//! holds it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::util::{BoxCloneSyncService, service_fn};

use super::adapt::{ModelService, ask};
use super::endpoint::{Counted, Endpoint, EndpointLimits, Gauge};
use super::observed::{Observer, observed};
use crate::{LlmError, Request, StreamPart};

/// Puts the layer around a service of this endpoint.
pub(super) fn layer(inner: ModelService, endpoint: Arc<Endpoint>) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |request: Request| {
        let (inner, endpoint) = (inner.clone(), Arc::clone(&endpoint));
        async move {
            let place = endpoint.places.enter(&endpoint.base_url).await?;
            let stream = ask(&inner, request).await?;
            Ok(observed(stream, place))
        }
    }))
}

/// The places of an endpoint.
#[derive(Debug)]
pub(super) struct Places {
    /// First come, first served.
    free: Arc<Semaphore>,
    pub(super) waiting: Gauge,
    max_waiting: u32,
    longest_wait: Duration,
}

impl Places {
    pub(super) fn new(limits: &EndpointLimits) -> Self {
        Self {
            free: Arc::new(Semaphore::new(limits.max_concurrent.clamp(1, Semaphore::MAX_PERMITS))),
            waiting: Gauge::default(),
            max_waiting: limits.max_waiting,
            longest_wait: limits.longest_wait,
        }
    }

    /// Waits for a place.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the line.
    pub(super) async fn enter(&self, base_url: &str) -> Result<Place, LlmError> {
        if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            return Ok(Place { _permit: permit });
        }
        if self.waiting.count() >= self.max_waiting {
            return Err(LlmError::Busy {
                base_url: base_url.to_owned(),
                detail: format!("{} requests wait already", self.max_waiting),
            });
        }
        let _waiting: Counted = self.waiting.enter();
        let permit = Arc::clone(&self.free).acquire_owned();
        match tokio::time::timeout(self.longest_wait, permit).await {
            Ok(Ok(permit)) => Ok(Place { _permit: permit }),
            _too_long => Err(LlmError::Busy {
                base_url: base_url.to_owned(),
                detail: format!("no place in {} s", self.longest_wait.as_secs()),
            }),
        }
    }
}

/// A place that is taken until this is dropped.
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Observer for Place {
    fn part(&mut self, _part: &StreamPart) {}

    fn error(&mut self, _error: &LlmError) {}
}
