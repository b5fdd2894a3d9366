//! Going through records, if need be around what cannot be read.

use std::ops::Bound;

use crate::ReadError;
use crate::keyspace::{KeyRange, after};
use crate::sled_store::cache::CacheTouch;
use crate::sled_store::fault::{Fault, guarded};

type Record = (sled::IVec, sled::IVec);

/// Goes through a range in the order of keys.
pub(crate) struct Walk<'a> {
    db: &'a sled::Db,
    iter: sled::Iter,
    touch: CacheTouch,
    at: Bound<Vec<u8>>,
    end: Bound<Vec<u8>>,
    tolerant: bool,
    pub(crate) holes: u64,
    damage: Option<String>,
}

impl<'a> Walk<'a> {
    /// Stops at what cannot be read.
    pub(crate) fn strict(db: &'a sled::Db, range: KeyRange) -> Self {
        let iter = db.range(range.clone());
        let touch = CacheTouch::default();
        Self { db, iter, touch, at: range.0, end: range.1, tolerant: false, holes: 0, damage: None }
    }

    /// Steps over pages that cannot be read.
    pub(crate) fn tolerant(db: &'a sled::Db, range: KeyRange) -> Self {
        Self { tolerant: true, ..Self::strict(db, range) }
    }

    /// What sled said about the last unreadable page.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The next record.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, ReadError> {
        match self.step() {
            Err(error) if self.tolerant => {
                self.holes += 1;
                self.damage = Some(error.to_string());
                Ok(self.after_hole())
            }
            record => record,
        }
    }

    /// Goes on behind the keys that begin with `prefix`.
    pub(crate) fn skip_under(&mut self, prefix: &[u8]) {
        if let Bound::Excluded(end) = after(prefix) {
            self.seek(Bound::Included(end));
        }
    }

    /// Goes on at `key`.
    fn seek(&mut self, key: Bound<Vec<u8>>) {
        self.iter = self.db.range((key.clone(), self.end.clone()));
        self.at = key;
    }

    fn step(&mut self) -> Result<Option<Record>, ReadError> {
        let Self { db, iter, touch, at, .. } = self;
        guarded(|| {
            let record = iter.next().transpose().map_err(Fault::from)?;
            if let Some((key, value)) = &record {
                *at = Bound::Excluded(key.to_vec());
                touch.passed(db, key, value.len())?;
            }
            Ok(record)
        })
    }

    /// Where the unreadable page ends is not known, so ever wider steps are tried: the next key, the
    /// next 256, the next 65,536 and so on, which comes to the next session and to the end.
    fn after_hole(&mut self) -> Option<Record> {
        let (Bound::Included(mut key) | Bound::Excluded(mut key)) = self.at.clone() else {
            return None;
        };
        key.resize(25, 0);
        while !key.is_empty() {
            let from = after(&key);
            key.pop();
            let Bound::Excluded(from) = from else { return None };
            let beyond = match &self.end {
                Bound::Included(end) => from > *end,
                Bound::Excluded(end) => from >= *end,
                Bound::Unbounded => false,
            };
            if beyond {
                return None;
            }
            self.seek(Bound::Included(from));
            if let Ok(record) = self.step() {
                return record;
            }
        }
        None
    }
}
