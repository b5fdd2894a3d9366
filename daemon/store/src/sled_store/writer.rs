//! The one thread that writes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};

use crate::keyspace::{Heads, Key, Purge, Stage, Writes, event_keys, seal};
use crate::sled_store::cache::apply;
use crate::sled_store::commit_mark::{CommitMark, LastRun};
use crate::sled_store::disk::{self, DiskSync};
use crate::sled_store::fault::Fault;
use crate::sled_store::files::Files;
use crate::sled_store::{SledOptions, open};
use crate::{Batch, CommitError, Write};

/// Most batches that share a flush. More would only make the first of them wait longer.
const GROUP_BATCHES: usize = 256;

/// Bytes after which a group takes no further batch, so that sled's atomic change stays within a few
/// of its segments.
const GROUP_BYTES: usize = 1 << 20;

/// How long batches without a waiter may stay in memory.
const LATER_WITHIN: Duration = Duration::from_millis(500);

/// Events of a deleted session that are removed in one change, and the longest log that goes with
/// the session's other records. Small enough that no commit waits long behind a removal.
pub(crate) const PURGE_CHUNK: usize = 512;

type Reply = oneshot::Sender<Result<(), CommitError>>;

/// What the writer is asked for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Answered when it is durable.
    Commit { batch: Batch, reply: Reply },
    /// Nobody waits for it.
    Later(Batch),
    /// The last request.
    Close(Reply),
}

/// A batch of a group.
struct Pending {
    batch: Batch,
    reply: Option<Reply>,
}

/// The writer's state; it lives on its own thread.
pub(crate) struct Writer {
    pub(crate) files: Arc<Files>,
    pub(crate) options: SledOptions,
    pub(crate) queue: Receiver<Request>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) mark: CommitMark,
    pub(crate) sync: DiskSync,
    /// Commits so far in the life of the store.
    pub(crate) commits: u64,
    /// The same, for whoever asks.
    pub(crate) told: Arc<AtomicU64>,
    pub(crate) heads: Heads,
    pub(crate) purge: Purge,
    /// What the backend said when it found its files damaged.
    pub(crate) damage: Option<String>,
}

impl Writer {
    /// Serves requests until it is told to close, or all handles are gone.
    pub(crate) fn run(mut self) {
        let mut later: Vec<Pending> = Vec::new();
        let mut since = now();
        let close = loop {
            let wait = if !later.is_empty() {
                LATER_WITHIN.saturating_sub(since.elapsed())
            } else if self.purge.pending.is_empty() {
                Duration::MAX
            } else {
                Duration::ZERO
            };
            let request = match self.receive(wait) {
                Ok(request) => request,
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {
                    if later.is_empty() {
                        self.purge_chunk();
                    } else if let Some(close) = self.commit(std::mem::take(&mut later)) {
                        break Some(close);
                    }
                    continue;
                }
            };
            match request {
                Request::Close(reply) => break Some(reply),
                Request::Later(batch) => {
                    if later.is_empty() {
                        since = now();
                    }
                    later.push(Pending { batch, reply: None });
                    if later.len() < GROUP_BATCHES {
                        continue;
                    }
                }
                Request::Commit { batch, reply } => {
                    later.push(Pending { batch, reply: Some(reply) });
                }
            }
            if let Some(close) = self.commit(std::mem::take(&mut later)) {
                break Some(close);
            }
        };
        if !later.is_empty() {
            self.commit(later);
        }
        self.close(close);
    }

    fn receive(&self, wait: Duration) -> Result<Request, RecvTimeoutError> {
        let request = match wait {
            Duration::MAX => self.queue.recv().map_err(|_gone| RecvTimeoutError::Disconnected)?,
            wait => self.queue.recv_timeout(wait)?,
        };
        self.slots.add_permits(1);
        Ok(request)
    }

    /// Commits `first` and what else is queued as one change, and answers. A request to close that
    /// is met in the queue ends the group and is given back.
    fn commit(&mut self, first: Vec<Pending>) -> Option<Reply> {
        if let Some(fault) = self.refusal() {
            for reply in first.into_iter().filter_map(|pending| pending.reply) {
                answer(reply, Err(fault.to_commit_error()));
            }
            return None;
        }
        let mut close = None;
        let mut waiting = Vec::new();
        let staged = self.stage(first, &mut waiting, &mut close);
        let result = staged.and_then(|writes| self.make_durable(writes));
        if let Err(fault) = &result {
            tracing::error!(?fault, "a commit failed");
            self.recover(fault);
        }
        self.options.crash_points.pass("store.after_flush");
        for reply in waiting {
            let result = match &result {
                Ok(()) => Ok(()),
                Err(fault) => Err(fault.to_commit_error()),
            };
            answer(reply, result);
        }
        close
    }

    /// Why nothing can be committed now.
    fn refusal(&mut self) -> Option<Fault> {
        if let Some(damage) = &self.damage {
            return Some(Fault::Damaged(damage.clone()));
        }
        if self.files.is_open() { None } else { self.reopen().err() }
    }

    fn stage(
        &mut self,
        first: Vec<Pending>,
        waiting: &mut Vec<Reply>,
        close: &mut Option<Reply>,
    ) -> Result<Writes, Fault> {
        let Self { files, options, queue, slots, heads, purge, .. } = self;
        let low_on_disk =
            disk::free_bytes(files.dir()).is_some_and(|free| free < options.min_free_bytes);
        files.write(|db| {
            let mut stage = Stage::new(db, heads, purge);
            let mut first = first.into_iter();
            for _ in 0..GROUP_BATCHES {
                let next = first.next().or_else(|| {
                    let full = stage.bytes() >= GROUP_BYTES || close.is_some();
                    if full { None } else { next_queued(queue, slots, close) }
                });
                let Some(Pending { batch, reply }) = next else { break };
                let staged = if low_on_disk && !only_deletes(&batch) {
                    Err(CommitError::DiskFull(io::ErrorKind::StorageFull.into()))
                } else {
                    stage.add(batch)
                };
                match (staged, reply) {
                    (Ok(()), reply) => waiting.extend(reply),
                    (Err(error), Some(reply)) => answer(reply, Err(error)),
                    (Err(error), None) => {
                        tracing::warn!(%error, "a batch that nobody waits for was dropped");
                    }
                }
            }
            Ok(stage.finish())
        })
    }

    fn make_durable(&mut self, mut writes: Writes) -> Result<(), Fault> {
        if writes.is_empty() {
            return Ok(());
        }
        let commits = self.commits.saturating_add(1);
        writes.insert(Key::meta(open::COMMITS), Some(seal(&commits.to_be_bytes())));
        self.options.crash_points.pass("store.before_apply");
        self.flush(|db| apply(db, &writes))?;
        self.commits = commits;
        self.told.store(commits, Ordering::Release);
        self.mark.write(commits, LastRun::Open);
        Ok(())
    }

    /// Applies a change and brings it to the disk.
    fn flush(&mut self, apply: impl FnOnce(&sled::Db) -> Result<(), Fault>) -> Result<(), Fault> {
        let Self { files, options, sync, .. } = self;
        files.write(|db| {
            apply(db)?;
            if options.fsync {
                sync.blobs().map_err(Fault::io)?;
            }
            options.crash_points.pass("store.before_flush");
            db.flush()?;
            if options.fsync {
                sync.log().map_err(Fault::io)?;
            }
            Ok(())
        })
    }

    /// After a failed write sled holds changes in memory that are not on disk, and refuses to flush
    /// for good. Opening again brings back what is durable.
    fn recover(&mut self, fault: &Fault) {
        match fault {
            Fault::Damaged(detail) => {
                self.damage = Some(detail.clone());
                self.files.suspect();
                self.mark.write(self.commits, LastRun::Suspect);
            }
            Fault::InUse | Fault::Full(_) | Fault::Io(_) => {
                // The next commit tries again when this fails.
                if let Err(fault) = self.reopen() {
                    tracing::error!(?fault, "the store's files cannot be opened again");
                }
            }
        }
    }

    fn reopen(&mut self) -> Result<(), Fault> {
        self.heads.forget_all();
        self.files.reopen()?;
        self.sync = DiskSync::new(self.files.dir()).map_err(Fault::io)?;
        let (commits, pending) =
            self.files.write(|db| Ok((open::count_of_commits(db)?, open::tombstones(db)?)))?;
        self.commits = commits.unwrap_or(self.commits);
        self.purge.pending = pending;
        Ok(())
    }

    /// Removes some events of a deleted session. It becomes durable with the next flush; until then
    /// a kill brings back events that the next start removes.
    fn purge_chunk(&mut self) {
        let Some(id) = self.purge.pending.iter().next().copied() else { return };
        self.options.crash_points.pass("store.before_purge_chunk");
        let removed = self.files.write(|db| {
            let events = event_keys(db, id, PURGE_CHUNK)?;
            let done = events.len() < PURGE_CHUNK;
            let mut change = sled::Batch::default();
            for key in events {
                change.remove(key);
            }
            if done {
                change.remove(Key::of(Key::TOMBSTONE, id));
            }
            db.apply_batch(change)?;
            Ok(done)
        });
        match removed {
            Ok(false) => {}
            Ok(true) => {
                self.purge.pending.remove(&id);
                if self.purge.pending.is_empty()
                    && let Err(fault) = self.flush(|_db| Ok(()))
                {
                    tracing::error!(?fault, "removing a deleted session");
                    self.recover(&fault);
                }
            }
            Err(fault) => {
                // The tombstone stays, so the next start goes on.
                tracing::error!(?fault, session_id = %id, "removing a deleted session");
                self.purge.pending.remove(&id);
            }
        }
    }

    fn close(mut self, reply: Option<Reply>) {
        // Whatever was queued before the request to close is behind it only by a race.
        while let Ok(request) = self.queue.try_recv() {
            match request {
                Request::Commit { batch, reply } => {
                    self.commit(vec![Pending { batch, reply: Some(reply) }]);
                }
                Request::Later(batch) => {
                    self.commit(vec![Pending { batch, reply: None }]);
                }
                Request::Close(reply) => answer(reply, Ok(())),
            }
        }
        let flushed = if self.damage.is_none() && self.files.is_open() {
            self.flush(|_db| Ok(()))
        } else {
            Ok(())
        };
        self.files.close();
        let state = if self.files.is_suspect() || self.damage.is_some() {
            LastRun::Suspect
        } else if flushed.is_ok() && reply.is_some() {
            LastRun::Clean
        } else {
            LastRun::Open
        };
        self.mark.write(self.commits, state);
        if let Some(reply) = reply {
            answer(reply, flushed.map_err(|fault| fault.to_commit_error()));
        }
    }
}

fn next_queued(
    queue: &Receiver<Request>,
    slots: &Semaphore,
    close: &mut Option<Reply>,
) -> Option<Pending> {
    match queue.try_recv() {
        Ok(Request::Close(reply)) => {
            *close = Some(reply);
            None
        }
        Ok(Request::Commit { batch, reply }) => {
            slots.add_permits(1);
            Some(Pending { batch, reply: Some(reply) })
        }
        Ok(Request::Later(batch)) => {
            slots.add_permits(1);
            Some(Pending { batch, reply: None })
        }
        Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
    }
}

/// True for a batch that makes room. What the deleted session had still to count goes with it.
fn only_deletes(batch: &Batch) -> bool {
    let is_delete = |write: &Write| matches!(write, Write::DeleteSession(_));
    let is_small = |write: &Write| is_delete(write) || matches!(write, Write::AddToCounter { .. });
    batch.writes.iter().any(is_delete) && batch.writes.iter().all(is_small)
}

/// The caller may have gone; the batch is durable all the same.
fn answer(reply: Reply, result: Result<(), CommitError>) {
    if reply.send(result).is_err() {
        tracing::debug!("nobody waited for a commit");
    }
}

#[expect(clippy::disallowed_methods, reason = "a plain thread; tokio's clock needs a runtime")]
fn now() -> Instant {
    Instant::now()
}
