//! The connection to a daemon: on its socket, or over TLS.
//!
//! A channel made here connects anew by itself when the daemon comes back: a call made in between
//! fails with UNAVAILABLE.

use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Uri};

use crate::ErrorKind;
use crate::paths::{MAX_SOCKET_PATH_BYTES, PathsError, check_socket_path};
use crate::remote::{Credentials, Remote, RemoteProblem};

/// Longest wait for a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Idle time after which a connection is tried with a ping.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
/// Longest wait for the answer to a ping.
pub const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest message in either direction, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// A connection whose calls carry the credentials that the daemon asks for.
pub type DaemonChannel = InterceptedService<Channel, Credentials>;

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Socket(PathBuf),
    Remote(Arc<Remote>),
}

impl Endpoint {
    /// Names the socket of a daemon.
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { place: Place::Socket(socket.into()) }
    }

    /// Names a daemon on another machine.
    pub fn remote(remote: Remote) -> Self {
        Self { place: Place::Remote(Arc::new(remote)) }
    }

    /// The path of the socket. Of a daemon on another machine it is the URL, to be shown and not opened.
    pub fn socket(&self) -> &Path {
        match &self.place {
            Place::Socket(socket) => socket,
            Place::Remote(remote) => Path::new(remote.server()),
        }
    }

    /// True for a daemon that is reached through the network.
    pub fn is_remote(&self) -> bool {
        matches!(self.place, Place::Remote(_))
    }
}

/// Connects to the daemon.
///
/// # Errors
/// [`ConnectError`] says whether no daemon runs there, it refuses, or it does not answer.
pub async fn connect(endpoint: &Endpoint) -> Result<DaemonChannel, ConnectError> {
    match &endpoint.place {
        Place::Socket(socket) => connect_socket(socket).await,
        Place::Remote(remote) => connect_remote(remote).await,
    }
}

async fn connect_socket(socket: &Path) -> Result<DaemonChannel, ConnectError> {
    if let Err(PathsError::SocketPathTooLong { path, bytes }) = check_socket_path(socket) {
        return Err(ConnectError::PathTooLong { socket: path, bytes });
    }
    // A URI is needed for the header `:authority`; the connector does not look at it.
    let transport = with_keepalive(tonic::transport::Endpoint::from_static("http://agentd.local"));
    let path = socket.to_owned();
    let connector = tower::service_fn(move |_: Uri| {
        let path = path.clone();
        async move { open(&path).await.map(TokioIo::new) }
    });
    let connecting = transport.connect_with_connector(connector);
    match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(Ok(channel)) => Ok(InterceptedService::new(channel, Credentials::default())),
        Ok(Err(error)) => Err(ConnectError::from_transport(socket.to_owned(), error)),
        Err(_) => Err(ConnectError::Timeout { socket: socket.to_owned() }),
    }
}

async fn connect_remote(remote: &Arc<Remote>) -> Result<DaemonChannel, ConnectError> {
    let server = || PathBuf::from(remote.server());
    let transport = with_keepalive(tonic::transport::Endpoint::from(remote.origin().clone()));
    let dialled = Arc::clone(remote);
    let connector = tower::service_fn(move |_: Uri| {
        let remote = Arc::clone(&dialled);
        async move { remote.open().await.map(TokioIo::new) }
    });
    let connecting = transport.connect_with_connector(connector);
    match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(Ok(channel)) => Ok(InterceptedService::new(channel, remote.credentials().clone())),
        Ok(Err(error)) => match RemoteProblem::find(&error) {
            Some((problem, detail)) => {
                Err(ConnectError::Remote { server: remote.server().to_owned(), problem, detail })
            }
            None => Err(ConnectError::Transport { socket: server(), source: error }),
        },
        Err(_) => Err(ConnectError::Timeout { socket: server() }),
    }
}

/// Tries the connection with pings, also while nothing is asked: who sleeps does not notice otherwise
/// that the other side is gone.
fn with_keepalive(endpoint: tonic::transport::Endpoint) -> tonic::transport::Endpoint {
    endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
}

async fn open(socket: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(socket).await?;
    let server = stream.peer_cred()?.uid();
    // Root is systemd, which may hold the socket before the daemon starts.
    if server != 0 && server != rustix::process::geteuid().as_raw() {
        let text = format!("the daemon there runs as uid {server}");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(stream)
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There is no socket, or nobody listens on it.
    #[error("no daemon runs at {socket:?}")]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// The socket or the directory above it belongs to somebody else.
    #[error("access to the daemon at {socket:?} is denied")]
    Denied {
        /// The socket.
        socket: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The daemon does not take the connection.
    #[error("the daemon at {socket:?} does not answer")]
    Timeout {
        /// The socket.
        socket: PathBuf,
    },
    /// The daemon closes its connections.
    #[error("the daemon at {socket:?} is stopping")]
    Stopping {
        /// The socket.
        socket: PathBuf,
    },
    /// The path does not fit into a socket address.
    #[error(
        "the socket path {socket:?} has {bytes} bytes; the system allows {MAX_SOCKET_PATH_BYTES}"
    )]
    PathTooLong {
        /// The socket.
        socket: PathBuf,
        /// Length of the path.
        bytes: usize,
    },
    /// There is no connection to a daemon on another machine.
    #[error("cannot connect to {server}: {problem} ({detail})")]
    Remote {
        /// Its URL.
        server: String,
        /// What is wrong.
        problem: RemoteProblem,
        /// What the system or TLS says.
        detail: String,
    },
    /// Something else went wrong.
    #[error("cannot talk to the daemon at {socket:?}")]
    Transport {
        /// The socket.
        socket: PathBuf,
        /// What.
        #[source]
        source: tonic::transport::Error,
    },
}

impl ConnectError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotRunning { .. }
            | Self::Timeout { .. }
            | Self::Stopping { .. }
            | Self::Transport { .. } => ErrorKind::Unavailable,
            Self::Denied { .. } => ErrorKind::Denied,
            Self::PathTooLong { .. } => ErrorKind::Invalid,
            Self::Remote { problem, .. } => problem.kind(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotRunning { .. } => "start it with `agentd`, or let `agentctl chat` start it",
            Self::Denied { .. } => {
                "run as the user who runs the daemon, or set AGENTD_HOME to a folder of your own"
            }
            Self::Timeout { .. } => "look at the daemon's log; it may be stopped or overloaded",
            Self::Stopping { .. } => "try again in a moment",
            Self::PathTooLong { .. } => {
                "set AGENTD_HOME or XDG_RUNTIME_DIR to a directory with a shorter path"
            }
            Self::Remote { problem, .. } => problem.hint(),
            Self::Transport { .. } => "check that client and daemon are of the same version",
        }
    }

    fn from_transport(socket: PathBuf, error: tonic::transport::Error) -> Self {
        let Some(kind) = io_kind(&error) else {
            return Self::Transport { socket, source: error };
        };
        match kind {
            // A regular file in its place refuses connections too.
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                Self::NotRunning { socket }
            }
            io::ErrorKind::PermissionDenied => {
                let source = io::Error::new(kind, root_cause(&error));
                Self::Denied { socket, source }
            }
            // It was closed before a word was said.
            io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::UnexpectedEof => Self::Stopping { socket },
            // A full backlog says "would block".
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::Timeout { socket },
            _ => Self::Transport { socket, source: error },
        }
    }
}

fn io_kind(error: &tonic::transport::Error) -> Option<io::ErrorKind> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}

fn root_cause(error: &tonic::transport::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}
