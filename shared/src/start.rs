//! Starts a daemon when none runs.
//!
//! One client at a time starts one: the others wait for its lock and then find the daemon. The daemon
//! becomes the leader of a process group of its own, so that Ctrl-C in the terminal does not reach
//! it, it inherits none of the client's descriptors, and it outlives the client. It says on its
//! standard output when it is ready.

mod announcement;
mod binary;
mod holder;
mod log;
mod managed;
mod spawn_lock;

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::client::Client;
use crate::connect::{ConnectError, Endpoint};
use crate::paths::{Paths, PathsError, ensure_private_dir};
use crate::{ErrorKind, text};

pub use binary::find_agentd;
pub use holder::{Holder, data_dir_holder};

use announcement::{Announcement, Heard};

/// Status that `agentd` exits with when another one holds the data directory.
const ALREADY_RUNNING: i32 = 3;
/// How often to look for a daemon that is about to listen or to end.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// Pause between two starts while another one holds the data directory.
const RESTART_PAUSE: Duration = Duration::from_millis(250);
/// How long a daemon that closed its output may take to exit.
const EXIT_GRACE: Duration = Duration::from_secs(5);
/// First descriptor that is not standard input, output or error.
const FIRST_OTHER_FD: i32 = 3;

/// How to start a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartOptions {
    /// The program; `None`: `AGENTD_BIN`, else `agentd` beside this program, else in `PATH`.
    pub agentd_path: Option<PathBuf>,
    /// Longest wait, for other clients and for the daemon together.
    pub timeout: Duration,
    /// Longest wait for another daemon that holds the data directory to listen, or to be gone.
    pub other_timeout: Duration,
}

impl Default for StartOptions {
    fn default() -> Self {
        Self {
            agentd_path: None,
            timeout: Duration::from_secs(20),
            // A daemon that stops cuts itself off after ten seconds.
            other_timeout: Duration::from_secs(12),
        }
    }
}

/// Returns where the daemon listens, after starting one if none runs.
///
/// # Errors
/// [`StartError`]; where the daemon itself had something to say, its last log lines are inside.
pub async fn ensure_running(paths: &Paths, options: &StartOptions) -> Result<Endpoint, StartError> {
    let deadline = Instant::now() + options.timeout;
    let endpoint = Endpoint::new(paths.check_socket()?);
    if is_running(&endpoint, deadline).await? {
        return Ok(endpoint);
    }
    ensure_private_dir(&paths.runtime_dir)?;
    ensure_private_dir(&paths.state_dir)?;
    let lock = spawn_lock::acquire(&paths.spawn_lock(), deadline).await?;
    let give_up = deadline.min(Instant::now() + options.other_timeout);
    if managed::start(paths, deadline).await && is_running(&endpoint, deadline).await? {
        return Ok(endpoint);
    }
    // Whoever had the lock may have started one.
    while !is_running(&endpoint, deadline).await? {
        match start(paths, options, deadline).await? {
            Started::Ready(endpoint) => return Ok(endpoint),
            Started::Other if Instant::now() >= give_up => {
                // It may have begun to listen after we looked.
                if is_running(&endpoint, deadline).await? {
                    break;
                }
                return Err(StartError::HeldElsewhere {
                    socket: endpoint.socket().to_path_buf(),
                    pid: data_dir_holder(paths).and_then(|holder| holder.pid),
                });
            }
            // It is about to listen, or about to end.
            Started::Other => tokio::time::sleep(RESTART_PAUSE).await,
        }
    }
    drop(lock);
    Ok(endpoint)
}

/// Tells whether a daemon serves there, after waiting for one that stops to be gone.
async fn is_running(endpoint: &Endpoint, deadline: Instant) -> Result<bool, StartError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let answered = match Client::connect(endpoint).await {
            Ok(client) => client.check_serving(left).await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(()) => return Ok(true),
            Err(ConnectError::NotRunning { .. }) => return Ok(false),
            Err(ConnectError::Stopping { .. }) if Instant::now() < deadline => {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            Err(error) => return Err(StartError::Connect(error)),
        }
    }
}

enum Started {
    Ready(Endpoint),
    Other,
}

async fn start(
    paths: &Paths,
    options: &StartOptions,
    deadline: Instant,
) -> Result<Started, StartError> {
    let program = find_agentd(options.agentd_path.as_deref())?;
    let log_file = paths.log_file();
    let log = log::open(&log_file)
        .map_err(|source| StartError::Log { path: log_file.clone(), source })?;
    let log_start = log.start;
    let mut command = Command::new(&program);
    command
        .arg("--announce")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log.file)
        // Not to keep the client's directory busy.
        .current_dir("/")
        .process_group(0)
        .kill_on_drop(false);
    if let Some(home) = paths.home() {
        command.env("AGENTD_HOME", home);
    }
    // A pipe or a lock that the client was started with must end with the client: whoever waits for
    // it would wait for the daemon.
    close_fds::set_fds_cloexec_threadsafe(FIRST_OTHER_FD, &[]);
    let mut child =
        command.spawn().map_err(|source| StartError::Spawn { path: program, source })?;
    let heard = match child.stdout.take() {
        Some(stdout) => announcement::hear(stdout, deadline).await,
        None => Heard::End,
    };
    let log_tail = || log::tail(&log_file, log_start);
    match heard {
        Heard::Ready(Announcement { socket, .. }) => Ok(Started::Ready(Endpoint::new(socket))),
        Heard::Nonsense(line) => Err(StartError::Announcement { line }),
        Heard::Nothing => Err(StartError::Timeout { log: log_file.clone(), log_tail: log_tail() }),
        Heard::End => match exit_status(&mut child).await {
            Some(status) if status.code() == Some(ALREADY_RUNNING) => Ok(Started::Other),
            Some(status) => Err(StartError::Exited { status, log_tail: log_tail() }),
            None => Err(StartError::Timeout { log: log_file.clone(), log_tail: log_tail() }),
        },
    }
}

async fn exit_status(child: &mut Child) -> Option<ExitStatus> {
    tokio::time::timeout(EXIT_GRACE, child.wait()).await.ok()?.ok()
}

/// Why no daemon could be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The directories cannot be used.
    #[error(transparent)]
    Paths(#[from] PathsError),
    /// There is a daemon, and it cannot be talked to.
    #[error(transparent)]
    Connect(ConnectError),
    /// There is no program `agentd`.
    #[error("the program agentd was not found; looked at {}", text::one_line(looked_at, 400))]
    NoBinary {
        /// Where it was looked for.
        looked_at: String,
    },
    /// The lock for starting cannot be had.
    #[error("cannot lock {path:?}")]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another client has been starting a daemon for all this time.
    #[error("another client holds {path:?} and has not got the daemon started")]
    LockBusy {
        /// The lock file.
        path: PathBuf,
    },
    /// The log file cannot be opened.
    #[error("cannot open the log file {path:?}")]
    Log {
        /// The log file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The program cannot be run.
    #[error("cannot run {path:?}")]
    Spawn {
        /// The program.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The daemon gave up.
    #[error("the daemon did not start ({status}){}", log::quoted(log_tail))]
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// The last lines that it logged.
        log_tail: String,
    },
    /// The daemon is not ready yet.
    #[error("the daemon was not ready in time; it logs to {log:?}{}", log::quoted(log_tail))]
    Timeout {
        /// Its log file.
        log: PathBuf,
        /// The last lines that it logged.
        log_tail: String,
    },
    /// The program said something else than that it is ready.
    #[error("the program is not a fitting agentd: it said {:?}", text::one_line(line, 200))]
    Announcement {
        /// What it said.
        line: String,
    },
    /// A daemon holds the data directory, and listens somewhere else or not at all.
    #[error(
        "another daemon{} holds the data directory, and none listens at {socket:?}",
        pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
    )]
    HeldElsewhere {
        /// Where it should listen.
        socket: PathBuf,
        /// Its process id, if it is known.
        pid: Option<u32>,
    },
}

impl StartError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Paths(error) => error.kind(),
            Self::Connect(error) => error.kind(),
            Self::NoBinary { .. } => ErrorKind::NotFound,
            Self::Lock { .. } | Self::Log { .. } | Self::Spawn { .. } => ErrorKind::Denied,
            Self::LockBusy { .. } | Self::Timeout { .. } => ErrorKind::Busy,
            Self::Exited { .. } => ErrorKind::Unavailable,
            Self::HeldElsewhere { .. } => ErrorKind::Conflict,
            Self::Announcement { .. } => ErrorKind::Internal,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Cow<'static, str> {
        let hint = match self {
            Self::Paths(error) => error.hint(),
            Self::Connect(error) => error.hint(),
            Self::NoBinary { .. } => {
                "put agentd beside agentctl or into PATH, or name it in AGENTD_BIN"
            }
            Self::Lock { .. } | Self::Log { .. } => {
                "check that the directory is yours and can be written to"
            }
            Self::Spawn { .. } => "check that the program is for this machine and executable",
            Self::LockBusy { .. } => "try again; if it stays so, run `agentd` to see why",
            Self::Exited { .. } => "correct what the log says, or run `agentd` to see all of it",
            Self::Timeout { .. } => "try again in a moment, and look at the log",
            Self::Announcement { .. } => "install agentd and agentctl of the same version",
            Self::HeldElsewhere { pid, .. } => {
                let stop = pid.map_or_else(|| "stop it".to_owned(), |pid| format!("`kill {pid}`"));
                return Cow::Owned(format!(
                    "it was started with another XDG_RUNTIME_DIR, has lost its socket, or is starting or \
                     stopping: use the same variables, or {stop}"
                ));
            }
        };
        Cow::Borrowed(hint)
    }
}
