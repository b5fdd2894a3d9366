//! The log file of a daemon that a client starts.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::text::sanitize;

/// Size in bytes from which a new file is begun; one old file is kept.
const MAX_LOG: u64 = 8 * 1024 * 1024;
/// How much of its end is looked at, in bytes.
const TAIL_BYTES: u64 = 8 * 1024;
const TAIL_LINES: usize = 20;

pub(super) struct Log {
    pub(super) file: File,
    /// Where the new daemon's lines begin.
    pub(super) start: u64,
}

/// Opens the file for appending, only for this user. The caller holds the start lock.
pub(super) fn open(path: &Path) -> io::Result<Log> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.len() > MAX_LOG => {
            std::fs::rename(path, path.with_extension("log.1"))?;
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = private_file(path, OpenOptions::new().append(true))?;
    let start = file.metadata()?.len();
    Ok(Log { file, start })
}

/// Opens a file of mode 0600, creating it if need be, and never through a link.
pub(super) fn private_file(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
    let flags = i32::try_from(no_follow).map_err(io::Error::other)?;
    options.create(true).mode(0o600).custom_flags(flags).open(path)
}

/// Returns the last lines after `start`; empty when there are none.
pub(super) fn tail(path: &Path, start: u64) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(start.max(end.saturating_sub(TAIL_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(TAIL_LINES);
    lines.into_iter().skip(skipped).collect::<Vec<_>>().join("\n")
}

/// Returns log lines as they stand under an error message.
pub(super) fn quoted(log_tail: &str) -> String {
    log_tail.lines().fold(String::new(), |text, line| text + "\n  | " + &sanitize(line))
}
