//! Up to the point where clients can connect.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{Clock, IdSource};
use agentd_engine::{Engine, EngineDeps, RandomIds, SystemClock};
use agentd_memory::Memories;
use agentd_sandbox::Programs;
use agentd_shared::paths::check_socket_path;
use agentd_shared::{Paths, ensure_config_dir, ensure_private_dir};
use agentd_store::{CrashPoints, Opened, SledOptions, SledStore, Store};
use agentd_tools::{BuiltinSettings, PROCESS_TOOLS, Registry, process_tools};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::locks::{Locks, beside, hold_lock, take_lock};
use super::{Daemon, DaemonOptions, LONG_START, StartError};
use crate::access::{TokenFileError, Tokens};
use crate::backups::Backups;
use crate::config::{self, Config, SocketAccess};
use crate::control::{Control, ControlParts, ProcessFacts, Supervision, Topic};
use crate::embeddings::Embedding;
use crate::environment::Environment;
use crate::grpc::{Context, Peers};
use crate::listener::Door;
use crate::metrics::Metrics;
use crate::provider::Models;
use crate::remote::{Gauge, Remote};
use crate::submit::SubmitPath;
use crate::supervisor::{HandedOver, Supervisor, outlast_start};
use crate::traces::{Traces, TracesState};
use crate::undo;
use crate::upkeep::Upkeep;

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
        // The one owner of what is remembered; whoever needs it gets this handle.
        let memories = Memories::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            Arc::clone(&ids),
            loaded.config.memory.memory(),
        );
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
            memories: Some(memories.clone()),
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
        let upkeep = Upkeep {
            memories: memories.clone(),
            config: config_rx.clone(),
            control: control.clone(),
        };
        let embedding = Embedding {
            memories: memories.clone(),
            models: Arc::clone(&models),
            config: config_rx.clone(),
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
            memories: memories.clone(),
            undo,
        });
        let context = Arc::new(Context {
            submit: SubmitPath::new(engine.clone(), config_rx.clone()),
            engine: engine.clone(),
            models,
            control: control.clone(),
            clock,
            memories,
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
            upkeep,
            embedding,
            metrics,
            traces,
        })
    }
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
