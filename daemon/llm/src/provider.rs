//! The port that every provider implements.

use std::fmt::Debug;
use std::pin::Pin;

use agentd_domain::{ToolCall, ToolSpec, Usage};
use async_trait::async_trait;
use futures_util::Stream;

use crate::LlmError;

/// One request to a model.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Model name as the provider knows it.
    pub model: String,
    /// The conversation. The first may be a system message.
    pub messages: Vec<Message>,
    /// Tools that the model may call, sorted by name so that the prefix stays stable.
    pub tools: Vec<ToolSpec>,
    /// Most tokens of the answer; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Instructions.
    System(String),
    /// What the user said.
    User(String),
    /// What the model said.
    Assistant {
        /// Its reasoning; sent back only to providers that want it.
        reasoning: String,
        /// Its text; may be empty when it only called tools.
        text: String,
        /// Tools that it called. Each is followed by its [`Message::Tool`].
        tool_calls: Vec<ToolCall>,
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

/// A piece of the answer as it arrives. Adjacent deltas of one network read come merged.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamPart {
    /// More reasoning.
    Reasoning(String),
    /// More text.
    Text(String),
    /// The answer is whole. Always the last part of a stream without error.
    Finished(Completion),
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
    /// "openai-compatible" or "offline".
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
