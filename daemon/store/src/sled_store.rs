//! The default backend: sled, one tree, one writer.
//!
//! One thread writes. It gathers what is queued into one atomic change, flushes once and answers all
//! (group commit). Reads run on tokio's blocking threads. What sled 0.34 does badly is not used:
//! `flush_async` and flushing inside a transaction hang, `watch_prefix` blocks writers, a tree per
//! session never gives its space back, `len` reads everything.
//!
//! Beside the directory lies `NAME.commits` (see `commit_mark`), which tells a store that lost its
//! newest part, as sled itself cannot.

mod backup;
mod cache;
mod check;
mod commit_mark;
mod copy;
mod disk;
mod fault;
mod files;
mod migrate;
mod open;
mod open_error;
mod report;
mod salvage;
mod walk;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use agentd_domain::{
    ClientMessageId, Goal, Memory, MemoryChange, MemoryChangeId, MemoryId, MemoryUpkeep,
    PermissionRule, Seq, SessionId, SessionRecord,
};
use async_trait::async_trait;
use tokio::sync::{Semaphore, oneshot};

use crate::keyspace;
use crate::{
    AcceptedMessage, BackupError, BackupReport, Batch, CommitError, Counter, CrashPoints,
    MemoryVector, Page, PageLimit, PartialMessage, ReadError, SessionCursor, SessionPage, Snapshot,
    Store, StoreStats,
};
use files::Files;
pub use open_error::OpenError;
pub use report::{DamagedSession, OpenReport, SalvageReport, SalvageSource, VerifyReport};
use writer::Request;

/// Batches that may wait for the writer. Enough that every session of a busy daemon has one in the
/// queue; with typical batches of a few kilobytes it is some megabytes at most.
const QUEUE_CAPACITY: usize = 1024;

/// Reads that run at once; others wait. Each runs on a thread, and a thread keeps up to 64 old versions
/// of pages to itself until it ends (crossbeam-epoch's bags), so the memory that reading takes grows
/// with the threads. More than a machine has cores, because some wait for the disk.
const READERS: usize = 16;

/// How the store is opened.
#[derive(Debug, Clone)]
pub struct SledOptions {
    /// Most bytes of pages kept in memory.
    pub cache_bytes: u64,
    /// Whether a commit survives power loss too, not only the end of the process.
    pub fsync: bool,
    /// Commits are refused as [`CommitError::DiskFull`] when fewer bytes are free, so that sled never
    /// meets a full disk in the middle of a write. Deleting sessions may use the reserve.
    pub min_free_bytes: u64,
    /// Where backups lie, each a directory, for when nothing else is readable.
    pub backups: Option<PathBuf>,
    /// Where tests kill the process.
    pub crash_points: CrashPoints,
}

impl Default for SledOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 16 << 20,
            fsync: true,
            min_free_bytes: 4 << 20,
            backups: None,
            crash_points: CrashPoints::default(),
        }
    }
}

/// A store that was opened, and what there is to say about it.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: SledStore,
    /// What was found; its warnings are for the user.
    pub report: OpenReport,
}

/// A [`Store`] in a directory of sled's files.
#[derive(Debug)]
pub struct SledStore {
    files: Arc<Files>,
    queue: SyncSender<Request>,
    slots: Arc<Semaphore>,
    readers: Arc<Semaphore>,
    /// What the writer has made durable so far.
    commits: Arc<AtomicU64>,
}

impl SledStore {
    /// The version of the store that this build writes; it opens the same and older ones.
    pub const VERSION: u32 = open::VERSION;

    /// Opens the store in `dir`, creates it when the directory is missing, and repairs what can be
    /// repaired. Blocks; a store of 10,000 sessions opens in some 20 milliseconds.
    ///
    /// The caller holds the [`crate::InstanceLock`] of the data directory.
    ///
    /// # Errors
    /// When the directory cannot be used, another process has it open, or it was written by a newer
    /// version. Damage alone is no error: what is readable goes into a new store, the damaged
    /// directory is kept beside it, and the report says so.
    pub fn open(dir: &Path, options: SledOptions) -> Result<Opened, OpenError> {
        open::open(dir, options)
    }

    /// Reads every record and says what is damaged. Memory use does not grow with the store.
    ///
    /// # Errors
    /// When the store is closed or cannot be read at all.
    pub async fn verify(&self) -> Result<VerifyReport, ReadError> {
        self.read(|db| Ok(check::verify(db))).await
    }

    /// Runs a read on a blocking thread. Even the read of one key may have to fetch a page.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&sled::Db) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        let files = Arc::clone(&self.files);
        let place = Arc::clone(&self.readers).acquire_owned().await;
        let place = place.map_err(|_closed| ReadError::Closed)?;
        let read = move || {
            // Until it has run, also when nobody waits for it any more.
            let _place = place;
            files.read(read)
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(result) => result,
            Err(join) if join.is_panic() => {
                self.files.suspect();
                Err(ReadError::Corrupt { detail: fault::panic_text(&*join.into_panic()) })
            }
            Err(_runtime_is_stopping) => Err(ReadError::Closed),
        }
    }

    fn send(&self, request: Request) -> Result<(), CommitError> {
        // The queue is as long as there are slots, and one longer for the request to close.
        self.queue.try_send(request).map_err(|_gone| CommitError::Closed)
    }
}

#[async_trait]
impl Store for SledStore {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        let slot = self.slots.acquire().await.map_err(|_closed| CommitError::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.send(Request::Commit { batch, reply })?;
        slot.forget();
        answer.await.unwrap_or(Err(CommitError::Closed))
    }

    fn commit_later(&self, batch: Batch) -> bool {
        let Ok(slot) = self.slots.try_acquire() else { return false };
        let sent = self.send(Request::Later(batch)).is_ok();
        if sent {
            slot.forget();
        }
        sent
    }

    async fn events(&self, id: SessionId, from: Seq, limit: PageLimit) -> Result<Page, ReadError> {
        self.read(move |db| keyspace::events(db, id, from, limit)).await
    }

    async fn events_before(
        &self,
        id: SessionId,
        before: Seq,
        limit: PageLimit,
    ) -> Result<Page, ReadError> {
        self.read(move |db| keyspace::events_before(db, id, before, limit)).await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRecord>, ReadError> {
        self.read(move |db| keyspace::session(db, id)).await
    }

    async fn sessions(
        &self,
        from: Option<SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage, ReadError> {
        self.read(move |db| keyspace::sessions(db, from, limit)).await
    }

    async fn snapshot(&self, id: SessionId) -> Result<Option<Snapshot>, ReadError> {
        self.read(move |db| keyspace::snapshot(db, id)).await
    }

    async fn partial(&self, id: SessionId) -> Result<Option<PartialMessage>, ReadError> {
        self.read(move |db| keyspace::partial(db, id)).await
    }

    async fn cursor(&self, id: SessionId, client_id: &str) -> Result<Option<Seq>, ReadError> {
        let client_id = client_id.to_owned();
        self.read(move |db| keyspace::cursor(db, id, &client_id)).await
    }

    async fn furthest_cursor(&self, id: SessionId) -> Result<Option<Seq>, ReadError> {
        self.read(move |db| keyspace::furthest_cursor(db, id)).await
    }

    async fn accepted(
        &self,
        id: SessionId,
        client_message_id: &ClientMessageId,
    ) -> Result<Option<AcceptedMessage>, ReadError> {
        let client_message_id = client_message_id.clone();
        self.read(move |db| keyspace::accepted(db, id, &client_message_id)).await
    }

    async fn unfinished(&self) -> Result<Vec<SessionId>, ReadError> {
        self.read(keyspace::unfinished).await
    }

    async fn counters(
        &self,
        after: &str,
        until: &str,
        limit: usize,
    ) -> Result<Vec<Counter>, ReadError> {
        let (after, until) = (after.to_owned(), until.to_owned());
        self.read(move |db| keyspace::counters(db, &after, &until, limit)).await
    }

    async fn rules(&self) -> Result<Vec<PermissionRule>, ReadError> {
        self.read(keyspace::rules).await
    }

    async fn memory_upkeep(&self) -> Result<MemoryUpkeep, ReadError> {
        self.read(keyspace::memory_upkeep).await
    }

    async fn goals(&self) -> Result<Vec<Goal>, ReadError> {
        self.read(keyspace::goals).await
    }

    async fn memories(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, ReadError> {
        self.read(move |db| keyspace::memories(db, after, limit)).await
    }

    async fn memory_changes(
        &self,
        before: Option<MemoryChangeId>,
        limit: usize,
    ) -> Result<Vec<MemoryChange>, ReadError> {
        self.read(move |db| keyspace::memory_changes(db, before, limit)).await
    }

    async fn memory_vectors(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<MemoryVector>, ReadError> {
        self.read(move |db| keyspace::memory_vectors(db, after, limit)).await
    }

    async fn stats(&self) -> Result<StoreStats, ReadError> {
        let dir = self.files.dir().to_owned();
        let commits = self.commits.load(Ordering::Acquire);
        self.read(move |_db| {
            Ok(StoreStats {
                commits,
                bytes_on_disk: disk::bytes_under(&dir).map_err(ReadError::Io)?,
                free_bytes: disk::free_bytes(&dir),
            })
        })
        .await
    }

    async fn backup(&self, destination: &Path) -> Result<BackupReport, BackupError> {
        let destination = destination.to_owned();
        let files = Arc::clone(&self.files);
        let copied = tokio::task::spawn_blocking(move || {
            let written = files.read(|db| Ok(backup::write(db, &destination, files.stopping())));
            written.map_err(BackupError::Read)??.finish()
        });
        match copied.await {
            Ok(result) => result,
            Err(join) if join.is_panic() => Err(BackupError::Read(ReadError::Corrupt {
                detail: fault::panic_text(&*join.into_panic()),
            })),
            Err(_runtime_is_stopping) => Err(BackupError::Read(ReadError::Closed)),
        }
    }

    async fn close(&self) -> Result<(), CommitError> {
        if self.slots.is_closed() {
            return Ok(());
        }
        self.slots.close();
        self.files.stop_copies();
        let (reply, answer) = oneshot::channel();
        self.send(Request::Close(reply))?;
        answer.await.unwrap_or(Err(CommitError::Closed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reads_wait_for_a_place_and_give_it_back_though_nobody_waits_for_them() {
        let temp = tempfile::tempdir().unwrap();
        let options = SledOptions { fsync: false, ..SledOptions::default() };
        let store = SledStore::open(&temp.path().join("store"), options).unwrap().store;
        let store = Arc::new(store);
        let (began, mut begun) = tokio::sync::mpsc::channel(READERS);
        let (let_go, gate) = std::sync::mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let mut reads = tokio::task::JoinSet::new();
        for _ in 0..READERS {
            let (store, began, gate) = (Arc::clone(&store), began.clone(), Arc::clone(&gate));
            reads.spawn(async move {
                store
                    .read(move |_db| {
                        began.try_send(()).unwrap();
                        let _ended = gate.lock().unwrap().recv();
                        Ok(())
                    })
                    .await
            });
        }
        for _ in 0..READERS {
            begun.recv().await.unwrap();
        }
        let mut late = std::pin::pin!(store.session(SessionId::from_parts(1, 1)));
        assert!(is_pending(late.as_mut()).await);
        reads.shutdown().await;
        assert!(is_pending(late.as_mut()).await);
        drop(let_go);
        assert_eq!(late.await.unwrap(), None);
    }

    /// True when the future has nothing to say yet.
    async fn is_pending<F: Future + Unpin>(mut future: F) -> bool {
        std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut future).poll(cx).is_pending())
        })
        .await
    }
}
