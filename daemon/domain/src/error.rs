//! How errors are classed for users, and how they are kept in the log.

use serde::{Deserialize, Serialize};

/// The class of an error that can reach a user. Each maps to one gRPC code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request makes no sense whatever the state: INVALID_ARGUMENT.
    Invalid,
    /// The thing asked for does not exist: NOT_FOUND.
    NotFound,
    /// It exists already or was decided already: ALREADY_EXISTS.
    Conflict,
    /// The state does not allow it now: FAILED_PRECONDITION.
    Precondition,
    /// Too much at once; try again later: RESOURCE_EXHAUSTED.
    Busy,
    /// Not allowed: PERMISSION_DENIED.
    Denied,
    /// Cannot be reached now; trying again may work: UNAVAILABLE.
    Unavailable,
    /// It was cancelled: CANCELLED.
    Cancelled,
    /// Stored data is damaged: DATA_LOSS.
    Corrupt,
    /// A fault of ours: INTERNAL.
    Internal,
}

/// An error as the log keeps it and as users see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// Machine-readable, upper case, such as `PROVIDER_UNAVAILABLE`.
    pub code: String,
    /// What went wrong. Never holds a secret.
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub hint: String,
    /// True when trying again may work.
    #[serde(default)]
    pub retryable: bool,
}
