//! The changes of files that a session has made: what each replaced, so that it can be taken back,
//! and what the files held before the first of them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::copies::UndoCopies;
use super::save::sha256;

/// Most changes that can be taken back.
const MAX_CHANGES: usize = 50;

/// Most files whose first content is remembered.
const MAX_BASES: usize = 1_000;

/// Most bytes of copies of one session in memory, where there is no directory for them.
const MAX_KEPT: usize = 8 * 1024 * 1024;

/// A file before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path relative to the workspace, without links.
    pub path: String,
    /// SHA-256 in hex of what it held; none when there was no such file.
    pub before: Option<String>,
    /// SHA-256 in hex of what the change has left; none when it removed the file.
    pub after: Option<String>,
    /// The mode that it had.
    #[serde(default)]
    pub(super) mode: Option<u32>,
}

/// One call's changes of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Counts the changes of its session from 1.
    pub number: u64,
    /// In the order in which they were changed.
    pub files: Vec<ChangedFile>,
}

impl FileChange {
    fn has(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }
}

/// What is kept of changes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Journal {
    /// The number of the last change.
    last: u64,
    /// The last changes that were not taken back, the oldest first.
    changes: VecDeque<FileChange>,
    /// By path, the hash of what a file held before its first change.
    bases: BTreeMap<String, Option<String>>,
    /// By path, the change that has set its base.
    #[serde(default)]
    first: BTreeMap<String, u64>,
}

/// The changes of one session, or those that were made by hand in one workspace.
#[derive(Debug, Default)]
pub struct FileChanges {
    home: Home,
    /// None until it was read.
    journal: Mutex<Option<Journal>>,
}

/// Where copies are.
#[derive(Debug)]
enum Home {
    Memory(Mutex<VecDeque<(String, Vec<u8>)>>),
    Disk { copies: Arc<UndoCopies>, owner: String },
}

impl Default for Home {
    fn default() -> Self {
        Self::Memory(Mutex::default())
    }
}

impl FileChanges {
    /// Changes that outlive the daemon. `owner` names who makes them.
    pub fn kept_in(copies: Arc<UndoCopies>, owner: String) -> Self {
        Self { home: Home::Disk { copies, owner }, journal: Mutex::default() }
    }

    /// The last changes, the oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn list(&self) -> io::Result<Vec<FileChange>> {
        self.with(|journal| journal.changes.iter().cloned().collect())
    }

    /// What files held before their first change, as hashes by path.
    pub(super) fn bases(&self) -> io::Result<BTreeMap<String, Option<String>>> {
        self.with(|journal| journal.bases.clone())
    }

    /// A content by its hash; none when its copy is gone.
    pub(super) fn content(&self, hash: &str) -> io::Result<Option<Vec<u8>>> {
        match &self.home {
            Home::Disk { copies, .. } => copies.content(hash),
            Home::Memory(contents) => {
                let contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(contents.iter().find(|(known, _)| known == hash).map(|(_, bytes)| bytes.clone()))
            }
        }
    }

    /// Keeps what a change will replace, and gives the change its number. The oldest changes are let
    /// go.
    pub(super) fn keep(&self, files: Vec<(ChangedFile, Option<Vec<u8>>)>) -> io::Result<u64> {
        let (files, contents): (Vec<ChangedFile>, Vec<Option<Vec<u8>>>) = files.into_iter().unzip();
        let contents: Vec<Vec<u8>> = contents.into_iter().flatten().collect();
        self.update(&contents, |journal| {
            journal.last += 1;
            for file in &files {
                if journal.bases.len() < MAX_BASES && !journal.bases.contains_key(&file.path) {
                    journal.bases.insert(file.path.clone(), file.before.clone());
                    journal.first.insert(file.path.clone(), journal.last);
                }
            }
            journal.changes.push_back(FileChange { number: journal.last, files });
            if journal.changes.len() > MAX_CHANGES {
                journal.changes.pop_front();
            }
            journal.last
        })
    }

    /// A change was taken back, or has not come about: what it was the first to change holds what it
    /// did, and whoever changes it before the next change of the session is somebody else.
    pub(super) fn forget(&self, number: u64) -> io::Result<()> {
        self.update(&[], |journal| {
            let Journal { changes, bases, first, last: _ } = journal;
            changes.retain(|change| change.number != number);
            // What was changed again since holds what the session made of it.
            let is_changed = |path: &str| changes.iter().any(|change| change.has(path));
            first.retain(|path, by| {
                let is_base = *by != number || is_changed(path);
                if !is_base {
                    bases.remove(path);
                }
                is_base
            });
        })
    }

    fn with<T>(&self, look: impl FnOnce(&Journal) -> T) -> io::Result<T> {
        let mut journal = self.lock();
        Ok(look(self.read(&mut journal)?))
    }

    fn update<T>(
        &self,
        contents: &[Vec<u8>],
        change: impl FnOnce(&mut Journal) -> T,
    ) -> io::Result<T> {
        let mut known = self.lock();
        let mut journal = self.read(&mut known)?.clone();
        let done = change(&mut journal);
        match &self.home {
            Home::Disk { copies, owner } => {
                let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
                copies.keep(owner, &serde_json::to_vec(&journal)?, &contents)?;
            }
            Home::Memory(kept) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                for content in contents {
                    let hash = sha256(content);
                    kept.retain(|(known, _)| *known != hash);
                    kept.push_back((hash, content.clone()));
                }
                while kept.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > MAX_KEPT {
                    kept.pop_front();
                }
            }
        }
        *known = Some(journal);
        Ok(done)
    }

    fn read<'j>(&self, journal: &'j mut Option<Journal>) -> io::Result<&'j Journal> {
        let stored = match (&self.home, &*journal) {
            (Home::Disk { copies, owner }, None) => copies.journal(owner)?,
            _ => None,
        };
        let read = || match stored.as_deref().map(serde_json::from_slice) {
            Some(Ok(journal)) => journal,
            Some(Err(error)) => {
                // Nothing can be taken back any more that it told of; what comes can.
                tracing::warn!(%error, "the journal of a session's changes is damaged and begun anew");
                Journal::default()
            }
            None => Journal::default(),
        };
        Ok(journal.get_or_insert_with(read))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Journal>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::copies::CopyLimits;
    use super::*;

    fn file(path: &str, before: &[u8], after: &[u8]) -> (ChangedFile, Option<Vec<u8>>) {
        let (old, new) = (Some(sha256(before)), Some(sha256(after)));
        let file = ChangedFile { path: path.into(), before: old, after: new, mode: None };
        (file, Some(before.to_vec()))
    }

    #[test]
    fn changes_are_bounded_and_the_first_content_is_remembered() {
        let changes = FileChanges::default();
        for number in 0_usize..=MAX_CHANGES {
            let old = number.to_string();
            let new = (number + 1).to_string();
            changes.keep(vec![file("f", old.as_bytes(), new.as_bytes())]).unwrap();
        }
        let list = changes.list().unwrap();
        assert_eq!(list.len(), MAX_CHANGES);
        assert_eq!(list.first().map(|change| change.number), Some(2));
        assert_eq!(changes.bases().unwrap()["f"], Some(sha256(b"0")));
        changes.keep(vec![file("large", &vec![0; MAX_KEPT + 1], b"")]).unwrap();
        assert_eq!(changes.content(&sha256(b"0")).unwrap(), None, "let go for a larger one");
    }

    #[test]
    fn a_change_that_has_not_come_about_or_was_taken_back_leaves_no_base() {
        let changes = FileChanges::default();
        let number = changes.keep(vec![file("a", b"1", b"2"), file("b", b"1", b"2")]).unwrap();
        changes.forget(number).unwrap();
        assert!(changes.bases().unwrap().is_empty());
        // Somebody has changed it meanwhile: that is not the session's doing.
        changes.keep(vec![file("a", b"other", b"3")]).unwrap();
        assert_eq!(changes.bases().unwrap()["a"], Some(sha256(b"other")));
        let later = changes.keep(vec![file("a", b"3", b"4"), file("c", b"5", b"6")]).unwrap();
        changes.forget(later).unwrap();
        let bases = changes.bases().unwrap();
        assert_eq!(bases["a"], Some(sha256(b"other")), "the first change stands");
        assert!(!bases.contains_key("c"));
    }

    #[test]
    fn changes_on_the_disk_outlive_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let open = || {
            let copies = UndoCopies::open(&dir.path().join("undo"), CopyLimits::default()).unwrap();
            FileChanges::kept_in(Arc::new(copies), "S".into())
        };
        let first = open();
        assert_eq!(first.keep(vec![file("a", b"1", b"2")]).unwrap(), 1);
        assert_eq!(first.keep(vec![file("b", b"3", b"4")]).unwrap(), 2);
        let again = open();
        assert_eq!(again.list().unwrap(), first.list().unwrap());
        assert_eq!(again.content(&sha256(b"3")).unwrap().as_deref(), Some(b"3".as_slice()));
        again.forget(2).unwrap();
        assert_eq!(again.keep(vec![file("c", b"5", b"6")]).unwrap(), 3, "no number twice");
        assert_eq!(open().list().unwrap().len(), 2);
        std::fs::write(dir.path().join("undo/journals/S.json"), "{").unwrap();
        assert!(open().list().unwrap().is_empty());
    }
}
