//! What tokens cost, as exact whole numbers: sums of many requests must not drift.

use std::fmt;

use agentd_domain::{Cost, Usage};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A price per million tokens, in millionths of a US dollar. The same number is the price of one token
/// in trillionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(u64);

/// A number that is no price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no price between 0 and {} US dollars per million tokens", Price::MAX_USD)]
pub struct PriceError;

impl Price {
    /// The highest price that is taken, in US dollars per million tokens. It keeps every sum of tokens
    /// far from the end of the numbers.
    pub const MAX_USD: u32 = 100_000;

    /// Reads a price in US dollars per million tokens.
    ///
    /// # Errors
    /// When the number is negative, not finite, or above [`Self::MAX_USD`].
    pub fn from_usd_per_million(usd: f64) -> Result<Self, PriceError> {
        if !(0.0..=f64::from(Self::MAX_USD)).contains(&usd) {
            return Err(PriceError);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 10^11, and not negative"
        )]
        Ok(Self((usd * 1e6).round() as u64))
    }

    /// US dollars per million tokens.
    pub fn usd_per_million(self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "at most 10^11, which a double holds exactly"
        )]
        {
            self.0 as f64 / 1e6
        }
    }

    /// What that many tokens cost, in trillionths of a dollar.
    fn of(self, tokens: u64) -> u128 {
        u128::from(self.0) * u128::from(tokens)
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.usd_per_million())
    }
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.usd_per_million())
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let usd = f64::deserialize(deserializer)?;
        Self::from_usd_per_million(usd)
            .map_err(|error| serde::de::Error::custom(format!("{usd} {error}")))
    }
}

/// What the tokens of a model cost, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Tokens of requests.
    pub prompt: Price,
    /// Tokens of answers, reasoning included.
    pub completion: Price,
    /// Tokens of requests that came from the provider's cache; none: as `prompt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Price>,
    /// Tokens of requests that went into the provider's cache; none: as `prompt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Price>,
    /// What long requests cost, on all their tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrices>,
}

/// What a request costs whose prompt is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrices {
    /// It is long when its prompt has more tokens than this.
    pub above_tokens: u64,
    /// See [`Prices::prompt`].
    pub prompt: Price,
    /// See [`Prices::completion`].
    pub completion: Price,
    /// See [`Prices::cache_read`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Price>,
    /// See [`Prices::cache_write`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Price>,
}

impl Prices {
    /// The prices of a request with that many prompt tokens.
    fn at(&self, prompt_tokens: u64) -> Self {
        match self.long {
            Some(long) if prompt_tokens > long.above_tokens => Self {
                prompt: long.prompt,
                completion: long.completion,
                cache_read: long.cache_read,
                cache_write: long.cache_write,
                long: None,
            },
            _ => *self,
        }
    }
}

/// What one request cost by these prices; a request without known prices is counted as unpriced.
///
/// The whole cost of a request with estimated tokens counts as estimated: nothing says which part is.
pub fn cost_of(usage: &Usage, prices: Option<&Prices>) -> Cost {
    let Some(prices) = prices else {
        return Cost { unpriced_requests: 1, ..Cost::default() };
    };
    let Prices { prompt, completion, cache_read, cache_write, long: _ } =
        prices.at(usage.prompt_tokens);
    // Both are parts of the prompt, whatever a provider reports.
    let read = usage.cached_prompt_tokens.min(usage.prompt_tokens);
    let written = usage.cache_write_tokens.min(usage.prompt_tokens - read);
    let fresh = usage.prompt_tokens - read - written;
    let trillionths = prompt.of(fresh)
        + cache_read.unwrap_or(prompt).of(read)
        + cache_write.unwrap_or(prompt).of(written)
        + completion.of(usage.completion_tokens);
    let nano_usd = u64::try_from((trillionths + 500) / 1_000).unwrap_or(u64::MAX);
    Cost {
        nano_usd,
        estimated_nano_usd: if usage.estimated { nano_usd } else { 0 },
        unpriced_requests: 0,
    }
}

#[cfg(test)]
mod tests;
