//! The events of a Responses stream, typed and borrowed from the bytes that arrived.
//!
//! Only what is needed is read; all else is skipped without being built.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::stream::counts::{count, details};
use crate::stream::wire_text::{WireId, WireIndex, WireText};

/// One event. A response that comes whole is read as the [`WireResponse`] that it is.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) item_id: Option<WireId<'a>>,
    #[serde(default)]
    pub(super) output_index: Option<WireIndex>,
    /// Number of the part of an item's content or summary.
    #[serde(default)]
    pub(super) content_index: Option<WireIndex>,
    #[serde(default)]
    pub(super) summary_index: Option<WireIndex>,
    /// More of a text. Events that we do not know have other things here.
    #[serde(borrow, default)]
    pub(super) delta: Option<&'a RawValue>,
    /// The whole text, when it is done.
    #[serde(borrow, default)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) name: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// A response, as events at its end carry it.
#[derive(Debug, Deserialize)]
pub(super) struct WireResponse<'a> {
    #[serde(borrow, default)]
    pub(super) object: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) status: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    pub(super) incomplete_details: Option<IncompleteDetails<'a>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct IncompleteDetails<'a> {
    #[serde(borrow, default)]
    pub(super) reason: Option<WireText<'a>>,
}

/// An item of the output.
#[derive(Debug, Default, Deserialize)]
pub(super) struct WireItem<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) id: Option<WireId<'a>>,
    #[serde(borrow, default)]
    pub(super) status: Option<WireText<'a>>,
    /// Of a message; of reasoning from models that show it.
    #[serde(borrow, default)]
    pub(super) content: Option<Vec<WirePart<'a>>>,
    /// Of reasoning.
    #[serde(borrow, default)]
    pub(super) summary: Option<Vec<WirePart<'a>>>,
    #[serde(borrow, default)]
    pub(super) encrypted_content: Option<WireText<'a>>,
    /// Of a call.
    #[serde(borrow, default)]
    pub(super) name: Option<WireText<'a>>,
    /// A string with JSON in it; from some servers the JSON itself.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WirePart<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<WireText<'a>>,
}

/// Token counts as the API reports them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "details")]
    input_tokens_details: Option<InputDetails>,
    #[serde(deserialize_with = "details")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    #[serde(deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// The counts, if any was reported.
    pub(super) fn into_usage(self) -> Option<agentd_domain::Usage> {
        if self.input_tokens.is_none() && self.output_tokens.is_none() {
            return None;
        }
        let input = self.input_tokens_details.unwrap_or_default();
        let output = self.output_tokens_details.unwrap_or_default();
        Some(agentd_domain::Usage {
            prompt_tokens: self.input_tokens.unwrap_or(0),
            completion_tokens: self.output_tokens.unwrap_or(0),
            reasoning_tokens: output.reasoning_tokens.unwrap_or(0),
            cached_prompt_tokens: input.cached_tokens.unwrap_or(0),
            cache_write_tokens: input.cache_write_tokens.unwrap_or(0),
            estimated: false,
        })
    }
}
