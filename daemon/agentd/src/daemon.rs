//! Start, serve, stop.
//!
//! Start: directories, lock, store, socket, engine. From then on the daemon can be reached, and
//! turns that were running before go on. Stop: no new connections, turns end at a safe point, streams
//! end, everything is durable, the socket's file goes.

mod locks;
mod sandbox;
mod serve;
mod start;
mod start_error;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Clock, IdSource};
use agentd_engine::{Engine, RandomIds, SystemClock};
use agentd_shared::Paths;
use agentd_store::{CrashPoints, Store};
use agentd_tools::Tool;
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::locks::Locks;
pub use self::start::check_start;
pub use self::start_error::StartError;
use crate::backups::Backups;
use crate::config::Config;
use crate::control::{Control, Overrides};
use crate::embeddings::Embedding;
use crate::environment::Environment;
use crate::grpc::{Context, Peers};
use crate::listener::{Door, Place};
use crate::logging::{LogLevel, LogRing};
use crate::metrics::Metrics;
use crate::provider::Models;
use crate::remote::Listeners;
use crate::supervisor::{Notifier, Supervisor};
use crate::traces::Traces;
use crate::upgrade::{Handover, Relaunch};
use crate::upkeep::Upkeep;

/// How much longer a start may take than usual, which systemd is told: a damaged store is salvaged.
const LONG_START: Duration = Duration::from_secs(300);

/// How a daemon is started.
#[derive(Debug)]
pub struct DaemonOptions {
    /// Where everything is.
    pub paths: Paths,
    /// Another socket than the paths say.
    pub socket: Option<PathBuf>,
    /// The environment.
    pub env: Environment,
    /// Flags.
    pub overrides: Overrides,
    /// Tools besides the built-in ones.
    pub extra_tools: Vec<Arc<dyn Tool>>,
    /// Where tests kill the process.
    pub crash_points: CrashPoints,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Randomness of ids.
    pub ids: Arc<dyn IdSource>,
    /// The log level, when logging was set up for this daemon.
    pub log_level: Option<LogLevel>,
    /// Who looks after the process, and what they passed to it.
    pub supervisor: Supervisor,
    /// How a successor is started; none: nobody can take over.
    pub relaunch: Option<Relaunch>,
    /// This program, which then gives `sandbox-exec` to the sandbox; none: no programs are run.
    pub sandbox_helper: Option<PathBuf>,
    /// The newest log records, when logging was set up for this daemon.
    pub log_ring: Option<LogRing>,
    /// What exports traces, when its layer was set up for this daemon; none: as the configuration
    /// says, and nothing is traced.
    pub traces: Option<Traces>,
}

impl DaemonOptions {
    /// The usual options, with an empty environment.
    pub fn new(paths: Paths) -> Self {
        Self {
            paths,
            socket: None,
            env: Environment::new(),
            overrides: Overrides::default(),
            extra_tools: Vec::new(),
            crash_points: CrashPoints::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            log_level: None,
            supervisor: Supervisor::default(),
            relaunch: None,
            sandbox_helper: None,
            log_ring: None,
            traces: None,
        }
    }
}

/// A daemon that can be reached.
#[derive(Debug)]
pub struct Daemon {
    engine: Engine,
    control: Control,
    context: Arc<Context>,
    store: Arc<dyn Store>,
    door: Door,
    listeners: Listeners,
    place: Arc<Place>,
    peers: Peers,
    socket: PathBuf,
    config: watch::Receiver<Config>,
    locks: Locks,
    notifier: Notifier,
    watchdog: Option<Duration>,
    /// The run before this one only made room for it.
    was_handed_over: bool,
    /// Signs of life until there are better ones.
    starting: JoinSet<()>,
    backups: Backups,
    upkeep: Upkeep,
    embedding: Embedding,
    metrics: Arc<Metrics>,
    traces: Traces,
}

/// How a daemon's service ended.
#[derive(Debug)]
pub enum Served {
    /// In order.
    InOrder,
    /// The stop took longer than allowed and was cut off; everything acknowledged is durable all the
    /// same.
    CutOff,
    /// A part without which nobody can reach the daemon broke off; it stopped in order then.
    BrokeOff,
    /// Another program takes over.
    HandOver(Box<Handover>),
}

impl Daemon {
    /// Where it listens.
    pub fn socket(&self) -> &PathBuf {
        &self.socket
    }

    /// Tells the daemon to stop or to reload.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The models, for reloads.
    pub fn models(&self) -> Arc<Models> {
        Arc::clone(&self.context.models)
    }
}
