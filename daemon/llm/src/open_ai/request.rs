//! From a [`Request`] to the body of a Chat Completions request.
//!
//! The same request gives the same bytes, and what changes least stands first, because providers cache
//! equal prefixes. What strict servers refuse is never sent: blank texts, two messages of one role in
//! a row, a system message that is not the first, call arguments that are no JSON object, function
//! names with odd characters.

use std::borrow::Cow;

use agentd_domain::{ToolCall, ToolSpec};
use serde::Serialize;
use serde_json::Value;

use super::ReasoningEcho;
use crate::{LlmError, Message, Request};

/// What the model sees where a tool put out nothing.
const NO_OUTPUT: &str = "(no output)";
/// Most characters of a function name.
const MAX_NAME: usize = 64;

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
        content: Cow<'a, str>,
    },
    User {
        content: Cow<'a, str>,
    },
    Assistant {
        /// Null beside tool calls: strict servers want the field and refuse a blank text.
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Debug, Serialize, PartialEq)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireCallFunction<'a>,
}

#[derive(Debug, Serialize, PartialEq)]
struct WireCallFunction<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

/// Writes the body.
pub(super) fn body(request: &Request, dialect: Dialect) -> Result<Vec<u8>, LlmError> {
    let (max_completion_tokens, max_tokens) = if dialect.has_max_completion_tokens {
        (request.max_output_tokens, None)
    } else {
        (None, request.max_output_tokens)
    };
    let body = Body {
        model: &request.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens,
        max_completion_tokens,
        tools: request.tools.iter().map(tool).collect(),
        messages: messages(&request.messages, dialect.echo_reasoning),
    };
    serde_json::to_vec(&body)
        .map_err(|error| LlmError::Invalid { status: 0, message: error.to_string() })
}

fn tool(spec: &ToolSpec) -> WireTool<'_> {
    let ToolSpec { name, description, parameters, effect: _ } = spec;
    WireTool { r#type: "function", function: WireFunction { name, description, parameters } }
}

fn messages(messages: &[Message], echo: ReasoningEcho) -> Vec<WireMessage<'_>> {
    let mut wire = Vec::with_capacity(messages.len());
    let mut system = String::new();
    // Whether the model called tools since the last user message.
    let mut is_tool_turn = false;
    for message in messages {
        match message {
            Message::System(text) => join(&mut system, text),
            Message::User { text, .. } => {
                is_tool_turn = false;
                push_user(&mut wire, text);
            }
            Message::Assistant { reasoning, text, tool_calls, native: _ } => {
                is_tool_turn |= !tool_calls.is_empty();
                let reasoning = echoed(echo, reasoning, is_tool_turn);
                push_assistant(&mut wire, text, reasoning, tool_calls);
            }
            Message::Tool { call_id, name: _, output } => wire.push(WireMessage::Tool {
                tool_call_id: call_id.as_str(),
                content: if is_blank(output) { NO_OUTPUT } else { output },
            }),
        }
    }
    if !is_blank(&system) {
        wire.insert(0, WireMessage::System { content: Cow::Owned(system) });
    }
    wire
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Joins texts that must share a message by an empty line.
fn join(text: &mut String, more: &str) {
    if is_blank(more) {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

fn push_user<'a>(wire: &mut Vec<WireMessage<'a>>, text: &'a str) {
    if is_blank(text) {
        return;
    }
    match wire.last_mut() {
        Some(WireMessage::User { content }) => join(content.to_mut(), text),
        _ => wire.push(WireMessage::User { content: Cow::Borrowed(text) }),
    }
}

/// What goes back of the reasoning.
fn echoed(echo: ReasoningEcho, reasoning: &str, is_tool_turn: bool) -> Option<Cow<'_, str>> {
    match echo {
        ReasoningEcho::Never => None,
        ReasoningEcho::WhereKnown if is_blank(reasoning) || !is_tool_turn => None,
        ReasoningEcho::ToolCallTurns if !is_tool_turn => Some(Cow::Borrowed("")),
        ReasoningEcho::WhereKnown | ReasoningEcho::ToolCallTurns => Some(Cow::Borrowed(reasoning)),
    }
}

fn push_assistant<'a>(
    wire: &mut Vec<WireMessage<'a>>,
    text: &'a str,
    reasoning: Option<Cow<'a, str>>,
    calls: &'a [ToolCall],
) {
    if is_blank(text) && calls.is_empty() {
        return;
    }
    let calls = calls.iter().map(call);
    // An answer that was cut and one that followed it.
    if let Some(WireMessage::Assistant { content, reasoning_content, tool_calls }) = wire.last_mut()
        && tool_calls.is_empty()
    {
        join(content.get_or_insert_default().to_mut(), text);
        if reasoning.as_ref().is_some_and(|reasoning| !is_blank(reasoning)) {
            *reasoning_content = reasoning;
        }
        tool_calls.extend(calls);
        return;
    }
    wire.push(WireMessage::Assistant {
        content: (!is_blank(text)).then_some(Cow::Borrowed(text)),
        reasoning_content: reasoning,
        tool_calls: calls.collect(),
    });
}

fn call(call: &ToolCall) -> WireCall<'_> {
    WireCall {
        id: call.call_id.as_str(),
        r#type: "function",
        function: WireCallFunction {
            name: function_name(&call.name),
            arguments: arguments(&call.arguments_json),
        },
    }
}

/// A name that every server takes. What the model made up has been answered as unknown already.
fn function_name(name: &str) -> Cow<'_, str> {
    let is_legal = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if name.is_empty() {
        Cow::Borrowed("unnamed")
    } else if name.len() <= MAX_NAME && name.chars().all(is_legal) {
        Cow::Borrowed(name)
    } else {
        let legal = |char: char| if is_legal(char) { char } else { '_' };
        Cow::Owned(name.chars().take(MAX_NAME).map(legal).collect())
    }
}

/// Arguments as one JSON object: servers parse them again to fill the model's template, and a cut call
/// in the history must not make every later request fail. Neither must one that is nested deeper than
/// their parsers go: a [`Value`] takes 128 levels, as ours do.
fn arguments(text: &str) -> Cow<'_, str> {
    if is_object(text) {
        return Cow::Borrowed(text);
    }
    match serde_json::from_str::<String>(text) {
        Ok(inner) if is_object(&inner) => Cow::Owned(inner),
        _ => Cow::Borrowed("{}"),
    }
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && serde_json::from_str::<Value>(json).is_ok()
}

#[cfg(test)]
mod tests;
