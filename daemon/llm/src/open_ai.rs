//! Chat Completions, the protocol of OpenAI that most servers speak.

mod answer;
mod chunk;
mod effort;
mod embeddings;
mod options;
mod request;
mod tool_calls;

use async_trait::async_trait;

pub(crate) use self::answer::ChatDecoder;
pub use self::embeddings::{EmbeddingOptions, OpenAiEmbeddings};
pub use self::options::{OpenAiOptions, ReasoningEcho};

use self::options::is_of_domain;
use self::request::Dialect;
use crate::http::endpoint::{Endpoint, EndpointOptions, KeyHeader};
use crate::{LlmError, Provider, Request, ResponseStream, WellFormed};

/// A Chat Completions endpoint.
#[derive(Debug)]
pub struct OpenAiCompatible {
    endpoint: Endpoint,
    dialect: Dialect,
}

impl OpenAiCompatible {
    /// Checks the options. Nothing is connected yet.
    ///
    /// # Errors
    /// [`LlmError::Protocol`] for a base URL that is none, [`LlmError::NoKey`] for a key that no header
    /// can carry.
    pub fn new(options: OpenAiOptions) -> Result<Self, LlmError> {
        let OpenAiOptions { base_url, api_key, timeouts, max_answer_bytes, echo_reasoning } =
            options;
        let has_max_completion_tokens =
            is_of_domain(&base_url, &["openai.com", "openai.azure.com"]);
        let endpoint = Endpoint::new(&EndpointOptions {
            base_url,
            api_key,
            key_header: KeyHeader::Bearer,
            headers: &[],
            timeouts,
            max_answer_bytes,
        })?;
        Ok(Self { endpoint, dialect: Dialect { echo_reasoning, has_max_completion_tokens } })
    }
}

#[async_trait]
impl Provider for OpenAiCompatible {
    fn kind(&self) -> &'static str {
        "openai-compatible"
    }

    fn base_url(&self) -> &str {
        self.endpoint.shown_url()
    }

    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        let body = request::body(&WellFormed::from(request), self.dialect)?;
        let endpoint = &self.endpoint;
        let decoder = ChatDecoder::new(endpoint.error_text().clone(), endpoint.max_answer_bytes());
        endpoint.stream("chat/completions", body, decoder).await
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        self.endpoint.models("models", &[]).await
    }
}
