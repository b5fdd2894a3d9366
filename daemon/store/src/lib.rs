//! Durable storage of session logs and of the small records beside them.
//!
//! Its one job: after [`Store::commit`] returns, the batch survives SIGKILL, whole or not at all. It
//! must not know what events mean. Each backend owns its files; only one process may open them.

mod batch;
#[cfg(feature = "conformance")]
pub mod conformance;
mod crash_points;
mod error;
mod instance_lock;
mod keyspace;
mod memory;
mod sled_store;

use async_trait::async_trait;

use agentd_domain::{
    ClientMessageId, Event, Goal, Memory, MemoryChange, MemoryChangeId, MemoryId, MemoryUpkeep,
    PermissionRule, Seq, SessionId, SessionRecord,
};

pub use batch::{AcceptedMessage, Batch, Counter, MemoryVector, PartialMessage, Write};
pub use crash_points::CrashPoints;
pub use error::{BackupError, CommitError, ReadError};
pub use instance_lock::{InstanceLock, LockError};
pub use memory::MemoryStore;
pub use sled_store::{
    DamagedSession, OpenError, OpenReport, Opened, SalvageReport, SalvageSource, SledOptions,
    SledStore, VerifyReport,
};

/// Bounds of one page of a log. At least one event is returned when there is one.
#[derive(Debug, Clone, Copy)]
pub struct PageLimit {
    /// Most events.
    pub events: usize,
    /// Most bytes of stored records.
    pub bytes: usize,
}

/// One page of a log.
#[derive(Debug, Default)]
pub struct Page {
    /// In order of `seq` (backward reads too).
    pub events: Vec<Event>,
    /// True when the log goes on in the direction of reading.
    pub more: bool,
}

/// One page of the session index, the most recently updated first.
#[derive(Debug, Default)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionRecord>,
    /// Where the next page begins; none on the last.
    pub next: Option<SessionCursor>,
}

/// A position in the session index: opaque bytes for page tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor(pub Vec<u8>);

/// The newest state that was folded from a log, so that loading need not read all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Last event folded in.
    pub seq: Seq,
    /// The state, versioned by its writer.
    pub bytes: Vec<u8>,
}

/// Sizes for `status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Bytes on disk.
    pub bytes_on_disk: u64,
    /// Free bytes on the file system; `None` where the system does not tell.
    pub free_bytes: Option<u64>,
    /// Changes made durable in the life of the store: the same number means that nothing changed.
    pub commits: u64,
}

/// What a copy of the store holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Sessions copied.
    pub sessions: u64,
    /// Events copied.
    pub events: u64,
}

/// A backend. Handles are shared as `Arc<dyn Store>`; every method may be called concurrently.
///
/// Reads see every commit that returned before they began.
#[async_trait]
pub trait Store: std::fmt::Debug + Send + Sync + 'static {
    /// Makes a batch durable: all of it or nothing. Commits of one caller keep their order.
    ///
    /// # Errors
    /// When an append does not continue its log, the disk is full or read-only, or the store is
    /// closed or damaged. Nothing of the batch is kept then.
    ///
    /// # Cancel safety
    /// A batch that was handed over is committed even when the future is dropped.
    async fn commit(&self, batch: Batch) -> Result<(), CommitError>;

    /// Puts a batch in the queue without waiting; it becomes durable with the next commit or
    /// shortly after. For records whose loss is harmless, such as [`Write::PutPartial`].
    /// Returns false when the queue is full and the batch was dropped.
    fn commit_later(&self, batch: Batch) -> bool;

    /// Reads a page of a log forward from `from`.
    async fn events(&self, id: SessionId, from: Seq, limit: PageLimit) -> Result<Page, ReadError>;

    /// Reads the page of a log that ends just before `before`.
    async fn events_before(
        &self,
        id: SessionId,
        before: Seq,
        limit: PageLimit,
    ) -> Result<Page, ReadError>;

    /// The index entry of a session.
    async fn session(&self, id: SessionId) -> Result<Option<SessionRecord>, ReadError>;

    /// A page of the session index, the most recently updated first.
    async fn sessions(
        &self,
        from: Option<SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage, ReadError>;

    /// The newest snapshot of a session.
    async fn snapshot(&self, id: SessionId) -> Result<Option<Snapshot>, ReadError>;

    /// The text of a message that was being written when the daemon stopped.
    async fn partial(&self, id: SessionId) -> Result<Option<PartialMessage>, ReadError>;

    /// How far a terminal has read.
    async fn cursor(&self, id: SessionId, client_id: &str) -> Result<Option<Seq>, ReadError>;

    /// How far the terminal has read that has read furthest; none when none has.
    async fn furthest_cursor(&self, id: SessionId) -> Result<Option<Seq>, ReadError>;

    /// The answer that was given for a client's message id.
    async fn accepted(
        &self,
        id: SessionId,
        client_message_id: &ClientMessageId,
    ) -> Result<Option<AcceptedMessage>, ReadError>;

    /// Sessions marked by [`Write::MarkUnfinished`].
    async fn unfinished(&self) -> Result<Vec<SessionId>, ReadError>;

    /// Counters in the order of their names: those behind `after` and before `until`, at most `limit`.
    async fn counters(
        &self,
        after: &str,
        until: &str,
        limit: usize,
    ) -> Result<Vec<Counter>, ReadError>;

    /// The rules of users and workspaces, in the order of their ids.
    async fn rules(&self) -> Result<Vec<PermissionRule>, ReadError>;

    /// Memories in the order of their ids: those after `after`, at most `limit`. Damaged ones are left
    /// out and logged.
    async fn memories(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, ReadError>;

    /// Changes of memories, the newest first: those before `before`, at most `limit`.
    async fn memory_changes(
        &self,
        before: Option<MemoryChangeId>,
        limit: usize,
    ) -> Result<Vec<MemoryChange>, ReadError>;

    /// What is known of the upkeep of memories.
    async fn memory_upkeep(&self) -> Result<MemoryUpkeep, ReadError>;
    /// Vectors of memories in the order of the memories' ids: those after `after`, at most `limit`.
    /// Damaged ones are left out and logged.
    async fn memory_vectors(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<MemoryVector>, ReadError>;

    /// The goals, in the order of their ids.
    async fn goals(&self) -> Result<Vec<Goal>, ReadError>;

    /// Sizes.
    async fn stats(&self) -> Result<StoreStats, ReadError>;

    /// Writes a consistent copy to a directory that does not exist yet, while the store is in use.
    async fn backup(&self, destination: &std::path::Path) -> Result<BackupReport, BackupError>;

    /// Refuses new commits, makes the queued ones durable and closes the files.
    async fn close(&self) -> Result<(), CommitError>;
}
