//! Which model answers.

use std::fmt::Debug;
use std::sync::Arc;

use agentd_llm::{LlmError, Provider};
use async_trait::async_trait;

/// A model that is ready to be asked.
#[derive(Debug, Clone)]
pub struct ResolvedModel {
    /// Where it is.
    pub provider: Arc<dyn Provider>,
    /// Its name there.
    pub model: String,
    /// Tokens that a request and its answer may have together.
    pub context_tokens: u64,
    /// Most tokens of an answer; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// The model for titles; the same one when no cheaper one is configured.
    pub cheap_model: String,
}

impl ResolvedModel {
    /// True for the built-in engine that needs no model.
    pub fn is_offline(&self) -> bool {
        self.provider.kind() == "offline"
    }
}

/// Finds the model for a turn. Asked at the start of each, so that a configuration change or a
/// local server that has come up takes effect at once.
#[async_trait]
pub trait ModelSource: Debug + Send + Sync + 'static {
    /// Resolves a model name; an empty one means the default.
    ///
    /// # Errors
    /// When a provider is configured and cannot be used, such as when its key file is unreadable.
    async fn resolve(&self, model: &str) -> Result<ResolvedModel, LlmError>;
}
