//! Places for turns: so many run at once in the whole daemon. The others wait, the more important first
//! and among equals the older.
//!
//! A place is held while a turn's task runs. A turn that stands still has no task, so it holds none.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{Priority, TimestampMs};
use tokio::sync::{oneshot, watch};

use crate::config::EngineConfig;

/// The places of a daemon. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct TurnSlots {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    /// Says how many places there are; it may change at any time.
    config: watch::Receiver<EngineConfig>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    last_ticket: u64,
    waiting: BTreeMap<Rank, oneshot::Sender<()>>,
}

/// Who comes first: the most important, then the oldest, then whoever asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: Reverse<Priority>,
    since: TimestampMs,
    ticket: Ticket,
}

/// Names a request for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// How the places are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotCounts {
    pub(crate) taken: usize,
    pub(crate) waiting: usize,
    pub(crate) limit: usize,
}

impl TurnSlots {
    pub(crate) fn new(config: watch::Receiver<EngineConfig>) -> Self {
        Self { inner: Arc::new(Inner { state: Mutex::default(), config }) }
    }

    /// Stands in line. `since` is when the turn's message came.
    pub(crate) fn request(&self, priority: Priority, since: TimestampMs) -> SlotRequest {
        let (tx, granted) = oneshot::channel();
        let ticket = {
            let mut state = self.inner.lock();
            state.last_ticket += 1;
            let ticket = Ticket(state.last_ticket);
            state.waiting.insert(Rank { priority: Reverse(priority), since, ticket }, tx);
            ticket
        };
        self.inner.grant();
        SlotRequest { inner: Arc::clone(&self.inner), ticket, granted, is_taken: false }
    }

    /// Moves a request that still waits to another priority, when what waits behind it has changed.
    pub(crate) fn move_to(&self, ticket: Ticket, priority: Priority) {
        let mut state = self.inner.lock();
        let found = state.waiting.keys().find(|rank| rank.ticket == ticket).copied();
        if let Some(rank) = found.filter(|rank| rank.priority != Reverse(priority))
            && let Some(tx) = state.waiting.remove(&rank)
        {
            state.waiting.insert(Rank { priority: Reverse(priority), ..rank }, tx);
        }
    }

    pub(crate) fn counts(&self) -> SlotCounts {
        let limit = self.inner.limit();
        let state = self.inner.lock();
        SlotCounts { taken: state.taken, waiting: state.waiting.len(), limit }
    }
}

impl Inner {
    fn limit(&self) -> usize {
        self.config.borrow().running_turns_limit
    }

    /// Gives free places to those who are first in line.
    fn grant(&self) {
        let limit = self.limit();
        let mut state = self.lock();
        while state.taken < limit {
            let Some((_rank, tx)) = state.waiting.pop_first() else { return };
            // Whoever has left takes no place.
            if tx.send(()).is_ok() {
                state.taken += 1;
            }
        }
    }

    fn release(&self) {
        {
            let mut state = self.lock();
            state.taken = state.taken.saturating_sub(1);
        }
        self.grant();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request for a place. Dropping it leaves the line, or gives the place back.
#[derive(Debug)]
pub(crate) struct SlotRequest {
    inner: Arc<Inner>,
    ticket: Ticket,
    granted: oneshot::Receiver<()>,
    is_taken: bool,
}

impl SlotRequest {
    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Waits for the place.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the line.
    pub(crate) async fn granted(mut self) -> Slot {
        let mut config = self.inner.config.clone();
        let mut follows_config = true;
        loop {
            tokio::select! {
                biased;
                granted = &mut self.granted => match granted {
                    Ok(()) => break,
                    // Only dropping the request takes it out of the line.
                    Err(_never) => std::future::pending().await,
                },
                changed = config.changed(), if follows_config => match changed {
                    // There may be more places now.
                    Ok(()) => self.inner.grant(),
                    Err(_no_more_changes) => follows_config = false,
                },
            }
        }
        self.is_taken = true;
        Slot { inner: Arc::clone(&self.inner) }
    }
}

impl Drop for SlotRequest {
    fn drop(&mut self) {
        if self.is_taken {
            return;
        }
        let was_waiting = {
            let mut state = self.inner.lock();
            let before = state.waiting.len();
            state.waiting.retain(|rank, _tx| rank.ticket != self.ticket);
            state.waiting.len() != before
        };
        if !was_waiting {
            // It was granted, and nobody came for it.
            self.inner.release();
        }
    }
}

/// A place. Dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Slot {
    inner: Arc<Inner>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.inner.release();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn slots(limit: usize) -> (TurnSlots, watch::Sender<EngineConfig>) {
        let config = EngineConfig { running_turns_limit: limit, ..EngineConfig::default() };
        let (tx, rx) = watch::channel(config);
        (TurnSlots::new(rx), tx)
    }

    fn at(ms: i64) -> TimestampMs {
        TimestampMs(ms)
    }

    /// The place, if it is there at once.
    fn now(request: SlotRequest) -> Option<Slot> {
        request.granted().now_or_never()
    }

    #[test]
    fn the_more_important_goes_first_and_among_equals_the_older() {
        let (slots, _config) = slots(1);
        let first = now(slots.request(Priority::Low, at(0))).expect("a free place");
        let young = slots.request(Priority::Normal, at(3));
        let low = slots.request(Priority::Low, at(1));
        let old = slots.request(Priority::Normal, at(2));
        let urgent = slots.request(Priority::Urgent, at(4));
        let mut place = first;
        for request in [urgent, old, young, low] {
            drop(place);
            place = now(request).expect("it is its turn");
        }
        assert_eq!(slots.counts(), SlotCounts { taken: 1, waiting: 0, limit: 1 });
    }

    #[test]
    fn a_request_that_is_dropped_takes_no_place() {
        let (slots, _config) = slots(1);
        let first = now(slots.request(Priority::Normal, at(0))).expect("a free place");
        let (second, third) =
            (slots.request(Priority::Normal, at(1)), slots.request(Priority::Normal, at(2)));
        // The second is granted and leaves before it has noticed.
        drop(first);
        assert_eq!(slots.counts(), SlotCounts { taken: 1, waiting: 1, limit: 1 });
        drop(second);
        assert!(now(third).is_some());
        assert_eq!(slots.counts(), SlotCounts { taken: 0, waiting: 0, limit: 1 });
    }

    #[test]
    fn a_request_can_be_moved_forward() {
        let (slots, _config) = slots(1);
        let first = now(slots.request(Priority::Normal, at(0))).expect("a free place");
        let second = slots.request(Priority::Normal, at(1));
        let third = slots.request(Priority::Normal, at(2));
        slots.move_to(third.ticket(), Priority::High);
        drop(first);
        assert!(now(third).is_some());
        assert!(now(second).is_some());
    }

    #[tokio::test]
    async fn more_places_let_those_in_who_wait() {
        let (slots, config) = slots(1);
        let _first = slots.request(Priority::Normal, at(0)).granted().await;
        let second = slots.request(Priority::Normal, at(1)).granted();
        let mut second = std::pin::pin!(second);
        assert!(second.as_mut().now_or_never().is_none());
        config.send_modify(|config| config.running_turns_limit = 2);
        let _second = second.await;
        assert_eq!(slots.counts(), SlotCounts { taken: 2, waiting: 0, limit: 2 });
    }
}
