//! Reading pages of logs, the index and the small records.

use std::collections::HashSet;
use std::ops::{Bound, ControlFlow};

use agentd_domain::{
    ClientMessageId, Event, Goal, Memory, MemoryChange, MemoryChangeId, MemoryId, MemoryUpkeep,
    PermissionRule, Seq, SessionId, SessionRecord,
};

use crate::keyspace::{
    Direction, Key, Keyspace, after, decode_vector, open_value, read_json, under,
};
use crate::{
    AcceptedMessage, Counter, MemoryVector, Page, PageLimit, PartialMessage, ReadError,
    SessionCursor, SessionPage, Snapshot,
};

/// Reads one event out of its record.
pub(crate) fn decode_event(id: SessionId, seq: Seq, value: &[u8]) -> Result<Event, ReadError> {
    let damaged = |source| ReadError::Event { session_id: id, near: seq, source };
    let payload = open_value(value).ok_or_else(|| damaged(None))?;
    let event = Event::decode(payload).map_err(|error| damaged(Some(error)))?;
    if event.seq == seq { Ok(event) } else { Err(damaged(None)) }
}

/// Collects events until a limit is reached, and stops at the first that is damaged or missing.
struct Pager {
    id: SessionId,
    direction: Direction,
    limit: PageLimit,
    bytes: usize,
    expected: Option<Seq>,
    page: Page,
    damage: Option<ReadError>,
}

impl Pager {
    fn new(id: SessionId, direction: Direction, limit: PageLimit, expected: Option<Seq>) -> Self {
        Self { id, direction, limit, bytes: 0, expected, page: Page::default(), damage: None }
    }

    fn visit(&mut self, key: &[u8], value: &[u8]) -> ControlFlow<()> {
        let full = self.page.events.len() >= self.limit.events.max(1)
            || self.bytes.saturating_add(value.len()) > self.limit.bytes;
        if full && !self.page.events.is_empty() {
            self.page.more = true;
            return ControlFlow::Break(());
        }
        let seq = Key::seq_of(key).unwrap_or_default();
        if let Some(near) = self.expected.filter(|expected| *expected != seq) {
            self.damage = Some(ReadError::Event { session_id: self.id, near, source: None });
            return ControlFlow::Break(());
        }
        match decode_event(self.id, seq, value) {
            Ok(event) => self.page.events.push(event),
            Err(damage) => {
                self.damage = Some(damage);
                return ControlFlow::Break(());
            }
        }
        self.bytes = self.bytes.saturating_add(value.len());
        self.expected = Some(match self.direction {
            Direction::Forward => seq.next(),
            Direction::Backward => Seq(seq.0.saturating_sub(1)),
        });
        ControlFlow::Continue(())
    }

    /// What lies before a damaged event is still given; the page after it is the error.
    fn finish(mut self) -> Result<Page, ReadError> {
        match self.damage {
            Some(damage) if self.page.events.is_empty() => return Err(damage),
            Some(_reported_by_the_next_page) => self.page.more = true,
            None => {}
        }
        if self.direction == Direction::Backward {
            self.page.events.reverse();
        }
        Ok(self.page)
    }
}

pub(crate) fn events(
    keys: &impl Keyspace,
    id: SessionId,
    from: Seq,
    limit: PageLimit,
) -> Result<Page, ReadError> {
    if is_deleted(keys, id)? {
        return Ok(Page::default());
    }
    let from = from.max(Seq(1));
    let range = (Bound::Included(Key::event(id, from)), after(&Key::of(Key::EVENT, id)));
    let mut pager = Pager::new(id, Direction::Forward, limit, Some(from));
    keys.scan(range, Direction::Forward, &mut |key, value| pager.visit(key, value))?;
    pager.finish()
}

pub(crate) fn events_before(
    keys: &impl Keyspace,
    id: SessionId,
    before: Seq,
    limit: PageLimit,
) -> Result<Page, ReadError> {
    if is_deleted(keys, id)? {
        return Ok(Page::default());
    }
    // Only when the log reaches `before` is it known which event the page must end with.
    let at_before = keys.value(&Key::event(id, before))?;
    let expected = at_before.map(|_event| Seq(before.0.saturating_sub(1)));
    let range = (Bound::Included(Key::of(Key::EVENT, id)), Bound::Excluded(Key::event(id, before)));
    let mut pager = Pager::new(id, Direction::Backward, limit, expected);
    keys.scan(range, Direction::Backward, &mut |key, value| pager.visit(key, value))?;
    let left = pager.expected.filter(|left| *left > Seq::ZERO);
    if let (Some(near), None, false) = (left, &pager.damage, pager.page.more) {
        // The scan ran out before it came to the first event.
        pager.damage = Some(ReadError::Event { session_id: id, near, source: None });
    }
    pager.finish()
}

fn is_deleted(keys: &impl Keyspace, id: SessionId) -> Result<bool, ReadError> {
    Ok(keys.value(&Key::of(Key::TOMBSTONE, id))?.is_some())
}

pub(crate) fn session(
    keys: &impl Keyspace,
    id: SessionId,
) -> Result<Option<SessionRecord>, ReadError> {
    keys.value(&Key::of(Key::SESSION, id))?
        .map(|value| read_json(&value, "session record"))
        .transpose()
}

pub(crate) fn sessions(
    keys: &impl Keyspace,
    from: Option<SessionCursor>,
    limit: usize,
) -> Result<SessionPage, ReadError> {
    let start = from.map_or_else(
        || Bound::Included(vec![Key::INDEX]),
        |SessionCursor(position)| {
            let mut key = vec![Key::INDEX];
            key.extend_from_slice(&position);
            Bound::Excluded(key)
        },
    );
    let limit = limit.max(1);
    let mut entries = Vec::new();
    let mut more = false;
    keys.scan((start, after(&[Key::INDEX])), Direction::Forward, &mut |key, _empty| {
        if entries.len() == limit {
            more = true;
            return ControlFlow::Break(());
        }
        entries.push(key.to_vec());
        ControlFlow::Continue(())
    })?;
    let next = entries
        .last()
        .filter(|_last| more)
        .and_then(|key| key.get(1..))
        .map(|position| SessionCursor(position.to_vec()));
    let mut page = SessionPage { sessions: Vec::with_capacity(entries.len()), next };
    let mut seen = HashSet::new();
    for id in entries.iter().filter_map(|key| Key::indexed_session(key)) {
        // A session that moves while the page is read may be met twice, or be gone.
        match session(keys, id) {
            Ok(Some(record)) if seen.insert(id) => page.sessions.push(record),
            Ok(_gone_or_seen) => {}
            // One damaged entry must not hide all others; asking for the session itself fails.
            Err(error @ ReadError::Record { .. }) => {
                tracing::error!(session_id = %id, %error, "the list leaves out a damaged entry");
            }
            Err(error) => return Err(error),
        }
    }
    page.sessions.sort_by_key(|record| Key::index(record.updated_at, record.session_id));
    Ok(page)
}

pub(crate) fn snapshot(keys: &impl Keyspace, id: SessionId) -> Result<Option<Snapshot>, ReadError> {
    keys.value(&Key::of(Key::SNAPSHOT, id))?
        .map(|value| {
            open_value(&value)
                .and_then(<[u8]>::split_first_chunk)
                .map(|(seq, bytes)| Snapshot {
                    seq: Seq(u64::from_be_bytes(*seq)),
                    bytes: bytes.to_vec(),
                })
                .ok_or(ReadError::Record { what: "snapshot" })
        })
        .transpose()
}

pub(crate) fn partial(
    keys: &impl Keyspace,
    id: SessionId,
) -> Result<Option<PartialMessage>, ReadError> {
    keys.value(&Key::of(Key::PARTIAL, id))?
        .map(|value| read_json(&value, "partial message"))
        .transpose()
}

pub(crate) fn cursor(
    keys: &impl Keyspace,
    id: SessionId,
    client_id: &str,
) -> Result<Option<Seq>, ReadError> {
    keys.value(&Key::cursor(id, client_id))?
        .map(|value| read_json(&value, "read cursor"))
        .transpose()
}

pub(crate) fn furthest_cursor(
    keys: &impl Keyspace,
    id: SessionId,
) -> Result<Option<Seq>, ReadError> {
    let (mut newest, mut damage) = (None, None);
    keys.scan(under(&Key::of(Key::CURSOR, id)), Direction::Forward, &mut |_key, value| {
        match read_json::<Seq>(value, "read cursor") {
            Ok(seq) => {
                newest = newest.max(Some(seq));
                ControlFlow::Continue(())
            }
            Err(error) => {
                damage = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    damage.map_or(Ok(newest), Err)
}

pub(crate) fn accepted(
    keys: &impl Keyspace,
    id: SessionId,
    client_message_id: &ClientMessageId,
) -> Result<Option<AcceptedMessage>, ReadError> {
    keys.value(&Key::accepted(id, client_message_id))?
        .map(|value| read_json(&value, "message acceptance"))
        .transpose()
}

/// Counters in order of their names: those behind `after` and before `until`, at most `limit`.
pub(crate) fn counters(
    keys: &impl Keyspace,
    after: &str,
    until: &str,
    limit: usize,
) -> Result<Vec<Counter>, ReadError> {
    let range = (Bound::Excluded(Key::counter(after)), Bound::Excluded(Key::counter(until)));
    let mut found = Vec::new();
    if until <= after || limit == 0 {
        return Ok(found);
    }
    keys.scan(range, Direction::Forward, &mut |key, value| {
        let name = String::from_utf8_lossy(key.get(1..).unwrap_or_default()).into_owned();
        match read_json(value, "counter") {
            Ok(values) => found.push(Counter { name, values }),
            // One damaged counter must not hide all others.
            Err(error) => tracing::error!(name, %error, "a damaged counter is left out"),
        }
        if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// All rules, in the order of their ids. One that is damaged is an error: it may be what forbids.
pub(crate) fn rules(keys: &impl Keyspace) -> Result<Vec<PermissionRule>, ReadError> {
    let mut found = Vec::new();
    let mut damage = None;
    keys.scan(under(&[Key::RULE]), Direction::Forward, &mut |_key, value| {
        match read_json(value, "permission rule") {
            Ok(rule) => found.push(rule),
            Err(error) => damage = Some(error),
        }
        if damage.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    damage.map_or(Ok(found), Err)
}

/// A page of the memories in the order of their ids. One that is damaged is left out, and told.
pub(crate) fn memories(
    keys: &impl Keyspace,
    after_id: Option<MemoryId>,
    limit: usize,
) -> Result<Vec<Memory>, ReadError> {
    let from = after_id
        .map_or_else(|| Bound::Included(vec![Key::MEMORY]), |id| Bound::Excluded(Key::memory(id)));
    let mut found = Vec::new();
    keys.scan((from, after(&[Key::MEMORY])), Direction::Forward, &mut |_key, value| {
        match read_json(value, "memory") {
            Ok(memory) => found.push(memory),
            Err(error) => tracing::error!(%error, "a damaged memory is left out"),
        }
        if found.len() < limit.max(1) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// A page of the vectors of memories in the order of their ids. One that is damaged is left out: it can
/// be made again.
pub(crate) fn memory_vectors(
    keys: &impl Keyspace,
    after_id: Option<MemoryId>,
    limit: usize,
) -> Result<Vec<MemoryVector>, ReadError> {
    let from = after_id.map_or_else(
        || Bound::Included(vec![Key::MEMORY_VECTOR]),
        |id| Bound::Excluded(Key::memory_vector(id)),
    );
    let mut found = Vec::new();
    keys.scan((from, after(&[Key::MEMORY_VECTOR])), Direction::Forward, &mut |key, value| {
        if let Some(vector) = Key::memory_of(key).and_then(|id| decode_vector(id, value)) {
            found.push(vector);
        } else {
            tracing::warn!("a damaged vector of a memory is left out");
        }
        if found.len() < limit.max(1) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// Changes of memories, the newest first, those before `before`.
pub(crate) fn memory_changes(
    keys: &impl Keyspace,
    before: Option<MemoryChangeId>,
    limit: usize,
) -> Result<Vec<MemoryChange>, ReadError> {
    let until = before
        .map_or_else(|| after(&[Key::MEMORY_CHANGE]), |id| Bound::Excluded(Key::memory_change(id)));
    let range = (Bound::Included(vec![Key::MEMORY_CHANGE]), until);
    let mut found = Vec::new();
    keys.scan(range, Direction::Backward, &mut |_key, value| {
        match read_json(value, "change of memories") {
            Ok(change) => found.push(change),
            Err(error) => tracing::error!(%error, "a damaged change of memories is left out"),
        }
        if found.len() < limit.max(1) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// What is known of the upkeep of memories. When it is damaged nothing is: it says only when something
/// was done that is done again.
pub(crate) fn memory_upkeep(keys: &impl Keyspace) -> Result<MemoryUpkeep, ReadError> {
    let Some(value) = keys.value(&Key::memory_upkeep())? else {
        return Ok(MemoryUpkeep::default());
    };
    Ok(read_json(&value, "upkeep of memories").unwrap_or_else(|error| {
        tracing::error!(%error, "what was known of the upkeep of memories is damaged and left out");
        MemoryUpkeep::default()
    }))
}

/// All goals, in the order of their ids. One that is damaged must not hide all others.
pub(crate) fn goals(keys: &impl Keyspace) -> Result<Vec<Goal>, ReadError> {
    let mut found = Vec::new();
    keys.scan(under(&[Key::GOAL]), Direction::Forward, &mut |key, value| {
        match read_json(value, "goal") {
            Ok(goal) => found.push(goal),
            Err(error) => {
                let goal_id = String::from_utf8_lossy(key.get(1..).unwrap_or_default());
                tracing::error!(%goal_id, %error, "a damaged goal is left out");
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

pub(crate) fn unfinished(keys: &impl Keyspace) -> Result<Vec<SessionId>, ReadError> {
    let mut sessions = Vec::new();
    keys.scan(under(&[Key::UNFINISHED]), Direction::Forward, &mut |key, _empty| {
        sessions.extend(Key::session_of(key));
        ControlFlow::Continue(())
    })?;
    Ok(sessions)
}
