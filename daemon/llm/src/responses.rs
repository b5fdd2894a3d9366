//! OpenAI's Responses API.

mod answer;
mod conversation;
mod event;
mod native;
mod options;
mod output;
mod output_item;
mod request;

use async_trait::async_trait;

pub(crate) use self::answer::ResponsesDecoder;
pub use self::options::ResponsesOptions;

use self::request::{Encoded, ReasoningItems, encode};
use crate::http::endpoint::{Endpoint, EndpointOptions, KeyHeader};
use crate::{LlmError, Provider, Request, ResponseStream, WellFormed};

/// The provider's kind, and the name of its native blocks.
const KIND: &str = "openai-responses";

/// An endpoint of the Responses API. The provider keeps nothing: each request holds the whole
/// conversation, with the model's reasoning as encrypted items.
#[derive(Debug)]
pub struct OpenAiResponses {
    endpoint: Endpoint,
}

impl OpenAiResponses {
    /// Checks the options. Nothing is connected yet.
    ///
    /// # Errors
    /// [`LlmError::Protocol`] for a base URL that is none, [`LlmError::NoKey`] for a key that no header
    /// can carry.
    pub fn new(options: ResponsesOptions) -> Result<Self, LlmError> {
        let ResponsesOptions { base_url, api_key, timeouts, max_answer_bytes } = options;
        let endpoint = Endpoint::new(&EndpointOptions {
            base_url,
            api_key,
            key_header: KeyHeader::Bearer,
            headers: &[],
            timeouts,
            max_answer_bytes,
        })?;
        Ok(Self { endpoint })
    }

    async fn send(&self, model: &str, body: Vec<u8>) -> Result<ResponseStream, LlmError> {
        let endpoint = &self.endpoint;
        let max_bytes = endpoint.max_answer_bytes();
        let decoder = ResponsesDecoder::new(endpoint.error_text().clone(), model, max_bytes);
        endpoint.stream("responses", body, decoder).await
    }
}

#[async_trait]
impl Provider for OpenAiResponses {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn base_url(&self) -> &str {
        self.endpoint.shown_url()
    }

    /// Sends the request. When the API does not take the encrypted reasoning of earlier answers, as
    /// after a change of the account, or knows none, the request is sent once more without: a
    /// conversation must not be lost over it.
    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        let request = WellFormed::from(request);
        let Encoded { body, has_earlier, is_asked } = encode(&request, ReasoningItems::Both)?;
        let error = match self.send(&request.model, body).await {
            Err(error) if has_earlier || is_asked => error,
            result => return result,
        };
        let (LlmError::Invalid { message, .. } | LlmError::NotFound { message }) = &error else {
            return Err(error);
        };
        let again = match Complaint::of(message) {
            Some(Complaint::Item) if has_earlier => ReasoningItems::Asked,
            Some(Complaint::Unknown) => ReasoningItems::Neither,
            Some(Complaint::Item) | None => return Err(error),
        };
        tracing::info!(%message, "encrypted reasoning is refused and left out");
        self.send(&request.model, encode(&request, again)?.body).await
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        self.endpoint.models("models", &[]).await
    }
}

/// What a refusal has against encrypted reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Complaint {
    /// An item does not belong to the account, or not there.
    Item,
    /// There is no such thing for this model or server.
    Unknown,
}

impl Complaint {
    fn of(message: &str) -> Option<Self> {
        let message = message.to_lowercase();
        let says = |word: &str| message.contains(word);
        if says("encrypted content is not supported") || says("encrypted_content is not supported")
        {
            Some(Self::Unknown)
        } else if says("encrypted") || says("item with id") || says("'reasoning'") {
            Some(Self::Item)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_of_encrypted_reasoning_are_taken_for_such() {
        let check = |message: &str, expect: Option<Complaint>| {
            assert_eq!(Complaint::of(message), expect, "{message}");
        };
        check("The encrypted content for item rs_1 could not be verified.", Some(Complaint::Item));
        check(
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
            Some(Complaint::Item),
        );
        check(
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            Some(Complaint::Item),
        );
        check("Encrypted content is not supported with this model.", Some(Complaint::Unknown));
        check("Unsupported parameter: 'reasoning.effort'", None);
        check("The model 'x' does not exist", None);
    }
}
