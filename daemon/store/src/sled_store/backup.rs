//! Copying a store that is in use.

use std::fs;
use std::io;
use std::path::Path;

use crate::sled_store::check;
use crate::sled_store::copy::{Copied, CopyError, Mode, copy};
use crate::sled_store::disk::{self, DiskSync};
use crate::sled_store::files::open_sled;
use crate::{BackupError, BackupReport, ReadError};

/// Memory for the pages of the copy; it is written in order and read once.
const CACHE_BYTES: u64 = 4 << 20;

/// Suffix of a copy that is not whole yet.
pub(crate) const UNFINISHED: &str = "unfinished";

/// Copies `db` to `destination`, which appears only when the copy is whole and was read back.
pub(crate) fn backup(db: &sled::Db, destination: &Path) -> Result<BackupReport, BackupError> {
    if !destination.is_absolute() {
        return Err(BackupError::NotAbsolute(destination.to_owned()));
    }
    if destination.try_exists().map_err(BackupError::Io)? {
        return Err(BackupError::Exists(destination.to_owned()));
    }
    let unfinished = disk::beside(destination, UNFINISHED);
    remove_dir(&unfinished).map_err(BackupError::Io)?;
    disk::create_private_dir(&unfinished).map_err(BackupError::Io)?;
    let report = write(db, &unfinished);
    match &report {
        Ok(_report) => fs::rename(&unfinished, destination)
            .and_then(|()| disk::sync_parent(destination))
            .map_err(BackupError::Io)?,
        Err(_error) => remove_dir(&unfinished).map_err(BackupError::Io)?,
    }
    report
}

fn write(db: &sled::Db, dir: &Path) -> Result<BackupReport, BackupError> {
    let write_error =
        |fault: crate::sled_store::fault::Fault| BackupError::Write(fault.to_commit_error());
    let target = open_sled(dir, CACHE_BYTES).map_err(write_error)?;
    let Copied { sessions, events, .. } =
        copy(db, &target, Mode::Backup).map_err(|error| match error {
            CopyError::Read(error) => BackupError::Read(error),
            CopyError::Write(fault) => write_error(fault),
        })?;
    let mut sync = DiskSync::new(dir).map_err(BackupError::Io)?;
    sync.all_blobs().and_then(|()| sync.log()).map_err(BackupError::Io)?;
    let found = check::verify(&target);
    if !found.is_sound() || (found.sessions, found.events) != (sessions, events) {
        let detail = format!("the copy of {sessions} sessions, {events} events reads as {found:?}");
        return Err(BackupError::Read(ReadError::Corrupt { detail }));
    }
    Ok(BackupReport { sessions, events })
}

/// Removes a directory that may be missing.
pub(crate) fn remove_dir(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
