//! A store in memory that fails, stalls and counts on demand.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use agentd_domain::{
    ClientMessageId, Memory, MemoryChange, MemoryChangeId, MemoryId, MemoryUpkeep, PermissionRule,
    Seq, SessionId, SessionRecord,
};
use agentd_store::{
    AcceptedMessage, BackupError, BackupReport, Batch, CommitError, Counter, MemoryStore,
    MemoryVector, Page, PageLimit, PartialMessage, ReadError, SessionCursor, SessionPage, Snapshot,
    Store, StoreStats, Write,
};
use async_trait::async_trait;
use tokio::sync::watch;

/// What happens to commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commits {
    Work,
    /// Only those fail that hold an event of this kind.
    FailOn(&'static str),
    DiskFull,
    Stall,
}

/// See the page.
#[derive(Debug)]
pub(crate) struct FaultyStore {
    inner: MemoryStore,
    commits: watch::Sender<Commits>,
    reads_stall: watch::Sender<bool>,
    rules_are_damaged: watch::Sender<bool>,
    memories_are_closed: watch::Sender<bool>,
    /// Snapshots that were written.
    pub(crate) snapshots: Mutex<Vec<Snapshot>>,
    /// Partial texts that were written.
    pub(crate) partials: Mutex<Vec<PartialMessage>>,
    /// First events of the pages that were read forward.
    pub(crate) reads: Mutex<Vec<Seq>>,
    /// Commits that were refused.
    pub(crate) refused: Mutex<usize>,
}

impl FaultyStore {
    pub(crate) fn new() -> Self {
        Self {
            inner: MemoryStore::new(),
            commits: watch::Sender::new(Commits::Work),
            reads_stall: watch::Sender::new(false),
            rules_are_damaged: watch::Sender::new(false),
            memories_are_closed: watch::Sender::new(false),
            snapshots: Mutex::default(),
            partials: Mutex::default(),
            reads: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    pub(crate) fn set_commits(&self, commits: Commits) {
        self.commits.send_replace(commits);
    }

    /// Lets the rules be unreadable, or not.
    pub(crate) fn damage_rules(&self, damaged: bool) {
        self.rules_are_damaged.send_replace(damaged);
    }

    /// Lets memories be unreadable, or not.
    pub(crate) fn close_memories(&self, closed: bool) {
        self.memories_are_closed.send_replace(closed);
    }

    /// Lets reads of the log wait, or go on.
    pub(crate) fn stall_reads(&self, stall: bool) {
        self.reads_stall.send_replace(stall);
    }

    fn note(&self, batch: &Batch) {
        for write in &batch.writes {
            match write {
                Write::PutSnapshot { snapshot, .. } => {
                    self.snapshots.lock().unwrap().push(snapshot.clone());
                }
                Write::PutPartial { partial, .. } => {
                    self.partials.lock().unwrap().push(partial.clone());
                }
                _ => {}
            }
        }
    }

    fn refuses(&self, batch: &Batch) -> bool {
        match *self.commits.borrow() {
            Commits::Work | Commits::Stall => false,
            Commits::DiskFull => true,
            Commits::FailOn(kind) => batch.writes.iter().any(|write| match write {
                Write::Append { events, .. } => {
                    events.iter().any(|event| event.body.kind() == kind)
                }
                _ => false,
            }),
        }
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        let mut commits = self.commits.subscribe();
        commits.wait_for(|commits| *commits != Commits::Stall).await.unwrap();
        if self.refuses(&batch) {
            *self.refused.lock().unwrap() += 1;
            return Err(CommitError::DiskFull(io::ErrorKind::StorageFull.into()));
        }
        self.note(&batch);
        self.inner.commit(batch).await
    }

    fn commit_later(&self, batch: Batch) -> bool {
        if self.refuses(&batch) {
            return false;
        }
        self.note(&batch);
        self.inner.commit_later(batch)
    }

    async fn events(&self, id: SessionId, from: Seq, limit: PageLimit) -> Result<Page, ReadError> {
        let mut stall = self.reads_stall.subscribe();
        stall.wait_for(|stall| !stall).await.unwrap();
        self.reads.lock().unwrap().push(from);
        self.inner.events(id, from, limit).await
    }

    async fn events_before(
        &self,
        id: SessionId,
        before: Seq,
        limit: PageLimit,
    ) -> Result<Page, ReadError> {
        self.inner.events_before(id, before, limit).await
    }

    async fn memories(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, ReadError> {
        if *self.memories_are_closed.borrow() {
            return Err(ReadError::Closed);
        }
        self.inner.memories(after, limit).await
    }

    async fn memory_changes(
        &self,
        before: Option<MemoryChangeId>,
        limit: usize,
    ) -> Result<Vec<MemoryChange>, ReadError> {
        self.inner.memory_changes(before, limit).await
    }

    async fn memory_vectors(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<MemoryVector>, ReadError> {
        self.inner.memory_vectors(after, limit).await
    }

    async fn rules(&self) -> Result<Vec<PermissionRule>, ReadError> {
        if *self.rules_are_damaged.borrow() {
            return Err(ReadError::Record { what: "permission rule" });
        }
        self.inner.rules().await
    }

    async fn memory_upkeep(&self) -> Result<MemoryUpkeep, ReadError> {
        self.inner.memory_upkeep().await
    }

    async fn goals(&self) -> Result<Vec<agentd_domain::Goal>, ReadError> {
        self.inner.goals().await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRecord>, ReadError> {
        self.inner.session(id).await
    }

    async fn sessions(
        &self,
        from: Option<SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage, ReadError> {
        self.inner.sessions(from, limit).await
    }

    async fn snapshot(&self, id: SessionId) -> Result<Option<Snapshot>, ReadError> {
        self.inner.snapshot(id).await
    }

    async fn partial(&self, id: SessionId) -> Result<Option<PartialMessage>, ReadError> {
        self.inner.partial(id).await
    }

    async fn cursor(&self, id: SessionId, client_id: &str) -> Result<Option<Seq>, ReadError> {
        self.inner.cursor(id, client_id).await
    }

    async fn furthest_cursor(&self, id: SessionId) -> Result<Option<Seq>, ReadError> {
        self.inner.furthest_cursor(id).await
    }

    async fn accepted(
        &self,
        id: SessionId,
        client_message_id: &ClientMessageId,
    ) -> Result<Option<AcceptedMessage>, ReadError> {
        self.inner.accepted(id, client_message_id).await
    }

    async fn unfinished(&self) -> Result<Vec<SessionId>, ReadError> {
        self.inner.unfinished().await
    }

    async fn counters(
        &self,
        after: &str,
        until: &str,
        limit: usize,
    ) -> Result<Vec<Counter>, ReadError> {
        self.inner.counters(after, until, limit).await
    }

    async fn stats(&self) -> Result<StoreStats, ReadError> {
        self.inner.stats().await
    }

    async fn backup(&self, destination: &Path) -> Result<BackupReport, BackupError> {
        self.inner.backup(destination).await
    }

    async fn close(&self) -> Result<(), CommitError> {
        self.inner.close().await
    }
}
