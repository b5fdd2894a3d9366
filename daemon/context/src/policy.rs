//! When which part of a conversation is left out or folded: all thresholds, by window.

use std::time::Duration;

use crate::count::scale;

/// Thresholds of all windows. The defaults are the specification's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextConfig {
    /// Part of the room for the conversation above which parts of older turns are left out (spec c.6).
    pub trim_at: f64,
    /// Part of it above which older turns are folded at once (spec c.15).
    pub compact_at: f64,
    /// Part of it that is left after folding (spec c.15).
    pub compact_to: f64,
    /// Newest turns whose tool outputs stay when parts are left out (spec c.5).
    pub outputs_keep_turns: u32,
    /// Characters above which texts of older turns lose their middle (spec c.6).
    pub long_text_chars: u32,
    /// Windows up to this many tokens keep only so many turns whole; larger ones go by room alone.
    pub small_window: u64,
    /// In small windows, turns above which older ones are folded (spec c.13); zero: any number stays.
    pub compact_above_turns: u32,
    /// Turns that are left then (spec c.13).
    pub keep_turns: u32,
    /// Windows from this many tokens on go by the two numbers that follow (spec c.16).
    pub large_window: u64,
    /// Tokens of the conversation above which turns are folded in large windows (spec c.16).
    pub large_compact_above: u64,
    /// Tokens that are left there (spec c.16).
    pub large_compact_to: u64,
    /// Folded turns that may be recalled word by word; the oldest leave when there are as many (spec c.3).
    pub recall_turns: u32,
    /// Those that stay then (spec c.3).
    pub recall_keep: u32,
    /// Likeness from which a folded turn is recalled whole (spec c.4).
    pub recall_whole: f64,
    /// Likeness from which it is recalled in short (spec c.4).
    pub recall_short: f64,
    /// Characters of a summary (spec c.2).
    pub summary_chars: usize,
    /// Part of the window that a summary has at most.
    pub summary_share: f64,
    /// Part of it that what is recalled in one turn has at most.
    pub recall_share: f64,
    /// Part of it that memories have at most which a turn is told.
    pub memories_share: f64,
    /// Part of it that a document of the workspace has at most.
    pub document_share: f64,
    /// A session that rested for this long begins again with its summary and last turn; none: never.
    pub rested_after: Option<Duration>,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self {
            trim_at: 0.8,
            compact_at: 0.92,
            compact_to: 0.3,
            outputs_keep_turns: 3,
            long_text_chars: 4_096,
            small_window: 16_384,
            compact_above_turns: 10,
            keep_turns: 5,
            large_window: 1_000_000,
            large_compact_above: 700_000,
            large_compact_to: 500_000,
            recall_turns: 50,
            recall_keep: 20,
            recall_whole: 0.15,
            recall_short: 0.05,
            summary_chars: 32_000,
            summary_share: 0.125,
            recall_share: 0.0625,
            memories_share: 0.125,
            document_share: 0.125,
            rested_after: Some(Duration::from_secs(30 * 24 * 3_600)),
        }
    }
}

/// Bytes that a token stands for where only bytes are counted.
const BYTES_PER_TOKEN: u64 = 3;

impl ContextConfig {
    /// Most bytes of memories that a turn is told in a window of so many tokens.
    pub fn memories_bytes(&self, window: u64) -> usize {
        bytes(window, self.memories_share)
    }

    /// Most bytes of a document of the workspace in it.
    pub fn document_bytes(&self, window: u64) -> usize {
        bytes(window, self.document_share)
    }
}

fn bytes(window: u64, share: f64) -> usize {
    let bytes = scale(window.saturating_mul(BYTES_PER_TOKEN), share);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Thresholds for one window, in tokens by our own count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// What the conversation may have at most, its summary included.
    pub room: u64,
    /// Above this parts of older turns are left out.
    pub trim_above: u64,
    /// Above this older turns are folded at once.
    pub compact_above: u64,
    /// What is left after folding.
    pub compact_to: u64,
    /// Turns above which older ones are folded, off the user's path; none: any number stays whole.
    pub turns: Option<TurnsPolicy>,
    /// What a summary may have.
    pub summary: u64,
    /// What may be recalled in one turn.
    pub recall: u64,
    /// The rest.
    pub config: ContextConfig,
}

/// How many turns stay whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnsPolicy {
    /// With more, older ones are folded.
    pub above: u32,
    /// So many are left.
    pub keep: u32,
}

impl Policy {
    /// What whole turns have at most after folding, beside the summary.
    pub fn keep_tokens(&self) -> u64 {
        self.compact_to - self.summary.min(self.compact_to / 2)
    }

    /// The thresholds for a window of `window` tokens, of which `room` are left for the conversation.
    pub fn new(config: ContextConfig, window: u64, room: u64) -> Self {
        let compact_above = scale(room, config.compact_at);
        let compact_to = scale(room, config.compact_to);
        let is_large = window >= config.large_window && compact_above > config.large_compact_above;
        let (trim_above, compact_above, compact_to) = if is_large {
            let above = config.large_compact_above;
            (above, above, config.large_compact_to.min(above))
        } else {
            (scale(room, config.trim_at).min(compact_above), compact_above, compact_to)
        };
        let turns = TurnsPolicy {
            above: config.compact_above_turns,
            keep: config.keep_turns.clamp(1, config.compact_above_turns.max(1)),
        };
        Self {
            room,
            trim_above,
            compact_above,
            compact_to,
            turns: (config.compact_above_turns > 0 && window <= config.small_window)
                .then_some(turns),
            summary: scale(window, config.summary_share).min(room / 3),
            recall: scale(window, config.recall_share).min(room / 8),
            config,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_go_by_the_window() {
        let config = ContextConfig::default();
        let small = Policy::new(config, 8_192, 4_000);
        assert_eq!(
            (small.trim_above, small.compact_above, small.compact_to),
            (3_200, 3_680, 1_200)
        );
        assert_eq!(small.turns, Some(TurnsPolicy { above: 10, keep: 5 }));
        let middle = Policy::new(config, 128_000, 100_000);
        assert_eq!((middle.trim_above, middle.compact_above), (80_000, 92_000));
        assert_eq!(middle.turns, None);
        let large = Policy::new(config, 1_000_000, 840_000);
        assert_eq!(
            (large.trim_above, large.compact_above, large.compact_to),
            (700_000, 700_000, 500_000)
        );
        assert_eq!((large.summary, large.recall), (125_000, 62_500));
        let config = ContextConfig { summary_share: 0.25, recall_share: 0.0, ..config };
        let other = Policy::new(config, 8_000, 7_000);
        assert_eq!((other.summary, other.recall), (2_000, 0));
        assert_eq!((config.memories_bytes(8_192), config.document_bytes(80)), (3_072, 30));
        let tight = Policy::new(config, 1_000_000, 100_000);
        assert_eq!((tight.compact_above, tight.compact_to), (92_000, 30_000));
    }

    #[test]
    fn thresholds_are_in_order_whatever_is_left() {
        for room in [0, 1, 7, 100, 8_000, 900_000] {
            for window in [1, 8_192, 128_000, 2_000_000] {
                let policy = Policy::new(ContextConfig::default(), window, room);
                assert!(policy.compact_to <= policy.trim_above, "{policy:?}");
                assert!(policy.trim_above <= policy.compact_above, "{policy:?}");
                assert!(policy.compact_above <= policy.room && policy.summary <= policy.room);
            }
        }
    }
}
