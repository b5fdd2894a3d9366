//! What is known of a model at an endpoint: configuration, then what was learned, then the catalogue.

use std::collections::BTreeMap;

use agentd_domain::Effort;
use agentd_llm::{
    Catalogue, EffortForm, EffortValue, InfoSource, ModelFacts, ModelInfo, Provider, Reasoning,
};

use super::assign::Place;
use super::learned::Learned;
use crate::config::Config;

/// Host that translates one form of efforts for all models.
const OPENROUTER: &str = "openrouter.ai";

/// Puts together what is known of a model at an endpoint.
pub(super) fn find(
    place: &Place,
    provider: &dyn Provider,
    config: &Config,
    learned: &Learned,
) -> ModelInfo {
    let Place { endpoint, model } = place;
    let mut info = known(model);
    if provider.base_url().contains(OPENROUTER) {
        info.reasoning = translated(&info.reasoning);
    }
    if let Some(tokens) = learned.context_tokens(provider.base_url(), model) {
        info = info.with(&window(tokens), InfoSource::Learned);
    }
    let configured = config.endpoint(endpoint).map_or(0, |endpoint| endpoint.context_tokens);
    if configured > 0 {
        info = info.with(&window(configured), InfoSource::Config);
    }
    for name in [model.as_str(), &format!("{endpoint}/{model}")] {
        if let Some(facts) = config.models.get(name) {
            info = info.with(facts, InfoSource::Config);
        }
    }
    info.reasoning.form = spoken_by(provider, info.reasoning.form);
    info
}

/// What is known of a model wherever it is.
pub(super) fn known(model: &str) -> ModelInfo {
    match Catalogue::builtin().facts(model) {
        Some(facts) => ModelInfo::default().with(&facts, InfoSource::Catalogue),
        None => ModelInfo::default(),
    }
}

fn window(tokens: u64) -> ModelFacts {
    ModelFacts { context_tokens: Some(tokens), ..ModelFacts::default() }
}

/// The levels as OpenRouter calls them (openrouter.ai/docs/use-cases/reasoning-tokens).
fn translated(reasoning: &Reasoning) -> Reasoning {
    let word = |effort: Effort| match effort {
        Effort::Off => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => "xhigh",
    };
    let levels: BTreeMap<_, _> = reasoning
        .efforts()
        .into_iter()
        .map(|effort| (effort, EffortValue::Word(word(effort).to_owned())))
        .collect();
    let form = if levels.is_empty() { EffortForm::None } else { EffortForm::Nested };
    Reasoning { form, levels }
}

/// How this provider is told an effort. What it cannot be told must not look as if it were.
fn spoken_by(provider: &dyn Provider, form: EffortForm) -> EffortForm {
    let is_spoken = match form {
        EffortForm::None => true,
        EffortForm::Budget | EffortForm::Adaptive => provider.kind() == "anthropic",
        EffortForm::Word => provider.kind() != "anthropic",
        EffortForm::Switch | EffortForm::Nested => provider.kind() == "openai-compatible",
    };
    if is_spoken { form } else { EffortForm::None }
}

/// Most tokens of an answer: what was configured, but no more than the model can.
pub(super) fn output_limit(configured: Option<u32>, info: &ModelInfo) -> Option<u32> {
    configured.map(|most| most.min(info.max_output_tokens.unwrap_or(u32::MAX)))
}
