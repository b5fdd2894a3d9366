//! Traces of turns for a collector of OpenTelemetry, in builds with the feature `otel`.
//!
//! Spans are made where the work is done, with `tracing`, as for the log. Here those that make up
//! traces are picked out, named as the conventions want, queued, and sent in batches by one task. A
//! collector that is away costs spans, never memory, and a stop only as long as `FLUSH_LIMIT`.
//!
//! Without the feature this says that traces which somebody asked for are not exported.

mod figures;
mod target;

#[cfg(feature = "otel")]
mod collector;
#[cfg(feature = "otel")]
mod conventions;
#[cfg(feature = "otel")]
mod export;
#[cfg(feature = "otel")]
mod exporter;
#[cfg(feature = "otel")]
mod queue;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::{Layer, Registry};

use crate::config::OtelConfig;
use crate::environment::Environment;

pub(crate) use figures::Figures;
use target::Target;

/// Longest time that a stop waits for the collector to take the last spans.
pub(crate) const FLUSH_LIMIT: Duration = Duration::from_secs(3);

/// What a build without the feature says.
#[cfg(not(feature = "otel"))]
const WITHOUT_FEATURE: &str = "this agentd was built without the feature otel";
/// How to get one that exports traces.
#[cfg(not(feature = "otel"))]
const HOW_TO_BUILD: &str =
    "build it with `cargo build --release --package agentd --features otel`, or unset the endpoint";

/// A layer for a subscriber.
pub type TracesLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// What becomes of traces in this process.
#[derive(Debug)]
pub struct Traces {
    state: TracesState,
    #[cfg(feature = "otel")]
    exporter: Option<exporter::Exporter>,
}

/// The same, for those who ask.
#[derive(Debug, Clone)]
pub(crate) enum TracesState {
    /// Nobody asked for any.
    Unwanted,
    /// Somebody did, and cannot have them.
    NotExported {
        /// Why.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// They go to a collector.
    #[cfg_attr(
        not(feature = "otel"),
        expect(dead_code, reason = "only the feature exports any; the doctor knows all cases")
    )]
    Exported {
        /// Its URL.
        endpoint: String,
        /// How that goes.
        figures: Arc<Figures>,
    },
}

impl Traces {
    /// Looks what is asked for. Nothing is connected to yet.
    pub fn of(config: &OtelConfig, env: &Environment) -> Self {
        match Target::of(config, env) {
            Target::None => Self::idle(TracesState::Unwanted),
            Target::Bad { why, remedy } => Self::not_exported(why, remedy),
            Target::Collector(endpoint) => Self::to_collector(endpoint, config, env),
        }
    }

    #[cfg(feature = "otel")]
    fn to_collector(endpoint: String, config: &OtelConfig, env: &Environment) -> Self {
        match exporter::Exporter::new(&endpoint, config, env) {
            Ok(exporter) => {
                let figures = exporter.figures();
                let state = TracesState::Exported { endpoint, figures };
                Self { state, exporter: Some(exporter) }
            }
            Err(collector::Unusable { why, remedy }) => Self::not_exported(why, remedy),
        }
    }

    #[cfg(not(feature = "otel"))]
    fn to_collector(_endpoint: String, _config: &OtelConfig, _env: &Environment) -> Self {
        Self::not_exported(WITHOUT_FEATURE.to_owned(), HOW_TO_BUILD)
    }

    fn not_exported(why: String, remedy: &str) -> Self {
        Self::idle(TracesState::NotExported { why, remedy: remedy.to_owned() })
    }

    fn idle(state: TracesState) -> Self {
        Self {
            state,
            #[cfg(feature = "otel")]
            exporter: None,
        }
    }

    /// What hands spans to the exporter; none when there is nothing to export.
    pub fn layer(&self) -> Option<TracesLayer> {
        #[cfg(feature = "otel")]
        if let Some(exporter) = &self.exporter {
            return Some(exporter.layer());
        }
        None
    }

    pub(crate) fn state(&self) -> TracesState {
        self.state.clone()
    }

    /// Begins to export. Until then spans wait in the queue.
    pub(crate) fn start(self) -> Exporting {
        if let TracesState::Exported { endpoint, .. } = &self.state {
            tracing::info!(%endpoint, "traces are exported");
        }
        let closing = CancellationToken::new();
        #[cfg_attr(not(feature = "otel"), expect(unused_mut, reason = "the feature adds a task"))]
        let mut tasks = JoinSet::new();
        #[cfg(feature = "otel")]
        if let Some(exporter) = self.exporter {
            tasks.spawn(exporter.run(closing.clone()));
        }
        Exporting { tasks, closing }
    }
}

/// Exports until it is dropped.
#[derive(Debug)]
pub(crate) struct Exporting {
    tasks: JoinSet<()>,
    closing: CancellationToken,
}

impl Exporting {
    /// Sends what is still queued, for as long as `limit` at most.
    pub(crate) async fn flush(mut self, limit: Duration) {
        self.closing.cancel();
        let sent = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(limit, sent).await.is_err() {
            tracing::warn!(
                limit_ms = limit.as_millis(),
                "the collector did not take the last traces in time: they are lost"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_that_nobody_asked_for_are_no_trouble() {
        let traces = Traces::of(&OtelConfig::default(), &Environment::new());
        assert!(matches!(traces.state(), TracesState::Unwanted));
        assert!(traces.layer().is_none());
    }

    #[cfg(not(feature = "otel"))]
    #[test]
    fn a_build_without_the_feature_names_it_and_how_to_build_with_it() {
        let endpoint = "http://127.0.0.1:4317".to_owned();
        let config = OtelConfig { endpoint, ..OtelConfig::default() };
        let state = Traces::of(&config, &Environment::new()).state();
        let TracesState::NotExported { why, remedy } = state else { panic!("{state:?}") };
        assert!(why.contains("feature otel"), "{why}");
        assert!(remedy.contains("--features otel"), "{remedy}");
    }
}
