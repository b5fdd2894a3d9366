//! The daemon as a process of its own, which tests kill.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper that fails fails the test")]

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use agentd_shared::AttachPosition;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use crate::{Driver, HeapUse, Home, LlmServer, PATIENCE};

/// The variable that names the point at which `agentd-under-test` kills itself: `NAME` or `NAME:N` for
/// the N-th pass.
pub const CRASH_AT: &str = "AGENTD_CRASH_AT";

/// The variable that says how many log records `agentd-under-test` keeps in memory.
pub const LOG_RECORDS: &str = "AGENTD_LOG_RECORDS";

/// How a process is started.
#[derive(Debug)]
pub struct ProcessDaemonBuilder {
    exe: PathBuf,
    home: Home,
    args: Vec<String>,
    env: Vec<(String, String)>,
    crash_at: Option<String>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Ended {
    /// True when SIGKILL ended it.
    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(Signal::KILL.as_raw())
    }
}

impl ProcessDaemonBuilder {
    /// Lets a scripted server answer. Without it the offline engine does.
    #[must_use]
    pub fn llm(mut self, llm: &LlmServer) -> Self {
        self.home.use_llm(llm);
        self
    }

    /// Sets `section.key` of the configuration.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        self.home.set(key, value);
        self
    }

    /// Uses this folder, and what an earlier daemon left in it.
    #[must_use]
    pub fn home(mut self, home: &Home) -> Self {
        self.home = home.clone();
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    /// Adds an environment variable; there is only `PATH` at first.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Lets the process kill itself; see [`CRASH_AT`].
    #[must_use]
    pub fn crash_at(mut self, point: &str) -> Self {
        self.crash_at = Some(point.to_owned());
        self
    }

    /// Starts it and waits until it can be reached.
    pub async fn start(self) -> ProcessDaemon {
        self.try_start().await.unwrap_or_else(|ended| panic!("the daemon did not start: {ended:?}"))
    }

    /// Starts it and waits until it can be reached.
    ///
    /// # Errors
    /// How it ended, when it did instead.
    pub async fn try_start(self) -> Result<ProcessDaemon, Ended> {
        let Self { exe, home, args, env, crash_at } = self;
        home.write_config();
        let mut command = Command::new(&exe);
        command
            .arg("--home")
            .arg(home.dir())
            .arg("--announce")
            .args(&args)
            // Nothing of the developer's own settings.
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .envs(env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(point) = &crash_at {
            command.env(CRASH_AT, point);
        }
        let mut child = command.spawn().expect("start the program");
        let stdout = child.stdout.take().expect("standard output");
        // Dropped only with the process: a closed pipe would be a fault of ours.
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        let mut log = JoinSet::new();
        let mut stderr = child.stderr.take().expect("standard error");
        log.spawn(async move {
            let mut text = Vec::new();
            // What came before a fault is what there is to tell.
            let _read = stderr.read_to_end(&mut text).await;
            String::from_utf8_lossy(&text).into_owned()
        });
        let read = tokio::time::timeout(PATIENCE, stdout.read_line(&mut line)).await;
        let read = read.expect("the daemon says in time that it is ready").expect("a line");
        let daemon = ProcessDaemon { home, child, log, stdout };
        if read == 0 {
            return Err(daemon.ended().await);
        }
        Ok(daemon)
    }
}

/// A process that can be reached. Dropping it kills it.
#[derive(Debug)]
pub struct ProcessDaemon {
    home: Home,
    child: Child,
    /// Reads standard error, so that the process never waits for a reader.
    log: JoinSet<String>,
    stdout: BufReader<tokio::process::ChildStdout>,
}

impl ProcessDaemon {
    /// A process of this program, which takes `--home` and `--announce` as `agentd` does.
    pub fn builder(exe: impl AsRef<Path>) -> ProcessDaemonBuilder {
        ProcessDaemonBuilder {
            exe: exe.as_ref().to_owned(),
            home: Home::new(),
            args: Vec::new(),
            env: Vec::new(),
            crash_at: None,
        }
    }

    /// Its folder.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// A client named `name` in a new session.
    pub async fn driver(&self, name: &str) -> Driver {
        Driver::create(&self.home, name).await
    }

    /// A client named `name` in an existing session, from its beginning.
    pub async fn attach(&self, name: &str, session_id: &str) -> Driver {
        Driver::attach(&self.home.endpoint(), name, session_id, AttachPosition::FromSeq(1)).await
    }

    /// Waits until it says again that it can be reached, as after an upgrade.
    pub async fn wait_ready_again(&mut self) {
        self.next_line().await;
    }

    /// What it holds on its heap. Only `agentd-under-test` can tell.
    pub async fn heap(&mut self) -> HeapUse {
        self.signal(Signal::USR1);
        let line = self.next_line().await;
        let mut words = line.split_whitespace().skip(1).map(str::parse);
        match (words.next(), words.next()) {
            (Some(Ok(bytes)), Some(Ok(blocks))) => HeapUse { bytes, blocks },
            _ => panic!("not a count of the heap: {line}"),
        }
    }

    async fn next_line(&mut self) -> String {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.stdout.read_line(&mut line)).await;
        let read = read.expect("the daemon says it in time").expect("a line");
        assert_ne!(read, 0, "the daemon ended instead");
        line
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("send a signal");
    }

    /// Kills it with SIGKILL and waits for its end.
    pub async fn kill(self) -> Home {
        self.signal(Signal::KILL);
        let home = self.home.clone();
        let ended = self.ended().await;
        assert!(ended.was_killed(), "{ended:?}");
        home
    }

    /// Sends SIGTERM and waits for an orderly end.
    pub async fn terminate(self) -> Home {
        self.signal(Signal::TERM);
        let home = self.home.clone();
        let ended = self.ended().await;
        assert!(ended.status.success(), "{ended:?}");
        home
    }

    /// Waits for its end.
    pub async fn ended(mut self) -> Ended {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let status = status.expect("the process ends").expect("wait for the process");
        let stderr = self.log.join_next().await.expect("the reader").expect("it ran to its end");
        Ended { status, stderr }
    }
}
