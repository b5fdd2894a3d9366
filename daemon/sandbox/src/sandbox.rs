//! The port, and which backend is taken.

use std::fmt::{self, Debug, Display};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentd_domain::cut_line;
use async_trait::async_trait;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::boxes::Boxes;
use crate::cgroup::Accounting;
use crate::container::{ContainerSettings, Containers};
use crate::environment;
use crate::launch::SpawnError;
use crate::place::SYSTEM;
use crate::terminal::{Terminal, TerminalSize};
use crate::{AllowList, Child, Command, Limits, Network, Profile, identity};

/// Longest probe of a backend.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

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
    /// A container of an engine with the Docker API: only when a user asked for it.
    Container,
    /// Nothing but limits and a clean environment: only when a user asked for it.
    None,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bubblewrap, Self::Landlock, Self::Container, Self::None];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// As configuration and status call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::Container => "container",
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
    /// Hosts that programs may be let through to wherever they are.
    pub allow_hosts: AllowList,
    /// For containers; none: they are not used.
    pub container: Option<ContainerSettings>,
}

impl Policy {
    /// True when programs see this file.
    pub fn shows(&self, file: &Path) -> bool {
        let shown = SYSTEM.iter().map(Path::new).chain(self.readable.iter().map(PathBuf::as_path));
        file.canonicalize().is_ok_and(|file| {
            file.is_file() && shown.into_iter().any(|shown| file.starts_with(shown))
        })
    }

    /// The program of this name as programs would find it.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.path.as_deref().unwrap_or(environment::PATH);
        let mut found = path.split(':').map(|dir| Path::new(dir).join(program));
        found.find(|file| self.shows(file))
    }
}

/// Runs programs.
#[async_trait]
pub trait Sandbox: Debug + Send + Sync + 'static {
    /// What shuts programs in.
    fn backend(&self) -> Backend;

    /// What holds programs to their limits.
    fn accounting(&self) -> Accounting;

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
        match probed(backend, policy).await {
            Ok(sandbox) => return Ok((sandbox, missing)),
            Err(why) => missing.push(why),
        }
    }
    Err(Unavailable(missing))
}

/// A backend in which a program has run.
async fn probed(backend: Backend, policy: &Policy) -> Result<Box<dyn Sandbox>, Missing> {
    let missing = |reason: &str, is_broken: bool| Missing {
        backend,
        reason: cut_line(reason, MAX_REASON),
        is_broken,
    };
    if backend == Backend::Container {
        let opened = timeout(PROBE_TIMEOUT, Containers::open(policy)).await;
        let late = || Err(("the engine does not answer".to_owned(), true));
        let containers =
            opened.unwrap_or_else(|_late| late()).map_err(|(why, broken)| missing(&why, broken))?;
        probe(&containers).await.map_err(|reason| missing(&reason, true))?;
        return Ok(Box::new(containers));
    }
    // It may have to wait for groups that a daemon has left.
    let of_policy = policy.clone();
    let made = tokio::task::spawn_blocking(move || Boxes::new(backend, &of_policy)).await;
    let made = made.unwrap_or_else(|_panicked| Err(("its start broke off".to_owned(), true)));
    let mut boxes = made.map_err(|(why, is_broken)| missing(&why, is_broken))?;
    let mut tried = probe(&boxes).await;
    if let (Err(reason), true) = (&tried, boxes.has_groups()) {
        // It may be the groups that do not work here.
        boxes.without_groups(&cut_line(reason, MAX_REASON));
        tried = probe(&boxes).await;
    }
    tried.map_err(|reason| missing(&reason, true))?;
    Ok(Box::new(boxes))
}

/// Runs a program that writes a file, for a few seconds at most.
pub(crate) async fn probe(sandbox: &dyn Sandbox) -> Result<(), String> {
    let run = async {
        let workspace = probe_workspace().map_err(|error| error.to_string())?;
        let command = Command {
            // An engine may number users otherwise, so that nothing can be written.
            argv: ["touch", "written"].map(str::to_owned).to_vec(),
            workspace: workspace.path().to_owned(),
            further_roots: Vec::new(),
            cwd: PathBuf::new(),
            profile: Profile::WorkspaceWrite,
            network: Network::None,
            limits: Limits::BUILD,
        };
        let mut child = sandbox.spawn(&command).await.map_err(|error| error.to_string())?;
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
    };
    let late = |_late| Err("a program did not end in it".to_owned());
    timeout(PROBE_TIMEOUT, run).await.unwrap_or_else(late)
}

/// A directory to write in, which is not root's.
fn probe_workspace() -> io::Result<TempDir> {
    let workspace = tempfile::Builder::new().prefix("agentd-probe-").tempdir()?;
    if identity::is_root() {
        let identity::Identity { uid, gid } = identity::NOBODY;
        std::os::unix::fs::chown(workspace.path(), Some(uid), Some(gid))?;
    }
    Ok(workspace)
}
