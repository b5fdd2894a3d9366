//! Small values to store.

use agentd_domain::{
    Event, EventBody, Memory, MemoryAuthor, MemoryCategory, MemoryChange, MemoryChangeId,
    MemoryChangeKind, MemoryEdit, MemoryId, MemoryOrigin, MemoryPriority, MemoryScope,
    MemoryStatus, MemoryUse, Notice, NoticeLevel, Seq, SessionId, SessionRecord, TimestampMs,
    UnknownEvent,
};

use crate::{Batch, PageLimit, Write};

/// A page limit that is never reached.
pub const ALL: PageLimit = PageLimit { events: usize::MAX, bytes: usize::MAX };

/// The session with the number `n`.
pub const fn session_id(n: u128) -> SessionId {
    SessionId::from_parts(1_700_000_000_000, n)
}

/// An event that tells its position.
pub fn event(seq: u64) -> Event {
    event_with_text(seq, format!("event {seq}"))
}

/// An event with a text of any length.
pub fn event_with_text(seq: u64, text: String) -> Event {
    let body = EventBody::Notice(Notice { level: NoticeLevel::Info, text });
    let at = TimestampMs(i64::try_from(seq).unwrap_or(i64::MAX));
    Event { seq: Seq(seq), at, turn_id: None, body }
}

/// An event of a kind that no build knows, with white space that a re-encoding would lose.
pub fn unknown_event(seq: u64) -> Event {
    let record_json = format!(
        r#"{{"v":9, "seq":{seq},"at":7,"kind":"from_the_future","body":{{ "x" : [1,  2.50] }}}}"#
    );
    let body = EventBody::Unknown(UnknownEvent { kind: "from_the_future".to_owned(), record_json });
    Event { seq: Seq(seq), at: TimestampMs(7), turn_id: None, body }
}

/// Events `first..=last`.
pub fn events(first: u64, last: u64) -> Vec<Event> {
    (first..=last).map(event).collect()
}

/// An index entry.
pub fn record(session_id: SessionId, updated_ms: i64, last_seq: u64) -> SessionRecord {
    SessionRecord {
        title: format!("session of {updated_ms}"),
        workspace: "/tmp".to_owned(),
        created_at: TimestampMs(1),
        updated_at: TimestampMs(updated_ms),
        last_seq: Seq(last_seq),
        ..SessionRecord::new(session_id)
    }
}

/// Appends events `first..=last` and moves the index entry along, as the engine does.
pub fn append(session_id: SessionId, first: u64, last: u64) -> Batch {
    let updated_ms = i64::try_from(last).unwrap_or(i64::MAX);
    Batch::from(vec![
        Write::Append { session_id, events: events(first, last) },
        Write::PutSession(record(session_id, updated_ms, last)),
    ])
}

/// The memory with the number `n`, and what it says.
pub fn memory(n: u64, content: &str) -> Memory {
    let at = TimestampMs(i64::try_from(n).unwrap_or(i64::MAX));
    Memory {
        id: MemoryId::from_parts(n, 1),
        revision: 1,
        content: content.to_owned(),
        priority: MemoryPriority::High,
        importance: Memory::DEFAULT_IMPORTANCE,
        category: MemoryCategory::Fact,
        tags: vec!["tag".to_owned()],
        scope: MemoryScope::Workspace { root: "/p".to_owned() },
        status: MemoryStatus::Active,
        pinned: false,
        expires_at: Some(at),
        created_at: at,
        changed_at: at,
        tier_since: at,
        usage: MemoryUse {
            uses: 1,
            last_used_at: Some(at),
            last_told_at: None,
            stability_days: 30.0,
        },
        origin: MemoryOrigin { author: MemoryAuthor::Model, session_id: None, seq: None },
        sources: Vec::new(),
    }
}

/// A change that made a memory.
pub fn memory_change(n: u64, after: Memory) -> MemoryChange {
    MemoryChange {
        id: MemoryChangeId::from_parts(n, 1),
        at: after.changed_at,
        kind: MemoryChangeKind::Added,
        author: MemoryAuthor::Model,
        edits: vec![MemoryEdit { before: None, after: Some(after) }],
        undone_by: None,
    }
}
