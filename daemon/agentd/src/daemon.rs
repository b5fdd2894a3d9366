//! Start, serve, stop.
//!
//! Start: directories, lock, store, socket, engine. From then on the daemon can be reached, and
//! turns that were running before go on. Stop: no new connections, turns end at a safe point, streams
//! end, everything is durable, the socket's file goes.

mod sandbox;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Clock, ErrorKind, IdSource};
use agentd_engine::{Engine, EngineDeps, RandomIds, SystemClock};
use agentd_sandbox::Programs;
use agentd_shared::paths::check_socket_path;
use agentd_shared::{Paths, PathsError, ensure_config_dir, ensure_private_dir};
use agentd_store::{
    CrashPoints, InstanceLock, LockError, OpenError, Opened, SledOptions, SledStore, Store,
};
use agentd_tools::{BuiltinSettings, PROCESS_TOOLS, RegisterError, Registry, Tool, process_tools};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::sandbox::try_sandbox;
use crate::access::{TokenFileError, Tokens};
use crate::backups::Backups;
use crate::config::{self, Config, ConfigError, SocketAccess};
use crate::control::{Control, ControlParts, Overrides, ProcessFacts, Supervision, Topic};
use crate::environment::Environment;
use crate::grpc::{Context, Peers, Services, serve_local, serve_remote};
use crate::listener::{Door, ListenError, Place};
use crate::logging::{LogLevel, LogRing};
use crate::metrics::{Gauges, Metrics, MetricsServer};
use crate::provider::Models;
use crate::remote::{Gauge, Listeners, Remote, RemoteError, keep_house};
use crate::submit::SubmitPath;
use crate::supervisor::{
    Attended, HandedOver, Notifier, Supervisor, attend, outlast_start, status_line,
};
use crate::traces::{FLUSH_LIMIT, Traces, TracesState};
use crate::undo;
use crate::upgrade::{Handover, Relaunch};

/// How long a start waits for a daemon that is on its way out.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
/// Pause between two looks at the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(25);
/// How much longer a start may take than usual, which systemd is told: a damaged store is salvaged.
const LONG_START: Duration = Duration::from_secs(300);
/// How long connections have to end once everything else has.
const CONNECTION_GRACE: Duration = Duration::from_secs(1);

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

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A directory is not usable.
    #[error(transparent)]
    Paths(#[from] PathsError),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Another daemon is running.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The socket cannot be made.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The tokens of remote clients cannot be read.
    #[error(transparent)]
    Tokens(#[from] TokenFileError),
    /// Remote clients cannot be served as configured.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// Two tools have the same name.
    #[error(transparent)]
    Tools(#[from] RegisterError),
    /// A part of the start broke off.
    #[error("{0} broke off because of a fault in agentd")]
    Broken(&'static str),
}

impl StartError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Paths(_) | Self::Tokens(_) => ErrorKind::Precondition,
            Self::Config(error) => error.kind(),
            Self::Lock(error) => error.kind(),
            Self::Store(error) => error.kind(),
            Self::Listen(_) => ErrorKind::Unavailable,
            Self::Remote(error) => error.kind(),
            Self::Tools(_) | Self::Broken(_) => ErrorKind::Internal,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Paths(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Lock(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Listen(error) => error.hint(),
            Self::Tokens(error) => error.hint(),
            Self::Remote(error) => error.hint(),
            Self::Tools(_) | Self::Broken(_) => "please report it",
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
    metrics: Arc<Metrics>,
    traces: Traces,
}

/// What keeps other daemons away.
#[derive(Debug)]
struct Locks {
    data: InstanceLock,
    /// None when systemd owns the socket.
    socket: Option<InstanceLock>,
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
    /// Starts a daemon up to the point where clients can connect.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(options: DaemonOptions) -> Result<Self, StartError> {
        let DaemonOptions {
            paths,
            socket,
            env,
            overrides,
            extra_tools,
            crash_points,
            clock,
            ids,
            log_level,
            supervisor,
            relaunch,
            sandbox_helper,
            log_ring,
            traces,
        } = options;
        let Supervisor { notifier, watchdog, listener, handed_over, kept: _ } = supervisor;
        ensure_config_dir(&paths.config_dir)?;
        for dir in [&paths.data_dir, &paths.state_dir, &paths.runtime_dir] {
            ensure_private_dir(dir)?;
        }
        let socket = socket.unwrap_or_else(|| paths.socket());
        check_socket_path(&socket)?;
        let mut loaded = config::load(&paths.config_file(), &env)?;
        overrides.apply(&mut loaded.config);
        let traces = traces.unwrap_or_else(|| Traces::of(&loaded.config.otel, &env));
        let was_handed_over = handed_over.is_some();
        let mut starting = JoinSet::new();
        if was_handed_over {
            starting.spawn(outlast_start(notifier.clone(), watchdog));
        }
        let (passed, data_lock, socket_lock) = match handed_over {
            Some(HandedOver { listener, lock, socket_lock }) => {
                let own_file = socket_lock.is_some();
                (Some((listener, own_file)), Some(lock), socket_lock)
            }
            None => (listener.map(|listener| (listener, false)), None, None),
        };
        let data_lock = hold_lock(data_lock, &paths.instance_lock()).await?;
        // A start may be long after a crash.
        notifier.extend(LONG_START);
        let (store, mut warnings) =
            open_store(&paths, &loaded.config, crash_points.clone()).await?;
        let private = vec![
            paths.config_dir.clone(),
            paths.data_dir.clone(),
            paths.state_dir.clone(),
            paths.runtime_dir.clone(),
        ];
        let mut tools = Registry::builtin_with(BuiltinSettings {
            private: private.clone(),
            net: loaded.config.tools.net(&env),
            helper: sandbox_helper.clone(),
        });
        let programs = sandbox_helper.map(|helper| {
            let sandbox = &loaded.config.sandbox;
            Arc::new(Programs::new(sandbox.choice(), sandbox.policy(helper, private.clone())))
        });
        if let Some(programs) = &programs {
            let limits = loaded.config.sandbox.limits.processes();
            for tool in process_tools(programs, limits, private) {
                tools.register(tool)?;
            }
        } else {
            for name in PROCESS_TOOLS {
                tools.note_missing(name, "this process is not agentd and runs no programs");
            }
        }
        for tool in extra_tools {
            tools.register(tool)?;
        }

        let (undo, no_undo) = undo::open(paths.undo_dir()).await;
        warnings.extend(no_undo);
        let (engine_config_tx, engine_config) = watch::channel(loaded.config.engine());
        let config_file = paths.config_file();
        let (config_tx, config_rx) = watch::channel(loaded.config);
        let metrics = Metrics::new();
        let models = Models::new(
            config_rx.clone(),
            env.clone(),
            config_file.display().to_string(),
            Some(paths.learned_models_file()),
        );
        let models = Arc::new(models.watched_by(Arc::<Metrics>::clone(&metrics)));
        let access = config_rx.borrow().daemon.socket_access;
        let (door, socket_lock) = match passed {
            Some((passed, false)) => (Door::of_systemd(passed, access)?, None),
            Some((passed, true)) => {
                let door = Door::handed_over(passed)?;
                let lock = hold_lock(socket_lock, &beside(door.path(), ".lock")).await?;
                (door, Some(lock))
            }
            None => {
                // A socket path of one's own may be another daemon's, although the data directory is not.
                let lock = take_lock(&beside(&socket, ".lock")).await?;
                (Door::open(&socket)?, Some(lock))
            }
        };
        let socket = door.path().to_owned();
        let place = door.place();
        // The mode of a socket of our own admits nobody else.
        let peers = match access {
            SocketAccess::Group if !place.is_own() => Peers::Admitted,
            SocketAccess::Group | SocketAccess::User => Peers::OwnUser,
        };
        let is_remote_wanted = !config_rx.borrow().remote.listen.is_empty();
        let (tokens, no_tokens) = load_tokens(&paths, &clock, &ids, is_remote_wanted)?;
        let (remote, listeners) = Remote::open(&config_rx.borrow().remote, Arc::new(tokens), &env)?;
        let control = Control::new(ControlParts {
            config_file,
            env,
            overrides,
            config: config_tx,
            engine_config: engine_config_tx,
            log_level,
            facts: ProcessFacts {
                started_at_ms: clock.now().0,
                socket: socket.clone(),
                data_dir: paths.data_dir.clone(),
                supervision: Supervision {
                    is_notified: notifier.is_heard(),
                    watchdog,
                    is_socket_activated: !place.is_own(),
                },
            },
            notifier: notifier.clone(),
            relaunch,
        });
        let backups = Backups {
            store: Arc::clone(&store),
            dir: paths.backups_dir(),
            clock: Arc::clone(&clock),
            config: config_rx.clone(),
            control: control.clone(),
        };
        // The store has logged them.
        control.keep_warnings(Topic::Store, warnings);
        for warning in loaded.warnings {
            control.warn(Topic::Config, warning);
        }
        control.keep_warnings(Topic::Store, damaged_stores(&paths.data_dir));
        if let Some(warning) = no_tokens {
            control.warn(Topic::Tokens, warning);
        }
        if let TracesState::NotExported { why, remedy } = traces.state() {
            control.warn(Topic::Traces, format!("traces are not exported: {why}; {remedy}"));
        }
        if remote.is_wanted && remote.tokens.list().is_empty() {
            tracing::warn!(
                "remote clients cannot come in: there is no token; make one with `agentctl token create NAME`"
            );
        }
        let engine = Engine::new(EngineDeps {
            store: Arc::clone(&store),
            models: Arc::clone(&models) as _,
            tools,
            clock: Arc::clone(&clock),
            ids,
            config: engine_config,
            crash_points,
            undo,
        });
        let context = Arc::new(Context {
            submit: SubmitPath::new(engine.clone(), config_rx.clone()),
            engine: engine.clone(),
            models,
            control: control.clone(),
            clock,
            imports_dir: paths.imports_dir(),
            remote,
            local_connections: Gauge::default(),
            default_workspace: default_workspace(),
            log_ring,
            traces: traces.state(),
            programs,
            sandbox_test: Arc::new(Semaphore::new(1)),
            paths: paths.clone(),
        });
        // What an interrupted import left.
        if let Err(error) = tokio::fs::remove_dir_all(paths.imports_dir()).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            control.warn(Topic::Imports, format!("staged imports could not be removed: {error}"));
        }
        Ok(Self {
            engine,
            control,
            context,
            store,
            door,
            listeners,
            place,
            peers,
            socket,
            config: config_rx,
            locks: Locks { data: data_lock, socket: socket_lock },
            notifier,
            watchdog,
            was_handed_over,
            starting,
            backups,
            metrics,
            traces,
        })
    }

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

    /// Serves until the control says stop, then stops. False: a server broke off, or the stop took
    /// longer than allowed and was cut off; everything acknowledged is durable all the same.
    pub async fn serve(self) -> bool {
        // Inside another program nobody can take over, so that this is a stop like any other.
        !matches!(self.serve_to_the_end().await, Served::CutOff | Served::BrokeOff)
    }

    /// The same, and tells when another program is to take over.
    pub async fn serve_to_the_end(self) -> Served {
        let Self {
            engine,
            control,
            context,
            store,
            door,
            listeners,
            place,
            peers,
            socket,
            config,
            locks,
            notifier,
            watchdog,
            was_handed_over,
            starting,
            backups,
            metrics,
            traces,
        } = self;
        let exporting = traces.start();
        let accepting = CancellationToken::new();
        let mut server = JoinSet::new();
        // Before anybody else uses the engine: what looks unfinished then, is. Who connects waits in
        // the backlog.
        let opened = if was_handed_over {
            engine.resume_after_handover().await
        } else {
            engine.resume_unfinished().await
        };
        match opened {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "sessions with unfinished work opened"),
            Err(error) => {
                control.warn(
                    Topic::Sessions,
                    format!("unfinished sessions could not be looked for: {error}"),
                );
            }
        }
        let remote = Arc::clone(&context.remote);
        let programs = context.programs.clone();
        let services = Services::new(context).await;
        let keepalive = Duration::from_millis(config.borrow().daemon.keepalive_ms);
        server.spawn(serve_local(services.clone(), door, peers, keepalive, accepting.clone()));
        if remote.is_wanted {
            let keepalive = Duration::from_millis(config.borrow().remote.keepalive_ms);
            tracing::info!(addresses = ?remote.addresses(), tls = remote.tls.is_some(), "remote clients are served");
            server.spawn(serve_remote(services, listeners, keepalive, accepting.clone()));
        }
        let mut house = JoinSet::new();
        house.spawn(keep_house(Arc::clone(&remote), config.clone(), accepting.clone()));
        // Dropped at the end, and with them what they do.
        let mut background = JoinSet::new();
        background.spawn(attend(Attended {
            notifier: notifier.clone(),
            watchdog,
            store: Arc::clone(&store),
            engine: engine.clone(),
        }));
        drop(starting);
        if let Some(programs) = programs {
            background.spawn(try_sandbox(programs));
        }
        let backups = background.spawn(backups.run());
        if let Some(metrics) = metrics_server(&config, &engine, &control, metrics).await {
            background.spawn(metrics.serve());
        }
        notifier.ready(&status_line(engine.stats()));
        tracing::info!(socket = %socket.display(), pid = std::process::id(), "ready");
        let broke_off = !until_told(control.stop_token(), &mut server).await;
        let limit = Duration::from_millis(config.borrow().daemon.shutdown_timeout_ms);
        let successor = control.successor();
        if let Some(successor) = &successor {
            tracing::info!(program = %successor.program.display(), version = successor.version, "handing over");
            notifier.reloading("handing over to a new binary");
            notifier.extend(limit + LONG_START);
        } else {
            tracing::info!("stopping");
            notifier.stopping(limit + CONNECTION_GRACE);
            place.close();
        }
        backups.abort();
        let stops_at = Instant::now() + limit;
        let orderly = tokio::time::timeout_at(stops_at, async {
            accepting.cancel();
            engine.stop().await;
            // A client that never finishes its handshake must not hold up the rest.
            let ended = tokio::time::timeout(CONNECTION_GRACE, async {
                while server.join_next().await.is_some() {}
            });
            if ended.await.is_err() {
                tracing::info!("connections that did not end are dropped");
                server.shutdown().await;
            }
            while house.join_next().await.is_some() {}
            if let Err(error) = store.close().await {
                tracing::error!(%error, "the store could not be closed");
            }
        })
        .await
        .is_ok();
        if !orderly {
            tracing::error!(limit_ms = limit.as_millis(), "the stop took too long and was cut off");
        }
        // Now that all turns have ended. It is no part of what must be done for a stop in order.
        let left = stops_at.saturating_duration_since(Instant::now());
        exporting.flush(left.min(FLUSH_LIMIT)).await;
        // Read anew: a stop that came meanwhile outweighs the handover.
        let handover = control.successor().zip(control.relaunch().cloned());
        if let Some((successor, relaunch)) = handover
            && let Some(listener) = place.hand_over()
        {
            let open = HandedOver::new(listener, locks.data, locks.socket);
            return Served::HandOver(Box::new(Handover { successor, relaunch, open, notifier }));
        }
        place.remove_file();
        drop(locks);
        if !orderly {
            return Served::CutOff;
        }
        tracing::info!("stopped");
        if broke_off { Served::BrokeOff } else { Served::InOrder }
    }
}

/// Waits to be told to stop. False: a server ended by itself, and without it nobody can reach the
/// daemon; stopping frees the lock for another, which the supervisor starts.
async fn until_told(stop: &CancellationToken, servers: &mut JoinSet<()>) -> bool {
    tokio::select! {
        biased;
        () = stop.cancelled() => true,
        ended = servers.join_next() => {
            let error = ended.and_then(Result::err).map(|error| error.to_string());
            tracing::error!(error, "a server ended by itself");
            false
        }
    }
}

/// Goes on holding a lock that the run before this one held; takes it where that is not possible.
async fn hold_lock(held: Option<File>, file: &Path) -> Result<InstanceLock, LockError> {
    if let Some(held) = held {
        match InstanceLock::adopt(held, file) {
            Ok(lock) => return Ok(lock),
            Err(error) => tracing::warn!(%error, "a lock that was handed over is taken anew"),
        }
    }
    take_lock(file).await
}

async fn take_lock(file: &Path) -> Result<InstanceLock, LockError> {
    let patience = Instant::now() + LOCK_PATIENCE;
    loop {
        match InstanceLock::acquire(file) {
            Err(LockError::Held { .. }) if Instant::now() < patience => {
                tokio::time::sleep(LOCK_PAUSE).await;
            }
            taken => return taken,
        }
    }
}

/// Says which damaged stores are kept, so that nobody overlooks a loss after the next restart.
fn damaged_stores(data_dir: &Path) -> Vec<String> {
    let kept = std::fs::read_dir(data_dir).into_iter().flatten().filter_map(Result::ok);
    kept.filter(|entry| entry.file_name().to_string_lossy().contains(".damaged-"))
        .map(|entry| {
            format!(
                "a store was damaged and is kept in {}; remove it when you no longer need it",
                entry.path().display()
            )
        })
        .collect()
}

/// The path with something behind its last part.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

async fn open_store(
    paths: &Paths,
    config: &Config,
    crash_points: CrashPoints,
) -> Result<(Arc<dyn Store>, Vec<String>), StartError> {
    let dir = paths.store_dir();
    let options = SledOptions {
        cache_bytes: config.store.cache_bytes,
        fsync: config.store.fsync,
        backups: Some(paths.backups_dir()),
        crash_points,
        ..SledOptions::default()
    };
    let opened = tokio::task::spawn_blocking(move || SledStore::open(&dir, options)).await;
    let Opened { store, report } =
        opened.map_err(|_panicked| StartError::Broken("opening the store"))??;
    Ok((Arc::new(store), report.warnings()))
}

/// The tokens, and why there are none: their file is no reason not to serve those who need no token.
fn load_tokens(
    paths: &Paths,
    clock: &Arc<dyn Clock>,
    ids: &Arc<dyn IdSource>,
    is_remote_wanted: bool,
) -> Result<(Tokens, Option<String>), TokenFileError> {
    let file = paths.tokens_file();
    match Tokens::load(&file, Arc::clone(clock), Arc::clone(ids)) {
        Ok(tokens) => Ok((tokens, None)),
        Err(error) if is_remote_wanted => Err(error),
        Err(error) => {
            let tokens = Tokens::unusable(&file, Arc::clone(clock), Arc::clone(ids), &error);
            Ok((tokens, Some(format!("{error}; {}", error.hint()))))
        }
    }
}

/// Listens for who wants the figures. That they cannot be had is no reason not to run.
async fn metrics_server(
    config: &watch::Receiver<Config>,
    engine: &Engine,
    control: &Control,
    metrics: Arc<Metrics>,
) -> Option<MetricsServer> {
    let address = config.borrow().metrics.address()?;
    let started_at_ms = control.facts().started_at_ms;
    let gauges = Gauges { engine: engine.clone(), metrics, started_at_ms };
    match MetricsServer::bind(address, gauges).await {
        Ok(server) => {
            let address = server.address().unwrap_or(address);
            tracing::info!(%address, "figures at /metrics");
            Some(server)
        }
        Err(error) => {
            let why = std::error::Error::source(&error).map(|why| format!(": {why}"));
            control.warn(
                Topic::Metrics,
                format!("there are no figures: {error}{}", why.unwrap_or_default()),
            );
            None
        }
    }
}

/// Sessions that name no workspace work in the user's home directory.
fn default_workspace() -> String {
    std::env::home_dir()
        .filter(|home| home.is_dir())
        .unwrap_or_else(|| PathBuf::from("/"))
        .display()
        .to_string()
}

/// Looks whether a start with these paths and this environment would get past everything that a user
/// may have written wrongly. Nothing is changed.
///
/// # Errors
/// What a start would refuse.
pub fn check_start(paths: &Paths, env: &Environment) -> Result<(), StartError> {
    let loaded = config::load(&paths.config_file(), env)?;
    let remote = loaded.config.remote;
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn IdSource>) =
        (Arc::new(SystemClock), Arc::new(RandomIds));
    let _read = load_tokens(paths, &clock, &ids, !remote.listen.is_empty())?;
    let _usable = crate::remote::check(&remote, env)?;
    Ok(())
}

#[cfg(test)]
mod tests;
