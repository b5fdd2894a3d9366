//! From a [`WellFormed`] request to the body of a Messages request.
//!
//! The same request gives the same bytes, and what changes least stands first: tools, system,
//! messages, in the order in which the provider caches them. Sampling parameters are never sent:
//! newer models refuse them.

use std::borrow::Cow;

use agentd_domain::{ToolCall, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};

use super::block::{Block, CacheControl, WireMessage};
use super::conversation::{Conversation, EarlierThinking};
use super::thinking::{OutputConfig, Plan, Thinking};
use crate::schema::object_schema;
use crate::{LlmError, Message, WellFormed};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<WireMessage<'a>>,
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

/// A body to send.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) body: Vec<u8>,
    /// Earlier thinking is in it.
    pub(super) has_thinking: bool,
}

/// Writes the body.
pub(super) fn encode(request: &WellFormed, earlier: EarlierThinking) -> Result<Encoded, LlmError> {
    let info = &request.info;
    let mut plan = Plan::of(request.effort, request.max_output_tokens, info);
    let thinks = plan.keeps_thinking(info);
    let earlier = if thinks { earlier } else { EarlierThinking::LeftOut };
    let mut conversation = Conversation::of(request, earlier);
    if plan.demands_thinking() && conversation.is_in_turn_without_thinking() {
        plan = Plan::of(None, request.max_output_tokens, info);
        conversation = Conversation::of(request, EarlierThinking::LeftOut);
    }
    conversation.set_cache_control();
    let tools = tools(request);
    let has_thinking = conversation.has_thinking();
    let body = Body {
        model: &request.model,
        max_tokens: plan.max_tokens,
        stream: true,
        thinking: plan.thinking,
        output_config: plan.output_config,
        // Calls in the history want tools that are defined, though none may be called.
        tool_choice: (request.tools.is_empty() && !tools.is_empty())
            .then_some(ToolChoice { r#type: "none" }),
        tools,
        system: conversation.system,
        messages: conversation.messages,
    };
    let body = serde_json::to_vec(&body)
        .map_err(|error| LlmError::Invalid { status: 0, message: error.to_string() })?;
    Ok(Encoded { body, has_thinking })
}

/// The tools sorted by name, or stand-ins for those that were called when there are none.
fn tools(request: &WellFormed) -> Vec<WireTool<'_>> {
    let mut tools: Vec<WireTool<'_>> = if request.tools.is_empty() {
        let calls = request.messages.iter().flat_map(|message| match message {
            Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            _ => &[],
        });
        calls.map(stand_in).collect()
    } else {
        request.tools.iter().map(tool).collect()
    };
    tools.sort_by(|a, b| a.name.cmp(b.name));
    tools.dedup_by(|a, b| a.name == b.name);
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(CacheControl::EPHEMERAL);
    }
    tools
}

/// A tool that was called and is offered no more.
fn stand_in(call: &ToolCall) -> WireTool<'_> {
    WireTool {
        name: &call.name,
        description: "",
        input_schema: Cow::Owned(json!({"type": "object"})),
        cache_control: None,
    }
}

fn tool(spec: &ToolSpec) -> WireTool<'_> {
    let ToolSpec { name, description, parameters, capabilities: _ } = spec;
    WireTool { name, description, input_schema: object_schema(parameters), cache_control: None }
}

#[cfg(test)]
mod tests;
