//! What the process can be told: to stop, and to read its configuration again.

mod warning;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_engine::EngineConfig;
use agentd_memory::Memories;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::warning::{Topic, Warning};
use crate::config::{self, Config, ConfigError};
use crate::environment::Environment;
use crate::logging::LogLevel;
use crate::provider::Models;
use crate::supervisor::Notifier;
use crate::upgrade::{Relaunch, Successor};

/// Facts about the process for `status`.
#[derive(Debug, Clone)]
pub struct ProcessFacts {
    /// When it started, Unix milliseconds.
    pub started_at_ms: i64,
    /// Where it listens.
    pub socket: PathBuf,
    /// Where the store is.
    pub data_dir: PathBuf,
    /// Who looks after the process.
    pub supervision: Supervision,
}

/// Who looks after the process. The default is nobody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Supervision {
    /// A service manager is told what the daemon is doing.
    pub is_notified: bool,
    /// How often it wants a sign of life.
    pub watchdog: Option<Duration>,
    /// The socket is systemd's.
    pub is_socket_activated: bool,
}

/// Clones share the same state.
#[derive(Debug, Clone)]
pub struct Control {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    stop: CancellationToken,
    config_file: PathBuf,
    env: Environment,
    overrides: Overrides,
    config: watch::Sender<Config>,
    engine_config: watch::Sender<EngineConfig>,
    memories: Option<Memories>,
    log_level: Option<LogLevel>,
    facts: ProcessFacts,
    notifier: Notifier,
    relaunch: Option<Relaunch>,
    /// Takes over once the daemon has stopped.
    successor: Mutex<Option<Successor>>,
    warnings: Mutex<Vec<Warning>>,
    /// Warnings that hold until what they tell of is over.
    standing: Mutex<BTreeMap<Topic, String>>,
    /// Why the newest configuration is not in force.
    reload_failure: Mutex<Option<String>>,
}

/// Flags that outweigh file and environment.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Base URL of the endpoint.
    pub base_url: Option<String>,
    /// Default model.
    pub model: Option<String>,
    /// Use no model at all.
    pub offline: bool,
    /// Log level.
    pub log_level: Option<String>,
}

impl Overrides {
    /// Puts the flags over a configuration.
    pub fn apply(&self, config: &mut Config) {
        let Self { base_url, model, offline, log_level } = self;
        if let Some(base_url) = base_url {
            config.provider.base_url.clone_from(base_url);
        }
        if let Some(model) = model {
            config.provider.model.clone_from(model);
        }
        if let Some(log_level) = log_level {
            config.log.level.clone_from(log_level);
        }
        if *offline {
            config.provider.kind = config::ProviderKind::Offline;
        }
    }
}

/// What [`Control`] is made of.
#[derive(Debug)]
pub struct ControlParts {
    /// The configuration file.
    pub config_file: PathBuf,
    /// The environment at the start.
    pub env: Environment,
    /// Flags.
    pub overrides: Overrides,
    /// Where changes go.
    pub config: watch::Sender<Config>,
    /// Where the engine's changes go.
    pub engine_config: watch::Sender<EngineConfig>,
    /// Whose thresholds change with it; none: nobody's.
    pub memories: Option<Memories>,
    /// The log level, when logging was set up by this process.
    pub log_level: Option<LogLevel>,
    /// Facts for `status`.
    pub facts: ProcessFacts,
    /// Who is told of reloads.
    pub notifier: Notifier,
    /// How a successor is started; none: nobody can take over.
    pub relaunch: Option<Relaunch>,
}

impl Control {
    /// Makes the control of a process that is running.
    pub fn new(parts: ControlParts) -> Self {
        let ControlParts {
            config_file,
            env,
            overrides,
            config,
            engine_config,
            memories,
            log_level,
            facts,
            notifier,
            relaunch,
        } = parts;
        Self {
            inner: Arc::new(Inner {
                stop: CancellationToken::new(),
                config_file,
                env,
                overrides,
                config,
                engine_config,
                memories,
                log_level,
                facts,
                notifier,
                relaunch,
                successor: Mutex::default(),
                warnings: Mutex::default(),
                standing: Mutex::default(),
                reload_failure: Mutex::default(),
            }),
        }
    }

    /// Cancelled when the process should stop.
    pub fn stop_token(&self) -> &CancellationToken {
        &self.inner.stop
    }

    /// Asks the process to stop. Nobody takes over then, also where somebody was about to.
    pub fn stop(&self) {
        let mut successor = self.successor_mut();
        if successor.take().is_some() {
            tracing::info!("told to stop: no other binary takes over");
        } else {
            // Before the streams end: whoever follows the log shall read it.
            tracing::info!("told to stop");
        }
        self.inner.stop.cancel();
    }

    /// How a successor is started; none: nobody can take over.
    pub fn relaunch(&self) -> Option<&Relaunch> {
        self.inner.relaunch.as_ref()
    }

    /// Asks the process to stop, and to become another program then. A stop that was asked for
    /// before stays one.
    pub fn hand_over(&self, successor: Successor) {
        let mut taking_over = self.successor_mut();
        if self.inner.stop.is_cancelled() {
            return;
        }
        *taking_over = Some(successor);
        self.inner.stop.cancel();
    }

    /// Who takes over, if somebody does. Until the exec a stop may still prevent it.
    pub fn successor(&self) -> Option<Successor> {
        self.successor_mut().clone()
    }

    fn successor_mut(&self) -> MutexGuard<'_, Option<Successor>> {
        self.inner.successor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the configuration again. Returns the file and the keys that need a restart.
    ///
    /// # Errors
    /// When the new configuration is wrong; the old one stays in force.
    pub fn reload(&self, models: &Models) -> Result<(Option<PathBuf>, Vec<String>), ConfigError> {
        self.inner.notifier.reloading("reading the configuration again");
        let reloaded = self.try_reload(models);
        self.inner.notifier.ready(match &reloaded {
            Ok(_changed) => "configuration read again",
            Err(_wrong) => "the new configuration is wrong; the old one stays in force",
        });
        let failure = reloaded.as_ref().err().map(ToString::to_string);
        *self.inner.reload_failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        reloaded
    }

    fn try_reload(&self, models: &Models) -> Result<(Option<PathBuf>, Vec<String>), ConfigError> {
        let inner = &*self.inner;
        let mut loaded = config::load(&inner.config_file, &inner.env)?;
        inner.overrides.apply(&mut loaded.config);
        for warning in &loaded.warnings {
            tracing::warn!("{warning}");
        }
        let needs_restart = inner.config.borrow().needs_restart(&loaded.config);
        if let Some(log_level) = &inner.log_level
            && let Err(error) = log_level.set(&loaded.config.log.level)
        {
            return Err(ConfigError::Value {
                key: "log.level".to_owned(),
                problem: error.to_string(),
                origin: inner.config_file.display().to_string(),
            });
        }
        inner.engine_config.send_replace(loaded.config.engine());
        if let Some(memories) = &inner.memories {
            memories.configure(loaded.config.memory.memory());
        }
        inner.config.send_replace(loaded.config);
        models.forget();
        tracing::info!(needs_restart = needs_restart.join(", "), "configuration read again");
        Ok((loaded.file, needs_restart))
    }

    /// The configuration file, if it exists.
    pub fn config_file(&self) -> Option<&PathBuf> {
        Some(&self.inner.config_file).filter(|file| file.exists())
    }

    /// Facts for `status`.
    pub fn facts(&self) -> &ProcessFacts {
        &self.inner.facts
    }

    /// Adds something that somebody should look at.
    pub fn warn(&self, topic: Topic, text: String) {
        tracing::warn!("{text}");
        self.keep_warnings(topic, [text]);
    }

    /// Keeps warnings for `status` that were logged where they arose.
    pub fn keep_warnings(&self, topic: Topic, texts: impl IntoIterator<Item = String>) {
        let new = texts.into_iter().map(|text| Warning { topic, text });
        self.warnings_mut().extend(new);
    }

    /// Tells of trouble for as long as it lasts: the newest text about something replaces the one
    /// before, and `None` ends it.
    pub fn standing_warning(&self, topic: Topic, text: Option<String>) {
        let mut standing = self.inner.standing.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => {
                tracing::warn!("{text}");
                standing.insert(topic, text);
            }
            None => {
                standing.remove(&topic);
            }
        }
    }

    /// Why the newest configuration is not in force.
    pub fn reload_failure(&self) -> Option<String> {
        self.inner.reload_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Things that somebody should look at.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut all = self.warnings_mut().clone();
        let standing = self.inner.standing.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(standing.iter().map(|(&topic, text)| Warning { topic, text: text.clone() }));
        drop(standing);
        all.extend(self.reload_failure().map(|failure| Warning {
            topic: Topic::Config,
            text: format!("the configuration was changed but is not in force: {failure}"),
        }));
        all
    }

    fn warnings_mut(&self) -> MutexGuard<'_, Vec<Warning>> {
        self.inner.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Control {
    /// The control of a process without files, whose configuration is the default one.
    pub(crate) fn for_tests() -> Self {
        Self::new(ControlParts {
            config_file: PathBuf::new(),
            env: Environment::new(),
            overrides: Overrides::default(),
            config: watch::channel(Config::default()).0,
            engine_config: watch::channel(EngineConfig::default()).0,
            memories: None,
            log_level: None,
            facts: ProcessFacts {
                started_at_ms: 0,
                socket: PathBuf::new(),
                data_dir: PathBuf::new(),
                supervision: Supervision::default(),
            },
            notifier: Notifier::default(),
            relaunch: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_wins_over_a_handover_whichever_comes_first() {
        let successor = || Successor { program: PathBuf::from("/a"), version: "1".to_owned() };
        let control = Control::for_tests();
        control.hand_over(successor());
        assert!(control.successor().is_some() && control.stop_token().is_cancelled());
        control.stop();
        assert!(control.successor().is_none(), "the stop came later");
        control.hand_over(successor());
        assert!(control.successor().is_none(), "the stop was there before");
    }
}
