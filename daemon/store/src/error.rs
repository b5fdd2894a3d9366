//! What can go wrong, one enum per operation.

use std::io;
use std::path::PathBuf;

use agentd_domain::{DecodeEventError, ErrorKind, Seq, SessionId};

/// Why a batch was not committed. Nothing of it is kept.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// An append does not continue its log.
    #[error("the log of session {session_id} ends at {last}, so event {got} does not follow")]
    OutOfOrder {
        /// The session.
        session_id: SessionId,
        /// Last event of the log.
        last: Seq,
        /// The event that was to be appended.
        got: Seq,
    },
    /// The disk is full.
    #[error("the disk of the data directory is full")]
    DiskFull(#[source] io::Error),
    /// Another I/O error.
    #[error("the data directory cannot be written")]
    Io(#[source] io::Error),
    /// The backend found its files damaged.
    #[error("the store is damaged: {detail}")]
    Corrupt {
        /// What the backend says.
        detail: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl CommitError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfOrder { .. } => ErrorKind::Internal,
            Self::DiskFull(_) | Self::Io(_) | Self::Closed => ErrorKind::Unavailable,
            Self::Corrupt { .. } => ErrorKind::Corrupt,
        }
    }

    /// What a user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::OutOfOrder { .. } => "report this as a bug with the daemon's log",
            Self::DiskFull(_) => "free some space on the data directory's disk and send it again",
            Self::Io(_) => "check that the data directory exists and is writable",
            Self::Corrupt { .. } => {
                "restart agentd: it salvages what is readable and keeps the damaged files"
            }
            Self::Closed => "the daemon is stopping; try again when it is back",
        }
    }
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A stored event is damaged.
    #[error("the log of session {session_id} is damaged near event {near}")]
    Event {
        /// The session.
        session_id: SessionId,
        /// The position.
        near: Seq,
        /// What is wrong with it; none when it is missing or its checksum is wrong.
        #[source]
        source: Option<DecodeEventError>,
    },
    /// Another record is damaged.
    #[error("a stored {what} is damaged")]
    Record {
        /// What it was.
        what: &'static str,
    },
    /// An I/O error.
    #[error("the data directory cannot be read")]
    Io(#[source] io::Error),
    /// The backend found its files damaged.
    #[error("the store is damaged: {detail}")]
    Corrupt {
        /// What the backend says.
        detail: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl ReadError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Event { .. } | Self::Record { .. } | Self::Corrupt { .. } => ErrorKind::Corrupt,
            Self::Io(_) | Self::Closed => ErrorKind::Unavailable,
        }
    }

    /// What a user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Event { .. } | Self::Record { .. } | Self::Corrupt { .. } => {
                "stop the daemon and run `agentd check`, which says what is readable"
            }
            Self::Io(_) => "check that the data directory exists and is readable",
            Self::Closed => "the daemon is stopping; try again when it is back",
        }
    }
}

/// Why a copy was not made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The destination exists.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// The destination is not an absolute path.
    #[error("{} is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    /// The copy could not be written.
    #[error("the copy cannot be written")]
    Write(#[source] CommitError),
    /// The destination could not be created.
    #[error("the destination cannot be created")]
    Io(#[source] io::Error),
    /// The original could not be read.
    #[error("the store cannot be read")]
    Read(#[source] ReadError),
}
