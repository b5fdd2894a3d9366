//! How the records lie in a sorted map of bytes, and what is read from and written to it.
//!
//! Both backends are such a map, so the rules stand here once: the layout of keys, the checksum of
//! values, what a page of a log is, and what each write turns into.

mod key;
mod purge;
mod read;
mod stage;
mod value;
mod vector;

use std::ops::{Bound, ControlFlow};

use crate::ReadError;

pub(crate) use key::Key;
pub(crate) use purge::event_keys;
pub(crate) use read::{
    accepted, counters, cursor, decode_event, events, events_before, furthest_cursor, goals,
    memories, memory_changes, memory_upkeep, memory_vectors, partial, rules, session, sessions,
    snapshot, unfinished,
};
pub(crate) use stage::{Heads, Purge, Stage, Writes};
pub(crate) use value::{open_value, read_json, seal};
pub(crate) use vector::decode_vector;

/// A range of keys.
pub(crate) type KeyRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// Which end of a range comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

/// Sees one record and says whether to go on.
pub(crate) type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// A sorted map of bytes.
pub(crate) trait Keyspace {
    /// The value of a key.
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError>;

    /// Visits a range record by record; nothing is collected.
    fn scan(
        &self,
        range: KeyRange,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ReadError>;
}

/// All keys that begin with `prefix`.
pub(crate) fn under(prefix: &[u8]) -> KeyRange {
    (Bound::Included(prefix.to_vec()), after(prefix))
}

/// The bound that ends the keys that begin with `prefix`.
pub(crate) fn after(prefix: &[u8]) -> Bound<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Bound::Excluded(end);
        }
    }
    Bound::Unbounded
}
