//! What sled and the file system say, sorted by what can be done about it.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{CommitError, ReadError};

/// Why sled could not do something.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Another process, or another store in this one, has the directory open.
    InUse,
    /// There is no space left.
    Full(io::Error),
    /// The system refuses.
    Io(io::Error),
    /// The files are not what sled wrote.
    Damaged(String),
}

impl Fault {
    pub(crate) fn io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full(error),
            // These come from reading past the end of a cut file, or a blob that is gone.
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::NotFound => Self::Damaged(error.to_string()),
            // sled tells a held lock only by its text.
            io::ErrorKind::Other if error.to_string().contains("could not acquire lock") => {
                Self::InUse
            }
            _ => Self::Io(error),
        }
    }

    /// The error for one of several callers.
    pub(crate) fn to_commit_error(&self) -> CommitError {
        match self {
            Self::InUse => CommitError::Io(io::ErrorKind::ResourceBusy.into()),
            Self::Full(error) => CommitError::DiskFull(again(error)),
            Self::Io(error) => CommitError::Io(again(error)),
            Self::Damaged(detail) => CommitError::Corrupt { detail: detail.clone() },
        }
    }

    pub(crate) fn into_read_error(self) -> ReadError {
        match self {
            Self::InUse => ReadError::Io(io::ErrorKind::ResourceBusy.into()),
            Self::Full(error) | Self::Io(error) => ReadError::Io(error),
            Self::Damaged(detail) => ReadError::Corrupt { detail },
        }
    }
}

fn again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl From<sled::Error> for Fault {
    fn from(error: sled::Error) -> Self {
        match error {
            sled::Error::Io(error) => Self::io(error),
            damage @ (sled::Error::CollectionNotFound(_)
            | sled::Error::Unsupported(_)
            | sled::Error::ReportableBug(_)
            | sled::Error::Corruption { .. }) => Self::Damaged(damage.to_string()),
        }
    }
}

/// Runs `work`, and takes a panic for damage: sled panics on files that it does not expect.
pub(crate) fn guarded<T, E: From<Fault>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Fault::Damaged(panic_text(&*panic)).into()))
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::io(error),
            damage @ (ReadError::Event { .. }
            | ReadError::Record { .. }
            | ReadError::Corrupt { .. }
            | ReadError::Closed) => Self::Damaged(damage.to_string()),
        }
    }
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        fault.into_read_error()
    }
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("the backend panicked: {text}")
}
