//! Copying records from one database to another, for backups and for salvaging.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use agentd_domain::{Event, Seq, SessionId, SessionRecord};

use crate::ReadError;
use crate::keyspace::{Key, Writes, decode_event, open_value, read_json, seal, snapshot, under};
use crate::sled_store::cache::apply;
use crate::sled_store::fault::{Fault, guarded};
use crate::sled_store::open::{COMMITS, VERSION, count_of_commits, set_version, tombstones};
use crate::sled_store::report::{DamagedSession, NAMED_DAMAGE};
use crate::sled_store::walk::Walk;

/// Bytes that are written to the copy at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// How much is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All of a sound store that is in use. Each log goes as far as its index entry says, so both
    /// fit together; what is appended meanwhile is left out.
    Backup,
    /// What is readable of a damaged store that nobody uses.
    Salvage,
}

impl Mode {
    fn walk(self, db: &sled::Db, kind: u8) -> Walk<'_> {
        match self {
            Self::Backup => Walk::strict(db, under(&[kind])),
            Self::Salvage => Walk::tolerant(db, under(&[kind])),
        }
    }
}

/// What was copied.
#[derive(Debug, Default)]
pub(crate) struct Copied {
    pub(crate) sessions: u64,
    pub(crate) events: u64,
    pub(crate) commits: u64,
    pub(crate) cut: Vec<DamagedSession>,
    pub(crate) index_rebuilt: Vec<SessionId>,
    pub(crate) holes: u64,
}

/// Why a copy failed.
#[derive(Debug)]
pub(crate) enum CopyError {
    Read(ReadError),
    Write(Fault),
}

impl From<ReadError> for CopyError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// Copies everything into an empty database and makes it durable there. It ends as for a closed
/// store when `stop` becomes true.
pub(crate) fn copy(
    source: &sled::Db,
    target: &sled::Db,
    mode: Mode,
    stop: &AtomicBool,
) -> Result<Copied, CopyError> {
    let sink = Sink { target, stop, chunk: Writes::new(), bytes: 0 };
    let mut copy = Copy { source, sink, mode, copied: Copied::default() };
    // A missing count shows as lost commits, which is what happened then.
    let commits = guarded(|| count_of_commits(source).map_err(Fault::into_read_error));
    copy.copied.commits = commits.ok().flatten().unwrap_or(0);
    copy.sessions()?;
    if mode == Mode::Salvage {
        copy.logs_without_entry()?;
    }
    copy.side_records()?;
    copy.of_no_session(Key::COUNTER)?;
    copy.of_no_session(Key::RULE)?;
    copy.of_no_session(Key::GOAL)?;
    copy.of_no_session(Key::MEMORY)?;
    copy.of_no_session(Key::MEMORY_CHANGE)?;
    copy.of_no_session(Key::MEMORY_UPKEEP)?;
    copy.of_no_session(Key::MEMORY_VECTOR)?;
    copy.sink.put(Key::meta(COMMITS), seal(&copy.copied.commits.to_be_bytes()))?;
    copy.sink.finish()?;
    set_version(target, VERSION).map_err(CopyError::Write)?;
    Ok(copy.copied)
}

struct Copy<'a> {
    source: &'a sled::Db,
    sink: Sink<'a>,
    mode: Mode,
    copied: Copied,
}

impl Copy<'_> {
    fn sessions(&mut self) -> Result<(), CopyError> {
        let mut walk = self.mode.walk(self.source, Key::SESSION);
        while let Some((_key, value)) = walk.next()? {
            match (read_json::<SessionRecord>(&value, "session record"), self.mode) {
                (Ok(record), _) => self.session(record)?,
                (Err(error), Mode::Backup) => return Err(error.into()),
                // Its log is found again below.
                (Err(_damaged), Mode::Salvage) => {}
            }
        }
        self.copied.holes += walk.holes;
        Ok(())
    }

    fn session(&mut self, mut record: SessionRecord) -> Result<(), CopyError> {
        let id = record.session_id;
        let last = match self.mode {
            Mode::Backup => record.last_seq,
            Mode::Salvage => Seq(u64::MAX),
        };
        let Some((_first, tail)) = self.log(id, last)? else {
            if record.last_seq == Seq::ZERO {
                self.entry(&record)?;
            } else {
                self.cut(id, Seq(1));
            }
            return Ok(());
        };
        if tail.seq < record.last_seq {
            self.cut(id, tail.seq.next());
        }
        if tail.seq != record.last_seq {
            record.last_seq = tail.seq;
            self.rebuilt(id);
        }
        self.entry(&record)
    }

    /// Logs whose index entry is gone get one that says what their envelopes tell.
    fn logs_without_entry(&mut self) -> Result<(), CopyError> {
        let deleted =
            guarded(|| tombstones(self.source).map_err(Fault::into_read_error)).unwrap_or_default();
        let mut walk = Walk::tolerant(self.source, under(&[Key::EVENT]));
        while let Some((key, _value)) = walk.next()? {
            let Some(id) = Key::session_of(&key) else { continue };
            walk.skip_under(&Key::of(Key::EVENT, id));
            if deleted.contains(&id) || self.sink.holds(&Key::of(Key::SESSION, id))? {
                continue;
            }
            if self.copied.cut.iter().any(|cut| cut.session_id == id) {
                continue;
            }
            match self.log(id, Seq(u64::MAX))? {
                Some((first, tail)) => {
                    self.rebuilt(id);
                    self.entry(&bare_record(id, &first, &tail))?;
                }
                None => self.cut(id, Seq(1)),
            }
        }
        self.copied.holes += walk.holes;
        Ok(())
    }

    /// Copies a log up to `last` or to the first event that is damaged or missing. Gives the first
    /// and the last event copied.
    fn log(&mut self, id: SessionId, last: Seq) -> Result<Option<(Event, Event)>, CopyError> {
        let range =
            (Bound::Included(Key::of(Key::EVENT, id)), Bound::Included(Key::event(id, last)));
        let mut walk = Walk::strict(self.source, range);
        let mut ends: Option<(Event, Event)> = None;
        let damaged = loop {
            let next = ends.as_ref().map_or(Seq(1), |(_first, tail)| tail.seq.next());
            let read = walk.next().and_then(|record| {
                let Some((key, value)) = record else { return Ok(None) };
                if Key::seq_of(&key) != Some(next) {
                    return Err(ReadError::Event { session_id: id, near: next, source: None });
                }
                Ok(Some((decode_event(id, next, &value)?, key, value)))
            });
            match read {
                Ok(Some((event, key, value))) => {
                    self.sink.put(key.to_vec(), value.to_vec())?;
                    self.copied.events += 1;
                    ends = Some(match ends {
                        Some((first, _previous)) => (first, event),
                        None => (event.clone(), event),
                    });
                }
                Ok(None) => break None,
                Err(error) if self.mode == Mode::Backup => return Err(error.into()),
                Err(_damaged) => break Some(next),
            }
        };
        if let Some(near) = damaged.filter(|_near| ends.is_some()) {
            self.cut(id, near);
        }
        Ok(ends)
    }

    fn entry(&mut self, record: &SessionRecord) -> Result<(), CopyError> {
        let id = record.session_id;
        let json = serde_json::to_vec(record)
            .map_err(|error| ReadError::Io(std::io::Error::other(error)))?;
        self.sink.put(Key::of(Key::SESSION, id), seal(&json))?;
        self.sink.put(Key::index(record.updated_at, id), Vec::new())?;
        self.copied.sessions += 1;
        self.of_session(id, record.last_seq)
    }

    /// Copies the records of which a session has one.
    fn of_session(&mut self, id: SessionId, last: Seq) -> Result<(), CopyError> {
        let taken = guarded(|| snapshot(self.source, id));
        match (taken, self.mode) {
            (Ok(Some(snapshot)), _) if snapshot.seq <= last => {
                self.copy_key(Key::of(Key::SNAPSHOT, id))?;
            }
            (Err(error), Mode::Backup) => return Err(error.into()),
            // A snapshot of events that are not here would bring them back half.
            _ => {}
        }
        self.copy_key(Key::of(Key::PARTIAL, id))?;
        self.copy_key(Key::of(Key::UNFINISHED, id))
    }

    fn copy_key(&mut self, key: Vec<u8>) -> Result<(), CopyError> {
        let value: Result<_, ReadError> =
            guarded(|| Ok(self.source.get(&key).map_err(Fault::from)?));
        match (value, self.mode) {
            (Ok(Some(value)), _) if open_value(&value).is_some() => {
                self.sink.put(key, value.to_vec())
            }
            (Err(error), Mode::Backup) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Copies the records of which a session has many, as far as the session itself was copied.
    fn side_records(&mut self) -> Result<(), CopyError> {
        for kind in [Key::ACCEPTED, Key::CURSOR] {
            let mut walk = self.mode.walk(self.source, kind);
            while let Some((key, value)) = walk.next()? {
                let Some(last) = self.last_copied(&key)? else { continue };
                let within = match kind {
                    Key::ACCEPTED => {
                        read_json::<crate::AcceptedMessage>(&value, "").map(|accepted| accepted.seq)
                    }
                    _ => read_json::<Seq>(&value, ""),
                };
                if within.is_ok_and(|seq| seq <= last) {
                    self.sink.put(key.to_vec(), value.to_vec())?;
                }
            }
            self.copied.holes += walk.holes;
        }
        Ok(())
    }

    /// Counters, rules, memories and goals belong to no session. In a backup they may be ahead of the logs by what was
    /// committed while it was made.
    fn of_no_session(&mut self, kind: u8) -> Result<(), CopyError> {
        let mut walk = self.mode.walk(self.source, kind);
        while let Some((key, value)) = walk.next()? {
            if open_value(&value).is_some() {
                self.sink.put(key.to_vec(), value.to_vec())?;
            } else {
                // A rule that is lost may be what forbids, so that it is told.
                self.copied.holes += 1;
            }
        }
        self.copied.holes += walk.holes;
        Ok(())
    }

    fn last_copied(&mut self, key: &[u8]) -> Result<Option<Seq>, CopyError> {
        let Some(id) = Key::session_of(key) else { return Ok(None) };
        let entry = self.sink.get(&Key::of(Key::SESSION, id))?;
        Ok(entry.and_then(|value| {
            Some(read_json::<SessionRecord>(&value, "session record").ok()?.last_seq)
        }))
    }

    fn cut(&mut self, session_id: SessionId, near: Seq) {
        let known = self.copied.cut.iter().any(|cut| cut.session_id == session_id);
        if !known && self.copied.cut.len() < NAMED_DAMAGE {
            self.copied.cut.push(DamagedSession { session_id, near });
        }
    }

    fn rebuilt(&mut self, id: SessionId) {
        if self.copied.index_rebuilt.len() < NAMED_DAMAGE {
            self.copied.index_rebuilt.push(id);
        }
    }
}

fn bare_record(session_id: SessionId, first: &Event, tail: &Event) -> SessionRecord {
    SessionRecord {
        created_at: first.at,
        updated_at: tail.at,
        last_seq: tail.seq,
        ..SessionRecord::new(session_id)
    }
}

/// Gathers records and writes them in chunks.
struct Sink<'a> {
    target: &'a sled::Db,
    stop: &'a AtomicBool,
    chunk: Writes,
    bytes: usize,
}

impl Sink<'_> {
    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) -> Result<(), CopyError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(CopyError::Read(ReadError::Closed));
        }
        self.bytes += key.len() + value.len();
        self.chunk.insert(key, Some(value));
        if self.bytes >= CHUNK_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), CopyError> {
        let chunk = std::mem::take(&mut self.chunk);
        self.bytes = 0;
        guarded(|| apply(self.target, &chunk)).map_err(CopyError::Write)
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<sled::IVec>, CopyError> {
        if self.bytes > 0 {
            self.write()?;
        }
        guarded(|| Ok(self.target.get(key)?)).map_err(CopyError::Write)
    }

    fn holds(&mut self, key: &[u8]) -> Result<bool, CopyError> {
        Ok(self.get(key)?.is_some())
    }

    fn finish(&mut self) -> Result<(), CopyError> {
        self.write()?;
        guarded(|| {
            self.target.flush()?;
            Ok(())
        })
        .map_err(CopyError::Write)
    }
}
