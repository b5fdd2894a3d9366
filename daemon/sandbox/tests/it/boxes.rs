//! A workspace, and what a script does in it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentd_sandbox::{
    AllowList, Backend, Child, Choice, Command, ContainerSettings, Exit, Limits, Network, Policy,
    Profile, Sandbox, choose,
};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

/// Long enough for any of these, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Where another copy of the helper is, for a user who cannot reach this one.
pub(crate) const HELPER: &str = "SANDBOX_TEST_HELPER";

/// As whom programs run when the tests are root's.
pub(crate) const NOBODY: u32 = 65_534;

/// A sandbox with a workspace, and a secret beside it.
#[derive(Debug)]
pub(crate) struct Boxed {
    pub(crate) sandbox: Box<dyn Sandbox>,
    pub(crate) workspace: TempDir,
    pub(crate) secrets: TempDir,
    pub(crate) limits: Limits,
    pub(crate) profile: Profile,
    pub(crate) network: Network,
}

/// What came of a script.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: Exit,
}

/// The policy of these tests.
pub(crate) fn policy(hidden: Vec<PathBuf>) -> Policy {
    let helper = std::env::var_os(HELPER)
        .map_or_else(|| env!("CARGO_BIN_EXE_agentd-sandbox-exec").into(), PathBuf::from);
    let container = container();
    let allow_hosts = AllowList::default();
    Policy { helper, readable: Vec::new(), hidden, path: None, allow_hosts, container }
}

/// Name of an engine's socket and of an image with bash, for tests of containers.
pub(crate) const ENGINE: &str = "SANDBOX_TEST_ENGINE";
const IMAGE: &str = "SANDBOX_TEST_IMAGE";

pub(crate) fn container() -> Option<ContainerSettings> {
    let socket = std::env::var_os(ENGINE)?.into();
    Some(ContainerSettings { socket, image: std::env::var(IMAGE).unwrap_or_default() })
}

/// A directory that programs of the box could write to, were they not in it.
pub(crate) fn directory() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    give(dir.path());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("mode");
    dir
}

/// Gives a path to whoever programs run as.
pub(crate) fn give(path: &Path) {
    if rustix::process::geteuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("owner");
    }
}

/// A program of the test itself that runs as programs of the box do.
pub(crate) fn outsider(program: &str) -> tokio::process::Command {
    let mut outsider = tokio::process::Command::new(program);
    outsider.kill_on_drop(true);
    if rustix::process::geteuid().is_root() {
        outsider.uid(NOBODY).gid(NOBODY);
    }
    outsider
}

/// A file of a directory, given to whoever programs run as.
pub(crate) fn file(dir: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = dir.path().join(name);
    let parent = path.parent().expect("a directory");
    fs::create_dir_all(parent).expect("directory");
    give(parent);
    fs::write(&path, content).expect("a file");
    give(&path);
    path
}

/// The sandbox with this backend, or why there is none.
pub(crate) async fn boxed(backend: Backend) -> Result<Boxed, String> {
    let secrets = directory();
    let sandbox = choose(Choice::Only(backend), &policy(vec![secrets.path().to_owned()])).await;
    let (sandbox, _) = sandbox.map_err(|unavailable| unavailable.to_string())?;
    Ok(Boxed {
        sandbox,
        workspace: directory(),
        secrets,
        limits: Limits::BUILD,
        profile: Profile::WorkspaceWrite,
        network: Network::None,
    })
}

/// Backends that keep a program in.
pub(crate) const CONFINING: [Backend; 3] =
    [Backend::Bubblewrap, Backend::Landlock, Backend::Container];

/// The sandbox of each backend that keeps a program in, and tells which those are.
pub(crate) async fn confining(test: &str) -> Vec<Boxed> {
    let mut all = Vec::new();
    for backend in CONFINING {
        match boxed(backend).await {
            Ok(boxed) => {
                println!("{test}: run on {backend}");
                all.push(boxed);
            }
            Err(reason) => println!("{test}: skipped on {backend}: {reason}"),
        }
    }
    assert!(!all.is_empty(), "no backend works here, so nothing is shown");
    all
}

/// The unconfined backend, on which an attack must work: else its failure in a box shows nothing.
pub(crate) async fn open_air() -> Boxed {
    boxed(Backend::None).await.expect("always there")
}

impl Boxed {
    /// Containers count nothing of what is left, and their shell has words of its own.
    pub(crate) fn is_container(&self) -> bool {
        self.sandbox.backend() == Backend::Container
    }

    pub(crate) fn command(&self, argv: &[&str]) -> Command {
        Command {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            workspace: self.workspace.path().to_owned(),
            further_roots: Vec::new(),
            cwd: PathBuf::new(),
            profile: self.profile,
            network: self.network.clone(),
            limits: self.limits,
        }
    }

    pub(crate) async fn start(&self, script: &str) -> Child {
        self.sandbox.spawn(&self.command(&["bash", "-c", script])).await.expect("it starts")
    }

    pub(crate) async fn run(&self, script: &str) -> Ran {
        finish(self.start(script).await).await
    }
}

/// Reads a child to its end.
pub(crate) async fn finish(mut child: Child) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut stdout = child.stdout.take().expect("its output");
    let mut stderr = child.stderr.take().expect("its errors");
    let ended = tokio::time::timeout(PATIENCE, async {
        let (a, b, exit) =
            tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err), child.wait());
        a.and(b).expect("read");
        exit
    })
    .await
    .expect("it ends");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&out), text(&err));
    let exit = ended.unwrap_or_else(|error| panic!("{error}: {err}"));
    Ran { out, err, exit }
}

/// Waits until no process shows these words in its arguments.
pub(crate) async fn nothing_runs_with(words: &str) {
    let gone = async {
        while runs_with(words) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("nothing of it is left");
}

/// True when a process shows these words in its arguments.
pub(crate) fn runs_with(words: &str) -> bool {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let mut lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(words))
}
