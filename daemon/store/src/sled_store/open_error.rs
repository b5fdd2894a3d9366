//! Why a store is not opened.

use std::io;
use std::path::PathBuf;

use agentd_domain::ErrorKind;

/// Why a store is not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// A file is where the directory should be.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The directory, or its file system, may not be written.
    #[error("{} is not writable", .path.display())]
    NotWritable {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// There is no space left.
    #[error("the disk of {} is full", .path.display())]
    DiskFull {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Another I/O error.
    #[error("{} cannot be opened", .path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A newer agentd wrote it.
    #[error("the store has version {found}; this agentd reads versions up to {supported}")]
    NewerVersion {
        /// Version of the store.
        found: u32,
        /// Newest version that this build reads.
        supported: u32,
    },
    /// An older agentd wrote it, and this one no longer knows how.
    #[error("the store has version {found}, which this agentd cannot bring to {supported}")]
    OlderVersion {
        /// Version of the store.
        found: u32,
        /// Version that this build writes.
        supported: u32,
    },
    /// It is damaged and salvaging failed too.
    #[error("the store in {} is damaged and nothing could be made of it: {detail}", .path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What the backend says.
        detail: String,
    },
}

impl OpenError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InUse(_) => ErrorKind::Conflict,
            Self::NotADirectory(_) | Self::NewerVersion { .. } | Self::OlderVersion { .. } => {
                ErrorKind::Precondition
            }
            Self::NotWritable { .. } => ErrorKind::Denied,
            Self::DiskFull { .. } | Self::Io { .. } => ErrorKind::Unavailable,
            Self::Damaged { .. } => ErrorKind::Corrupt,
        }
    }

    /// What a user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::InUse(_) => "stop the other agentd, or use it",
            Self::NotADirectory(_) => "move that file away, or choose another data directory",
            Self::NotWritable { .. } => {
                "make the data directory writable for this user, or choose another one"
            }
            Self::DiskFull { .. } => "free some space on the data directory's disk and start again",
            Self::Io { .. } => "check the data directory and its disk",
            Self::NewerVersion { .. } => {
                "start the newer agentd again, or restore a backup made by this version"
            }
            Self::OlderVersion { .. } => "open it once with the releases in between",
            Self::Damaged { .. } => "restore a backup, or move the store away to begin anew",
        }
    }
}
