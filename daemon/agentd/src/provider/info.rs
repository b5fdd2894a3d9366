//! What is known of a model at an endpoint: configuration, then what was learned, then the catalogue.

use agentd_llm::{Catalogue, EffortForm, InfoSource, ModelFacts, ModelInfo, Provider};

use super::learned::Learned;
use crate::config::ProviderConfig;

/// Puts together what is known.
pub(super) fn find(
    model: &str,
    provider: &dyn Provider,
    config: &ProviderConfig,
    learned: &Learned,
) -> ModelInfo {
    let mut info = ModelInfo::default();
    if let Some(facts) = Catalogue::builtin().facts(model) {
        info = info.with(&facts, InfoSource::Catalogue);
    }
    if let Some(tokens) = learned.context_tokens(provider.base_url(), model) {
        info = info.with(&window(tokens), InfoSource::Learned);
    }
    if config.context_tokens > 0 {
        info = info.with(&window(config.context_tokens), InfoSource::Config);
    }
    info.reasoning.form = spoken_by(provider, info.reasoning.form);
    info
}

fn window(tokens: u64) -> ModelFacts {
    ModelFacts { context_tokens: Some(tokens), ..ModelFacts::default() }
}

/// How this provider is told an effort. What it cannot be told must not look as if it were.
fn spoken_by(provider: &dyn Provider, form: EffortForm) -> EffortForm {
    let is_chat = provider.kind() == "openai-compatible";
    match form {
        EffortForm::Budget | EffortForm::Adaptive if is_chat => EffortForm::None,
        EffortForm::None
        | EffortForm::Word
        | EffortForm::Switch
        | EffortForm::Nested
        | EffortForm::Budget
        | EffortForm::Adaptive => form,
    }
}

/// Most tokens of an answer: what was configured, but no more than the model can.
pub(super) fn output_limit(configured: Option<u32>, info: &ModelInfo) -> Option<u32> {
    configured.map(|most| most.min(info.max_output_tokens.unwrap_or(u32::MAX)))
}
