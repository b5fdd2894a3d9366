//! From a request to the body of a Chat Completions request.
//!
//! The same request gives the same bytes, and what changes least stands first, because providers cache
//! equal prefixes. What strict servers refuse is repaired before: see [`WellFormed`].

use agentd_domain::{ToolCall, ToolSpec};
use serde::Serialize;
use serde_json::Value;

use super::ReasoningEcho;
use super::effort::EffortFields;
use crate::{Image, LlmError, Message, Refusal, WellFormed};

/// How a provider differs from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) echo_reasoning: ReasoningEcho,
    /// The output limit is called `max_completion_tokens`.
    pub(super) has_max_completion_tokens: bool,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(flatten)]
    effort: EffortFields<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    messages: Vec<WireMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Debug, Serialize, PartialEq)]
#[serde(tag = "role", rename_all = "snake_case")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: WireContent<'a>,
    },
    Assistant {
        /// Null beside tool calls: strict servers want the field and refuse a blank text.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

/// A text alone stays a plain string: not every server knows parts.
#[derive(Debug, Serialize, PartialEq)]
#[serde(untagged)]
enum WireContent<'a> {
    Text(&'a str),
    Parts(Vec<WirePart<'a>>),
}

#[derive(Debug, Serialize, PartialEq)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: WireImage },
}

#[derive(Debug, Serialize, PartialEq)]
struct WireImage {
    /// The image itself as a data URL (RFC 2397).
    url: String,
}

#[derive(Debug, Serialize, PartialEq)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireCallFunction<'a>,
}

#[derive(Debug, Serialize, PartialEq)]
struct WireCallFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// Writes the body.
pub(super) fn body(request: &WellFormed, dialect: Dialect) -> Result<Vec<u8>, LlmError> {
    let has_max_completion_tokens =
        dialect.has_max_completion_tokens || request.info.is_refused(Refusal::MaxTokens);
    let (max_completion_tokens, max_tokens) = if has_max_completion_tokens {
        (request.max_output_tokens, None)
    } else {
        (None, request.max_output_tokens)
    };
    let echo_reasoning = if request.info.is_refused(Refusal::ReasoningEcho) {
        ReasoningEcho::Never
    } else {
        dialect.echo_reasoning
    };
    let body = Body {
        model: &request.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens,
        max_completion_tokens,
        effort: EffortFields::of(&request.info, request.effort),
        tools: request.tools.iter().map(tool).collect(),
        messages: messages(&request.messages, echo_reasoning),
    };
    serde_json::to_vec(&body)
        .map_err(|error| LlmError::Invalid { status: 0, message: error.to_string() })
}

fn tool(spec: &ToolSpec) -> WireTool<'_> {
    let ToolSpec { name, description, parameters, capabilities: _ } = spec;
    WireTool { r#type: "function", function: WireFunction { name, description, parameters } }
}

fn messages(messages: &[Message], echo: ReasoningEcho) -> Vec<WireMessage<'_>> {
    // Whether the model called tools since the last user message.
    let mut is_tool_turn = false;
    let wire = messages.iter().map(|message| match message {
        Message::System(text) => WireMessage::System { content: text },
        Message::User { text, images } => {
            is_tool_turn = false;
            WireMessage::User { content: content(text, images) }
        }
        Message::Assistant { reasoning, text, tool_calls, native: _ } => {
            is_tool_turn |= !tool_calls.is_empty();
            WireMessage::Assistant {
                content: (!text.is_empty()).then_some(text),
                reasoning_content: echoed(echo, reasoning, is_tool_turn),
                tool_calls: tool_calls.iter().map(call).collect(),
            }
        }
        Message::Tool { call_id, name: _, output } => {
            WireMessage::Tool { tool_call_id: call_id.as_str(), content: output }
        }
    });
    wire.collect()
}

/// The text first, unless there is none; then the images.
fn content<'a>(text: &'a str, images: &[Image]) -> WireContent<'a> {
    if images.is_empty() {
        return WireContent::Text(text);
    }
    let text = (!text.trim().is_empty()).then_some(WirePart::Text { text });
    let images = images.iter().map(|Image { media_type, data_base64 }| {
        let url = format!("data:{media_type};base64,{data_base64}");
        WirePart::ImageUrl { image_url: WireImage { url } }
    });
    WireContent::Parts(text.into_iter().chain(images).collect())
}

/// What goes back of the reasoning.
fn echoed(echo: ReasoningEcho, reasoning: &str, is_tool_turn: bool) -> Option<&str> {
    match echo {
        ReasoningEcho::Never => None,
        ReasoningEcho::WhereKnown if reasoning.trim().is_empty() || !is_tool_turn => None,
        ReasoningEcho::ToolCallTurns if !is_tool_turn => Some(""),
        ReasoningEcho::WhereKnown | ReasoningEcho::ToolCallTurns => Some(reasoning),
    }
}

fn call(call: &ToolCall) -> WireCall<'_> {
    let ToolCall { call_id, name, arguments_json } = call;
    WireCall {
        id: call_id.as_str(),
        r#type: "function",
        function: WireCallFunction { name, arguments: arguments_json },
    }
}

#[cfg(test)]
mod tests;
