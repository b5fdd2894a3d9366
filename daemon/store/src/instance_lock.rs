//! One daemon per data directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use agentd_domain::ErrorKind;

/// Longest content of a lock file that is looked at: a process id and a line break.
const PID_BYTES: u64 = 32;

/// Held while the daemon runs.
///
/// The kernel's lock on the file is what counts, never the file: it is not deleted, and whatever an
/// earlier daemon or somebody else wrote into it is harmless. The kernel frees the lock when the
/// process ends, however it ends. The descriptor is closed in started programs.
#[derive(Debug)]
pub struct InstanceLock {
    /// None once it was given away.
    file: Option<File>,
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it. It may be on its way out: try again for about a second.
    #[error("agentd is already running{}", .pid.map_or_else(String::new, |pid| format!(", pid {pid}")))]
    Held {
        /// What the holder wrote into the file; none when that is not a process id.
        pid: Option<u32>,
        /// The lock file.
        path: PathBuf,
    },
    /// The file cannot be created or locked.
    #[error("{} cannot be locked", .path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl LockError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Held { .. } => ErrorKind::Conflict,
            Self::Io { .. } => ErrorKind::Unavailable,
        }
    }

    /// What a user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Held { .. } => {
                "use the running daemon, or stop it first with `agentctl shutdown`"
            }
            Self::Io { .. } => "check that the data directory exists and is writable",
        }
    }
}

impl InstanceLock {
    /// Takes the lock without waiting, and writes this process's id into the file.
    ///
    /// # Errors
    /// When another process holds it, or the file cannot be opened.
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let io_error = |source| LockError::Io { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(io_error)?;
        Self::hold(file, path)
    }

    /// Gives the locked file away, for a program that takes this one's place: it stays locked as
    /// long as any descriptor of it is open.
    pub fn into_file(mut self) -> File {
        #[expect(clippy::expect_used, reason = "only this function takes it, and it takes self")]
        self.file.take().expect("a lock that is held has its file")
    }

    /// Goes on holding the lock of a file that [`Self::into_file`] gave away.
    ///
    /// # Errors
    /// When it is not the file at `path` any more, another process has locked it meanwhile, or it
    /// cannot be looked at.
    pub fn adopt(file: File, path: &Path) -> Result<Self, LockError> {
        let io_error = |source| LockError::Io { path: path.to_owned(), source };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let (ours, there) = (
                file.metadata().map_err(io_error)?,
                std::fs::symlink_metadata(path).map_err(io_error)?,
            );
            if (ours.dev(), ours.ino()) != (there.dev(), there.ino()) {
                return Err(io_error(io::Error::other("another file lies there by now")));
            }
        }
        Self::hold(file, path)
    }

    /// Locks the file and writes this process's id into it.
    fn hold(mut file: File, path: &Path) -> Result<Self, LockError> {
        let io_error = |source| LockError::Io { path: path.to_owned(), source };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held { pid: read_pid(&mut file), path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(io_error(source)),
        }
        write_pid(&mut file).map_err(io_error)?;
        Ok(Self { file: Some(file) })
    }
}

impl Drop for InstanceLock {
    /// Frees the lock at once, even while a program that was being started still has the descriptor.
    fn drop(&mut self) {
        if let Some(file) = &self.file
            && let Err(error) = file.unlock()
        {
            tracing::warn!(%error, "the instance lock is freed only when the process ends");
        }
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(PID_BYTES).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
