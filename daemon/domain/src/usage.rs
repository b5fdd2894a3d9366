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
            estimated,
        } = other;
        self.prompt_tokens = self.prompt_tokens.saturating_add(*prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(*completion_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(*reasoning_tokens);
        self.cached_prompt_tokens = self.cached_prompt_tokens.saturating_add(*cached_prompt_tokens);
        self.estimated |= estimated;
    }
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
