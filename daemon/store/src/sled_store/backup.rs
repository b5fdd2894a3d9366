//! Copying a store that is in use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::sled_store::check;
use crate::sled_store::copy::{Copied, CopyError, Mode, copy};
use crate::sled_store::disk::{self, DiskSync};
use crate::sled_store::files::open_sled;
use crate::{BackupError, BackupReport, ReadError};

/// Memory for the pages of the copy; it is written in order and read once.
const CACHE_BYTES: u64 = 4 << 20;

/// Suffix of a copy that is not whole yet.
pub(crate) const UNFINISHED: &str = "unfinished";

/// A copy that was written and not read back yet; its directory has another name until then.
pub(crate) struct Written {
    target: sled::Db,
    unfinished: PathBuf,
    destination: PathBuf,
    report: BackupReport,
}

/// Copies `db` for `destination`, until `stop` becomes true.
pub(crate) fn write(
    db: &sled::Db,
    destination: &Path,
    stop: &AtomicBool,
) -> Result<Written, BackupError> {
    if !destination.is_absolute() {
        return Err(BackupError::NotAbsolute(destination.to_owned()));
    }
    if destination.try_exists().map_err(BackupError::Io)? {
        return Err(BackupError::Exists(destination.to_owned()));
    }
    let unfinished = disk::beside(destination, UNFINISHED);
    remove_dir(&unfinished).map_err(BackupError::Io)?;
    disk::create_private_dir(&unfinished).map_err(BackupError::Io)?;
    match write_into(db, &unfinished, stop) {
        Ok((target, report)) => {
            Ok(Written { target, unfinished, destination: destination.to_owned(), report })
        }
        Err(error) => {
            remove_dir(&unfinished).map_err(BackupError::Io)?;
            Err(error)
        }
    }
}

fn write_into(
    db: &sled::Db,
    dir: &Path,
    stop: &AtomicBool,
) -> Result<(sled::Db, BackupReport), BackupError> {
    let write_error =
        |fault: crate::sled_store::fault::Fault| BackupError::Write(fault.to_commit_error());
    let target = open_sled(dir, CACHE_BYTES).map_err(write_error)?;
    let Copied { sessions, events, .. } =
        copy(db, &target, Mode::Backup, stop).map_err(|error| match error {
            CopyError::Read(error) => BackupError::Read(error),
            CopyError::Write(fault) => write_error(fault),
        })?;
    let mut sync = DiskSync::new(dir).map_err(BackupError::Io)?;
    sync.all_blobs().and_then(|()| sync.log()).map_err(BackupError::Io)?;
    Ok((target, BackupReport { sessions, events }))
}

impl Written {
    /// Reads the copy back. Only then does it get its name. It needs the store no more, which may be
    /// closed meanwhile.
    pub(crate) fn finish(self) -> Result<BackupReport, BackupError> {
        let Self { target, unfinished, destination, report } = self;
        let found = check::verify(&target);
        drop(target);
        let BackupReport { sessions, events } = report;
        if !found.is_sound() || (found.sessions, found.events) != (sessions, events) {
            remove_dir(&unfinished).map_err(BackupError::Io)?;
            let detail =
                format!("the copy of {sessions} sessions, {events} events reads as {found:?}");
            return Err(BackupError::Read(ReadError::Corrupt { detail }));
        }
        fs::rename(&unfinished, &destination)
            .and_then(|()| disk::sync_parent(&destination))
            .map_err(BackupError::Io)?;
        Ok(report)
    }
}

/// Removes a directory that may be missing.
pub(crate) fn remove_dir(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::conformance::sample::{append, session_id};
    use crate::{BackupError, ReadError, SledOptions, SledStore, Store as _};

    #[tokio::test]
    async fn a_copy_ends_when_the_store_is_about_to_close_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store =
            SledStore::open(&dir.path().join("store"), SledOptions::default()).unwrap().store;
        store.commit(append(session_id(1), 1, 10)).await.unwrap();
        store.files.stop_copies();
        let ended = store.backup(&dir.path().join("copy")).await;
        assert!(matches!(ended, Err(BackupError::Read(ReadError::Closed))), "{ended:?}");
        let left = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("copy")));
        store.close().await.unwrap();
    }
}
