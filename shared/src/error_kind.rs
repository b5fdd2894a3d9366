//! The kinds of error that a user can meet.

/// What sort of trouble an error is; decides exit codes and whether waiting helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is wrong and stays wrong.
    Invalid,
    /// What was asked for does not exist.
    NotFound,
    /// It contradicts what exists, or what somebody else did first.
    Conflict,
    /// A limit is reached for now.
    Busy,
    /// Not allowed.
    Denied,
    /// The other side cannot be reached or cannot answer now.
    Unavailable,
    /// It was called off.
    Cancelled,
    /// Stored data is damaged.
    Corrupt,
    /// A fault of the program.
    Internal,
}

impl ErrorKind {
    /// Tells whether the same request may work later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::Busy | Self::Unavailable => true,
            Self::Invalid
            | Self::NotFound
            | Self::Conflict
            | Self::Denied
            | Self::Cancelled
            | Self::Corrupt
            | Self::Internal => false,
        }
    }
}
