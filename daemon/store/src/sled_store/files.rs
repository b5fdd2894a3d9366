//! The open sled database, behind a slot that the writer can empty and fill again.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use crate::ReadError;
use crate::keyspace::{Direction, KeyRange, Keyspace, Visit};
use crate::sled_store::cache::CacheTouch;
use crate::sled_store::fault::{Fault, guarded};

/// sled's unit of writing. Records up to a quarter of it stay in the log; larger ones go into files
/// of their own. It must not change once a store exists.
pub(crate) const SEGMENT_BYTES: usize = 512 * 1024;

/// How often a lock that an earlier handle in this process gives back late is tried again.
const LOCK_TRIES: u32 = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Owns the database. Everything else borrows it for the time of one call, so that dropping it here
/// really closes the files.
pub(crate) struct Files {
    dir: PathBuf,
    cache_bytes: u64,
    slot: RwLock<Slot>,
    suspect: AtomicBool,
    /// Ends copies that are being made, which would hold up the closing.
    stopping: AtomicBool,
}

enum Slot {
    Open(sled::Db),
    /// A write failed and the files could not be opened again yet.
    Failed,
    Closed,
}

impl fmt::Debug for Files {
    /// sled's own `Debug` prints every record.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Files {
    pub(crate) fn new(dir: PathBuf, cache_bytes: u64, db: sled::Db) -> Self {
        let slot = RwLock::new(Slot::Open(db));
        Self {
            dir,
            cache_bytes,
            slot,
            suspect: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Notes that the files seem to be damaged, so that the next start looks closely.
    pub(crate) fn suspect(&self) {
        self.suspect.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Relaxed)
    }

    /// Ends the copies that are being made: the files are about to be closed.
    pub(crate) fn stop_copies(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// True once copies must end.
    pub(crate) fn stopping(&self) -> &AtomicBool {
        &self.stopping
    }

    /// Borrows the database for a read.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&sled::Db) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let result = match &*self.slot.read().unwrap_or_else(PoisonError::into_inner) {
            Slot::Open(db) => read(db),
            Slot::Failed => Err(ReadError::Io(std::io::ErrorKind::ResourceBusy.into())),
            Slot::Closed => Err(ReadError::Closed),
        };
        if matches!(result, Err(ReadError::Corrupt { .. })) {
            self.suspect();
        }
        result
    }

    /// Borrows the database for a write; panics of sled become faults.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&sled::Db) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match &*self.slot.read().unwrap_or_else(PoisonError::into_inner) {
            Slot::Open(db) => guarded(|| write(db)),
            Slot::Failed | Slot::Closed => Err(Fault::Io(std::io::ErrorKind::ResourceBusy.into())),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(&*self.slot.read().unwrap_or_else(PoisonError::into_inner), Slot::Open(_))
    }

    /// Closes the files and opens them again, which brings back the last durable state.
    pub(crate) fn reopen(&self) -> Result<(), Fault> {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        close_quietly(std::mem::replace(&mut *slot, Slot::Failed));
        *slot = Slot::Open(open_sled(&self.dir, self.cache_bytes)?);
        Ok(())
    }

    /// Closes the files for good. sled writes the table of its pages only while opening, so a second
    /// opening here spares the next start reading all that was written since this one.
    pub(crate) fn close(&self) {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        let was_open = matches!(*slot, Slot::Open(_));
        close_quietly(std::mem::replace(&mut *slot, Slot::Closed));
        if was_open && let Ok(db) = open_sled(&self.dir, self.cache_bytes) {
            close_quietly(Slot::Open(db));
        }
    }
}

/// sled panics when it cannot sync while closing; what was acknowledged is durable already.
fn close_quietly(slot: Slot) {
    let closed = guarded(|| {
        drop(slot);
        Ok::<_, Fault>(())
    });
    if let Err(fault) = closed {
        tracing::error!(?fault, "closing the store's files");
    }
}

/// Opens or creates a database.
pub(crate) fn open_sled(dir: &Path, cache_bytes: u64) -> Result<sled::Db, Fault> {
    let mut tries = LOCK_TRIES;
    loop {
        let opened = guarded(|| {
            let config = sled::Config::new()
                .path(dir)
                .cache_capacity(cache_bytes)
                .segment_size(SEGMENT_BYTES)
                // The writer flushes; a second thread that does would only get in its way.
                .flush_every_ms(None);
            Ok(config.open()?)
        });
        match opened {
            Err(Fault::InUse) if tries > 0 => tries -= 1,
            opened => return opened,
        }
        // Only threads that may block come here, and only when a handle is being dropped elsewhere.
        std::thread::park_timeout(LOCK_PAUSE);
    }
}

impl Keyspace for sled::Db {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        let value = self.get(key).map_err(Fault::from)?;
        let Some(value) = value else { return Ok(None) };
        CacheTouch::default().passed(self, key, value.len())?;
        Ok(Some(value.to_vec()))
    }

    fn scan(
        &self,
        range: KeyRange,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ReadError> {
        let mut range = self.range(range);
        let mut touch = CacheTouch::default();
        loop {
            let record = match direction {
                Direction::Forward => range.next(),
                Direction::Backward => range.next_back(),
            };
            let Some(record) = record else { return Ok(()) };
            let (key, value) = record.map_err(Fault::from)?;
            touch.passed(self, &key, value.len())?;
            if visit(&key, &value) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
    }
}
