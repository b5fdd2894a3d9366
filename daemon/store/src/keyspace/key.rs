//! The layout of keys: one byte for the kind, then what the kind is ordered by.

use agentd_domain::{ClientMessageId, MemoryChangeId, MemoryId, Seq, SessionId, TimestampMs};

/// Builds and reads keys.
///
/// The meta records change with every commit. They sort apart from everything large, because sled
/// rewrites a whole page of neighbours when one of them changes often.
pub(crate) struct Key;

impl Key {
    pub(crate) const META: u8 = b'A';
    /// Changes as often as sessions ask their models, and is as small.
    pub(crate) const COUNTER: u8 = b'B';
    pub(crate) const ACCEPTED: u8 = b'a';
    pub(crate) const CURSOR: u8 = b'c';
    /// A deleted session whose events are still being removed.
    pub(crate) const TOMBSTONE: u8 = b'd';
    pub(crate) const EVENT: u8 = b'e';
    /// What is to be reached beyond one session.
    pub(crate) const GOAL: u8 = b'g';
    pub(crate) const INDEX: u8 = b'i';
    pub(crate) const SNAPSHOT: u8 = b'n';
    /// What was changed in memories, and how it was before.
    pub(crate) const MEMORY_CHANGE: u8 = b'j';
    pub(crate) const MEMORY: u8 = b'm';
    /// One record: when memories were looked after.
    pub(crate) const MEMORY_UPKEEP: u8 = b'k';
    pub(crate) const PARTIAL: u8 = b'p';
    /// What users permit and forbid in all sessions, or in those of a workspace.
    pub(crate) const RULE: u8 = b'r';
    pub(crate) const SESSION: u8 = b's';
    pub(crate) const UNFINISHED: u8 = b'u';
    /// What a model makes of the text of a memory.
    pub(crate) const MEMORY_VECTOR: u8 = b'v';

    /// The key of a record of which a session has one, and the prefix of one of which it has many.
    pub(crate) fn of(kind: u8, session_id: SessionId) -> Vec<u8> {
        let mut key = Vec::with_capacity(25);
        key.push(kind);
        key.extend_from_slice(&session_id.to_bytes());
        key
    }

    pub(crate) fn event(session_id: SessionId, seq: Seq) -> Vec<u8> {
        let mut key = Self::of(Self::EVENT, session_id);
        key.extend_from_slice(&seq.0.to_be_bytes());
        key
    }

    pub(crate) fn cursor(session_id: SessionId, client_id: &str) -> Vec<u8> {
        let mut key = Self::of(Self::CURSOR, session_id);
        key.extend_from_slice(client_id.as_bytes());
        key
    }

    pub(crate) fn accepted(session_id: SessionId, id: &ClientMessageId) -> Vec<u8> {
        let mut key = Self::of(Self::ACCEPTED, session_id);
        key.extend_from_slice(id.as_str().as_bytes());
        key
    }

    /// Sorts the newest first.
    pub(crate) fn index(updated_at: TimestampMs, session_id: SessionId) -> Vec<u8> {
        let mut key = Vec::with_capacity(25);
        key.push(Self::INDEX);
        // With the sign bit flipped the bytes sort as the numbers do.
        let ascending = updated_at.0.cast_unsigned() ^ (1 << 63);
        key.extend_from_slice(&(!ascending).to_be_bytes());
        key.extend_from_slice(&session_id.to_bytes());
        key
    }

    pub(crate) fn meta(name: &str) -> Vec<u8> {
        let mut key = vec![Self::META];
        key.extend_from_slice(name.as_bytes());
        key
    }

    pub(crate) fn counter(name: &str) -> Vec<u8> {
        let mut key = vec![Self::COUNTER];
        key.extend_from_slice(name.as_bytes());
        key
    }

    pub(crate) fn rule(rule_id: &str) -> Vec<u8> {
        let mut key = vec![Self::RULE];
        key.extend_from_slice(rule_id.as_bytes());
        key
    }

    pub(crate) fn memory(id: MemoryId) -> Vec<u8> {
        let mut key = vec![Self::MEMORY];
        key.extend_from_slice(&id.to_bytes());
        key
    }

    pub(crate) fn memory_vector(id: MemoryId) -> Vec<u8> {
        let mut key = vec![Self::MEMORY_VECTOR];
        key.extend_from_slice(&id.to_bytes());
        key
    }

    /// The memory of the key of a vector.
    pub(crate) fn memory_of(key: &[u8]) -> Option<MemoryId> {
        Some(MemoryId::from_bytes(key.get(1..)?.try_into().ok()?))
    }

    pub(crate) fn memory_change(id: MemoryChangeId) -> Vec<u8> {
        let mut key = vec![Self::MEMORY_CHANGE];
        key.extend_from_slice(&id.to_bytes());
        key
    }

    pub(crate) fn memory_upkeep() -> Vec<u8> {
        vec![Self::MEMORY_UPKEEP]
    }

    pub(crate) fn goal(goal_id: &str) -> Vec<u8> {
        let mut key = vec![Self::GOAL];
        key.extend_from_slice(goal_id.as_bytes());
        key
    }

    /// The session of any key but those of the index, of counters, rules, memories, their changes and
    /// vectors, goals and meta records.
    pub(crate) fn session_of(key: &[u8]) -> Option<SessionId> {
        let bytes = key.get(1..17)?;
        Some(SessionId::from_bytes(bytes.try_into().ok()?))
    }

    /// The position in the key of an event.
    pub(crate) fn seq_of(key: &[u8]) -> Option<Seq> {
        let bytes = key.get(17..)?;
        Some(Seq(u64::from_be_bytes(bytes.try_into().ok()?)))
    }

    /// The session of a key of the index.
    pub(crate) fn indexed_session(key: &[u8]) -> Option<SessionId> {
        let bytes = key.get(9..)?;
        Some(SessionId::from_bytes(bytes.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_sort_by_session_then_position(a: (u128, u64), b: (u128, u64)) {
            let key = |(session, seq): (u128, u64)| {
                Key::event(SessionId::from_bytes(session.to_be_bytes()), Seq(seq))
            };
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
            prop_assert_eq!(Key::seq_of(&key(a)), Some(Seq(a.1)));
            prop_assert_eq!(
                Key::session_of(&key(a)),
                Some(SessionId::from_bytes(a.0.to_be_bytes()))
            );
        }

        #[test]
        fn the_index_sorts_the_newest_first(a: i64, b: i64, session: u128) {
            let session = SessionId::from_bytes(session.to_be_bytes());
            let key = |at| Key::index(TimestampMs(at), session);
            prop_assert_eq!(key(a).cmp(&key(b)), b.cmp(&a));
            prop_assert_eq!(Key::indexed_session(&key(a)), Some(session));
        }
    }
}
