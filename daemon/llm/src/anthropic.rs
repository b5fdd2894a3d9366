//! Anthropic's Messages API.

mod answer;
mod block;
mod conversation;
mod event;
mod native;
mod open_block;
mod options;
mod request;
mod thinking;

use async_trait::async_trait;

pub(crate) use self::answer::MessagesDecoder;
pub use self::options::AnthropicOptions;

use self::conversation::EarlierThinking;
use self::request::{Encoded, encode};
use crate::http::endpoint::{Endpoint, EndpointOptions, KeyHeader};
use crate::{LlmError, Provider, Request, ResponseStream, WellFormed};

/// The provider's kind, and the name of its native blocks.
const KIND: &str = "anthropic";
/// Version of the API that is spoken here.
const HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// An endpoint of the Messages API.
#[derive(Debug)]
pub struct Anthropic {
    endpoint: Endpoint,
    /// "v1/" when the base URL ends above it.
    version: &'static str,
}

impl Anthropic {
    /// Checks the options. Nothing is connected yet.
    ///
    /// # Errors
    /// [`LlmError::Protocol`] for a base URL that is none, [`LlmError::NoKey`] for a key that no header
    /// can carry.
    pub fn new(options: AnthropicOptions) -> Result<Self, LlmError> {
        let AnthropicOptions { base_url, api_key, timeouts, max_answer_bytes } = options;
        let endpoint = Endpoint::new(&EndpointOptions {
            base_url,
            api_key,
            key_header: KeyHeader::XApiKey,
            headers: HEADERS,
            timeouts,
            max_answer_bytes,
        })?;
        let version = if endpoint.shown_url().ends_with("/v1") { "" } else { "v1/" };
        Ok(Self { endpoint, version })
    }

    async fn send(&self, model: &str, body: Vec<u8>) -> Result<ResponseStream, LlmError> {
        let endpoint = &self.endpoint;
        let max_bytes = endpoint.max_answer_bytes();
        let decoder = MessagesDecoder::new(endpoint.error_text().clone(), model, max_bytes);
        endpoint.stream(&format!("{}messages", self.version), body, decoder).await
    }
}

#[async_trait]
impl Provider for Anthropic {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn base_url(&self) -> &str {
        self.endpoint.shown_url()
    }

    /// Sends the request. When the API does not take the thinking of earlier answers in it, which it
    /// may for reasons that nobody here can see (what stood before it has changed; another account
    /// wrote it), the request is sent once more without: a conversation must not be lost over it.
    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        let request = WellFormed::from(request);
        let Encoded { body, has_thinking } = encode(&request, EarlierThinking::Kept)?;
        match self.send(&request.model, body).await {
            Err(LlmError::Invalid { message, .. })
                if has_thinking && is_about_thinking(&message) =>
            {
                tracing::info!(%message, "earlier thinking is refused and left out");
                let again = encode(&request, EarlierThinking::LeftOut)?;
                self.send(&request.model, again.body).await
            }
            result => result,
        }
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        // Unless told otherwise the API lists the newest twenty.
        self.endpoint.models(&format!("{}models", self.version), &[("limit", "1000")]).await
    }
}

/// A refusal that names thinking blocks or their signatures.
fn is_about_thinking(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("thinking") || message.contains("signature")
}
