//! The file system under the store.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// `NAME.suffix` beside `dir`.
pub(crate) fn beside(dir: &Path, suffix: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    dir.with_file_name(name)
}

/// Creates a directory that only its owner can enter.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Bytes of all files under a directory. Files that vanish meanwhile count as nothing.
pub(crate) fn bytes_under(dir: &Path) -> io::Result<u64> {
    let mut bytes: u64 = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else { continue };
        bytes = bytes.saturating_add(if metadata.is_dir() {
            bytes_under(&entry.path()).unwrap_or(0)
        } else {
            metadata.len()
        });
    }
    Ok(bytes)
}

/// Free bytes for this user on the file system of `path`.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Copies the files of a sled directory for which `wanted` is true; blobs always.
pub(crate) fn copy_sled_dir(
    from: &Path,
    to: &Path,
    wanted: impl Fn(&str) -> bool,
) -> io::Result<()> {
    create_private_dir(&to.join("blobs"))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && name.to_str().is_some_and(&wanted) {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    let Ok(blobs) = fs::read_dir(from.join("blobs")) else { return Ok(()) };
    for blob in blobs {
        let blob = blob?;
        fs::copy(blob.path(), to.join("blobs").join(blob.file_name()))?;
    }
    Ok(())
}

/// Makes renames in the directory of `path` durable.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// A modification time this old cannot be that of a change still to come: file systems keep it with
/// the kernel's clock tick, some milliseconds.
const SETTLED: Duration = Duration::from_millis(100);

/// Brings sled's files to the disk itself. sled asks the kernel to write its log, which survives the
/// end of the process but not of the power, and does not sync its blobs at all.
#[derive(Debug)]
pub(crate) struct DiskSync {
    log: File,
    blobs: PathBuf,
    seen: Option<SystemTime>,
    newest: Option<i64>,
}

impl DiskSync {
    pub(crate) fn new(dir: &Path) -> io::Result<Self> {
        let (log, blobs) = (File::open(dir.join("db"))?, dir.join("blobs"));
        let newest = fs::read_dir(&blobs)?.filter_map(|entry| blob_number(&entry.ok()?)).max();
        Ok(Self { log, blobs, seen: None, newest })
    }

    /// Syncs every blob.
    pub(crate) fn all_blobs(&mut self) -> io::Result<()> {
        (self.seen, self.newest) = (None, None);
        self.blobs()
    }

    /// Syncs the blobs that were written since the last call. Before the log is flushed, because the
    /// log points to them.
    pub(crate) fn blobs(&mut self) -> io::Result<()> {
        let changed = fs::metadata(&self.blobs)?.modified()?;
        if self.seen == Some(changed) {
            return Ok(());
        }
        let mut newest = self.newest;
        for entry in fs::read_dir(&self.blobs)? {
            let entry = entry?;
            let number = blob_number(&entry);
            if number > self.newest {
                newest = newest.max(number);
                match File::open(entry.path()) {
                    Ok(blob) => blob.sync_data()?,
                    // Replaced already.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if newest > self.newest {
            File::open(&self.blobs)?.sync_all()?;
            self.newest = newest;
        }
        #[expect(clippy::disallowed_methods, reason = "it is compared with a file's time")]
        let age = SystemTime::now().duration_since(changed).unwrap_or_default();
        self.seen = (age > SETTLED).then_some(changed);
        Ok(())
    }

    pub(crate) fn log(&self) -> io::Result<()> {
        self.log.sync_data()
    }
}

/// sled names blobs by their position in the log, so newer ones have larger numbers.
fn blob_number(entry: &fs::DirEntry) -> Option<i64> {
    entry.file_name().to_str()?.parse().ok()
}
