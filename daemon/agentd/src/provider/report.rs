//! What `status` says about the model.

use agentd_engine::ModelQuery;
use agentd_llm::LlmError;

use super::endpoint::{Found, MODELS_TIMEOUT};
use super::{Models, assign, first_of};

/// What `status` says about the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderReport {
    /// As the provider calls itself, such as "openai-compatible" or "offline".
    pub kind: String,
    /// Where it is.
    pub base_url: String,
    /// The default model.
    pub model: String,
    /// How it was found.
    pub source: String,
    /// Models to choose from, as far as known.
    pub models: Vec<String>,
    /// Why nothing can be asked now, as far as known.
    pub problem: Option<String>,
}

impl Models {
    /// What `status` says. An endpoint that cannot be used is named with the reason.
    pub async fn report(&self) -> ProviderReport {
        let config = self.config.borrow().clone();
        let place = assign::assign(&config, &ModelQuery::default()).first;
        let Found { provider, model, source, .. } = match self.find_place(&place).await {
            Ok(found) => found,
            Err(error) => {
                return ProviderReport {
                    kind: "none".to_owned(),
                    source: error.to_string(),
                    ..Default::default()
                };
            }
        };
        let listed = tokio::time::timeout(MODELS_TIMEOUT, provider.models()).await;
        // The list is a help for choosing: an endpoint without one can still answer.
        let (models, problem) = match listed {
            Ok(Ok(models)) => (models, None),
            Ok(Err(
                error @ (LlmError::Connect { .. } | LlmError::Auth { .. } | LlmError::NoKey { .. }),
            )) => (Vec::new(), Some(error.to_string())),
            Ok(Err(_no_list)) => (Vec::new(), None),
            Err(_silent) => (Vec::new(), Some("the provider does not answer".to_owned())),
        };
        let model = if self.is_offline(&*provider) {
            model
        } else {
            first_of([&place.model, &model]).to_owned()
        };
        ProviderReport {
            kind: provider.kind().to_owned(),
            base_url: provider.base_url().to_owned(),
            model,
            source,
            models,
            problem,
        }
    }
}
