//! What a session has read of which file, and what its changes have replaced.
//!
//! A file that exists is changed only by who knows what it holds: its whole content is remembered
//! as a hash when it is read and when it is written.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::FileChanges;

/// Most files that are remembered; the ones read longest ago are forgotten.
const MAX_FILES: usize = 4_096;

/// The files that a session has read or written, for as long as it is loaded, and its changes.
#[derive(Debug, Default)]
pub struct FileLedger {
    known: Mutex<Known>,
    changes: Arc<FileChanges>,
}

#[derive(Debug, Default)]
struct Known {
    /// SHA-256 in hex by path without links.
    hashes: HashMap<PathBuf, String>,
    order: VecDeque<PathBuf>,
}

impl FileLedger {
    /// Nothing read yet, and nothing changed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing read yet. What is changed is added to `changes`: what one has changed another may take
    /// back, but what one has read another has not.
    pub fn of(changes: Arc<FileChanges>) -> Self {
        Self { known: Mutex::default(), changes }
    }

    /// The changes.
    pub fn changes(&self) -> &Arc<FileChanges> {
        &self.changes
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
}
