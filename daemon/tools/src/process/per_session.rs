//! What sessions keep running beyond a call: found by session and id, bounded, and ended together.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_domain::{SessionId, TimestampMs};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::running::STOP_PATIENCE;

/// Most that run at the same time, of all sessions together.
const MOST_RUNNING: usize = 64;

/// Most of one session that are over and still known.
const MOST_OVER: usize = 8;

/// The same of all sessions together: each has what it wrote in memory.
const MOST_OVER_OF_ALL: usize = 64;

/// Letters of an id that tell it from one of the daemon's earlier lives.
const MARK: usize = 4;

/// How long something has run, and how it is ended.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) id: String,
    pub(super) began: Instant,
    /// Cancelled: it is to end.
    pub(super) stop: CancellationToken,
    /// Cancelled: it has ended.
    pub(super) over: CancellationToken,
}

impl Life {
    pub(super) fn new(id: String) -> Self {
        let (stop, over) = (CancellationToken::new(), CancellationToken::new());
        Self { id, began: Instant::now(), stop, over }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Ends it, and waits until it is over.
    pub(super) async fn end(&self) {
        self.stop.cancel();
        // What ends it has patience of its own, and gives up before this does.
        let _late = timeout(2 * STOP_PATIENCE, self.over.cancelled()).await;
    }
}

/// What runs on for a session.
pub(super) trait RunsOn: Debug + Send + Sync + 'static {
    fn life(&self) -> &Life;
}

/// All that runs on, by session.
#[derive(Debug)]
pub(super) struct PerSession<T> {
    /// Most that run at the same time in one session.
    most: usize,
    table: Mutex<Table<T>>,
    tasks: TaskTracker,
}

#[derive(Debug)]
struct Table<T> {
    sessions: HashMap<SessionId, Vec<Arc<T>>>,
    /// How many there have been.
    count: u64,
}

/// There are as many as there may be.
#[derive(Debug)]
pub(super) struct Full(pub(super) usize);

impl<T: RunsOn> PerSession<T> {
    pub(super) fn new(most: usize) -> Self {
        let table = Table { sessions: HashMap::new(), count: 0 };
        Self { most, table: Mutex::new(table), tasks: TaskTracker::new() }
    }

    /// A new id. An id of before a restart is not used again for something else: a model remembers
    /// those.
    pub(super) fn new_id(&self, now: TimestampMs) -> String {
        let mut table = self.lock();
        table.count += 1;
        format!("{}{}", mark(now), table.count)
    }

    /// Whether the session may have one more.
    ///
    /// # Errors
    /// When it may not.
    pub(super) fn room(&self, session: SessionId) -> Result<(), Full> {
        self.lock().room(session, self.most)
    }

    /// Adds one that `attend` sees to until it is over.
    ///
    /// # Errors
    /// When there is no room any more; it is not attended then.
    pub(super) fn add(
        &self,
        session: SessionId,
        new: &Arc<T>,
        attend: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Full> {
        let mut table = self.lock();
        table.room(session, self.most)?;
        let own = table.sessions.entry(session).or_default();
        let over: usize = own.iter().filter(|one| one.life().is_over()).count();
        let mut forgotten = over.saturating_sub(MOST_OVER - 1);
        own.retain(|one| {
            let goes = forgotten > 0 && one.life().is_over();
            forgotten -= usize::from(goes);
            !goes
        });
        own.push(Arc::clone(new));
        table.forget_oldest();
        let id = new.life().id.clone();
        let span = tracing::info_span!("runs_on", session_id = %session, id);
        self.tasks.spawn(attend.instrument(span));
        Ok(())
    }

    /// The one of this id.
    pub(super) fn find(&self, session: SessionId, id: &str) -> Option<Arc<T>> {
        self.all(session).into_iter().find(|one| one.life().id == id)
    }

    /// All of a session, oldest first.
    pub(super) fn all(&self, session: SessionId) -> Vec<Arc<T>> {
        self.lock().sessions.get(&session).cloned().unwrap_or_default()
    }

    /// Ends those of a session, or all, and forgets them.
    pub(super) async fn end(&self, session: Option<SessionId>) {
        let ending: Vec<Arc<T>> = {
            let mut table = self.lock();
            match session {
                Some(session) => table.sessions.remove(&session).unwrap_or_default(),
                None => table.sessions.drain().flat_map(|(_, own)| own).collect(),
            }
        };
        futures_util::future::join_all(ending.iter().map(|one| one.life().end())).await;
    }

    fn lock(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: RunsOn> Table<T> {
    fn room(&self, session: SessionId, most: usize) -> Result<(), Full> {
        let running = |own: &Vec<Arc<T>>| own.iter().filter(|one| !one.life().is_over()).count();
        let own = self.sessions.get(&session).map_or(0, running);
        if own >= most {
            return Err(Full(own));
        }
        let all: usize = self.sessions.values().map(running).sum();
        if all >= MOST_RUNNING { Err(Full(all)) } else { Ok(()) }
    }

    /// Forgets those that began first of all that are over, until there are as many as may be.
    fn forget_oldest(&mut self) {
        let all = self.sessions.values().flatten();
        let over = all.map(|one| one.life()).filter(|life| life.is_over());
        let mut began: Vec<Instant> = over.map(|life| life.began).collect();
        let Some(too_many) = began.len().checked_sub(MOST_OVER_OF_ALL + 1) else { return };
        began.sort_unstable();
        let Some(last) = began.get(too_many).copied() else { return };
        for own in self.sessions.values_mut() {
            own.retain(|one| !(one.life().is_over() && one.life().began <= last));
        }
        self.sessions.retain(|_, own| !own.is_empty());
    }
}

/// Letters made of the time of day in seconds.
fn mark(now: TimestampMs) -> String {
    let mut seconds = now.0.unsigned_abs() / 1_000;
    let mut letters = Vec::with_capacity(MARK);
    for _ in 0..MARK {
        let letter = u8::try_from(seconds % 26).unwrap_or(0);
        letters.push(char::from(b'a' + letter));
        seconds /= 26;
    }
    letters.into_iter().rev().collect()
}

/// Seconds as people and models read them.
pub(super) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Sleeper(Life);

    impl RunsOn for Sleeper {
        fn life(&self) -> &Life {
            &self.0
        }
    }

    fn sleeper(all: &PerSession<Sleeper>, session: SessionId) -> Result<Arc<Sleeper>, Full> {
        let new = Arc::new(Sleeper(Life::new(all.new_id(TimestampMs(0)))));
        let (stop, over) = (new.0.stop.clone(), new.0.over.clone());
        all.add(session, &new, async move {
            let _over = over.drop_guard();
            stop.cancelled().await;
        })?;
        Ok(new)
    }

    #[tokio::test]
    async fn sessions_have_their_own_and_no_more_than_they_may() {
        let (one, other) = (SessionId::from_parts(1, 1), SessionId::from_parts(1, 2));
        let all = PerSession::new(2);
        let first = sleeper(&all, one).unwrap();
        sleeper(&all, one).unwrap();
        assert!(matches!(sleeper(&all, one), Err(Full(2))));
        assert!(all.find(other, &first.0.id).is_none());
        sleeper(&all, other).unwrap();
        first.0.end().await;
        assert!(first.0.is_over());
        sleeper(&all, one).unwrap();
        assert_eq!(all.all(one).len(), 3);
        all.end(Some(one)).await;
        assert_eq!((all.all(one).len(), all.all(other).len()), (0, 1));
        let left = all.all(other);
        all.end(None).await;
        assert!(left.iter().all(|one| one.0.is_over()));
    }

    #[tokio::test]
    async fn those_that_are_over_are_forgotten_oldest_first() {
        let session = SessionId::from_parts(1, 1);
        let all = PerSession::new(2);
        let mut ids = Vec::new();
        for _ in 0..MOST_OVER + 3 {
            let one = sleeper(&all, session).unwrap();
            ids.push(one.0.id.clone());
            one.0.end().await;
        }
        let known: Vec<String> = all.all(session).iter().map(|one| one.0.id.clone()).collect();
        assert_eq!(known, ids[3..]);
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_are_over_in_other_sessions_are_forgotten_oldest_first() {
        let session = |number: usize| SessionId::from_parts(1, number as u128);
        let all = PerSession::new(2);
        let running = sleeper(&all, session(0)).unwrap();
        for number in 1..=MOST_OVER_OF_ALL + 3 {
            tokio::time::advance(Duration::from_secs(1)).await;
            sleeper(&all, session(number)).unwrap().0.end().await;
        }
        let known = |number: usize| !all.all(session(number)).is_empty();
        assert!(known(0) && !known(1) && !known(2) && known(3));
        assert_eq!(all.lock().sessions.len(), 1 + MOST_OVER_OF_ALL + 1);
        running.0.end().await;
    }

    #[tokio::test]
    async fn all_sessions_together_have_a_bound() {
        let all = PerSession::new(2);
        for number in 0..MOST_RUNNING {
            sleeper(&all, SessionId::from_parts(1, number as u128)).unwrap();
        }
        assert!(all.room(SessionId::from_parts(2, 1)).is_err());
        all.end(None).await;
    }

    #[test]
    fn ids_of_another_time_are_others() {
        let all = PerSession::<Sleeper>::new(1);
        assert_ne!(all.new_id(TimestampMs(0)), all.new_id(TimestampMs(0)));
        assert_eq!(mark(TimestampMs(0)), "aaaa");
        assert_ne!(mark(TimestampMs(1_767_323_045_000)), mark(TimestampMs(1_767_323_046_000)));
    }
}
