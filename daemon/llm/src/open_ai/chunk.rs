//! The chunks of a Chat Completions stream, typed and borrowed from the bytes that arrived.
//!
//! Only what is needed is read; all else is skipped without being built.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::stream::counts::{count, details};
use crate::stream::wire_text::{WireIndex, WireText};

/// One chunk, or a whole answer from a server that does not stream.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// Groq's own fields.
    #[serde(borrow, default)]
    x_groq: Option<Extension<'a>>,
}

/// Fields that only one server has.
#[derive(Debug, Deserialize)]
struct Extension<'a> {
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

impl<'a> Chunk<'a> {
    /// The token counts, wherever they stand: Moonshot sends them in a choice, Groq in its own field.
    pub(super) fn any_usage(&self) -> Option<&'a RawValue> {
        let of_choice = || self.choices.iter().flatten().find_map(|choice| choice.usage);
        let of_extension = || self.x_groq.as_ref().and_then(|extension| extension.usage);
        self.usage.or_else(of_choice).or_else(of_extension)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<WireIndex>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// The whole message, when the server does not stream.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<WireText<'a>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(default)]
    pub(super) index: Option<WireIndex>,
    /// A string; a number from some servers.
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<WireText<'a>>,
    /// A string with JSON in it; from some servers the JSON itself.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

impl<'a> FunctionDelta<'a> {
    /// The argument text, whichever way it came.
    pub(super) fn argument_bytes(&self) -> Result<Cow<'a, [u8]>, serde_json::Error> {
        match self.arguments {
            None => Ok(Cow::Borrowed(&[])),
            Some(raw) => WireText::of_any(raw).map(|text| text.0),
        }
    }
}

/// Token counts as providers report them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "details")]
    completion_tokens_details: Option<CompletionDetails>,
    #[serde(deserialize_with = "details")]
    prompt_tokens_details: Option<PromptDetails>,
    /// DeepSeek's name for cached tokens.
    #[serde(deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "count")]
    cached_tokens: Option<u64>,
}

impl WireUsage {
    /// The counts, if any was reported.
    pub(super) fn into_usage(self) -> Option<agentd_domain::Usage> {
        if self.prompt_tokens.is_none() && self.completion_tokens.is_none() {
            return None;
        }
        let cached = self.prompt_tokens_details.and_then(|details| details.cached_tokens);
        let reasoning = self.completion_tokens_details.and_then(|details| details.reasoning_tokens);
        Some(agentd_domain::Usage {
            cache_write_tokens: 0,
            prompt_tokens: self.prompt_tokens.unwrap_or(0),
            completion_tokens: self.completion_tokens.unwrap_or(0),
            reasoning_tokens: reasoning.unwrap_or(0),
            cached_prompt_tokens: cached.or(self.prompt_cache_hit_tokens).unwrap_or(0),
            estimated: false,
        })
    }
}
