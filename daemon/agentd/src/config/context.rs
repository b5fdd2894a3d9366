//! `[context]`: what requests are made of when the window is too small for the whole conversation.

use std::time::Duration;

use agentd_engine::{ContextConfig, EngineConfig};
use serde::{Deserialize, Serialize};

use super::memory::between;
use super::schema::{BadValue, range};

/// `[context]`: what requests are made of when the window is too small for the whole conversation.
///
/// Ratios are parts of the room that the window leaves for the conversation beside instructions, tools and
/// the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextSettings {
    /// Above this part of the room, parts of older turns are left out.
    pub trim_ratio: f64,
    /// Above this part of it, older turns are folded at once.
    pub compact_ratio: f64,
    /// This part of it is left after folding.
    pub compact_to_ratio: f64,
    /// Newest turns whose tool outputs stay when parts are left out.
    pub outputs_keep_turns: u64,
    /// Characters above which texts of older turns lose their middle then.
    pub long_text_chars: u64,
    /// Windows up to this many tokens tell only so many turns whole.
    pub small_window: u64,
    /// In them, turns above which older ones are folded; 0: any number stays.
    pub compact_above_turns: u64,
    /// Turns that are left there.
    pub keep_turns: u64,
    /// Windows from this many tokens on go by the two numbers that follow.
    pub large_window: u64,
    /// In them, tokens above which older turns are folded.
    pub large_compact_above: u64,
    /// Tokens that are left there.
    pub large_compact_to: u64,
    /// Folded turns that may be recalled word by word; at so many the oldest leave.
    pub recall_turns: u64,
    /// Those that stay then.
    pub recall_keep: u64,
    /// Likeness from which a folded turn is recalled whole, 0 to 1.
    pub recall_whole: f64,
    /// Likeness from which it is recalled in short.
    pub recall_short: f64,
    /// Most characters of a summary.
    pub summary_chars: u64,
    /// Most of the window for it, as a part.
    pub summary_ratio: f64,
    /// Most of the window for what is recalled in one turn.
    pub recall_ratio: f64,
    /// Most of the window for the memories that a turn is told.
    pub memories_ratio: f64,
    /// Most of the window for the workspace's document.
    pub project_document_ratio: f64,
    /// Longest time for writing one.
    pub summary_timeout_ms: u64,
    /// A session that rested for so long begins again with its summary and its last turn; 0: never.
    pub rested_after_days: u64,
    /// Paths below a workspace of which the first that is there is part of its requests; empty: none is.
    pub project_documents: Vec<String>,
    /// Most bytes of it that are, head and tail.
    pub project_document_bytes: u64,
}

const DAY: u64 = 24 * 3_600;

/// Paths that are looked for when a turn begins.
const MAX_DOCUMENTS: usize = 20;

impl Default for ContextSettings {
    fn default() -> Self {
        let ContextConfig {
            trim_at,
            compact_at,
            compact_to,
            outputs_keep_turns,
            long_text_chars,
            small_window,
            compact_above_turns,
            keep_turns,
            large_window,
            large_compact_above,
            large_compact_to,
            recall_turns,
            recall_keep,
            recall_whole,
            recall_short,
            summary_chars,
            summary_share,
            recall_share,
            memories_share,
            document_share,
            rested_after,
        } = ContextConfig::default();
        Self {
            trim_ratio: trim_at,
            compact_ratio: compact_at,
            compact_to_ratio: compact_to,
            outputs_keep_turns: outputs_keep_turns.into(),
            long_text_chars: long_text_chars.into(),
            small_window,
            compact_above_turns: compact_above_turns.into(),
            keep_turns: keep_turns.into(),
            large_window,
            large_compact_above,
            large_compact_to,
            recall_turns: recall_turns.into(),
            recall_keep: recall_keep.into(),
            recall_whole,
            recall_short,
            summary_chars: summary_chars as u64,
            summary_ratio: summary_share,
            recall_ratio: recall_share,
            memories_ratio: memories_share,
            project_document_ratio: document_share,
            summary_timeout_ms: 120_000,
            rested_after_days: rested_after.map_or(0, |after| after.as_secs() / DAY),
            project_documents: EngineConfig::default().project_documents.to_vec(),
            project_document_bytes: EngineConfig::default().project_document_bytes as u64,
        }
    }
}

impl ContextSettings {
    /// Checks ranges that types do not express.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        for (key, ratio) in [
            ("context.trim_ratio", self.trim_ratio),
            ("context.compact_ratio", self.compact_ratio),
            ("context.compact_to_ratio", self.compact_to_ratio),
        ] {
            between(key, ratio, 0.05, 1.0)?;
        }
        for (key, ratio) in [
            ("context.recall_whole", self.recall_whole),
            ("context.recall_short", self.recall_short),
        ] {
            between(key, ratio, 0.0, 1.0)?;
        }
        for (key, ratio) in [
            ("context.summary_ratio", self.summary_ratio),
            ("context.recall_ratio", self.recall_ratio),
            ("context.memories_ratio", self.memories_ratio),
            ("context.project_document_ratio", self.project_document_ratio),
        ] {
            between(key, ratio, 0.0, 0.5)?;
        }
        above("context.compact_ratio", self.compact_ratio, "context.trim_ratio", self.trim_ratio)?;
        above(
            "context.trim_ratio",
            self.trim_ratio,
            "context.compact_to_ratio",
            self.compact_to_ratio,
        )?;
        above(
            "context.recall_whole",
            self.recall_whole,
            "context.recall_short",
            self.recall_short,
        )?;
        range("context.outputs_keep_turns", self.outputs_keep_turns, 1, 1_000)?;
        range("context.long_text_chars", self.long_text_chars, 256, 1 << 20)?;
        range("context.small_window", self.small_window, 0, 100_000_000)?;
        range("context.compact_above_turns", self.compact_above_turns, 0, 10_000)?;
        range("context.keep_turns", self.keep_turns, 1, 10_000)?;
        range("context.large_window", self.large_window, 1_024, 100_000_000)?;
        range("context.large_compact_above", self.large_compact_above, 1_024, 100_000_000)?;
        range("context.large_compact_to", self.large_compact_to, 512, self.large_compact_above)?;
        range("context.recall_turns", self.recall_turns, 1, 1_000)?;
        range("context.recall_keep", self.recall_keep, 0, self.recall_turns)?;
        range("context.summary_chars", self.summary_chars, 500, 256 * 1024)?;
        range("context.summary_timeout_ms", self.summary_timeout_ms, 1_000, 3_600_000)?;
        range("context.rested_after_days", self.rested_after_days, 0, 36_500)?;
        range("context.project_document_bytes", self.project_document_bytes, 256, 1024 * 1024)?;
        let is_path = |path: &&String| {
            !path.trim().is_empty() && !path.starts_with(['/', '~']) && !path.contains('\0')
        };
        match self.project_documents.iter().find(|path| !is_path(path)) {
            None if self.project_documents.len() <= MAX_DOCUMENTS => Ok(()),
            None => Err(BadValue::new(
                "context.project_documents".to_owned(),
                format!("{} paths are more than {MAX_DOCUMENTS}", self.project_documents.len()),
            )),
            Some(path) => Err(BadValue::new(
                "context.project_documents".to_owned(),
                format!("'{path}' is not a path below a workspace, such as 'AGENTS.md'"),
            )),
        }
    }

    /// The engine's part.
    pub(super) fn engine(&self) -> ContextConfig {
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        ContextConfig {
            trim_at: self.trim_ratio,
            compact_at: self.compact_ratio,
            compact_to: self.compact_to_ratio,
            outputs_keep_turns: small(self.outputs_keep_turns),
            long_text_chars: small(self.long_text_chars),
            small_window: self.small_window,
            compact_above_turns: small(self.compact_above_turns),
            keep_turns: small(self.keep_turns),
            large_window: self.large_window,
            large_compact_above: self.large_compact_above,
            large_compact_to: self.large_compact_to,
            recall_turns: small(self.recall_turns),
            recall_keep: small(self.recall_keep),
            recall_whole: self.recall_whole,
            recall_short: self.recall_short,
            summary_chars: usize::try_from(self.summary_chars).unwrap_or(usize::MAX),
            summary_share: self.summary_ratio,
            recall_share: self.recall_ratio,
            memories_share: self.memories_ratio,
            document_share: self.project_document_ratio,
            rested_after: (self.rested_after_days > 0)
                .then(|| Duration::from_secs(self.rested_after_days * DAY)),
        }
    }
}

fn above(key: &str, value: f64, other: &str, least: f64) -> Result<(), BadValue> {
    if value >= least {
        return Ok(());
    }
    Err(BadValue::new(key.to_owned(), format!("{value} is less than {other}, {least}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_context_itself() {
        assert_eq!(ContextSettings::default().engine(), ContextConfig::default());
        assert_eq!(ContextSettings::default().check(), Ok(()));
    }

    #[test]
    fn thresholds_have_to_be_in_order() {
        let check = |change: fn(&mut ContextSettings), key: &str| {
            let mut settings = ContextSettings::default();
            change(&mut settings);
            let error = settings.check().unwrap_err();
            assert!(format!("{error:?}").contains(key), "{error:?}");
        };
        check(|it| it.trim_ratio = 0.95, "context.compact_ratio");
        check(|it| it.compact_to_ratio = 0.9, "context.trim_ratio");
        check(|it| it.recall_short = 0.5, "context.recall_whole");
        check(|it| it.trim_ratio = f64::NAN, "context.trim_ratio");
        check(|it| it.keep_turns = 0, "context.keep_turns");
        check(|it| it.summary_ratio = 0.6, "context.summary_ratio");
        check(|it| it.recall_ratio = f64::NAN, "context.recall_ratio");
        check(|it| it.memories_ratio = -0.1, "context.memories_ratio");
        check(|it| it.project_document_ratio = 1.0, "context.project_document_ratio");
        check(|it| it.recall_keep = 51, "context.recall_keep");
        check(|it| it.project_document_bytes = 1, "context.project_document_bytes");
        check(|it| it.project_documents.push("/etc/passwd".into()), "context.project_documents");
        check(|it| it.project_documents = vec!["a".into(); 21], "context.project_documents");
    }
}
