//! The places of the calls of a segment that run at the same time.
//!
//! Where several may, a call that waits before it is tried gives its place back: what keeps failing
//! delays no other. Where one may, it keeps it, so that calls run in the order of the answer.

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Places, which are handed out in the order in which they are asked for.
#[derive(Debug)]
pub(super) struct Pool {
    places: Semaphore,
    width: usize,
    stopped: CancellationToken,
}

/// A place in the pool, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Held<'a> {
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    pub(super) fn new(width: usize) -> Self {
        Self { places: Semaphore::new(width), width, stopped: CancellationToken::new() }
    }

    /// Hands out no more places, and wakes who waits for one.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
        self.places.close();
    }

    /// Waits for a place; none once the pool has stopped.
    pub(super) async fn place(&self) -> Option<Held<'_>> {
        let permit = self.places.acquire().await.ok()?;
        // It may have been on its way when the pool stopped.
        (!self.stopped.is_cancelled()).then_some(Held { _permit: permit })
    }

    /// Waits until a moment, and for a place then; none once the calls are cancelled or the pool has
    /// stopped.
    pub(super) async fn wait<'a>(
        &'a self,
        place: Held<'a>,
        until: Instant,
        cancel: &CancellationToken,
    ) -> Option<Held<'a>> {
        let kept = (self.width == 1).then_some(place);
        tokio::select! {
            biased;
            () = cancel.cancelled() => return None,
            () = self.stopped.cancelled() => return None,
            () = tokio::time::sleep_until(until) => {}
        }
        match kept {
            Some(kept) => Some(kept),
            None => self.place().await,
        }
    }
}
