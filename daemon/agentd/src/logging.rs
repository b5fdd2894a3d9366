//! Logs: to standard error for people or programs, or to the journal. The newest records also stay in
//! memory, for `agentctl logs`.

mod ring;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use crate::config::{LogConfig, LogFormat};
use crate::traces::TracesLayer;

pub use ring::{LogPage, LogRecord, LogRing};

/// Before each field in the journal: `AGENTD_SESSION_ID`, `AGENTD_TURN_ID`.
const FIELD_PREFIX: &str = "AGENTD";
/// What `journalctl -t` finds the daemon by.
const IDENTIFIER: &str = "agentd";

/// Changes the level while the daemon runs.
#[derive(Debug, Clone)]
pub struct LogLevel(reload::Handle<EnvFilter, Registry>);

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The level is not one.
    #[error("log.level '{level}' is not a level: {source}")]
    Level {
        /// What was configured.
        level: String,
        /// What the parser says.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// There is no journal.
    #[error("log.format is journald, but the journal cannot be reached")]
    Journal(#[source] std::io::Error),
    /// Logging was set up before.
    #[error("logging is set up already")]
    Twice(#[from] tracing_subscriber::util::TryInitError),
}

/// Sets up logging for the process, and hands its spans to `traces`, whatever the level of the log.
///
/// # Errors
/// When the level is not one, or the journal is wanted and not there.
pub fn init(
    config: &LogConfig,
    ring: &LogRing,
    traces: Option<TracesLayer>,
) -> Result<LogLevel, LogError> {
    let (filter, handle) = reload::Layer::new(filter(&config.level)?);
    let to_stderr = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let format = match config.format {
        LogFormat::Auto if stderr_is_the_journal() => LogFormat::Journald,
        LogFormat::Auto => LogFormat::Human,
        format => format,
    };
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Auto | LogFormat::Human => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr())
                && std::env::var_os("NO_COLOR").is_none();
            to_stderr.with_ansi(ansi).boxed()
        }
        LogFormat::Json => to_stderr.json().with_ansi(false).boxed(),
        LogFormat::Journald => {
            // Fields of ours cannot pass for the journal's own, such as PRIORITY.
            let journal = tracing_journald::layer()
                .map_err(LogError::Journal)?
                .with_field_prefix(Some(FIELD_PREFIX.to_owned()))
                .with_syslog_identifier(IDENTIFIER.to_owned());
            journal.boxed()
        }
    };
    let log = ring.clone().and_then(lines).with_filter(filter).boxed();
    let layers: Vec<_> = std::iter::once(log).chain(traces).collect();
    tracing_subscriber::registry().with(layers).try_init()?;
    Ok(LogLevel(handle))
}

/// True when standard error is the stream that systemd connected to the journal, and not a file or a
/// pipe that was put in its place.
fn stderr_is_the_journal() -> bool {
    let Some(stream) = std::env::var_os("JOURNAL_STREAM") else { return false };
    let Ok(stat) = rustix::fs::fstat(std::io::stderr()) else { return false };
    stream.to_str() == Some(&format!("{}:{}", stat.st_dev, stat.st_ino))
}

fn filter(level: &str) -> Result<EnvFilter, LogError> {
    EnvFilter::try_new(level).map_err(|source| LogError::Level { level: level.to_owned(), source })
}

impl LogLevel {
    /// Changes the level.
    ///
    /// # Errors
    /// When it is not one; the old one stays.
    pub fn set(&self, level: &str) -> Result<(), LogError> {
        let filter = filter(level)?;
        if self.0.reload(filter).is_err() {
            tracing::warn!("the log level could not be changed");
        }
        Ok(())
    }
}
