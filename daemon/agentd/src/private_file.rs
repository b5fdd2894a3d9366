//! Reading files that hold secrets: mode and owner are checked on the open file, not on its path.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Reads a file that only its owner, this user, can read, at most `max` bytes of it.
///
/// # Errors
/// What is wrong with it, as the end of a sentence about the file.
pub(crate) fn read_private(path: &Path, max: u64) -> Result<String, String> {
    read(path, max, 0o077, false)
}

/// Reads a file that systemd made for this service: root's, and readable by a group of its own.
///
/// # Errors
/// What is wrong with it, as the end of a sentence about the file.
pub(crate) fn read_credential(path: &Path, max: u64) -> Result<String, String> {
    read(path, max, 0o037, true)
}

fn read(path: &Path, max: u64, refused: u32, may_be_roots: bool) -> Result<String, String> {
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        // A FIFO in its place must not block the daemon.
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if metadata.mode() & refused != 0 {
        let mode = metadata.mode() & 0o777;
        return Err(format!("has mode {mode:o}, so others can read it; run chmod 600 on it"));
    }
    let owner = metadata.uid();
    let is_trusted = owner == rustix::process::geteuid().as_raw() || (may_be_roots && owner == 0);
    if !is_trusted {
        return Err("belongs to another user".to_owned());
    }
    let mut text = String::new();
    file.by_ref().take(max).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(text)
}
