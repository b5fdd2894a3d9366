//! Small values to store.

use agentd_domain::{
    Event, EventBody, Notice, NoticeLevel, Seq, SessionId, SessionRecord, TimestampMs, UnknownEvent,
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
