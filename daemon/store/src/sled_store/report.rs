//! What opening and checking a store found.

use std::fmt;
use std::path::PathBuf;

use agentd_domain::{Seq, SessionId};

/// Most damaged sessions that a report names; all are counted.
pub(crate) const NAMED_DAMAGE: usize = 1000;

/// A session whose log cannot be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedSession {
    /// The session.
    pub session_id: SessionId,
    /// The first event that is damaged or missing.
    pub near: Seq,
}

impl fmt::Display for DamagedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session_id, near } = self;
        write!(f, "the log of session {session_id} is damaged near event {near}")
    }
}

/// What a full check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Sessions with a log or an index entry.
    pub sessions: u64,
    /// Readable events.
    pub events: u64,
    /// Damaged sessions, at most 1,000 of them.
    pub damaged: Vec<DamagedSession>,
    /// All damaged sessions.
    pub damaged_sessions: u64,
    /// Damaged records beside the logs.
    pub damaged_records: u64,
    /// What the backend said when it could not read its own files.
    pub backend_damage: Option<String>,
}

impl VerifyReport {
    /// True when nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damaged_sessions == 0 && self.damaged_records == 0 && self.backend_damage.is_none()
    }

    pub(crate) fn damage(&mut self, session_id: SessionId, near: Seq) {
        self.damaged_sessions += 1;
        if self.damaged.len() < NAMED_DAMAGE {
            self.damaged.push(DamagedSession { session_id, near });
        }
    }
}

/// Where the records of a salvaged store come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SalvageSource {
    /// The damaged files themselves.
    Files,
    /// A backup, because the files gave nothing.
    Backup(PathBuf),
    /// Neither: the new store is empty.
    Nothing,
}

/// What became of a damaged store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvageReport {
    /// Why it was necessary.
    pub cause: String,
    /// Where the damaged files are kept.
    pub damaged_dir: PathBuf,
    /// Where the records come from.
    pub source: SalvageSource,
    /// Sessions in the new store.
    pub sessions: u64,
    /// Events in the new store.
    pub events: u64,
    /// Sessions whose logs were cut at the first damaged event, at most 1,000 of them.
    pub cut: Vec<DamagedSession>,
    /// Sessions whose index entry was lost or no longer fits the log, at most 1,000 of them. It was
    /// replaced by what the log's envelopes tell; the owner of the events can make a better one.
    pub index_rebuilt: Vec<SessionId>,
    /// Places in the files that could not be read at all.
    pub holes: u64,
}

/// What opening a store found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// True when there was no store yet.
    pub created: bool,
    /// True when the last daemon closed the store.
    pub clean: bool,
    /// Acknowledged commits that the files no longer hold.
    pub lost_commits: u64,
    /// Sessions with damage that the check at start met. They stay as they are.
    pub damaged: Vec<DamagedSession>,
    /// Version that the store had when it was older than this build's.
    pub migrated_from: Option<u32>,
    /// Set when a new store was made from a damaged one.
    pub salvage: Option<SalvageReport>,
}

impl OpenReport {
    /// Sentences for the user; empty when all is well.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.lost_commits > 0 {
            warnings.push(format!(
                "the newest {} acknowledged changes are missing from the store's files",
                self.lost_commits
            ));
        }
        warnings.extend(self.damaged.iter().map(ToString::to_string));
        if let Some(salvage) = &self.salvage {
            salvage.warn(&mut warnings);
        }
        warnings
    }
}

impl SalvageReport {
    fn warn(&self, warnings: &mut Vec<String>) {
        let Self { cause, damaged_dir, source, sessions, events, cut, index_rebuilt, holes } = self;
        let came_from = match source {
            SalvageSource::Files => "what was readable".to_owned(),
            SalvageSource::Backup(path) => format!("the backup {}", path.display()),
            SalvageSource::Nothing => "nothing, because nothing was readable".to_owned(),
        };
        warnings.push(format!(
            "the store was damaged ({cause}); a new one was made from {came_from}: {sessions} \
             sessions, {events} events; {holes} places were unreadable; the damaged files are kept \
             in {}",
            damaged_dir.display()
        ));
        warnings.extend(cut.iter().map(|damaged| format!("{damaged} and was cut there")));
        if !index_rebuilt.is_empty() {
            warnings.push(format!(
                "{} index entries were rebuilt and may lack titles",
                index_rebuilt.len()
            ));
        }
    }
}
