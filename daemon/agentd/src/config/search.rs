//! `[search]`: how much of what was said is searched.

use std::time::Duration;

use agentd_engine::HistoryLimits;
use serde::{Deserialize, Serialize};

use super::schema::{BadValue, range};

/// `[search]`: how much of what was said is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistorySearchConfig {
    /// Most messages of all sessions together, the newest.
    pub max_messages: u64,
    /// Most bytes of their texts.
    pub max_text_bytes: u64,
    /// What nobody has searched for so long leaves memory.
    pub idle_unload_ms: u64,
}

impl Default for HistorySearchConfig {
    fn default() -> Self {
        let HistoryLimits { messages, bytes, idle_unload } = HistoryLimits::default();
        Self {
            max_messages: messages as u64,
            max_text_bytes: bytes as u64,
            idle_unload_ms: u64::try_from(idle_unload.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl HistorySearchConfig {
    /// Checks ranges that types do not express.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        range("search.max_messages", self.max_messages, 1, 10_000_000)?;
        // A message of the greatest length has to fit.
        range("search.max_text_bytes", self.max_text_bytes, 1 << 20, 1 << 32)?;
        range("search.idle_unload_ms", self.idle_unload_ms, 1_000, 604_800_000)
    }

    /// The engine's part.
    pub(super) fn history(&self) -> HistoryLimits {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        HistoryLimits {
            messages: size(self.max_messages),
            bytes: size(self.max_text_bytes),
            idle_unload: Duration::from_millis(self.idle_unload_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_engines_and_what_makes_no_sense_is_refused_by_its_key() {
        let usual = HistorySearchConfig::default();
        assert_eq!((usual.history(), usual.check()), (HistoryLimits::default(), Ok(())));
        let refused = |key: &str, change: fn(&mut HistorySearchConfig)| {
            let mut config = HistorySearchConfig::default();
            change(&mut config);
            assert_eq!(config.check().expect_err(key).key, format!("search.{key}"));
        };
        refused("max_messages", |it| it.max_messages = 0);
        refused("max_text_bytes", |it| it.max_text_bytes = 1_000);
        refused("idle_unload_ms", |it| it.idle_unload_ms = 10);
    }
}
