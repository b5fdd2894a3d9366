//! Copies of what changes have replaced, on the disk, so that they outlive the daemon.
//!
//! A copy is named by the hash of what it holds, so that one content is there once. Beside them each
//! owner of changes, a session or a workspace, has one journal. The oldest copies go first when there
//! are too many, and the oldest journals; whoever wants one back then is told that it is gone.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, DirEntry, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::save::sha256;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyLimits {
    /// Bytes of all copies.
    pub total: u64,
    /// Bytes of one.
    pub file: u64,
    /// Number of copies, and of journals.
    pub count: usize,
}

impl Default for CopyLimits {
    fn default() -> Self {
        Self { total: 256 * 1024 * 1024, file: 8 * 1024 * 1024, count: 20_000 }
    }
}

/// Tells one unfinished file from another.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

/// A directory of copies. Only this process writes there.
#[derive(Debug)]
pub struct UndoCopies {
    contents: PathBuf,
    journals: PathBuf,
    limits: CopyLimits,
    /// What the copies hold. Held while something is written, so that nothing is taken for unused
    /// between a copy and its journal.
    held: Mutex<Held>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Held {
    bytes: u64,
    count: usize,
    journals: usize,
}

/// Bytes of the name of a content.
const HASH: usize = 64;

impl UndoCopies {
    /// Opens the directory, or makes it, readable for its owner alone.
    ///
    /// # Errors
    /// When it cannot be made or looked at.
    pub fn open(dir: &Path, limits: CopyLimits) -> io::Result<Self> {
        let (contents, journals) = (dir.join("contents"), dir.join("journals"));
        for dir in [dir, &contents, &journals] {
            if let Err(error) = DirBuilder::new().mode(0o700).create(dir)
                && error.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(error);
            }
        }
        let copies = Self { contents, journals, limits, held: Mutex::default() };
        for dir in [&copies.contents, &copies.journals] {
            for entry in fs::read_dir(dir)? {
                let entry = entry?;
                // What a write left that was cut off.
                if entry.file_name().as_encoded_bytes().ends_with(b".tmp") {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        let mut held = copies.lock();
        *held = Held::of(&listed(&copies.contents)?, listed(&copies.journals)?.len());
        copies.make_room(&mut held)?;
        drop(held);
        Ok(copies)
    }

    /// The journal of an owner, if there is one.
    pub(super) fn journal(&self, owner: &str) -> io::Result<Option<Vec<u8>>> {
        read(&self.journal_path(owner))
    }

    /// Keeps contents, and then the journal that names them. A content that is larger than a copy may
    /// be is left out.
    pub(super) fn keep(&self, owner: &str, journal: &[u8], contents: &[&[u8]]) -> io::Result<()> {
        let mut held = self.lock();
        for content in contents {
            let bytes = content.len() as u64;
            if bytes > self.limits.file {
                continue;
            }
            let path = self.contents.join(sha256(content));
            let before = fs::metadata(&path).map(|known| known.len()).ok();
            // Written anew when it is known, so that it counts as new.
            write(&path, content)?;
            held.bytes = held.bytes.saturating_sub(before.unwrap_or(0)).saturating_add(bytes);
            held.count += usize::from(before.is_none());
        }
        let path = self.journal_path(owner);
        let is_new = fs::metadata(&path).is_err();
        write(&path, journal)?;
        held.journals += usize::from(is_new);
        self.make_room(&mut held)
    }

    /// A content by its hash; none when it is gone or damaged.
    pub(super) fn content(&self, hash: &str) -> io::Result<Option<Vec<u8>>> {
        if !is_hash(hash.as_bytes()) {
            return Ok(None);
        }
        Ok(read(&self.contents.join(hash))?.filter(|content| sha256(content) == hash))
    }

    /// Forgets an owner, and the copies that no other owner needs.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn forget(&self, owner: &str) -> io::Result<()> {
        let mut held = self.lock();
        let own = self.journal_path(owner);
        if fs::metadata(&own).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(());
        }
        let mut not_needed: BTreeMap<OsString, u64> = listed(&self.contents)?
            .into_iter()
            .map(|(entry, bytes)| (entry.file_name(), bytes))
            .collect();
        // One after the other: all of them at once may be more than there is memory.
        for (entry, _) in listed(&self.journals)? {
            if entry.path() != own {
                for hash in named(&fs::read(entry.path())?) {
                    not_needed.remove(hash);
                }
            }
        }
        for (name, bytes) in not_needed {
            fs::remove_file(self.contents.join(name))?;
            held.remove(bytes);
        }
        // Last: while it is there, what failed can be done again.
        fs::remove_file(own)?;
        held.journals = held.journals.saturating_sub(1);
        Ok(())
    }

    /// Removes the oldest copies when there are too many, and some more, so that it is done seldom;
    /// and the same of journals.
    fn make_room(&self, held: &mut Held) -> io::Result<()> {
        let CopyLimits { total, count, .. } = self.limits;
        if held.journals > count {
            let mut journals = listed(&self.journals)?;
            journals.sort_by_cached_key(|(entry, _)| changed(entry));
            held.journals = journals.len();
            for (entry, _) in journals {
                if held.journals <= count - count / 10 {
                    break;
                }
                fs::remove_file(entry.path())?;
                held.journals -= 1;
            }
        }
        if held.bytes <= total && held.count <= count {
            return Ok(());
        }
        let mut copies = listed(&self.contents)?;
        copies.sort_by_cached_key(|(entry, _)| changed(entry));
        for (entry, bytes) in copies {
            if held.bytes <= total - total / 10 && held.count <= count - count / 10 {
                break;
            }
            fs::remove_file(entry.path())?;
            held.remove(bytes);
        }
        Ok(())
    }

    fn journal_path(&self, owner: &str) -> PathBuf {
        // Owners are names of our own making; the hash keeps any other out of other directories.
        let is_plain = owner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let name = if is_plain { owner.to_owned() } else { sha256(owner.as_bytes()) };
        self.journals.join(format!("{name}.json"))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn of(copies: &[(DirEntry, u64)], journals: usize) -> Self {
        let bytes = copies.iter().map(|(_, bytes)| bytes).sum();
        Self { bytes, count: copies.len(), journals }
    }

    fn remove(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.count = self.count.saturating_sub(1);
    }
}

fn is_hash(name: &[u8]) -> bool {
    name.len() == HASH && name.iter().all(u8::is_ascii_hexdigit)
}

/// The names of contents in a journal, in whatever form it was written.
fn named(journal: &[u8]) -> impl Iterator<Item = &OsStr> {
    let words = journal.split(|byte| !byte.is_ascii_hexdigit());
    words.filter(|word| is_hash(word)).map(OsStr::from_bytes)
}

/// The files of a directory with their sizes.
fn listed(dir: &Path) -> io::Result<Vec<(DirEntry, u64)>> {
    fs::read_dir(dir)?
        .map(|entry| {
            let entry = entry?;
            let bytes = entry.metadata()?.len();
            Ok((entry, bytes))
        })
        .collect()
}

fn changed(entry: &DirEntry) -> Option<SystemTime> {
    entry.metadata().and_then(|metadata| metadata.modified()).ok()
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut content)) {
        Ok(_bytes) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file whole or not at all. Its directory is not made durable: after a loss of power the
/// last change may have no copy, and what is there is checked by its hash.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let number = UNFINISHED.fetch_add(1, Ordering::Relaxed);
    let unfinished = path.with_extension(format!("{number}.tmp"));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        drop(fs::remove_file(&unfinished));
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const SMALL: CopyLimits = CopyLimits { total: 100, file: 40, count: 50 };

    fn copies(dir: &Path) -> UndoCopies {
        UndoCopies::open(&dir.join("undo"), SMALL).unwrap()
    }

    fn has(copies: &UndoCopies, content: &[u8]) -> bool {
        copies.content(&sha256(content)).unwrap().as_deref() == Some(content)
    }

    #[test]
    fn a_copy_is_there_after_a_restart_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        copies(dir.path()).keep("s", b"{}", &[b"one", b"two"]).unwrap();
        let again = copies(dir.path());
        assert!(has(&again, b"one") && has(&again, b"two"));
        assert_eq!(again.journal("s").unwrap().as_deref(), Some(b"{}".as_slice()));
        assert_eq!(again.journal("other").unwrap(), None);
        assert_eq!(again.content("../../etc/passwd").unwrap(), None);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&dir.path().join("undo")), 0o700);
        assert_eq!(mode(&dir.path().join("undo/contents").join(sha256(b"one"))), 0o600);
        assert_eq!(mode(&dir.path().join("undo/journals/s.json")), 0o600);
    }

    #[test]
    fn copies_are_bounded_and_the_oldest_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let kept = copies(dir.path());
        let content = |number: u8| vec![number; 30];
        let set_old = |number: u8| {
            let path = dir.path().join("undo/contents").join(sha256(&content(number)));
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number.into());
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        for number in 1..=3 {
            kept.keep("s", b"{}", &[&content(number)]).unwrap();
            set_old(number);
        }
        // Seen again, it is no longer the oldest.
        kept.keep("s", b"{}", &[&content(1)]).unwrap();
        kept.keep("s", b"{}", &[&content(4)]).unwrap();
        assert!(!has(&kept, &content(2)), "the oldest is gone");
        assert!([1, 3, 4].iter().all(|number| has(&kept, &content(*number))));
        kept.keep("s", b"{}", &[&[9; 41]]).unwrap();
        assert!(!has(&kept, &[9; 41]), "larger than a copy may be");
    }

    #[test]
    fn what_no_owner_needs_any_more_is_removed_with_the_last_one() {
        let dir = tempfile::tempdir().unwrap();
        let kept = copies(dir.path());
        let (shared, own) = (sha256(b"shared"), sha256(b"own"));
        kept.keep("a", format!("{shared} {own}").as_bytes(), &[b"shared", b"own"]).unwrap();
        kept.keep("b", shared.as_bytes(), &[b"shared"]).unwrap();
        kept.forget("a").unwrap();
        assert!(has(&kept, b"shared") && !has(&kept, b"own"));
        assert_eq!(kept.journal("a").unwrap(), None);
        kept.forget("b").unwrap();
        assert!(!has(&kept, b"shared"));
        kept.forget("b").unwrap();
    }

    #[test]
    fn an_owner_of_whom_not_all_could_be_forgotten_can_be_forgotten_again() {
        let dir = tempfile::tempdir().unwrap();
        let kept = copies(dir.path());
        kept.keep("a", sha256(b"own").as_bytes(), &[b"own"]).unwrap();
        // A journal that cannot be read may need the copy.
        let odd = dir.path().join("undo/journals/odd.json");
        fs::create_dir(&odd).unwrap();
        assert!(kept.forget("a").is_err());
        assert!(has(&kept, b"own") && kept.journal("a").unwrap().is_some());
        fs::remove_dir(&odd).unwrap();
        kept.forget("a").unwrap();
        assert!(!has(&kept, b"own"));
        let held = *kept.lock();
        assert_eq!((held.bytes, held.count, held.journals), (0, 0, 0));
    }

    #[test]
    fn journals_are_bounded_and_the_oldest_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let kept = copies(dir.path());
        let old = |owner: &str, seconds: u64| {
            let path = kept.journal_path(owner);
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        for number in 0..SMALL.count {
            let owner = format!("s{number}");
            kept.keep(&owner, b"{}", &[]).unwrap();
            old(&owner, number as u64);
        }
        let again = copies(dir.path());
        again.keep("new", b"{}", &[]).unwrap();
        let is_there = |owner: &str| again.journal(owner).unwrap().is_some();
        assert!(is_there("new") && is_there("s49") && is_there("s6"));
        assert!(!is_there("s0") && !is_there("s5"));
        assert_eq!(again.lock().journals, 45);
    }

    #[test]
    fn a_damaged_copy_and_an_unfinished_one_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let kept = copies(dir.path());
        kept.keep("s", b"{}", &[b"whole"]).unwrap();
        let contents = dir.path().join("undo/contents");
        fs::write(contents.join(sha256(b"whole")), b"half").unwrap();
        assert!(!has(&kept, b"whole"));
        fs::write(contents.join("x.7.tmp"), b"cut off").unwrap();
        drop(copies(dir.path()));
        assert!(!contents.join("x.7.tmp").exists());
    }
}
