//! A store that forgets everything when it is dropped, for tests and throw-away daemons.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentd_domain::{
    ClientMessageId, Goal, Memory, MemoryChange, MemoryChangeId, MemoryId, MemoryUpkeep,
    PermissionRule, Seq, SessionId, SessionRecord,
};
use async_trait::async_trait;

use crate::keyspace::{self, Direction, Heads, KeyRange, Keyspace, Purge, Stage, Visit};
use crate::{
    AcceptedMessage, BackupError, BackupReport, Batch, CommitError, Counter, MemoryVector, Page,
    PageLimit, PartialMessage, ReadError, SessionCursor, SessionPage, Snapshot, Store, StoreStats,
};

/// Keeps everything in memory, with the semantics of the durable backends.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    keys: BTreeMap<Vec<u8>, Vec<u8>>,
    closed: bool,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&BTreeMap<Vec<u8>, Vec<u8>>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let state = self.state();
        if state.closed { Err(ReadError::Closed) } else { read(&state.keys) }
    }

    fn write(&self, batch: Batch) -> Result<(), CommitError> {
        let state = &mut *self.state();
        if state.closed {
            return Err(CommitError::Closed);
        }
        let mut heads = Heads::default();
        let mut purge = Purge { inline_events: usize::MAX, pending: HashSet::new() };
        let mut stage = Stage::new(&state.keys, &mut heads, &mut purge);
        stage.add(batch)?;
        for (key, value) in stage.finish() {
            match value {
                Some(value) => state.keys.insert(key, value),
                None => state.keys.remove(&key),
            };
        }
        Ok(())
    }
}

impl Keyspace for BTreeMap<Vec<u8>, Vec<u8>> {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.get(key).cloned())
    }

    fn scan(
        &self,
        range: KeyRange,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ReadError> {
        let mut range = self.range(range);
        loop {
            let record = match direction {
                Direction::Forward => range.next(),
                Direction::Backward => range.next_back(),
            };
            match record {
                Some((key, value)) if visit(key, value) == ControlFlow::Continue(()) => {}
                _ => return Ok(()),
            }
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        self.write(batch)
    }

    fn commit_later(&self, batch: Batch) -> bool {
        self.write(batch).is_ok()
    }

    async fn events(&self, id: SessionId, from: Seq, limit: PageLimit) -> Result<Page, ReadError> {
        self.read(|keys| keyspace::events(keys, id, from, limit))
    }

    async fn events_before(
        &self,
        id: SessionId,
        before: Seq,
        limit: PageLimit,
    ) -> Result<Page, ReadError> {
        self.read(|keys| keyspace::events_before(keys, id, before, limit))
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRecord>, ReadError> {
        self.read(|keys| keyspace::session(keys, id))
    }

    async fn sessions(
        &self,
        from: Option<SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage, ReadError> {
        self.read(|keys| keyspace::sessions(keys, from, limit))
    }

    async fn snapshot(&self, id: SessionId) -> Result<Option<Snapshot>, ReadError> {
        self.read(|keys| keyspace::snapshot(keys, id))
    }

    async fn partial(&self, id: SessionId) -> Result<Option<PartialMessage>, ReadError> {
        self.read(|keys| keyspace::partial(keys, id))
    }

    async fn cursor(&self, id: SessionId, client_id: &str) -> Result<Option<Seq>, ReadError> {
        self.read(|keys| keyspace::cursor(keys, id, client_id))
    }

    async fn furthest_cursor(&self, id: SessionId) -> Result<Option<Seq>, ReadError> {
        self.read(|keys| keyspace::furthest_cursor(keys, id))
    }

    async fn accepted(
        &self,
        id: SessionId,
        client_message_id: &ClientMessageId,
    ) -> Result<Option<AcceptedMessage>, ReadError> {
        self.read(|keys| keyspace::accepted(keys, id, client_message_id))
    }

    async fn unfinished(&self) -> Result<Vec<SessionId>, ReadError> {
        self.read(keyspace::unfinished)
    }

    async fn counters(
        &self,
        after: &str,
        until: &str,
        limit: usize,
    ) -> Result<Vec<Counter>, ReadError> {
        self.read(|keys| keyspace::counters(keys, after, until, limit))
    }

    async fn rules(&self) -> Result<Vec<PermissionRule>, ReadError> {
        self.read(keyspace::rules)
    }

    async fn memory_upkeep(&self) -> Result<MemoryUpkeep, ReadError> {
        self.read(keyspace::memory_upkeep)
    }

    async fn goals(&self) -> Result<Vec<Goal>, ReadError> {
        self.read(keyspace::goals)
    }

    async fn memories(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, ReadError> {
        self.read(|keys| keyspace::memories(keys, after, limit))
    }

    async fn memory_changes(
        &self,
        before: Option<MemoryChangeId>,
        limit: usize,
    ) -> Result<Vec<MemoryChange>, ReadError> {
        self.read(|keys| keyspace::memory_changes(keys, before, limit))
    }

    async fn memory_vectors(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<MemoryVector>, ReadError> {
        self.read(|keys| keyspace::memory_vectors(keys, after, limit))
    }

    async fn stats(&self) -> Result<StoreStats, ReadError> {
        self.read(|_keys| Ok(StoreStats::default()))
    }

    /// There is nothing on disk that could be copied.
    async fn backup(&self, _destination: &Path) -> Result<BackupReport, BackupError> {
        Err(BackupError::Io(std::io::ErrorKind::Unsupported.into()))
    }

    async fn close(&self) -> Result<(), CommitError> {
        self.state().closed = true;
        Ok(())
    }
}
