//! Another binary takes this process over: the daemon stops in order and becomes the other program
//! by exec. Process id, listening socket and locks stay, so that nobody is refused meanwhile and no
//! second daemon can slip in between.
//!
//! A binary is asked first whether it could: `agentd probe` reads the configuration as a start would
//! and tells what it understands. Only then does this daemon stop.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use agentd_domain::{ErrorKind, cut_line};
use agentd_shared::{Paths, PathsError};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt as _;

use crate::supervisor::{HandedOver, Notifier};

/// The way in which socket and locks are handed over. A change that an older binary would not
/// understand raises it.
const PROTOCOL: u32 = 1;
/// Longest wait for a binary to say what it is.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes that are read of what it says.
const PROBE_BYTES: u64 = 4096;
/// Tells a binary that is asked which process it is to take over: what the unit of that one says is
/// then said to it as well. A variable, so that a version that does not know it can be asked too.
const ON_BEHALF: &str = "AGENTD_PROBE_FOR";
/// The program of this process as the kernel has it, also when its file was replaced.
const SELF: &str = "/proc/self/exe";

/// How this process was started.
#[derive(Debug, Clone)]
pub struct Relaunch {
    /// The program: a path under which an upgrade puts the new one.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables that were taken out of the environment and are needed again.
    pub kept: Vec<(&'static str, OsString)>,
}

impl Relaunch {
    /// Looks at this process. Call it at its start: later the program's file may be another one.
    ///
    /// # Errors
    /// When the program's path cannot be found out.
    pub fn of_process(kept: Vec<(&'static str, OsString)>) -> io::Result<Self> {
        let mut args = std::env::args_os();
        // A path as it was given leads to the new version where it is a link; a bare name was looked
        // up in PATH by somebody else.
        let named = args.next().map(PathBuf::from).filter(|name| name.components().count() > 1);
        let program = match named {
            Some(name) => std::path::absolute(name)?,
            None => std::env::current_exe()?,
        };
        Ok(Self { program, args: args.collect(), kept })
    }
}

/// A binary that has said that it can take over.
#[derive(Debug, Clone)]
pub struct Successor {
    /// The program.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
}

/// What `agentd probe` prints: one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Probe {
    agentd: String,
    handover: u32,
    store: u32,
}

/// Why nobody takes over. This daemon goes on.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// This daemon runs inside another program.
    #[error("this daemon is not a program of its own and cannot be replaced while it runs")]
    NotAProgram,
    /// The path is not absolute.
    #[error("'{}' is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    /// It cannot be run.
    #[error("{} cannot be run: {source}", .program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It does not answer.
    #[error("{} did not say within {} s what it is", .program.display(), PROBE_TIMEOUT.as_secs())]
    NoAnswer {
        /// The program.
        program: PathBuf,
    },
    /// It would not start.
    #[error("{} could not start in this daemon's place ({status}): {said}", .program.display())]
    Refused {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
        /// What it said, cut.
        said: String,
    },
    /// It is another program.
    #[error("{} is no agentd that can take over: it said '{said}'", .program.display())]
    NotAgentd {
        /// The program.
        program: PathBuf,
        /// What it said, cut.
        said: String,
    },
    /// It would not understand what it gets.
    #[error("{} is agentd {version}, which cannot take over from this version: {problem}", .program.display())]
    Incompatible {
        /// The program.
        program: PathBuf,
        /// Its version.
        version: String,
        /// What does not fit.
        problem: &'static str,
    },
}

impl UpgradeError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAbsolute(_) => ErrorKind::Invalid,
            Self::NotAProgram
            | Self::Run { .. }
            | Self::NoAnswer { .. }
            | Self::Refused { .. }
            | Self::NotAgentd { .. }
            | Self::Incompatible { .. } => ErrorKind::Precondition,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAProgram => "restart the program that it runs in",
            Self::NotAbsolute(_) => "give the whole path of the new binary",
            Self::Run { .. } | Self::NoAnswer { .. } | Self::NotAgentd { .. } => {
                "install an agentd for this machine there; this daemon goes on as it is"
            }
            Self::Refused { .. } => {
                "correct what it says, then try again; this daemon goes on as it is"
            }
            Self::Incompatible { .. } => {
                "stop this daemon with `agentctl shutdown`, then start the other"
            }
        }
    }
}

/// What `agentd probe` prints.
pub fn probe_line() -> String {
    let probe = Probe {
        agentd: env!("CARGO_PKG_VERSION").to_owned(),
        handover: PROTOCOL,
        store: agentd_store::SledStore::VERSION,
    };
    serde_json::to_string(&probe).unwrap_or_default()
}

/// Where a binary that is asked has to look: where the process that asks does.
///
/// # Errors
/// When no directory is known.
pub fn probe_paths() -> Result<Paths, PathsError> {
    let asks = std::env::var(ON_BEHALF).ok().and_then(|pid| pid.parse().ok());
    match asks.filter(|asks| *asks == std::os::unix::process::parent_id()) {
        Some(asks) => Paths::of_service_process(asks),
        None => Paths::of_service(),
    }
}

/// Asks a binary whether it can take over; without a path the one that this process was started from.
///
/// # Errors
/// See [`UpgradeError`].
pub async fn ask(
    relaunch: Option<&Relaunch>,
    program: Option<PathBuf>,
) -> Result<Successor, UpgradeError> {
    let relaunch = relaunch.ok_or(UpgradeError::NotAProgram)?;
    let program = program.unwrap_or_else(|| relaunch.program.clone());
    if !program.is_absolute() {
        return Err(UpgradeError::NotAbsolute(program));
    }
    let answer = tokio::time::timeout(PROBE_TIMEOUT, run_probe(&program, &relaunch.args)).await;
    let (status, said) = match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(source)) => return Err(UpgradeError::Run { program, source }),
        Err(_too_late) => return Err(UpgradeError::NoAnswer { program }),
    };
    if !status.success() {
        return Err(UpgradeError::Refused { program, status, said: cut_line(&said, 400) });
    }
    let Ok(Probe { agentd: version, handover, store }) = serde_json::from_str(said.trim()) else {
        return Err(UpgradeError::NotAgentd { program, said: cut_line(&said, 200) });
    };
    let version = cut_line(&version, 40);
    let problem = if handover != PROTOCOL {
        "it hands over in another way"
    } else if store < agentd_store::SledStore::VERSION {
        "it is too old for the store"
    } else {
        return Ok(Successor { program, version });
    };
    Err(UpgradeError::Incompatible { program, version, problem })
}

/// Runs `PROGRAM ARGS probe`; what it said is its output, or its complaint when it failed.
async fn run_probe(
    program: &Path,
    args: &[OsString],
) -> io::Result<(std::process::ExitStatus, String)> {
    let mut child = tokio::process::Command::new(program)
        .args(args)
        .arg("probe")
        .env(ON_BEHALF, std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (out, err) = tokio::join!(read(stdout), read(stderr));
    let status = child.wait().await?;
    Ok((status, if status.success() { out? } else { err? }))
}

async fn read(pipe: Option<impl tokio::io::AsyncRead + Unpin>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(PROBE_BYTES).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All that a stopped daemon leaves for the program that takes its place.
#[derive(Debug)]
pub struct Handover {
    /// Who takes over.
    pub successor: Successor,
    /// How it is started.
    pub relaunch: Relaunch,
    /// What stays open for it.
    pub open: HandedOver,
    /// Who waits for signs of life meanwhile.
    pub notifier: Notifier,
}

impl Handover {
    /// Becomes the other program; when the system refuses that, this program anew. Returns only when
    /// neither is possible.
    pub fn exec(self) -> io::Error {
        let Self { successor, relaunch, open, notifier } = self;
        // The successor has a whole interval for its first one.
        notifier.alive();
        let (name, value) = match open.keep_open() {
            Ok(variable) => variable,
            Err(error) => return error,
        };
        let become_program = |program: &Path| {
            let mut command = std::process::Command::new(program);
            command.arg0(&relaunch.program).args(&relaunch.args).env(name, &value);
            command.envs(relaunch.kept.iter().map(|(name, value)| (name, value)));
            command.exec()
        };
        let error = become_program(&successor.program);
        tracing::error!(%error, program = %successor.program.display(), "the new binary cannot be run: starting the old one again");
        become_program(Path::new(SELF))
    }
}
