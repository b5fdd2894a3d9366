//! Why a client does not get to its daemon.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use crate::ErrorKind;
use crate::client_config::ClientConfigError;
use crate::connect::ConnectError;
use crate::contexts::ContextsError;
use crate::paths::PathsError;
use crate::remote::RemoteError;
use crate::start::StartError;

/// What to do about a path that cannot be made absolute.
const NO_DIRECTORY: &str = "change to a directory that exists";

/// Why there is no connection to the daemon. Its text says what went wrong, its sources say why.
#[derive(Debug, thiserror::Error)]
pub enum ConnectorError {
    /// The folder that was named cannot be made absolute.
    #[error("--home {} cannot be used", .home.display())]
    Home {
        /// The folder.
        home: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The directories cannot be used.
    #[error("the directories of agentd cannot be used")]
    Paths(#[source] PathsError),
    /// The configuration cannot be used.
    #[error("the configuration cannot be used")]
    Config(#[source] ClientConfigError),
    /// The daemon that is meant cannot be used.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// There is no connection.
    #[error("cannot reach the daemon")]
    Connect(#[from] ConnectError),
    /// No daemon runs, and none could be started.
    #[error("cannot start the daemon")]
    Start(#[source] StartError),
    /// A daemon has the data directory and does not listen.
    #[error(
        "a daemon{} runs and cannot be reached",
        pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
    )]
    Held {
        /// Its process id, if it is known.
        pid: Option<u32>,
        /// What is wrong.
        #[source]
        source: NotListening,
    },
}

/// What is wrong with a daemon that holds the data directory.
#[derive(Debug, thiserror::Error)]
#[error("it holds {}, and none listens at {}", .data_dir.display(), .socket.display())]
pub struct NotListening {
    /// What it holds.
    pub data_dir: PathBuf,
    /// Where it should listen.
    pub socket: PathBuf,
}

impl ConnectorError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Home { .. } => ErrorKind::Invalid,
            Self::Paths(error) => error.kind(),
            Self::Config(error) => error.kind(),
            Self::Server(error) => error.kind(),
            Self::Connect(error) => error.kind(),
            Self::Start(error) => error.kind(),
            Self::Held { .. } => ErrorKind::Unavailable,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Cow<'static, str> {
        let hint = match self {
            Self::Home { .. } => NO_DIRECTORY,
            Self::Paths(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Server(error) => error.hint(),
            Self::Connect(error) => error.hint(),
            Self::Start(error) => return error.hint(),
            Self::Held { pid, .. } => {
                let stop = match pid {
                    Some(pid) => format!("`kill {pid}` stops it"),
                    None => "find it with `pgrep agentd`".to_owned(),
                };
                return Cow::Owned(format!(
                    "try again in a moment, it may be starting or stopping; else {stop}"
                ));
            }
        };
        Cow::Borrowed(hint)
    }
}

impl From<StartError> for ConnectorError {
    fn from(error: StartError) -> Self {
        match error {
            // There is one: nothing was started.
            StartError::Connect(error) => Self::Connect(error),
            error => Self::Start(error),
        }
    }
}

/// Why the daemon that is meant cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Options for a daemon elsewhere, and none is named.
    #[error("{option} is for a daemon on another machine")]
    Stray {
        /// The option.
        option: &'static str,
    },
    /// A context without a server.
    #[error("a context needs a server")]
    NoServer,
    /// A file that is named cannot be made absolute.
    #[error("a path is not usable")]
    Path(#[source] io::Error),
    /// The named servers cannot be read, or the one that is meant is not among them.
    #[error(transparent)]
    Contexts(#[from] ContextsError),
    /// The options do not fit, or a file that they name cannot be used.
    #[error("the daemon on the other machine cannot be used")]
    Remote(#[from] RemoteError),
}

impl ServerError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Stray { .. } | Self::NoServer | Self::Path(_) | Self::Remote(_) => {
                ErrorKind::Invalid
            }
            Self::Contexts(error) => error.kind(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Stray { .. } => "say which with --server or --context",
            Self::NoServer => "give it with --server https://host:7443",
            Self::Path(_) => NO_DIRECTORY,
            Self::Contexts(error) => error.hint(),
            Self::Remote(error) => error.hint(),
        }
    }
}
