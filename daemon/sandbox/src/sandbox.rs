//! The port, and which backend is taken.

use std::fmt::{self, Debug, Display};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentd_domain::cut_line;
use async_trait::async_trait;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

use crate::inside::{Confinement, Modes};
use crate::launch::{self, Launch, SpawnError, Whereabouts};
use crate::spawner::Spawner;
use crate::terminal::{Terminal, TerminalSize};
use crate::{Child, Command, Limits, Profile, bubblewrap, identity, landlock_box};

/// Longest probe of a backend.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Most of what a failed probe wrote that is shown.
const MAX_PROBE_TEXT: u64 = 300;

/// Most characters of a reason.
pub(crate) const MAX_REASON: usize = 300;

/// What shuts programs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Namespaces made by bubblewrap, with Landlock and seccomp inside.
    Bubblewrap,
    /// Landlock, seccomp and limits.
    Landlock,
    /// Nothing but limits and a clean environment: only when a user asked for it.
    None,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Landlock, Self::None];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// As configuration and status call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }
}

impl Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which backend a user wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// Bubblewrap where it works, else Landlock, else none at all is available.
    #[default]
    Auto,
    /// This one or none at all.
    Only(Backend),
}

/// What is the same for all programs of a daemon.
#[derive(Debug, Clone)]
pub struct Policy {
    /// A program that gives the arguments behind [`crate::HELPER_COMMAND`] to
    /// [`crate::run_helper`]: the daemon itself.
    pub helper: PathBuf,
    /// Paths beside the system's that programs may read, such as toolchains in a home.
    pub readable: Vec<PathBuf>,
    /// Paths that no program may see: the daemon's data and configuration.
    pub hidden: Vec<PathBuf>,
    /// `PATH` of programs, instead of the system's.
    pub path: Option<String>,
}

/// Runs programs. A container is one more implementation of it.
#[async_trait]
pub trait Sandbox: Debug + Send + Sync + 'static {
    /// What shuts programs in.
    fn backend(&self) -> Backend;

    /// What holds programs to their limits, in one line.
    fn limits(&self) -> String;

    /// Starts a program: no input, its own session, a clean environment.
    ///
    /// # Errors
    /// When it cannot be started as described; then nothing ran.
    async fn spawn(&self, command: &Command) -> Result<Child, SpawnError>;

    /// Starts a program whose input, output and errors are a terminal, which it controls. The child
    /// has no streams.
    ///
    /// # Errors
    /// As [`Sandbox::spawn`]; also when the backend has no terminals.
    async fn open_terminal(
        &self,
        _command: &Command,
        _size: TerminalSize,
    ) -> Result<(Child, Terminal), SpawnError> {
        Err(SpawnError::NoTerminal { backend: self.backend() })
    }
}

/// Why one backend is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{backend}: {reason}")]
pub struct Missing {
    /// Which.
    pub backend: Backend,
    /// One line.
    pub reason: String,
    /// It is there and does not work, which somebody should mend.
    pub is_broken: bool,
}

/// There is no backend, so no program is run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no sandbox works here, so programs are not run ({}). Install bubblewrap, allow user namespaces or use a kernel with Landlock; `sandbox.backend = \"none\"` runs programs unconfined",
    .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
)]
pub struct Unavailable(pub Vec<Missing>);

/// Takes the first backend of the choice in which a program really runs, and tells why the ones
/// before it were not taken.
///
/// # Errors
/// When there is none.
pub async fn choose(
    choice: Choice,
    policy: &Policy,
) -> Result<(Box<dyn Sandbox>, Vec<Missing>), Unavailable> {
    let candidates = match choice {
        Choice::Auto => vec![Backend::Bubblewrap, Backend::Landlock],
        Choice::Only(backend) => vec![backend],
    };
    let mut missing = Vec::new();
    for backend in candidates {
        match Boxes::probed(backend, policy).await {
            Ok(sandbox) => return Ok((Box::new(sandbox), missing)),
            Err(why) => missing.push(why),
        }
    }
    Err(Unavailable(missing))
}

/// The backends that a process of ours starts.
#[derive(Debug)]
struct Boxes {
    backend: Backend,
    /// Where bubblewrap is; without meaning for others.
    bubblewrap: PathBuf,
    policy: Policy,
    spawner: Spawner,
}

impl Boxes {
    /// A backend in which a program has run.
    async fn probed(backend: Backend, policy: &Policy) -> Result<Self, Missing> {
        let missing = |reason: String, is_broken: bool| Missing {
            backend,
            reason: cut_line(&reason, MAX_REASON),
            is_broken,
        };
        let bubblewrap = match backend {
            Backend::Bubblewrap => {
                find("bwrap").ok_or_else(|| missing("bwrap is not installed".to_owned(), false))?
            }
            Backend::Landlock | Backend::None => PathBuf::new(),
        };
        let spawner = Spawner::start().map_err(|error| missing(error.to_string(), true))?;
        let boxes = Self { backend, bubblewrap, policy: policy.clone(), spawner };
        tokio::time::timeout(PROBE_TIMEOUT, boxes.probe())
            .await
            .unwrap_or_else(|_late| Err("a program did not end in it".to_owned()))
            .map_err(|reason| missing(reason, true))?;
        Ok(boxes)
    }

    /// Runs `true`.
    async fn probe(&self) -> Result<(), String> {
        let workspace = probe_workspace().map_err(|error| error.to_string())?;
        let command = Command {
            argv: vec!["true".to_owned()],
            workspace: workspace.path().to_owned(),
            cwd: PathBuf::new(),
            profile: Profile::ReadOnly,
            network: false,
            limits: Limits::BUILD,
        };
        let mut child = self.spawn(&command).await.map_err(|error| error.to_string())?;
        let mut said = String::new();
        if let Some(errors) = child.stderr.take() {
            // What is no text is shown as none.
            let _read = errors.take(MAX_PROBE_TEXT).read_to_string(&mut said).await;
        }
        match child.wait().await {
            Ok(exit) if exit.code == Some(0) => Ok(()),
            Ok(_) | Err(_) if said.trim().is_empty() => Err("it ended without a word".to_owned()),
            Ok(_) | Err(_) => Err(said),
        }
    }
}

#[async_trait]
impl Sandbox for Boxes {
    fn backend(&self) -> Backend {
        self.backend
    }

    fn limits(&self) -> String {
        "limits of each process (rlimits)".to_owned()
    }

    async fn spawn(&self, command: &Command) -> Result<Child, SpawnError> {
        let (launch, whereabouts) = self.launch(command)?;
        launch::start(launch, whereabouts, (command, &self.policy), &self.spawner).await
    }

    async fn open_terminal(
        &self,
        command: &Command,
        size: TerminalSize,
    ) -> Result<(Child, Terminal), SpawnError> {
        let (mut launch, (place, identity)) = self.launch(command)?;
        let (terminal, theirs) = Terminal::open(size, identity)?;
        launch.in_terminal(theirs);
        let whereabouts = (place, identity);
        let started = launch::start(launch, whereabouts, (command, &self.policy), &self.spawner);
        Ok((started.await?, terminal))
    }
}

impl Boxes {
    fn launch(&self, command: &Command) -> Result<(Launch, Whereabouts), SpawnError> {
        let (place, identity) = launch::check(command, &self.policy)?;
        let launch = match self.backend {
            Backend::Bubblewrap => {
                launch::not_root(&place, identity)?;
                bubblewrap::launch(&self.bubblewrap, command, &self.policy, &place)
            }
            Backend::Landlock => {
                launch::not_root(&place, identity)?;
                landlock_box::launch(command, &self.policy, &place, identity)?
            }
            Backend::None => {
                let scratch = launch::scratch(identity)?;
                Launch {
                    outer: vec![self.policy.helper.clone().into()],
                    inside: Confinement {
                        cwd: place.cwd.clone(),
                        limits: command.limits,
                        paths: None,
                        sockets: None,
                        modes: Modes::Free,
                        counts_own_processes: false,
                    },
                    home: scratch.path().to_owned(),
                    temporary: scratch.path().to_owned(),
                    scratch: Some(scratch),
                    kill_on_drop: false,
                    terminal: None,
                }
            }
        };
        Ok((launch, (place, identity)))
    }
}

/// A directory to run `true` in, which is not root's.
fn probe_workspace() -> io::Result<TempDir> {
    let workspace = tempfile::Builder::new().prefix("agentd-probe-").tempdir()?;
    if identity::is_root() {
        let identity::Identity { uid, gid } = identity::NOBODY;
        std::os::unix::fs::chown(workspace.path(), Some(uid), Some(gid))?;
    }
    Ok(workspace)
}

/// The program of this name in the daemon's own `PATH`.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(program))
        .find(|path| Path::is_file(path))
}
