//! The number of the last acknowledged commit, kept beside the store.
//!
//! A sled log that is cut short opens as an older, consistent store: nothing inside it tells that
//! commits are missing. So the store counts its commits, and this small file, written after each one
//! is durable, says how far the count had come. It is not synced: after a power loss it may be
//! behind the store, never before it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Count, state, checksum.
const MARK_BYTES: usize = 13;

/// In which state the store was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum LastRun {
    /// Open, or killed.
    Open = 0,
    /// Closed.
    Clean = 1,
    /// Damage was met; the next start checks everything.
    Suspect = 2,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct CommitMark(File);

impl CommitMark {
    pub(crate) fn path_of(dir: &Path) -> PathBuf {
        crate::sled_store::disk::beside(dir, "commits")
    }

    /// Opens the file and gives what the last run left in it; none when it is missing or torn.
    pub(crate) fn open(dir: &Path) -> io::Result<(Self, Option<(u64, LastRun)>)> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(Self::path_of(dir))?;
        let mut bytes = [0; MARK_BYTES];
        let last = file.read_exact_at(&mut bytes, 0).ok().and_then(|()| decode(bytes));
        Ok((Self(file), last))
    }

    /// Writes the mark. A failure is not the commit's: the mark is then behind, which is harmless.
    pub(crate) fn write(&self, commits: u64, state: LastRun) {
        if let Err(error) = self.0.write_all_at(&encode(commits, state), 0) {
            tracing::warn!(%error, "the count of commits cannot be written");
        }
    }
}

fn encode(commits: u64, state: LastRun) -> Vec<u8> {
    let mut bytes = commits.to_be_bytes().to_vec();
    bytes.push(state as u8);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

fn decode(bytes: [u8; MARK_BYTES]) -> Option<(u64, LastRun)> {
    let (commits, rest) = bytes.split_first_chunk()?;
    let state = match rest.first()? {
        0 => LastRun::Open,
        1 => LastRun::Clean,
        2 => LastRun::Suspect,
        _ => return None,
    };
    let commits = u64::from_be_bytes(*commits);
    (encode(commits, state) == bytes).then_some((commits, state))
}
