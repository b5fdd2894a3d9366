//! The events of a Messages stream, typed and borrowed from the bytes that arrived.
//!
//! Only what is needed is read. A whole message, from a server that does not stream, has the same
//! fields.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::stream::counts::{count, details};
use crate::stream::wire_text::{WireIndex, WireText};

/// One event, or a whole message.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Option<WireText<'a>>,
    /// Of `message_start`.
    #[serde(borrow, default)]
    pub(super) message: Option<StartedMessage<'a>>,
    #[serde(default)]
    pub(super) index: Option<WireIndex>,
    /// Of `content_block_start`, as it came.
    #[serde(borrow, default)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// Blocks of a whole message, as they came.
    #[serde(borrow, default)]
    pub(super) content: Option<Vec<&'a RawValue>>,
    /// Of a whole message.
    #[serde(borrow, default)]
    pub(super) stop_reason: Option<WireText<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StartedMessage<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// What a block gains, or what the message does. Its fields tell which, so its type is not needed.
#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) signature: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) partial_json: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Option<WireText<'a>>,
}

/// The start of a block, or a whole one.
#[derive(Debug, Deserialize)]
pub(super) struct BlockStart<'a> {
    #[serde(borrow, default)]
    pub(super) r#type: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) text: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) signature: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) data: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) name: Option<WireText<'a>>,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

/// Token counts, so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    /// What was neither read from the cache nor written into it.
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "details")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "count")]
    thinking_tokens: Option<u64>,
}

impl WireUsage {
    /// Takes later counts. They are cumulative; what is missing or 0 in some of them stands in others.
    pub(super) fn update(&mut self, later: Self) {
        let Self {
            input_tokens,
            cache_read_input_tokens,
            cache_creation_input_tokens,
            output_tokens,
            output_tokens_details,
        } = later;
        self.input_tokens = self.input_tokens.max(input_tokens);
        self.cache_read_input_tokens = self.cache_read_input_tokens.max(cache_read_input_tokens);
        self.cache_creation_input_tokens =
            self.cache_creation_input_tokens.max(cache_creation_input_tokens);
        self.output_tokens = self.output_tokens.max(output_tokens);
        self.output_tokens_details = output_tokens_details.or(self.output_tokens_details);
    }

    /// The counts, if any was reported.
    pub(super) fn into_usage(self) -> Option<agentd_domain::Usage> {
        if self.input_tokens.is_none() && self.output_tokens.is_none() {
            return None;
        }
        let cached = self.cache_read_input_tokens.unwrap_or(0);
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let details = self.output_tokens_details.unwrap_or_default();
        Some(agentd_domain::Usage {
            prompt_tokens: self
                .input_tokens
                .unwrap_or(0)
                .saturating_add(cached)
                .saturating_add(written),
            completion_tokens: self.output_tokens.unwrap_or(0),
            reasoning_tokens: details.thinking_tokens.unwrap_or(0),
            cached_prompt_tokens: cached,
            cache_write_tokens: written,
            estimated: false,
        })
    }
}
