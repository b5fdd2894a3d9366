//! Directories that only their owner can enter.

use std::fs::{DirBuilder, FileType};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::PathsError;

const PRIVATE: u32 = 0o700;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Makes sure that `path` is a directory of mode 0700 that belongs to this user and is no link.
///
/// Missing directories are created. A directory of ours with a wider mode is restricted.
///
/// # Errors
/// [`PathsError`] names the path, what is wrong with it, and by its hint what to do.
pub fn ensure_private_dir(path: impl AsRef<Path>) -> Result<(), PathsError> {
    let path = path.as_ref();
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => refuse_others(path, metadata.file_type())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(path)?,
        Err(source) => return Err(failed("inspect", path, source)),
    }
    // From here on all is asked of the opened directory, so that nobody can exchange it in between.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| failed("inspect", path, errno.into()))?;
    let directory = std::fs::File::from(directory);
    let metadata = directory.metadata().map_err(|source| failed("inspect", path, source))?;
    let expected = rustix::process::geteuid().as_raw();
    if metadata.uid() != expected {
        let owner = metadata.uid();
        return Err(PathsError::ForeignOwner { path: path.to_path_buf(), owner, expected });
    }
    if metadata.mode() & 0o777 != PRIVATE {
        rustix::fs::fchmod(&directory, Mode::from_raw_mode(PRIVATE))
            .map_err(|errno| failed("restrict", path, errno.into()))?;
    }
    Ok(())
}

/// The same for a directory whose files this process only reads: it may also be root's, as that of a
/// system service is, if nobody else can write to it.
///
/// # Errors
/// As [`ensure_private_dir`].
pub fn ensure_config_dir(path: impl AsRef<Path>) -> Result<(), PathsError> {
    let path = path.as_ref();
    let is_roots = std::fs::symlink_metadata(path).is_ok_and(|metadata| {
        metadata.is_dir() && metadata.uid() == 0 && metadata.mode() & WRITABLE_BY_OTHERS == 0
    });
    if is_roots && !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    ensure_private_dir(path)
}

fn create(path: &Path) -> Result<(), PathsError> {
    match DirBuilder::new().recursive(true).mode(PRIVATE).create(path) {
        Ok(()) => Ok(()),
        Err(source) => Err(failed("create", path, source)),
    }
}

fn refuse_others(path: &Path, file_type: FileType) -> Result<(), PathsError> {
    let path = path.to_path_buf();
    if file_type.is_symlink() {
        return Err(PathsError::Symlink { path });
    }
    if file_type.is_socket() || !file_type.is_dir() {
        return Err(PathsError::NotADirectory { path });
    }
    Ok(())
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> PathsError {
    PathsError::Io { action, path: path.to_path_buf(), source }
}
