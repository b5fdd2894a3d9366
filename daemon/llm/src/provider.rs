//! The port that every provider implements.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use agentd_domain::{Effort, ErrorReport, NativeBlocks, ToolCall, ToolSpec, Usage};
use async_trait::async_trait;
use futures_util::Stream;

use crate::{LlmError, Meter, ModelInfo};

/// One request to a model.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Model name as the provider knows it.
    pub model: String,
    /// What the model can do, and what its requests must do without.
    pub info: Arc<ModelInfo>,
    /// The conversation. The first may be a system message. Encoders repair what no provider takes.
    pub messages: Vec<Message>,
    /// Tools that the model may call, sorted by name so that the prefix stays stable.
    pub tools: Vec<ToolSpec>,
    /// Most tokens of the answer; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// How long the model may reason: a level that `info` offers, or `None` to leave it to the provider.
    pub effort: Option<Effort>,
    /// The same for all requests that share a prefix, such as those of a session. Providers that can
    /// send such requests to the same cache.
    pub cache_key: Option<String>,
    /// Who is asked before each attempt and told what it used.
    pub meter: Option<Arc<dyn Meter>>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Instructions.
    System(String),
    /// What the user said and shows. Never blank without an image.
    User {
        /// The text.
        text: String,
        /// Pictures, for models that see.
        images: Vec<Image>,
    },
    /// What the model said.
    Assistant {
        /// Its reasoning; sent back only to providers that want it.
        reasoning: String,
        /// Its text; may be empty when it only called tools.
        text: String,
        /// Tools that it called. Each is followed by its [`Message::Tool`].
        tool_calls: Vec<ToolCall>,
        /// The same in the form of the API that it came from, for that API.
        native: Option<Arc<NativeBlocks>>,
    },
    /// The result of a tool call.
    Tool {
        /// The call.
        call_id: agentd_domain::CallId,
        /// Name of the tool.
        name: String,
        /// What the model is shown.
        output: String,
    },
}

impl Message {
    /// What the user said, in words only.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// "image/png", "image/jpeg", "image/gif" or "image/webp".
    pub media_type: String,
    /// The file in base 64.
    pub data_base64: Arc<str>,
}

/// A piece of the answer as it arrives. Adjacent deltas of one network read come merged.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamPart {
    /// More reasoning.
    Reasoning(String),
    /// More text.
    Text(String),
    /// The attempt broke off and another begins: what came before is void.
    Restarted(Restart),
    /// The answer is whole. Always the last part of a stream without error.
    Finished(Completion),
}

/// An attempt broke off and another begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// Number of the attempt that begins, from 2.
    pub attempt: u32,
    /// The model that it asks, which may be a fallback.
    pub model: String,
    /// Why the earlier attempt broke off.
    pub error: ErrorReport,
}

/// How a whole answer ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Why it ended.
    pub finish: Finish,
    /// Tools that the model calls, in order.
    pub tool_calls: Vec<AssembledCall>,
    /// What the provider counted; `None` when it did not say.
    pub usage: Option<Usage>,
    /// The answer in the provider's own form, where the provider wants it back.
    pub native: Option<NativeBlocks>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, or waits for its tools.
    Done,
    /// The output limit cut it.
    OutputLimit,
    /// The provider's content policy stopped it.
    Refused,
}

/// A tool call put together from its fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssembledCall {
    /// Name as the model wrote it; may be empty or unknown, which is for the caller to answer.
    pub name: String,
    /// Argument text as the model wrote it; "{}" when it wrote nothing.
    pub arguments_json: String,
    /// False when the answer hit its limit, or when the text is a JSON value without its end: the call
    /// was cut and must not run. True says nothing about other faults of the text.
    pub is_whole: bool,
}

/// The answer as it arrives. Dropping it cancels the request at once.
pub type ResponseStream = Pin<Box<dyn Stream<Item = Result<StreamPart, LlmError>> + Send>>;

/// A model endpoint.
#[async_trait]
pub trait Provider: Debug + Send + Sync + 'static {
    /// "openai-compatible", "openai-responses", "anthropic" or "offline".
    fn kind(&self) -> &'static str;

    /// Where it is; empty for the offline provider.
    fn base_url(&self) -> &str;

    /// Sends the request and returns when the answer's headers are there.
    ///
    /// # Errors
    /// See [`LlmError`]. An error after this comes in the stream, once, as its last item.
    ///
    /// # Cancel safety
    /// Dropping the future drops the connection.
    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError>;

    /// Names of the models it offers, at most 200.
    ///
    /// # Errors
    /// See [`LlmError`].
    async fn models(&self) -> Result<Vec<String>, LlmError>;
}
