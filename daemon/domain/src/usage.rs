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
    /// Tokens of request and answer.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// What is left without a part of it. Nothing of that is an estimate when the part has them all.
    pub(crate) fn without(&self, estimates: &Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_sub(estimates.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_sub(estimates.completion_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_sub(estimates.reasoning_tokens),
            cached_prompt_tokens: self
                .cached_prompt_tokens
                .saturating_sub(estimates.cached_prompt_tokens),
            cache_write_tokens: self
                .cache_write_tokens
                .saturating_sub(estimates.cache_write_tokens),
            estimated: false,
        }
    }

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

/// Sums of several requests. What providers counted and what was estimated are kept apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// Requests.
    pub requests: u64,
    /// Tokens of requests whose provider counted them.
    pub exact: Usage,
    /// Tokens of the others.
    pub estimated: Usage,
    /// What all of them cost.
    pub cost: Cost,
}

impl UsageSum {
    /// Adds one request.
    pub fn add(&mut self, usage: &Usage, cost: &Cost) {
        self.requests = self.requests.saturating_add(1);
        if usage.estimated { &mut self.estimated } else { &mut self.exact }.add(usage);
        self.cost.add(cost);
    }

    /// Adds other requests.
    pub fn add_all(&mut self, other: &Self) {
        let Self { requests, exact, estimated, cost } = other;
        self.requests = self.requests.saturating_add(*requests);
        self.exact.add(exact);
        self.estimated.add(estimated);
        self.cost.add(cost);
    }

    /// Tokens of all requests and answers.
    pub fn tokens(&self) -> u64 {
        self.exact.tokens().saturating_add(self.estimated.tokens())
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
    /// Looking for what is to be remembered.
    Memory,
    /// Writing the summary that older turns are folded into.
    Compaction,
}

impl UsagePurpose {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Turn, Self::Title, Self::Memory, Self::Compaction];

    /// The name by which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Title => "title",
            Self::Memory => "memory",
            Self::Compaction => "compaction",
        }
    }

    /// True for work that no user waits for.
    pub fn is_background(self) -> bool {
        match self {
            Self::Turn => false,
            Self::Title | Self::Memory | Self::Compaction => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_summed_apart() {
        let exact = Usage { prompt_tokens: 10, completion_tokens: 1, ..Usage::default() };
        let estimated = Usage { prompt_tokens: 5, estimated: true, ..Usage::default() };
        let cost = Cost { nano_usd: 7, ..Cost::default() };
        let unpriced = Cost { unpriced_requests: 1, ..Cost::default() };
        let mut sum = UsageSum::default();
        sum.add(&exact, &cost);
        sum.add(&estimated, &unpriced);
        sum.add(&exact, &cost);
        let cost = Cost { nano_usd: 14, unpriced_requests: 1, ..Cost::default() };
        let twice = Usage { prompt_tokens: 20, completion_tokens: 2, ..Usage::default() };
        assert_eq!(sum, UsageSum { requests: 3, exact: twice, estimated, cost });
        assert_eq!(sum.tokens(), 27);
        let mut other = sum;
        other.add_all(&sum);
        assert_eq!((other.requests, other.tokens(), other.cost.nano_usd), (6, 54, 28));
    }

    #[test]
    fn purposes_are_shown_as_they_are_stored() {
        for purpose in UsagePurpose::ALL {
            let stored = serde_json::to_string(&purpose).expect("a word");
            assert_eq!(stored, format!("\"{}\"", purpose.as_str()));
        }
    }
}
