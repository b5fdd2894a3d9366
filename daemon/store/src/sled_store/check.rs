//! Looking for damage: a little at every start, everything on request.

use std::ops::{Bound, ControlFlow};

use agentd_domain::{MemoryId, Seq, SessionId, SessionRecord};

use crate::keyspace::{
    Direction, Key, Keyspace, after, decode_event, decode_vector, open_value, read_json, sessions,
    under,
};
use crate::sled_store::fault::{Fault, guarded};
use crate::sled_store::open::tombstones;
use crate::sled_store::report::{DamagedSession, VerifyReport};
use crate::sled_store::walk::Walk;
use crate::{PageLimit, ReadError, keyspace};

/// Sessions whose ends are looked at after a start that follows a kill: those that were most likely
/// being written. Costs some milliseconds.
const RECENT_SESSIONS: usize = 100;

/// Events at the end of a log that are looked at.
const TAIL: PageLimit = PageLimit { events: 8, bytes: 256 * 1024 };

/// Checks the ends of the logs that a turn was writing.
pub(crate) fn unfinished(db: &sled::Db) -> Result<Vec<DamagedSession>, Fault> {
    guarded(|| tails(db, &keyspace::unfinished(db)?))
}

/// Checks the ends of these logs and of those that changed last.
pub(crate) fn recent_and_unfinished(db: &sled::Db) -> Result<Vec<DamagedSession>, Fault> {
    guarded(|| {
        let mut ids = keyspace::unfinished(db)?;
        let recent = sessions(db, None, RECENT_SESSIONS)?;
        ids.extend(recent.sessions.iter().map(|record| record.session_id));
        ids.sort_unstable();
        ids.dedup();
        tails(db, &ids)
    })
}

/// Checks everything; damage of sled's own files is a fault.
pub(crate) fn all(db: &sled::Db) -> Result<Vec<DamagedSession>, Fault> {
    let report = verify(db);
    match report.backend_damage {
        Some(detail) => Err(Fault::Damaged(detail)),
        None => Ok(report.damaged),
    }
}

fn tails(db: &sled::Db, ids: &[SessionId]) -> Result<Vec<DamagedSession>, Fault> {
    let mut damaged = Vec::new();
    for id in ids {
        match tail(db, *id) {
            Ok(()) => {}
            Err(ReadError::Event { session_id, near, .. }) => {
                damaged.push(DamagedSession { session_id, near });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(damaged)
}

/// Reads the end of a log, and compares it with what the index says.
fn tail(db: &sled::Db, id: SessionId) -> Result<(), ReadError> {
    let page = keyspace::events_before(db, id, Seq(u64::MAX), TAIL)?;
    let last = page.events.last().map_or(Seq::ZERO, |event| event.seq);
    let near = page.events.first().map(|event| Seq(event.seq.0.saturating_sub(1)));
    if let Some(near) = near.filter(|near| page.more && *near > Seq::ZERO) {
        // The page ends early at a limit or at damage; the event before tells which.
        let value = db.get(Key::event(id, near)).map_err(Fault::from)?;
        let missing = || ReadError::Event { session_id: id, near, source: None };
        decode_event(id, near, &value.ok_or_else(missing)?)?;
    }
    match keyspace::session(db, id) {
        Ok(Some(record)) if record.last_seq > last => {
            Err(ReadError::Event { session_id: id, near: last.next(), source: None })
        }
        Ok(_shorter_or_none) => Ok(()),
        Err(ReadError::Record { .. }) => {
            Err(ReadError::Event { session_id: id, near: last, source: None })
        }
        Err(error) => Err(error),
    }
}

/// Reads everything.
pub(crate) fn verify(db: &sled::Db) -> VerifyReport {
    let mut report = VerifyReport::default();
    logs(db, &mut report);
    index(db, &mut report);
    for (kind, check) in RECORDS {
        let mut walk = Walk::tolerant(db, under(&[*kind]));
        while let Ok(Some((_key, value))) = walk.next() {
            if !check(&value) {
                report.damaged_records += 1;
            }
        }
        note_holes(&walk, &mut report);
    }
    report
}

/// Looks at the value of a record.
type IsSound = fn(&[u8]) -> bool;

/// The records beside logs and index, and what makes one sound.
const RECORDS: &[(u8, IsSound)] = &[
    (Key::META, |value| open_value(value).is_some()),
    (Key::RULE, |value| read_json::<agentd_domain::PermissionRule>(value, "").is_ok()),
    (Key::MEMORY, |value| read_json::<agentd_domain::Memory>(value, "").is_ok()),
    (Key::MEMORY_CHANGE, |value| read_json::<agentd_domain::MemoryChange>(value, "").is_ok()),
    (Key::MEMORY_UPKEEP, |value| read_json::<agentd_domain::MemoryUpkeep>(value, "").is_ok()),
    (Key::MEMORY_VECTOR, |value| decode_vector(MemoryId::from_parts(0, 0), value).is_some()),
    (Key::GOAL, |value| read_json::<agentd_domain::Goal>(value, "").is_ok()),
    (Key::COUNTER, |value| read_json::<Vec<u64>>(value, "").is_ok()),
    (Key::ACCEPTED, |value| read_json::<crate::AcceptedMessage>(value, "").is_ok()),
    (Key::CURSOR, |value| read_json::<Seq>(value, "").is_ok()),
    (Key::SNAPSHOT, |value| open_value(value).is_some_and(|payload| payload.len() >= 8)),
    (Key::PARTIAL, |value| read_json::<crate::PartialMessage>(value, "").is_ok()),
];

/// Where the check of one log stands.
struct Log {
    id: SessionId,
    next: Seq,
    broken: bool,
}

fn logs(db: &sled::Db, report: &mut VerifyReport) {
    let deleted = guarded(|| tombstones(db)).unwrap_or_default();
    let mut log: Option<Log> = None;
    let mut walk = Walk::tolerant(db, under(&[Key::EVENT]));
    while let Ok(Some((key, value))) = walk.next() {
        let (Some(id), Some(seq)) = (Key::session_of(&key), Key::seq_of(&key)) else {
            report.damaged_records += 1;
            continue;
        };
        if deleted.contains(&id) {
            walk.skip_under(&Key::of(Key::EVENT, id));
            continue;
        }
        if log.as_ref().is_none_or(|log| log.id != id) {
            report.sessions += 1;
            log = Some(Log { id, next: Seq(1), broken: false });
        }
        let Some(log) = &mut log else { continue };
        if seq == log.next && decode_event(id, seq, &value).is_ok() {
            report.events += 1;
        } else if !log.broken && is_damaged(db, id, log.next.min(seq)) {
            log.broken = true;
            report.damage(id, log.next.min(seq));
        }
        log.next = seq.next();
    }
    note_holes(&walk, report);
}

/// Looks again at what seemed damaged: the session may just have been deleted.
fn is_damaged(db: &sled::Db, id: SessionId, near: Seq) -> bool {
    let one = PageLimit { events: 1, bytes: 0 };
    guarded(|| keyspace::events(db, id, near, one)).is_err()
}

fn index(db: &sled::Db, report: &mut VerifyReport) {
    let mut walk = Walk::tolerant(db, under(&[Key::SESSION]));
    while let Ok(Some((key, value))) = walk.next() {
        let Ok(record) = read_json::<SessionRecord>(&value, "session record") else {
            report.damaged_records += 1;
            continue;
        };
        let id = record.session_id;
        let listed: Result<bool, Fault> =
            guarded(|| Ok(db.contains_key(Key::index(record.updated_at, id))?));
        if Key::session_of(&key) != Some(id) || !matches!(listed, Ok(true)) {
            report.damaged_records += 1;
        }
        match guarded(|| head(db, id)) {
            Ok(last) => {
                if last == Seq::ZERO {
                    report.sessions += 1;
                }
                let known = report.damaged.iter().any(|damaged| damaged.session_id == id);
                let still_there = || matches!(keyspace::session(db, id), Ok(Some(_)));
                if last < record.last_seq && !known && still_there() {
                    report.damage(id, last.next());
                }
            }
            Err(error) => report.backend_damage = Some(error.to_string()),
        }
    }
    note_holes(&walk, report);
}

fn head(db: &sled::Db, id: SessionId) -> Result<Seq, ReadError> {
    let mut last = Seq::ZERO;
    let log: (Bound<_>, Bound<_>) =
        (Bound::Included(Key::of(Key::EVENT, id)), after(&Key::of(Key::EVENT, id)));
    db.scan(log, Direction::Backward, &mut |key, _event| {
        last = Key::seq_of(key).unwrap_or_default();
        ControlFlow::Break(())
    })?;
    Ok(last)
}

fn note_holes(walk: &Walk<'_>, report: &mut VerifyReport) {
    if let Some(detail) = walk.damage() {
        report.backend_damage = Some(detail.to_owned());
    }
}
