//! Watching all sessions at once: a snapshot of those used most recently, then what changes.
//!
//! Whoever changes a session marks it for each watcher, and a watcher that comes round to a mark looks at the
//! session as it is then. So a slow watcher costs a set of ids and delays nobody, changes that it
//! was too slow for become one, and the last state of a session is never lost.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{Seq, SessionId, SessionRecord};
use agentd_store::ReadError;
use tokio::sync::Notify;

use crate::engine::Engine;
use crate::error::CommandError;
use crate::session::SessionHandle;

/// Clients that watch. Each may make the daemon hold some ten kilobytes of ids.
const MAX_WATCHERS: usize = 100;
/// Sessions that may have changed unseen; beyond that a watcher gets a new snapshot.
const MAX_MARKS: usize = 1024;

/// A session as an overview shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// The index entry as it is now.
    pub record: SessionRecord,
    /// Terminals attached now.
    pub attached: u32,
    /// Newest event that any terminal which keeps its place has shown; zero when there is none.
    pub read: Seq,
}

/// What a watcher is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchItem {
    /// The sessions used most recently, the newest first. It replaces all that was shown before.
    Snapshot {
        /// The sessions.
        sessions: Vec<SessionSummary>,
        /// There are more, which are shown when they change.
        more: bool,
    },
    /// A session as it is now; a new one if it was not shown before.
    Changed(Box<SessionSummary>),
    /// A session that is gone.
    Deleted(SessionId),
    /// The daemon stops. Nothing follows.
    Stopping,
}

impl Engine {
    /// Begins to watch all sessions; the first item is a snapshot of at most `limit`.
    ///
    /// # Errors
    /// When too many watch already, or the daemon stops.
    pub fn watch(&self, limit: usize) -> Result<SessionWatch, CommandError> {
        if self.shutdown().is_cancelled() {
            return Err(CommandError::Stopping);
        }
        let watcher = self.deps().watchers.join()?;
        Ok(SessionWatch { engine: self.clone(), watcher, limit, due: VecDeque::new() })
    }

    /// A session as an overview shows it; none when there is no such session.
    async fn summary(&self, id: SessionId) -> Result<Option<SessionSummary>, CommandError> {
        let now = self.live_handle(id).as_ref().and_then(SessionHandle::record);
        let record = match now {
            Some(record) => Some(SessionRecord::clone(&record)),
            None => self.deps().store.session(id).await?,
        };
        match record {
            Some(record) => self.summarize(record).await.map(Some),
            None => Ok(None),
        }
    }

    async fn summarize(&self, record: SessionRecord) -> Result<SessionSummary, CommandError> {
        let id = record.session_id;
        let read = self.deps().store.furthest_cursor(id).await?.unwrap_or(Seq::ZERO);
        Ok(SessionSummary { record, attached: self.attached(id), read })
    }
}

/// A client that watches all sessions. Dropping it ends that.
#[derive(Debug)]
pub struct SessionWatch {
    engine: Engine,
    watcher: Arc<Watcher>,
    limit: usize,
    /// Sessions that were taken from the marks and not looked at yet.
    due: VecDeque<SessionId>,
}

impl SessionWatch {
    /// The next item, when there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn next(&mut self) -> Result<WatchItem, CommandError> {
        loop {
            if self.engine.shutdown().is_cancelled() {
                return Ok(WatchItem::Stopping);
            }
            if let Some(id) = self.due.pop_front() {
                match self.engine.summary(id).await {
                    Ok(Some(summary)) => return Ok(WatchItem::Changed(Box::new(summary))),
                    Ok(None) => return Ok(WatchItem::Deleted(id)),
                    // One damaged entry must not hide all others.
                    Err(CommandError::Read(error))
                        if matches!(*error, ReadError::Record { .. }) =>
                    {
                        tracing::warn!(session_id = %id, %error, "a session is left out of an overview");
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            }
            match self.watcher.take() {
                Some(Taken::Everything) => return self.snapshot().await,
                Some(Taken::Marks(ids)) => self.due = ids.into_iter().collect(),
                None => tokio::select! {
                    () = self.watcher.wake.notified() => {}
                    () = self.engine.shutdown().cancelled() => {}
                },
            }
        }
    }

    async fn snapshot(&self) -> Result<WatchItem, CommandError> {
        let page = self.engine.list(None, self.limit).await?;
        let mut sessions = Vec::with_capacity(page.sessions.len());
        for record in page.sessions {
            sessions.push(self.engine.summarize(record).await?);
        }
        // Entries of the index lag behind while a turn runs.
        sessions.sort_by_key(|summary| std::cmp::Reverse(summary.record.updated_at));
        Ok(WatchItem::Snapshot { sessions, more: page.next.is_some() })
    }
}

impl Drop for SessionWatch {
    fn drop(&mut self) {
        self.engine.deps().watchers.leave(&self.watcher);
    }
}

/// Who watches. No method waits.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<Vec<Arc<Watcher>>>);

impl Watchers {
    /// Tells all that a session is not what it was. Call it when the change can be seen.
    pub(crate) fn changed(&self, id: SessionId) {
        for watcher in &*self.lock() {
            watcher.mark(id);
        }
    }

    fn join(&self) -> Result<Arc<Watcher>, CommandError> {
        let mut watchers = self.lock();
        if watchers.len() >= MAX_WATCHERS {
            return Err(CommandError::TooManyWatchers { limit: MAX_WATCHERS });
        }
        let watcher = Arc::new(Watcher::default());
        watchers.push(Arc::clone(&watcher));
        Ok(watcher)
    }

    fn leave(&self, watcher: &Arc<Watcher>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, watcher));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Watcher>>> {
        // Nothing that can panic runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one watcher has not looked at yet.
#[derive(Debug, Default)]
struct Watcher {
    /// None: everything, as at the beginning.
    marks: Mutex<Option<BTreeSet<SessionId>>>,
    wake: Notify,
}

#[derive(Debug, PartialEq, Eq)]
enum Taken {
    Everything,
    Marks(BTreeSet<SessionId>),
}

impl Watcher {
    fn mark(&self, id: SessionId) {
        let mut marks = self.lock();
        // Who has to look at everything needs no marks.
        let Some(of) = &mut *marks else { return };
        of.insert(id);
        if of.len() > MAX_MARKS {
            *marks = None;
        }
        drop(marks);
        self.wake.notify_one();
    }

    /// Takes what there is to look at; none: nothing.
    fn take(&self) -> Option<Taken> {
        match self.lock().replace(BTreeSet::new()) {
            None => Some(Taken::Everything),
            Some(marks) if marks.is_empty() => None,
            Some(marks) => Some(Taken::Marks(marks)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<BTreeSet<SessionId>>> {
        // Nothing that can panic runs under this lock.
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u128) -> SessionId {
        SessionId::from_parts(1, number)
    }

    #[test]
    fn a_watcher_looks_at_everything_first_and_then_at_each_change_once() {
        let watchers = Watchers::default();
        let watcher = watchers.join().unwrap();
        watchers.changed(session(1));
        assert_eq!(watcher.take(), Some(Taken::Everything));
        assert_eq!(watcher.take(), None);
        for number in [2, 1, 2, 2] {
            watchers.changed(session(number));
        }
        assert_eq!(watcher.take(), Some(Taken::Marks([session(1), session(2)].into())));
        assert_eq!(watcher.take(), None);
    }

    #[test]
    fn a_watcher_that_is_far_behind_begins_anew() {
        let watchers = Watchers::default();
        let watcher = watchers.join().unwrap();
        assert_eq!(watcher.take(), Some(Taken::Everything));
        for number in 0..=u128::try_from(MAX_MARKS).unwrap() {
            watchers.changed(session(number));
        }
        assert!(watcher.lock().is_none(), "no more marks are kept");
        assert_eq!(watcher.take(), Some(Taken::Everything));
        watchers.changed(session(7));
        assert_eq!(watcher.take(), Some(Taken::Marks([session(7)].into())));
    }

    #[test]
    fn who_leaves_makes_room() {
        let watchers = Watchers::default();
        let all: Vec<_> = (0..MAX_WATCHERS).map(|_| watchers.join().unwrap()).collect();
        let refused = watchers.join();
        assert!(matches!(refused, Err(CommandError::TooManyWatchers { limit: MAX_WATCHERS })));
        watchers.leave(&all[3]);
        watchers.join().unwrap();
    }
}
