//! Keeping sled's cache within its capacity.
//!
//! sled divides its pages among 256 shards, queues the accesses to each, and only when 64 are queued
//! does a shard look whether it holds too much. Until then up to 16,384 pages stay in memory, which
//! is little when they hold small records and a gigabyte when they hold tool output. So large reads
//! and writes are followed by more accesses to the same page, in proportion to their bytes: a shard
//! then looks after every 64 KiB, and all of them together keep 16 MiB beyond the capacity.

use crate::keyspace::Writes;
use crate::sled_store::fault::Fault;

/// Bytes after which a page is accessed once more. Costs well under a microsecond each.
const BYTES_PER_TOUCH: usize = 1024;

/// Counts the bytes that went through sled's cache.
#[derive(Debug, Default)]
pub(crate) struct CacheTouch {
    bytes: usize,
}

impl CacheTouch {
    /// Notes that the record of `key` was read or written.
    pub(crate) fn passed(
        &mut self,
        db: &sled::Tree,
        key: &[u8],
        bytes: usize,
    ) -> Result<(), Fault> {
        self.bytes += bytes;
        while self.bytes >= BYTES_PER_TOUCH {
            self.bytes -= BYTES_PER_TOUCH;
            db.contains_key(key)?;
        }
        Ok(())
    }
}

/// Applies changes as one.
pub(crate) fn apply(db: &sled::Tree, writes: &Writes) -> Result<(), Fault> {
    let mut change = sled::Batch::default();
    for (key, value) in writes {
        match value {
            Some(value) => change.insert(&**key, &**value),
            None => change.remove(&**key),
        }
    }
    db.apply_batch(change)?;
    let mut touch = CacheTouch::default();
    for (key, value) in writes {
        touch.passed(db, key, value.as_ref().map_or(0, Vec::len))?;
    }
    Ok(())
}
