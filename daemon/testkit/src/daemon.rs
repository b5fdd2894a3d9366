//! The real daemon in this process, on a socket in a temporary folder.

#![expect(clippy::expect_used, reason = "a helper that fails fails the test")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use agentd::control::Control;
use agentd::{CrashPoints, DaemonOptions, StartError, Traces};
use agentd_domain::{Clock, IdSource};
use agentd_shared::{AttachPosition, Client, Endpoint};
use agentd_tools::Tool;
use tokio::task::JoinSet;

use crate::{Driver, Home, LlmServer, log_watch};

/// How a daemon under test is started.
#[derive(Debug)]
pub struct DaemonBuilder {
    home: Home,
    parts: Parts,
    traces: Option<Traces>,
}

/// What a restart takes over.
#[derive(Debug, Clone, Default)]
struct Parts {
    env: HashMap<String, String>,
    tools: Vec<Arc<dyn Tool>>,
    clock: Option<Arc<dyn Clock>>,
    ids: Option<Arc<dyn IdSource>>,
    crash_points: CrashPoints,
    sandbox_helper: Option<PathBuf>,
}

impl DaemonBuilder {
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

    /// Adds an environment variable; there are none at first.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.parts.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.parts.tools.push(Arc::new(tool));
        self
    }

    /// Lets programs run, with this binary of `agentd` as the sandbox's helper.
    #[must_use]
    pub fn programs(mut self, agentd: impl Into<PathBuf>) -> Self {
        self.parts.sandbox_helper = Some(agentd.into());
        self
    }

    /// Brings the time of day.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.parts.clock = Some(clock);
        self
    }

    /// Brings the randomness of ids.
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.parts.ids = Some(ids);
        self
    }

    /// Calls `hook` at the named points of the daemon's work.
    #[must_use]
    pub fn crash_points(mut self, hook: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        self.parts.crash_points = CrashPoints::new(hook);
        self
    }

    /// Exports traces, until the first restart. Their layer is set up by the test.
    #[must_use]
    pub fn traces(mut self, traces: Traces) -> Self {
        self.traces = Some(traces);
        self
    }

    /// Starts the daemon. It can be reached when this returns.
    pub async fn start(self) -> Daemon {
        self.try_start().await.expect("start the daemon")
    }

    /// Starts the daemon.
    ///
    /// # Errors
    /// As [`agentd::Daemon::start`] says.
    pub async fn try_start(self) -> Result<Daemon, StartError> {
        log_watch::start();
        let Self { home, parts, traces } = self;
        home.write_config();
        let Running { control, tasks } = run(&home, &parts, traces).await?;
        Ok(Daemon { home, parts, control, tasks })
    }
}

struct Running {
    control: Control,
    tasks: JoinSet<bool>,
}

async fn run(home: &Home, parts: &Parts, traces: Option<Traces>) -> Result<Running, StartError> {
    let mut options = DaemonOptions::new(home.paths());
    options.traces = traces;
    options.env = parts.env.clone().into_iter().collect();
    options.extra_tools.clone_from(&parts.tools);
    options.crash_points = parts.crash_points.clone();
    options.sandbox_helper.clone_from(&parts.sandbox_helper);
    if let Some(clock) = &parts.clock {
        options.clock = Arc::clone(clock);
    }
    if let Some(ids) = &parts.ids {
        options.ids = Arc::clone(ids);
    }
    let daemon = agentd::Daemon::start(options).await?;
    let control = daemon.control().clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(daemon.serve());
    Ok(Running { control, tasks })
}

/// A daemon that runs. Dropping it without [`Self::stop`] aborts it; either way the test fails on an
/// ERROR in the log that it did not [announce](Self::announce_error).
#[derive(Debug)]
pub struct Daemon {
    home: Home,
    parts: Parts,
    control: Control,
    tasks: JoinSet<bool>,
}

impl Daemon {
    /// A daemon to be configured.
    pub fn builder() -> DaemonBuilder {
        DaemonBuilder { home: Home::new(), parts: Parts::default(), traces: None }
    }

    /// A daemon whose model is a scripted server.
    pub async fn start(llm: &LlmServer) -> Self {
        Self::builder().llm(llm).start().await
    }

    /// Its folder.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The folder, for new settings: write them and reload, or restart.
    pub fn home_mut(&mut self) -> &mut Home {
        &mut self.home
    }

    /// Where it listens.
    pub fn endpoint(&self) -> Endpoint {
        self.home.endpoint()
    }

    /// A folder for sessions.
    pub fn workspace(&self) -> PathBuf {
        self.home.workspace()
    }

    /// What the process can be told.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// A connection for commands.
    pub async fn client(&self) -> Client {
        Client::connect(&self.endpoint()).await.expect("connect to the daemon")
    }

    /// A client named `name` in a new session.
    pub async fn driver(&self, name: &str) -> Driver {
        Driver::create(&self.home, name).await
    }

    /// A client named `name` in an existing session, from its beginning.
    pub async fn attach(&self, name: &str, session_id: &str) -> Driver {
        self.attach_at(name, session_id, AttachPosition::FromSeq(1)).await
    }

    /// A client named `name` in an existing session.
    pub async fn attach_at(
        &self,
        name: &str,
        session_id: &str,
        position: AttachPosition,
    ) -> Driver {
        Driver::attach(&self.home.endpoint(), name, session_id, position).await
    }

    /// Lets an ERROR that contains `text` pass.
    pub fn announce_error(&self, text: &str) {
        log_watch::announce(text);
    }

    /// Stops it in an orderly way.
    pub async fn stop(mut self) -> Home {
        self.stop_running().await;
        self.home.clone()
    }

    /// Stops it in an orderly way and starts it again on the same folder, with the settings as they
    /// are now.
    pub async fn restart(&mut self) {
        self.stop_running().await;
        self.home.write_config();
        let Running { control, tasks } =
            run(&self.home, &self.parts, None).await.expect("start the daemon again");
        self.control = control;
        self.tasks = tasks;
    }

    async fn stop_running(&mut self) {
        self.control.stop();
        let orderly = self.tasks.join_next().await.expect("the daemon's task");
        assert!(orderly.expect("the daemon did not panic"), "the stop was cut off");
        fail_on_errors();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fail_on_errors();
        }
    }
}

fn fail_on_errors() {
    let errors = log_watch::unannounced();
    assert!(
        errors.is_empty(),
        "ERROR in the log that the test did not announce:\n{}",
        errors.join("\n")
    );
}
