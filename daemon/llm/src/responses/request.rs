//! From a well-formed request to the body of a Responses request.
//!
//! The same request gives the same bytes. Nothing is stored at the provider, and sampling parameters
//! are never sent: newer models refuse them.

use std::borrow::Cow;

use agentd_domain::ToolSpec;
use serde::Serialize;
use serde_json::Value;

use super::conversation::{InputItem, has_reasoning, items};
use crate::schema::object_schema;
use crate::{EffortForm, InfoSource, LlmError, WellFormed};

/// Fewest tokens to which the API limits an answer.
const MIN_OUTPUT_TOKENS: u32 = 16;
/// Most characters of a cache key.
const MAX_CACHE_KEY: usize = 64;
/// What makes reasoning come back although nothing is stored.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<InputItem<'a>>,
}

#[derive(Serialize)]
struct ReasoningConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: Cow<'a, Value>,
    /// Strict schemas must name every property as required, which ours do not.
    strict: bool,
}

/// What of the model's encrypted reasoning a request holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReasoningItems {
    /// That of earlier answers of the same model goes back, and that of the answer is asked for.
    Both,
    /// It is only asked for, because the API did not take back what it once gave.
    Asked,
    /// Neither, because the API does not know it.
    Neither,
}

/// A body to send.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) body: Vec<u8>,
    /// Earlier reasoning is in it.
    pub(super) has_earlier: bool,
    /// The reasoning of the answer is asked for.
    pub(super) is_asked: bool,
}

/// Writes the body.
pub(super) fn encode(request: &WellFormed, reasoning: ReasoningItems) -> Result<Encoded, LlmError> {
    let input = items(request.conversation(), &request.model, reasoning);
    let has_earlier = has_reasoning(&input);
    // Models that do not reason refuse to be asked.
    let info = &request.info;
    let reasons = info.reasoning.form != EffortForm::None || info.source != InfoSource::Catalogue;
    let is_asked = reasons && reasoning != ReasoningItems::Neither;
    let body = Body {
        model: &request.model,
        stream: true,
        store: false,
        include: if is_asked { &[ENCRYPTED_REASONING] } else { &[] },
        reasoning: reasoning_config(request),
        max_output_tokens: max_output_tokens(request),
        prompt_cache_key: cache_key(request.cache_key.as_deref()),
        tools: request.tools.iter().map(tool).collect(),
        instructions: request.system(),
        input,
    };
    let body = serde_json::to_vec(&body)
        .map_err(|error| LlmError::Invalid { status: 0, message: error.to_string() })?;
    Ok(Encoded { body, has_earlier, is_asked })
}

/// How long the model reasons, in its own word for it, and that it tells what it thinks.
fn reasoning_config(request: &WellFormed) -> Option<ReasoningConfig<'_>> {
    let reasoning = &request.info.reasoning;
    if !matches!(reasoning.form, EffortForm::Word | EffortForm::Nested) {
        return None;
    }
    let effort = request.effort.and_then(|effort| reasoning.value(effort)?.word());
    let summary = (effort != Some("none")).then_some("auto");
    Some(ReasoningConfig { effort, summary })
}

fn max_output_tokens(request: &WellFormed) -> Option<u32> {
    let possible = request.info.max_output_tokens.unwrap_or(u32::MAX);
    Some(request.max_output_tokens?.min(possible).max(MIN_OUTPUT_TOKENS))
}

fn cache_key(key: Option<&str>) -> Option<String> {
    let key: String = key?.chars().take(MAX_CACHE_KEY).collect();
    (!key.trim().is_empty()).then_some(key)
}

fn tool(spec: &ToolSpec) -> WireTool<'_> {
    let ToolSpec { name, description, parameters, capabilities: _ } = spec;
    WireTool {
        r#type: "function",
        name,
        description,
        parameters: object_schema(parameters),
        strict: false,
    }
}

#[cfg(test)]
mod tests;
