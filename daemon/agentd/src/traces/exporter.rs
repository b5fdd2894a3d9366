//! Puts the parts together: from the log's spans to the collector.

use std::sync::Arc;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;

use super::collector::{OtlpCollector, Unusable, pairs};
use super::conventions::is_traced;
use super::export::Export;
use super::queue::Queue;
use super::{Figures, TracesLayer};
use crate::config::OtelConfig;
use crate::environment::Environment;

/// More than the spans have, and a bound all the same.
const MAX_ATTRIBUTES: u32 = 32;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Spans on their way to a collector.
#[derive(Debug)]
pub(super) struct Exporter {
    tracer: SdkTracer,
    export: Export<OtlpCollector>,
    figures: Arc<Figures>,
}

impl Exporter {
    pub(super) fn new(
        endpoint: &str,
        config: &OtelConfig,
        env: &Environment,
    ) -> Result<Self, Unusable> {
        let resource = resource(env);
        let collector = OtlpCollector::new(endpoint, &resource, env)?;
        let figures = Arc::new(Figures::default());
        let (queue, ended) = Queue::new(Arc::clone(&figures));
        // Whether a turn is sampled is decided at its root.
        let sampler =
            Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample_ratio)));
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_sampler(sampler)
            .with_max_attributes_per_span(MAX_ATTRIBUTES)
            .with_max_events_per_span(0)
            .with_max_links_per_span(0)
            .with_span_processor(queue)
            .build();
        let scope = InstrumentationScope::builder("agentd").with_version(VERSION).build();
        let tracer = provider.tracer_with_scope(scope);
        let export = Export::new(ended, collector, Arc::clone(&figures));
        Ok(Self { tracer, export, figures })
    }

    pub(super) fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Independent of the level of the log: a quiet log is no reason for fewer traces.
    pub(super) fn layer(&self) -> TracesLayer {
        let spans = tracing_opentelemetry::layer()
            .with_tracer(self.tracer.clone())
            .with_location(false)
            .with_threads(false)
            .with_level(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false);
        Box::new(spans.with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::INFO)))
    }

    pub(super) async fn run(self, closing: CancellationToken) {
        self.export.run(closing).await;
    }
}

/// What the traces are of. The standard variables name it otherwise, and add to it.
fn resource(env: &Environment) -> Resource {
    let added = env.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let added = pairs(added).flatten().map(|(name, value)| KeyValue::new(name, value));
    let name = env.get("OTEL_SERVICE_NAME").filter(|name| !name.is_empty());
    let ours = [("service.name", "agentd"), ("service.version", VERSION)];
    Resource::builder_empty()
        .with_attributes(ours.map(|(key, value)| KeyValue::new(key, value)))
        .with_attributes(added)
        .with_attributes(name.map(|name| KeyValue::new("service.name", name.to_owned())))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_is_named_and_the_standard_variables_outweigh_that() {
        let check = |env: &[(&str, &str)], key: &'static str, expect: &str| {
            let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let value = resource(&env.collect()).get(&key.into());
            assert_eq!(value.map(|value| value.to_string()).as_deref(), Some(expect), "{key}");
        };
        let attributes =
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=a%20b,service.name=x");
        check(&[], "service.name", "agentd");
        check(&[], "service.version", VERSION);
        check(&[attributes], "deployment.environment.name", "a b");
        check(&[attributes], "service.name", "x");
        check(&[attributes, ("OTEL_SERVICE_NAME", "mine")], "service.name", "mine");
    }
}
