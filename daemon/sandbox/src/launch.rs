//! Starting a program, whatever the backend.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::cgroup::RunGroup;
use crate::child::{Child, Run};
use crate::egress::{Egress, port};
use crate::identity::{self, Identity};
use crate::inside::{Confinement, ENTER, HELPER_COMMAND, SUPERVISE, SUPERVISE_TERMINAL};
use crate::place::Place;
use crate::process_run::{ProcessRun, control};
use crate::protected::Look;
use crate::spawner::Spawner;
use crate::{Backend, Command, Network, Output, Policy, Profile, environment, git, leftovers};

/// Longest wait for the port that a supervisor opens in its box.
const PORT_PATIENCE: Duration = Duration::from_secs(30);

/// What programs in a terminal take it for.
const TERMINAL_KIND: &str = "xterm-256color";

/// Longest argument list in bytes; the kernel's own bound is on a single one and on all together.
const MAX_ARGV_BYTES: usize = 128 * 1024 - 1;

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is nothing to run.
    #[error("argv is empty: name a program")]
    NoProgram,
    /// An argument holds a zero byte, or all are longer than the system takes.
    #[error("argv is longer than {MAX_ARGV_BYTES} bytes or holds a zero byte")]
    Arguments,
    /// The directory cannot be opened.
    #[error("directory '{}' cannot be opened: {source}", path.display())]
    Directory {
        /// As it was given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The directory is not in the workspace.
    #[error("directory '{}' is outside the workspace", path.display())]
    OutsideWorkspace {
        /// As it was given.
        path: PathBuf,
    },
    /// The workspace is the system's or the daemon's own.
    #[error("'{}' holds the system or the daemon itself: choose another workspace", path.display())]
    Workspace {
        /// Without links.
        path: PathBuf,
    },
    /// The backend cannot hide what must not be seen.
    #[error(
        "'{}' must stay hidden, which this sandbox cannot do: choose a workspace without it, or install bubblewrap",
        path.display()
    )]
    CannotHide {
        /// What must be hidden.
        path: PathBuf,
    },
    /// The daemon is root, and so is the owner of the workspace.
    #[error(
        "the daemon is root and '{}' belongs to root, so nothing can be shut in: run agentd as an ordinary user, or give the workspace to one",
        path.display()
    )]
    Root {
        /// The workspace.
        path: PathBuf,
    },
    /// The backend runs programs without terminals only.
    #[error("the sandbox {backend} has no terminals")]
    NoTerminal {
        /// The backend.
        backend: Backend,
    },
    /// The backend cannot tell hosts apart.
    #[error(
        "the sandbox {backend} cannot let a program reach some hosts and no others: install bubblewrap and allow user namespaces"
    )]
    NoHosts {
        /// The backend.
        backend: Backend,
    },
    /// The system could not start it.
    #[error("the sandbox cannot be started: {0}")]
    Start(#[from] io::Error),
}

/// A box before it is started: how the backend begins, and what the helper does inside.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The outer program and its arguments, up to the helper.
    pub(crate) outer: Vec<OsString>,
    pub(crate) inside: Confinement,
    pub(crate) home: PathBuf,
    pub(crate) temporary: PathBuf,
    /// Kept as long as the program runs.
    pub(crate) scratch: Option<TempDir>,
    /// When the outer program is killed, everything in the box is.
    pub(crate) kill_on_drop: bool,
    /// The program's end of a terminal that is its input, output and errors.
    pub(crate) terminal: Option<OwnedFd>,
}

/// Where a program runs, and as whom.
pub(crate) type Whereabouts = (Place, Option<Identity>);

impl Launch {
    /// Runs the program in a terminal.
    pub(crate) fn in_terminal(&mut self, terminal: OwnedFd) {
        self.terminal = Some(terminal);
        if let Some(paths) = &mut self.inside.paths {
            // Its own terminal, and nobody else's.
            paths.write.push("/dev/tty".into());
        }
    }
}

/// Checks what is the same for all backends.
///
/// # Errors
/// When the command cannot be run anywhere.
pub(crate) fn check(
    command: &Command,
    policy: &Policy,
) -> Result<(Place, Option<Identity>), SpawnError> {
    if command.argv.first().is_none_or(String::is_empty) {
        return Err(SpawnError::NoProgram);
    }
    let bytes: usize = command.argv.iter().map(|argument| argument.len() + 1).sum();
    if bytes > MAX_ARGV_BYTES || command.argv.iter().any(|argument| argument.contains('\0')) {
        return Err(SpawnError::Arguments);
    }
    let place = Place::of(command, policy)?;
    let identity = identity::for_workspace(&place.workspace)?;
    Ok((place, identity))
}

/// Refuses to run as root.
///
/// # Errors
/// When that is what `identity` says.
pub(crate) fn not_root(place: &Place, identity: Option<Identity>) -> Result<(), SpawnError> {
    match identity {
        Some(Identity { uid: 0, .. }) => Err(SpawnError::Root { path: place.workspace.clone() }),
        Some(_) | None => Ok(()),
    }
}

/// A directory for home and temporary files of one run.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn scratch(identity: Option<Identity>) -> io::Result<TempDir> {
    let scratch = tempfile::Builder::new().prefix(&leftovers::prefix()).tempdir()?;
    if let Some(Identity { uid, gid }) = identity {
        chown(scratch.path(), Some(uid), Some(gid))?;
    }
    Ok(scratch)
}

/// Starts it.
///
/// # Errors
/// Of the system.
pub(crate) async fn start(
    launch: Launch,
    (place, identity): Whereabouts,
    (command, policy): (&Command, &Policy),
    (spawner, group): (&Spawner, Option<RunGroup>),
) -> Result<Child, SpawnError> {
    let Launch { outer, inside, home, temporary, scratch, kill_on_drop, terminal } = launch;
    let waits: Vec<OsString> = match &group {
        Some(_) => {
            vec![policy.helper.clone().into(), HELPER_COMMAND.into(), ENTER.into(), "--".into()]
        }
        None => Vec::new(),
    };
    let mut words = waits.into_iter().chain(outer);
    let mut outer =
        tokio::process::Command::new(words.next().unwrap_or_else(|| policy.helper.clone().into()));
    let has_egress = inside.egress;
    let confinement = serde_json::to_string(&inside).map_err(io::Error::from)?;
    let (mut ours, theirs) = control()?;
    let is_terminal = terminal.is_some();
    let (role, stdout, stderr) = match terminal {
        Some(terminal) => (SUPERVISE_TERMINAL, terminal.try_clone()?.into(), terminal.into()),
        None => (SUPERVISE, Stdio::piped(), Stdio::piped()),
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    outer
        .args(words)
        .args([HELPER_COMMAND, role, &confinement, "--"])
        .args(&command.argv)
        .env_clear()
        .envs(environment::variables(
            policy.path.as_deref().unwrap_or(environment::PATH),
            &text(&home),
            &text(&temporary),
        ))
        .current_dir("/")
        .stdin(theirs)
        .stdout(stdout)
        .stderr(stderr)
        .kill_on_drop(kill_on_drop);
    if command.profile == Profile::GitWrite {
        outer.envs(git::variables());
    }
    if is_terminal {
        outer.env("TERM", TERMINAL_KIND);
    }
    if let Some(Identity { uid, gid }) = identity {
        // This also leaves root's groups.
        outer.uid(uid).gid(gid);
    }
    let look = Look::taken(&place).await;
    let mut process = spawner.spawn(outer).await?;
    if let Some(group) = &group {
        group.take_in(process.id().ok_or_else(|| io::Error::other("it ended at once"))?)?;
        ours.write_all(b"G").await?;
    }
    let egress = if has_egress { way_out(&ours, &command.network).await? } else { None };
    let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
    let run = ProcessRun {
        group,
        process,
        control: ours,
        report: Vec::new(),
        scratch,
        kill_at: None,
        _spawner: spawner.clone(),
    };
    Ok(Child {
        stdout: stdout.map(Output::new),
        stderr: stderr.map(Output::new),
        run: Run::Process(run),
        egress,
        place,
        look,
    })
}

/// Serves the port that the supervisor opens; none: the box has not come about, which waiting for its
/// end tells.
async fn way_out(control: &UnixStream, network: &Network) -> Result<Option<Egress>, SpawnError> {
    let Network::Hosts(grant) = network else { return Ok(None) };
    let late = |_late| io::Error::new(io::ErrorKind::TimedOut, "its supervisor does not answer");
    let Some(port) = timeout(PORT_PATIENCE, port::take(control)).await.map_err(late)?? else {
        return Ok(None);
    };
    Ok(Some(Egress::serve(port, grant.clone())?))
}
