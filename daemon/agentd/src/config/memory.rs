//! `[memory]`: what is remembered from one session to the next.

use agentd_memory::{DecayConfig, MemoryConfig, SelectConfig};
use serde::{Deserialize, Serialize};

use super::embeddings::EmbeddingSettings;
use super::schema::{BadValue, range};

/// `[memory]`: what is remembered from one session to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemorySettings {
    /// Most memories that hold, of all scopes together. More are refused.
    pub max_active: u64,
    /// Most critical ones of a scope; a further one pushes out the oldest that is not pinned.
    pub max_critical: u64,
    /// Texts of a scope that share this much of their words are one memory, 0 to 1.
    pub merge_similarity: f64,
    /// Changes that are kept for looking back and undoing.
    pub max_changes: u64,
    /// Days for which what holds no longer is kept as history; 0: for ever.
    pub keep_history_days: u64,
    /// Days after which what waits for a user to confirm it ends; 0: never.
    pub quarantine_days: u64,
    /// How often time does its work: memories age, and what is over ends.
    pub sweep_interval_ms: u64,
    /// A session that rests this long after a turn is looked through for memories; 0: none is.
    pub extract_after_ms: u64,
    /// Turns that there have to be for it.
    pub extract_turns: u64,
    /// How often order is brought into memories while no turn runs; 0: only by hand.
    pub consolidate_every_ms: u64,
    /// How memories age.
    pub decay: DecaySettings,
    /// What is told of them when a turn begins.
    pub select: SelectSettings,
    /// What a model makes of them.
    pub embeddings: EmbeddingSettings,
}

/// `[memory.decay]`: how memories age, in days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecaySettings {
    /// A critical memory becomes a high one after this long.
    pub critical_days: f64,
    /// A high one becomes a medium one.
    pub high_days: f64,
    /// A medium one becomes a low one.
    pub medium_days: f64,
    /// A low one fades; 0: never.
    pub low_days: f64,
    /// After this long retention of what was never used is 1/e.
    pub stability_days: f64,
    /// How much a use adds to stability, of itself, when the memory was nearly forgotten; 0: nothing.
    pub use_gain: f64,
    /// Where stability ends to grow.
    pub max_stability_days: f64,
}

/// `[memory.select]`: what is told of memories when a turn begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectSettings {
    /// Most memories; 0: none are told.
    pub max: u64,
    /// Most critical ones among them, the newest first.
    pub max_critical: u64,
    /// High ones that come in whatever their score.
    pub min_high: u64,
    /// Medium ones.
    pub min_medium: u64,
    /// Low ones.
    pub min_low: u64,
    /// Most bytes of their texts together.
    pub max_bytes: u64,
}

impl Default for MemorySettings {
    fn default() -> Self {
        let MemoryConfig {
            max_active,
            max_critical,
            merge_similarity,
            max_changes,
            keep_history_days,
            quarantine_days,
            ..
        } = MemoryConfig::default();
        Self {
            max_active: max_active as u64,
            max_critical: max_critical as u64,
            merge_similarity,
            max_changes: max_changes as u64,
            keep_history_days: keep_history_days.into(),
            quarantine_days: quarantine_days.into(),
            sweep_interval_ms: 3_600_000,
            extract_after_ms: 120_000,
            extract_turns: 2,
            consolidate_every_ms: 86_400_000,
            decay: DecaySettings::default(),
            select: SelectSettings::default(),
            embeddings: EmbeddingSettings::default(),
        }
    }
}

impl Default for DecaySettings {
    fn default() -> Self {
        let DecayConfig {
            critical_days,
            high_days,
            medium_days,
            low_days,
            stability_days,
            use_gain,
            max_stability_days,
        } = DecayConfig::default();
        Self {
            critical_days,
            high_days,
            medium_days,
            low_days,
            stability_days,
            use_gain,
            max_stability_days,
        }
    }
}

impl Default for SelectSettings {
    fn default() -> Self {
        let SelectConfig { max, max_critical, min_high, min_medium, min_low, max_bytes } =
            SelectConfig::default();
        Self {
            max: max as u64,
            max_critical: max_critical as u64,
            min_high: min_high as u64,
            min_medium: min_medium as u64,
            min_low: min_low as u64,
            max_bytes: max_bytes as u64,
        }
    }
}

impl MemorySettings {
    /// Checks ranges that types do not express.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        range("memory.max_active", self.max_active, 1, 1_000_000)?;
        range("memory.max_critical", self.max_critical, 1, 1_000)?;
        between("memory.merge_similarity", self.merge_similarity, 0.1, 1.0)?;
        range("memory.max_changes", self.max_changes, 1, 1_000_000)?;
        range("memory.keep_history_days", self.keep_history_days, 0, 36_500)?;
        range("memory.quarantine_days", self.quarantine_days, 0, 36_500)?;
        range("memory.sweep_interval_ms", self.sweep_interval_ms, 1_000, 86_400_000)?;
        range("memory.extract_after_ms", self.extract_after_ms, 0, 86_400_000)?;
        range("memory.consolidate_every_ms", self.consolidate_every_ms, 0, 31 * 86_400_000)?;
        range("memory.extract_turns", self.extract_turns, 1, 1_000)?;
        let DecaySettings {
            critical_days,
            high_days,
            medium_days,
            low_days,
            stability_days,
            use_gain,
            max_stability_days,
        } = self.decay;
        for (key, days, least) in [
            ("memory.decay.critical_days", critical_days, 0.01),
            ("memory.decay.high_days", high_days, 0.01),
            ("memory.decay.medium_days", medium_days, 0.01),
            ("memory.decay.low_days", low_days, 0.0),
            ("memory.decay.stability_days", stability_days, 0.01),
            ("memory.decay.max_stability_days", max_stability_days, 0.01),
        ] {
            between(key, days, least, 36_500.0)?;
        }
        between("memory.decay.use_gain", use_gain, 0.0, 100.0)?;
        if max_stability_days < stability_days {
            let problem = format!(
                "{max_stability_days} is less than memory.decay.stability_days, {stability_days}"
            );
            return Err(BadValue::new("memory.decay.max_stability_days".to_owned(), problem));
        }
        let SelectSettings { max, max_critical, min_high, min_medium, min_low, max_bytes } =
            self.select;
        for (key, count) in [
            ("memory.select.max", max),
            ("memory.select.max_critical", max_critical),
            ("memory.select.min_high", min_high),
            ("memory.select.min_medium", min_medium),
            ("memory.select.min_low", min_low),
        ] {
            range(key, count, 0, 1_000)?;
        }
        range("memory.select.max_bytes", max_bytes, 0, 1 << 20)?;
        self.embeddings.check()
    }

    /// The part of memory itself.
    pub(crate) fn memory(&self) -> MemoryConfig {
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let days = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let Self {
            max_active,
            max_critical,
            merge_similarity,
            max_changes,
            keep_history_days,
            quarantine_days,
            decay,
            select,
            ..
        } = self;
        let DecaySettings {
            critical_days,
            high_days,
            medium_days,
            low_days,
            stability_days,
            use_gain,
            max_stability_days,
        } = *decay;
        MemoryConfig {
            max_active: size(*max_active),
            max_critical: size(*max_critical),
            merge_similarity: *merge_similarity,
            merge_nearness: self.embeddings.merge_similarity,
            max_changes: size(*max_changes),
            keep_history_days: days(*keep_history_days),
            quarantine_days: days(*quarantine_days),
            decay: DecayConfig {
                critical_days,
                high_days,
                medium_days,
                low_days,
                stability_days,
                use_gain,
                max_stability_days,
            },
            select: SelectConfig {
                max: size(select.max),
                max_critical: size(select.max_critical),
                min_high: size(select.min_high),
                min_medium: size(select.min_medium),
                min_low: size(select.min_low),
                max_bytes: size(select.max_bytes),
            },
        }
    }
}

pub(super) fn between(key: &str, value: f64, min: f64, max: f64) -> Result<(), BadValue> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(BadValue::new(key.to_owned(), format!("{value} is not between {min} and {max}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_memory_itself() {
        assert_eq!(MemorySettings::default().memory(), MemoryConfig::default());
        assert_eq!(MemorySettings::default().check(), Ok(()));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_key() {
        let refused = |key: &str, change: fn(&mut MemorySettings)| {
            let mut settings = MemorySettings::default();
            change(&mut settings);
            let bad = settings.check().expect_err(key);
            assert_eq!(bad.key, format!("memory.{key}"));
            assert!(!bad.problem.is_empty());
        };
        refused("max_active", |it| it.max_active = 0);
        refused("max_critical", |it| it.max_critical = 0);
        refused("merge_similarity", |it| it.merge_similarity = 1.5);
        refused("merge_similarity", |it| it.merge_similarity = f64::NAN);
        refused("max_changes", |it| it.max_changes = 0);
        refused("keep_history_days", |it| it.keep_history_days = 50_000);
        refused("quarantine_days", |it| it.quarantine_days = 50_000);
        refused("sweep_interval_ms", |it| it.sweep_interval_ms = 10);
        refused("consolidate_every_ms", |it| it.consolidate_every_ms = u64::MAX);
        refused("decay.critical_days", |it| it.decay.critical_days = 0.0);
        refused("decay.low_days", |it| it.decay.low_days = -1.0);
        refused("decay.stability_days", |it| it.decay.stability_days = f64::INFINITY);
        refused("decay.use_gain", |it| it.decay.use_gain = -0.1);
        refused("decay.max_stability_days", |it| it.decay.max_stability_days = 10.0);
        refused("select.max", |it| it.select.max = 5_000);
        refused("select.max_bytes", |it| it.select.max_bytes = 1 << 30);
    }
}
