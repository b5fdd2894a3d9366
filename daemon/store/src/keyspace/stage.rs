//! Turning batches into changes of keys.
//!
//! Several batches are staged on top of each other and then applied as one change of the map. A
//! batch that is refused leaves nothing behind, so its neighbours are not touched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use agentd_domain::{Event, Seq, SessionId, SessionRecord};
use serde::Serialize;

use crate::keyspace::purge::keys_under;
use crate::keyspace::vector::encode;
use crate::keyspace::{Direction, Key, Keyspace, event_keys, open_value, read_json, seal, under};
use crate::{Batch, CommitError, ReadError, Snapshot, Write};

/// New values of keys; none removes the key.
pub(crate) type Writes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Sessions whose last position is remembered. Others are looked up in the map, which costs one
/// descent, so the bound only has to cover what is written at the same time.
const REMEMBERED_HEADS: usize = 1024;

/// The last positions of logs that were written lately.
#[derive(Debug, Default)]
pub(crate) struct Heads(HashMap<SessionId, Seq>);

impl Heads {
    pub(crate) fn forget_all(&mut self) {
        self.0.clear();
    }

    fn remember(&mut self, heads: HashMap<SessionId, Seq>) {
        if self.0.len() + heads.len() > REMEMBERED_HEADS {
            self.0.clear();
        }
        self.0.extend(heads.into_iter().take(REMEMBERED_HEADS));
    }
}

/// How the events of deleted sessions go.
#[derive(Debug)]
pub(crate) struct Purge {
    /// Logs up to this many events are removed with the session, longer ones afterwards in chunks.
    pub(crate) inline_events: usize,
    /// Sessions whose events are still to be removed.
    pub(crate) pending: HashSet<SessionId>,
}

#[derive(Debug, Default)]
struct Layer {
    writes: Writes,
    heads: HashMap<SessionId, Seq>,
    purge: Vec<(SessionId, Remains)>,
}

/// What is left of a deleted session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remains {
    Events,
    Nothing,
}

/// Batches on their way to the map.
pub(crate) struct Stage<'a, K> {
    keys: &'a K,
    heads: &'a mut Heads,
    purge: &'a mut Purge,
    done: Layer,
    current: Layer,
    bytes: usize,
}

impl<'a, K: Keyspace> Stage<'a, K> {
    pub(crate) fn new(keys: &'a K, heads: &'a mut Heads, purge: &'a mut Purge) -> Self {
        Self { keys, heads, purge, done: Layer::default(), current: Layer::default(), bytes: 0 }
    }

    /// Bytes of keys and values staged so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a batch, or nothing of it.
    pub(crate) fn add(&mut self, batch: Batch) -> Result<(), CommitError> {
        self.current = Layer::default();
        for write in batch.writes {
            self.write(write)?;
        }
        let Layer { writes, heads, purge } = std::mem::take(&mut self.current);
        self.bytes += writes
            .iter()
            .map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len))
            .sum::<usize>();
        self.done.writes.extend(writes);
        self.done.heads.extend(heads);
        self.done.purge.extend(purge);
        Ok(())
    }

    /// The changes. What is remembered about the map changes with this call, so the caller must
    /// forget it when the changes cannot be applied.
    pub(crate) fn finish(self) -> Writes {
        let Layer { writes, heads, purge } = self.done;
        self.heads.remember(heads);
        for (id, remains) in purge {
            match remains {
                Remains::Events => self.purge.pending.insert(id),
                Remains::Nothing => self.purge.pending.remove(&id),
            };
        }
        writes
    }

    fn write(&mut self, write: Write) -> Result<(), CommitError> {
        match write {
            Write::Append { session_id, events } => self.append(session_id, &events),
            Write::PutSession(record) => self.put_session(&record),
            Write::PutSnapshot { session_id, snapshot: Snapshot { seq, bytes } } => {
                let mut payload = seq.0.to_be_bytes().to_vec();
                payload.extend_from_slice(&bytes);
                self.put(Key::of(Key::SNAPSHOT, session_id), &payload);
                Ok(())
            }
            Write::PutPartial { session_id, partial } => {
                self.put_json(Key::of(Key::PARTIAL, session_id), &partial)
            }
            Write::ClearPartial(id) => {
                self.remove(Key::of(Key::PARTIAL, id));
                Ok(())
            }
            Write::PutCursor { session_id, client_id, seq } => {
                let key = Key::cursor(session_id, &client_id);
                let old = self
                    .get(&key)?
                    .and_then(|value| serde_json::from_slice::<Seq>(open_value(&value)?).ok());
                self.put_json(key, &old.map_or(seq, |old| old.max(seq)))
            }
            Write::PutAccepted { session_id, client_message_id, accepted } => {
                self.put_json(Key::accepted(session_id, &client_message_id), &accepted)
            }
            Write::MarkUnfinished(id) => {
                self.put(Key::of(Key::UNFINISHED, id), &[]);
                Ok(())
            }
            Write::ClearUnfinished(id) => {
                self.remove(Key::of(Key::UNFINISHED, id));
                Ok(())
            }
            Write::AddToCounter { name, by } => self.add_to_counter(&name, &by),
            Write::PutRule(rule) => self.put_json(Key::rule(&rule.rule_id), &rule),
            Write::DeleteRule { rule_id } => {
                self.remove(Key::rule(&rule_id));
                Ok(())
            }
            Write::PutMemory(memory) => self.put_json(Key::memory(memory.id), &memory),
            Write::DeleteMemory(id) => {
                self.remove(Key::memory(id));
                self.remove(Key::memory_vector(id));
                Ok(())
            }
            Write::PutMemoryVector(vector) => {
                self.put(Key::memory_vector(vector.id), &encode(&vector)?);
                Ok(())
            }
            Write::PutMemoryChange(change) => self.put_json(Key::memory_change(change.id), &change),
            Write::DeleteMemoryChange(id) => {
                self.remove(Key::memory_change(id));
                Ok(())
            }
            Write::PutMemoryUpkeep(upkeep) => self.put_json(Key::memory_upkeep(), &upkeep),
            Write::PutGoal(goal) => self.put_json(Key::goal(&goal.goal_id), &goal),
            Write::DeleteGoal { goal_id } => {
                self.remove(Key::goal(&goal_id));
                Ok(())
            }
            Write::DeleteSession(id) => self.delete(id),
        }
    }

    fn append(&mut self, id: SessionId, events: &[Event]) -> Result<(), CommitError> {
        self.revive(id)?;
        let mut last = self.head(id)?;
        for event in events {
            if event.seq != last.next() || event.seq == last {
                return Err(CommitError::OutOfOrder { session_id: id, last, got: event.seq });
            }
            last = event.seq;
            self.put(Key::event(id, last), &event.encode());
        }
        self.current.heads.insert(id, last);
        Ok(())
    }

    fn head(&self, id: SessionId) -> Result<Seq, CommitError> {
        let staged = [&self.current.heads, &self.done.heads, &self.heads.0];
        if let Some(seq) = staged.into_iter().find_map(|heads| heads.get(&id)) {
            return Ok(*seq);
        }
        let mut head = Seq::ZERO;
        let log = under(&Key::of(Key::EVENT, id));
        self.keys.scan(log, Direction::Backward, &mut |key, _event| {
            head = Key::seq_of(key).unwrap_or_default();
            ControlFlow::Break(())
        })?;
        Ok(head)
    }

    fn put_session(&mut self, record: &SessionRecord) -> Result<(), CommitError> {
        let id = record.session_id;
        let key = Key::of(Key::SESSION, id);
        self.remove_from_index(&key, id)?;
        self.put_json(key, record)?;
        self.current.writes.insert(Key::index(record.updated_at, id), Some(Vec::new()));
        Ok(())
    }

    fn remove_from_index(&mut self, key: &[u8], id: SessionId) -> Result<(), CommitError> {
        let old = self
            .get(key)?
            .and_then(|value| serde_json::from_slice::<SessionRecord>(open_value(&value)?).ok());
        if let Some(old) = old {
            self.remove(Key::index(old.updated_at, id));
        }
        Ok(())
    }

    fn add_to_counter(&mut self, name: &str, by: &[u64]) -> Result<(), CommitError> {
        let key = Key::counter(name);
        let mut sums: Vec<u64> = match self.get(&key)? {
            None => Vec::new(),
            Some(value) => read_json(&value, "counter").unwrap_or_else(|error| {
                tracing::error!(name, %error, "a damaged counter begins anew");
                Vec::new()
            }),
        };
        sums.resize(sums.len().max(by.len()), 0);
        for (sum, by) in sums.iter_mut().zip(by) {
            *sum = sum.saturating_add(*by);
        }
        self.put_json(key, &sums)
    }

    fn delete(&mut self, id: SessionId) -> Result<(), CommitError> {
        self.remove_from_index(&Key::of(Key::SESSION, id), id)?;
        for kind in [Key::SESSION, Key::SNAPSHOT, Key::PARTIAL, Key::UNFINISHED] {
            self.remove(Key::of(kind, id));
        }
        for kind in [Key::ACCEPTED, Key::CURSOR] {
            self.remove_all(&keys_under(self.keys, &Key::of(kind, id), usize::MAX)?);
        }
        self.remove_staged(id);
        let limit = self.purge.inline_events;
        let events = event_keys(self.keys, id, limit.saturating_add(1))?;
        if events.len() <= limit {
            self.remove_all(&events);
        } else {
            self.put(Key::of(Key::TOMBSTONE, id), &[]);
            self.current.purge.push((id, Remains::Events));
        }
        self.current.heads.insert(id, Seq::ZERO);
        Ok(())
    }

    /// Removes what earlier batches of this stage put under the session.
    fn remove_staged(&mut self, id: SessionId) {
        let owned = |key: &&Vec<u8>| {
            let of_no_session = [
                Key::INDEX,
                Key::META,
                Key::COUNTER,
                Key::RULE,
                Key::MEMORY,
                Key::MEMORY_CHANGE,
                Key::MEMORY_UPKEEP,
                Key::MEMORY_VECTOR,
                Key::GOAL,
            ];
            key.first().is_some_and(|kind| !of_no_session.contains(kind))
                && Key::session_of(key) == Some(id)
        };
        let staged: Vec<_> = [&self.done.writes, &self.current.writes]
            .into_iter()
            .flat_map(|writes| writes.keys().filter(owned).cloned())
            .collect();
        self.remove_all(&staged);
    }

    /// A new log under the id of a deleted session must not meet what is left of the old one.
    fn revive(&mut self, id: SessionId) -> Result<(), CommitError> {
        let staged = [&self.current.purge, &self.done.purge]
            .into_iter()
            .find_map(|changes| changes.iter().rfind(|(changed, _remains)| *changed == id));
        let pending = match staged {
            Some((_id, remains)) => *remains == Remains::Events,
            None => self.purge.pending.contains(&id),
        };
        if pending {
            self.remove_all(&event_keys(self.keys, id, usize::MAX)?);
            self.remove(Key::of(Key::TOMBSTONE, id));
            self.current.purge.push((id, Remains::Nothing));
            self.current.heads.insert(id, Seq::ZERO);
        }
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, CommitError> {
        let staged = [&self.current.writes, &self.done.writes];
        match staged.into_iter().find_map(|writes| writes.get(key)) {
            Some(value) => Ok(value.clone()),
            None => Ok(self.keys.value(key)?),
        }
    }

    fn put(&mut self, key: Vec<u8>, payload: &[u8]) {
        self.current.writes.insert(key, Some(seal(payload)));
    }

    fn put_json(&mut self, key: Vec<u8>, record: &impl Serialize) -> Result<(), CommitError> {
        let payload = serde_json::to_vec(record)
            .map_err(|error| CommitError::Io(std::io::Error::other(error)))?;
        self.put(key, &payload);
        Ok(())
    }

    fn remove(&mut self, key: Vec<u8>) {
        self.current.writes.insert(key, None);
    }

    fn remove_all(&mut self, keys: &[Vec<u8>]) {
        self.current.writes.extend(keys.iter().map(|key| (key.clone(), None)));
    }
}

impl From<ReadError> for CommitError {
    /// A commit reads first: where the log ends, and what a record replaces.
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::Io(error),
            ReadError::Closed => Self::Closed,
            damage @ (ReadError::Event { .. }
            | ReadError::Record { .. }
            | ReadError::Corrupt { .. }) => Self::Corrupt { detail: damage.to_string() },
        }
    }
}
