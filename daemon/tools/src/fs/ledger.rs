//! What a session has read of which file, and what its last changes have replaced.
//!
//! A file that exists is changed only by who knows what it holds: its whole content is remembered
//! as a hash when it is read and when it is written.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most files that are remembered; the ones read longest ago are forgotten.
const MAX_FILES: usize = 4_096;

/// Most changes that can be taken back.
const MAX_CHANGES: usize = 50;

/// Most bytes of what they replaced, of one session.
const MAX_KEPT: usize = 8 * 1024 * 1024;

/// A file as it was before a change.
#[derive(Debug)]
pub(super) struct Kept {
    /// Its path relative to the workspace.
    pub(super) path: String,
    /// What it held, if there was one.
    pub(super) before: Option<Vec<u8>>,
    /// The mode that it had.
    pub(super) mode: Option<u32>,
    /// SHA-256 in hex of what the change has left; none when it removed the file.
    pub(super) after: Option<String>,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.path.len() + self.before.as_ref().map_or(0, Vec::len)
    }
}

/// The files that a session has read or written, for as long as the daemon runs.
#[derive(Debug, Default)]
pub struct FileLedger {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// SHA-256 in hex by path without links.
    hashes: HashMap<PathBuf, String>,
    order: VecDeque<PathBuf>,
    /// Files of the last changes, call by call.
    changes: VecDeque<Arc<Vec<Kept>>>,
}

impl FileLedger {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers the content of a file, or that there is none.
    pub(super) fn note(&self, path: &Path, sha256: Option<&str>) {
        let mut known = self.lock();
        let Some(sha256) = sha256 else {
            if known.hashes.remove(path).is_some() {
                known.order.retain(|other| other != path);
            }
            return;
        };
        if known.hashes.insert(path.to_owned(), sha256.to_owned()).is_some() {
            known.order.retain(|other| other != path);
        }
        known.order.push_back(path.to_owned());
        if known.order.len() > MAX_FILES
            && let Some(oldest) = known.order.pop_front()
        {
            known.hashes.remove(&oldest);
        }
    }

    /// The content that a file had when the session last saw it.
    pub(super) fn seen(&self, path: &Path) -> Option<String> {
        self.lock().hashes.get(path).cloned()
    }

    /// Keeps what a change has replaced. The oldest changes are let go, and one that is too large by
    /// itself with all before it: they could not be taken back in order.
    pub(super) fn keep(&self, files: Vec<Kept>) {
        let mut known = self.lock();
        known.changes.push_back(Arc::new(files));
        let bytes = |known: &Known| {
            known.changes.iter().flat_map(|files| files.iter()).map(Kept::bytes).sum::<usize>()
        };
        while known.changes.len() > MAX_CHANGES || bytes(&known) > MAX_KEPT {
            known.changes.pop_front();
        }
    }

    /// The files of the last change.
    pub(super) fn last_change(&self) -> Option<Arc<Vec<Kept>>> {
        self.lock().changes.back().cloned()
    }

    /// The last change has been taken back.
    pub(super) fn drop_last_change(&self) {
        self.lock().changes.pop_back();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_longest_ago_is_forgotten() {
        let ledger = FileLedger::new();
        for number in 0..=MAX_FILES {
            ledger.note(Path::new(&number.to_string()), Some("old"));
            ledger.note(Path::new("1"), Some("new"));
        }
        assert_eq!(ledger.seen(Path::new("1")).as_deref(), Some("new"));
        assert_eq!(ledger.seen(Path::new("0")), None);
        assert_eq!(ledger.lock().hashes.len(), MAX_FILES);
    }

    #[test]
    fn kept_changes_are_bounded() {
        let kept = |bytes: usize| {
            vec![Kept { path: "f".into(), before: Some(vec![0; bytes]), mode: None, after: None }]
        };
        let ledger = FileLedger::new();
        for _change in 0..=MAX_CHANGES {
            ledger.keep(kept(1));
        }
        assert_eq!(ledger.lock().changes.len(), MAX_CHANGES);
        ledger.keep(kept(MAX_KEPT - 5));
        assert_eq!(ledger.lock().changes.len(), 3);
        ledger.keep(kept(MAX_KEPT));
        assert!(ledger.last_change().is_none());
    }
}
