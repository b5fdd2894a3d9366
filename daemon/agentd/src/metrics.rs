//! Figures for Prometheus: counters that requests to models add to, and gauges read when asked.
//!
//! Names follow Prometheus' conventions: base units, `_total` for counters.

mod gauges;
mod server;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use agentd_llm::{Attempt, LlmError, Meter, Spent};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

pub(crate) use gauges::Gauges;
pub(crate) use server::MetricsServer;

/// Most models that have figures of their own: a label's values must not grow without bound.
const MAX_MODELS: usize = 100;
/// What further models are counted under.
const OTHER: &str = "other";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    provider: &'static str,
    model: String,
    /// "ok", or the code of the error.
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabels {
    provider: &'static str,
    model: String,
    /// "prompt", "cache_read", "cache_write", "completion", "reasoning". Cached tokens are part of the
    /// prompt, reasoning is part of the completion.
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProviderLabels {
    provider: &'static str,
}

/// What is counted about requests to models. A [`Meter`] that lets everything pass.
#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Family<RequestLabels, Counter>,
    tokens: Family<TokenLabels, Counter>,
    durations: Family<ProviderLabels, Histogram>,
    first_bytes: Family<ProviderLabels, Histogram>,
    models: Mutex<BTreeSet<String>>,
}

/// From 10 ms to 11 minutes.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.01, 2.0, 17))
}

impl Metrics {
    /// All at zero.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            requests: Family::default(),
            tokens: Family::default(),
            durations: Family::new_with_constructor(seconds),
            first_bytes: Family::new_with_constructor(seconds),
            models: Mutex::default(),
        })
    }

    fn register(&self, registry: &mut Registry) {
        registry.register(
            "model_requests",
            "Requests to models, each attempt by itself",
            self.requests.clone(),
        );
        registry.register(
            "model_tokens",
            "Tokens of requests to models, estimates included",
            self.tokens.clone(),
        );
        registry.register(
            "model_request_seconds",
            "Time from a request to the end of its answer",
            self.durations.clone(),
        );
        registry.register(
            "model_first_byte_seconds",
            "Time from a request to the first part of its answer",
            self.first_bytes.clone(),
        );
    }

    fn model_label(&self, model: &str) -> String {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.contains(model) {
            return model.to_owned();
        }
        if models.len() >= MAX_MODELS {
            return OTHER.to_owned();
        }
        models.insert(model.to_owned());
        model.to_owned()
    }
}

impl Meter for Metrics {
    fn admit(&self, _attempt: &Attempt) -> Result<(), LlmError> {
        Ok(())
    }

    fn record(&self, spent: Spent) {
        let Spent { attempt, usage, first_byte_ms, elapsed_ms, error_code } = spent;
        let provider = attempt.provider;
        let model = self.model_label(&attempt.model);
        let outcome = error_code.unwrap_or("ok");
        let labels = RequestLabels { provider, model: model.clone(), outcome };
        self.requests.get_or_create(&labels).inc();
        for (kind, tokens) in [
            ("prompt", usage.prompt_tokens),
            ("cache_read", usage.cached_prompt_tokens),
            ("cache_write", usage.cache_write_tokens),
            ("completion", usage.completion_tokens),
            ("reasoning", usage.reasoning_tokens),
        ] {
            let labels = TokenLabels { provider, model: model.clone(), kind };
            self.tokens.get_or_create(&labels).inc_by(tokens);
        }
        let labels = ProviderLabels { provider };
        self.durations.get_or_create(&labels).observe(in_seconds(elapsed_ms));
        if first_byte_ms > 0 {
            self.first_bytes.get_or_create(&labels).observe(in_seconds(first_byte_ms));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a metric is no account")]
fn in_seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use agentd_domain::Usage;

    use super::*;

    fn spent(model: &str, error_code: Option<&'static str>) -> Spent {
        let attempt = Attempt {
            provider: "anthropic",
            model: model.to_owned(),
            prompt_tokens: 9,
            max_output_tokens: None,
            prices: None,
        };
        let usage = Usage { prompt_tokens: 10, completion_tokens: 3, ..Usage::default() };
        Spent { attempt, usage, first_byte_ms: 20, elapsed_ms: 1500, error_code }
    }

    #[test]
    fn requests_are_counted_by_outcome_and_their_tokens_summed() {
        let metrics = Metrics::new();
        metrics.record(spent("m", None));
        metrics.record(spent("m", Some("PROVIDER_STREAM_CUT")));
        let mut registry = Registry::with_prefix("agentd");
        metrics.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        for line in [
            "agentd_model_requests_total{provider=\"anthropic\",model=\"m\",outcome=\"ok\"} 1",
            "agentd_model_requests_total{provider=\"anthropic\",model=\"m\",outcome=\"PROVIDER_STREAM_CUT\"} 1",
            "agentd_model_tokens_total{provider=\"anthropic\",model=\"m\",kind=\"prompt\"} 20",
            "agentd_model_request_seconds_sum{provider=\"anthropic\"} 3.0",
            "agentd_model_request_seconds_count{provider=\"anthropic\"} 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn labels_do_not_grow_without_bound() {
        let metrics = Metrics::new();
        for number in 0..=MAX_MODELS {
            metrics.record(spent(&format!("m{number}"), None));
        }
        assert_eq!(metrics.model_label("m0"), "m0");
        assert_eq!(metrics.model_label(&format!("m{MAX_MODELS}")), OTHER);
    }
}
