//! Token counts.

use serde::{Deserialize, Serialize};

/// Tokens of one request, or summed over several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub prompt_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub completion_tokens: u64,
    /// Part of the completion that was reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
    /// Part of the prompt that the provider had cached.
    #[serde(default)]
    pub cached_prompt_tokens: u64,
    /// Part of the prompt that the provider stored in its cache now.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// True when any part is an estimate because the provider did not report it.
    #[serde(default)]
    pub estimated: bool,
}

impl Usage {
    /// Adds another request's tokens.
    pub fn add(&mut self, other: &Self) {
        let Self {
            prompt_tokens,
            completion_tokens,
            reasoning_tokens,
            cached_prompt_tokens,
            cache_write_tokens,
            estimated,
        } = other;
        self.prompt_tokens = self.prompt_tokens.saturating_add(*prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(*completion_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(*reasoning_tokens);
        self.cached_prompt_tokens = self.cached_prompt_tokens.saturating_add(*cached_prompt_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(*cache_write_tokens);
        self.estimated |= estimated;
    }
}

/// What requests cost, by the model's prices: an own calculation, because providers do not report it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Billionths of a US dollar.
    pub nano_usd: u64,
    /// Part of it that rests on estimated token counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_nano_usd: u64,
    /// Requests whose model has no known price; they are not in the sums.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_requests: u64,
}

impl Cost {
    /// Adds what other requests cost.
    pub fn add(&mut self, other: &Self) {
        let Self { nano_usd, estimated_nano_usd, unpriced_requests } = other;
        self.nano_usd = self.nano_usd.saturating_add(*nano_usd);
        self.estimated_nano_usd = self.estimated_nano_usd.saturating_add(*estimated_nano_usd);
        self.unpriced_requests = self.unpriced_requests.saturating_add(*unpriced_requests);
    }

    /// True when nothing is known to have cost anything.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a model request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsagePurpose {
    /// A round of a turn.
    Turn,
    /// Making a title.
    Title,
}
