//! Why a daemon did not start, and what to do about it.

use agentd_domain::ErrorKind;
use agentd_shared::PathsError;
use agentd_store::{LockError, OpenError};
use agentd_tools::RegisterError;

use crate::access::TokenFileError;
use crate::config::ConfigError;
use crate::listener::ListenError;
use crate::remote::RemoteError;

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A directory is not usable.
    #[error(transparent)]
    Paths(#[from] PathsError),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Another daemon is running.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The socket cannot be made.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The tokens of remote clients cannot be read.
    #[error(transparent)]
    Tokens(#[from] TokenFileError),
    /// Remote clients cannot be served as configured.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// Two tools have the same name.
    #[error(transparent)]
    Tools(#[from] RegisterError),
    /// A part of the start broke off.
    #[error("{0} broke off because of a fault in agentd")]
    Broken(&'static str),
}

impl StartError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Paths(_) | Self::Tokens(_) => ErrorKind::Precondition,
            Self::Config(error) => error.kind(),
            Self::Lock(error) => error.kind(),
            Self::Store(error) => error.kind(),
            Self::Listen(_) => ErrorKind::Unavailable,
            Self::Remote(error) => error.kind(),
            Self::Tools(_) | Self::Broken(_) => ErrorKind::Internal,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Paths(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Lock(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Listen(error) => error.hint(),
            Self::Tokens(error) => error.hint(),
            Self::Remote(error) => error.hint(),
            Self::Tools(_) | Self::Broken(_) => "please report it",
        }
    }
}
