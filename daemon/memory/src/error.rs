//! Why memories are not changed or found.

use agentd_domain::{ErrorKind, MemoryId};
use agentd_store::{CommitError, ReadError};

/// Why a request about memories is refused.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// A field is not as it must be.
    #[error("{field}: {problem}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The text holds what looks like a secret.
    #[error("content: it holds what looks like {what}; secrets are never kept in memory")]
    Secret {
        /// What it looks like.
        what: &'static str,
    },
    /// There is no such memory.
    #[error("there is no memory '{id}'")]
    NotFound {
        /// What was asked for.
        id: String,
    },
    /// The end of an id fits more than one.
    #[error("'{id}' is the end of more than one id")]
    Ambiguous {
        /// What was asked for.
        id: String,
    },
    /// There is no such change.
    #[error("there is no change of memories to take back")]
    NoChange,
    /// Records were changed since.
    #[error("memory {id} was changed after that: it is at revision {revision}")]
    ChangedSince {
        /// Which.
        id: MemoryId,
        /// Its revision now.
        revision: u32,
    },
    /// No more fit.
    #[error("all {max} places for memories are taken; the least important is {least}")]
    Full {
        /// Most active memories.
        max: usize,
        /// Which could go.
        least: MemoryId,
    },
    /// All critical ones of the scope are pinned.
    #[error("all {max} places for critical memories are taken by pinned ones")]
    CriticalPinned {
        /// Most active critical memories of a scope.
        max: usize,
    },
    /// It is not in the state for this.
    #[error("memory {id} is {status}")]
    Status {
        /// Which.
        id: MemoryId,
        /// Its status.
        status: &'static str,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store cannot be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl MemoryError {
    /// Its class.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Field { .. } | Self::Secret { .. } | Self::Ambiguous { .. } => ErrorKind::Invalid,
            Self::NotFound { .. } | Self::NoChange => ErrorKind::NotFound,
            Self::ChangedSince { .. } | Self::CriticalPinned { .. } | Self::Status { .. } => {
                ErrorKind::Precondition
            }
            Self::Full { .. } => ErrorKind::Busy,
            Self::Read(error) => error.kind(),
            Self::Commit(error) => error.kind(),
        }
    }

    /// What to do about it; may be empty.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Field { .. } => "",
            Self::Secret { .. } => "say where the secret is kept instead of what it is",
            Self::NotFound { .. } => "list the memories to see their ids",
            Self::Ambiguous { .. } => "give more of the id",
            Self::NoChange => {
                "the journal of changes is bounded, and forgotten for good is forgotten"
            }
            Self::ChangedSince { .. } => "take back the newer change first",
            Self::Full { .. } => {
                "forget or merge memories, or raise memory.max_active in the configuration"
            }
            Self::CriticalPinned { .. } => "unpin one, or give this one a lower priority",
            Self::Status { .. } => "take back the change that made it so",
            Self::Read(error) => error.hint(),
            Self::Commit(error) => error.hint(),
        }
    }
}
