//! An endpoint that is asked without a key, although the environment may hold one.

use std::sync::Arc;

use agentd_llm::{LlmError, Provider, Request, ResponseStream};
use async_trait::async_trait;

/// Asks without a key; when that is refused, says which variable was not sent, and why.
#[derive(Debug)]
pub(super) struct Withheld {
    inner: Arc<dyn Provider>,
    /// Which variable, why, and what to do.
    reason: String,
}

impl Withheld {
    pub(super) fn new(inner: Arc<dyn Provider>, reason: String) -> Self {
        Self { inner, reason }
    }

    fn explained(&self, error: LlmError) -> LlmError {
        match error {
            LlmError::Auth { .. } => {
                LlmError::NoKey { message: format!("{}; {error}", self.reason) }
            }
            other => other,
        }
    }
}

#[async_trait]
impl Provider for Withheld {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn base_url(&self) -> &str {
        self.inner.base_url()
    }

    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        self.inner.stream(request).await.map_err(|error| self.explained(error))
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        self.inner.models().await.map_err(|error| self.explained(error))
    }
}
