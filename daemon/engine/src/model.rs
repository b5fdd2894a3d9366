//! Which model answers.

use std::fmt::Debug;
use std::sync::Arc;

use agentd_domain::{Effort, EffortChoice};
use agentd_llm::{LlmError, ModelInfo, Provider};
use async_trait::async_trait;

/// A model that is ready to be asked.
#[derive(Debug, Clone)]
pub struct ResolvedModel {
    /// Where it is.
    pub provider: Arc<dyn Provider>,
    /// Its name there.
    pub model: String,
    /// What it can do and costs.
    pub info: Arc<ModelInfo>,
    /// Tokens that a request and its answer may have together.
    pub context_tokens: u64,
    /// Most tokens of an answer; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// How long it may reason; none leaves it to the provider.
    pub effort: Option<EffortChoice>,
}

impl ResolvedModel {
    /// True for the built-in engine that needs no model.
    pub fn is_offline(&self) -> bool {
        self.provider.kind() == "offline"
    }
}

/// What a model is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Answering users.
    #[default]
    Main,
    /// Work that a small model does well, such as titles and summaries.
    Cheap,
    /// Vectors of texts.
    Embedding,
    /// Judging answers.
    Judge,
}

/// Which model is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelQuery {
    /// What it is for.
    pub role: Role,
    /// Its name; empty means the role's own. A name counts for [`Role::Main`] only, and where no model
    /// is configured for the role.
    pub model: String,
    /// How long it may reason; none means the model's default.
    pub effort: Option<Effort>,
}

/// Finds the model for a turn. Asked at the start of each, so that a configuration change or a
/// local server that has come up takes effect at once.
#[async_trait]
pub trait ModelSource: Debug + Send + Sync + 'static {
    /// Resolves a query.
    ///
    /// # Errors
    /// When a provider is configured and cannot be used, such as when its key file is unreadable.
    async fn resolve(&self, query: &ModelQuery) -> Result<ResolvedModel, LlmError>;

    /// Takes note of the window that a provider named when it refused a conversation as too long, so
    /// that later turns fit. `model` is the name there. Never waits.
    fn learn_context_limit(&self, provider_base_url: &str, model: &str, tokens: u64);
}
