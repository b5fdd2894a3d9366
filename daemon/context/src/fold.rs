//! Folding the oldest turns into a summary: where the cut falls, and a summary made without a model.
//!
//! A cut falls between turns only, so that calls and results stay together and the first message kept is
//! a user's.

use agentd_domain::{
    CompactionReason, ContextCompacted, Seq, SeqRange, SummaryLine, SummaryMethod, SummarySection,
    cut_line,
};
use agentd_llm::Message;

use crate::Conversation;
use crate::importance::importance;
use crate::policy::Policy;
use crate::summary::{Summary, text};
use crate::trim::Trimmed;
use crate::turn_messages::TurnMessages;

/// Name and version of the rules by which a summary is made of pieces of turns.
const EXTRACT: &str = "extract-1";
/// Characters of what was said and of the answer in a line that tells of a turn.
const LINE: (usize, usize) = (160, 240);
/// Most stretches of the log that one line names.
pub(crate) const MAX_RANGES: usize = 64;

/// What stays whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// As many of the newest turns as have so many tokens, one at least.
    Tokens(u64),
    /// So many of the newest turns.
    Turns(u32),
}

/// Where a conversation is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Turns that are folded, from the oldest on.
    pub(crate) turns: usize,
    first_kept: Seq,
    recall_from: Seq,
}

impl Cut {
    /// Turns that are folded, from the oldest on.
    pub fn turns(&self) -> usize {
        self.turns
    }
}

impl Conversation {
    /// Where to cut so that only this stays whole. None when there is nothing to fold: the newest turn
    /// always stays.
    pub fn cut(&self, policy: &Policy, keep: Keep) -> Option<Cut> {
        let most = self.turns.len().checked_sub(1)?;
        let wanted = match keep {
            Keep::Turns(turns) => {
                let keep = usize::try_from(turns.max(1)).unwrap_or(usize::MAX);
                self.turns.len().saturating_sub(keep)
            }
            Keep::Tokens(tokens) => {
                let mut kept = 0;
                let newest = self.turns.iter().rev().take_while(|turn| {
                    kept += turn.tokens(self.counter);
                    kept <= tokens
                });
                self.turns.len() - newest.count()
            }
        };
        // A message that waits for its turn keeps the turns that ran since in what is read.
        let (first_kept, turns) = (0..=wanted.min(most)).rev().find_map(|from| {
            let first_kept = self.first_needed(from)?;
            let turns = self.turns.iter().take_while(|turn| turn.first_seq < first_kept).count();
            (turns > 0).then_some((first_kept, turns))
        })?;
        Some(Cut { turns, first_kept, recall_from: self.recall_from(policy, turns, first_kept) })
    }

    /// From where folded turns may be recalled: when there are as many as the ring holds, the oldest leave.
    fn recall_from(&self, policy: &Policy, turns: usize, first_kept: Seq) -> Seq {
        let config = &policy.config;
        let folded = self.turns.iter().take(turns).map(TurnMessages::range);
        let ranges: Vec<SeqRange> = self.pairs.ranges().chain(folded).collect();
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let leave = if ranges.len() >= count(config.recall_turns) {
            ranges.len().saturating_sub(count(config.recall_keep))
        } else {
            0
        };
        let stay = ranges.iter().skip(leave).map(|range| range.first);
        stay.min().unwrap_or(first_kept).min(first_kept)
    }

    /// The event that folds what the cut says, with a summary that is made without a model: what earlier
    /// summaries say, then each turn in a line. Those that matter least go first where that is too long.
    pub fn extract(
        &self,
        policy: &Policy,
        cut: &Cut,
        reason: CompactionReason,
    ) -> ContextCompacted {
        let mut lines = self.summary.as_ref().map_or_else(Vec::new, |it| it.lines.clone());
        let old = lines.len();
        let all: usize = self.turns.iter().map(|turn| turn.entries.len()).sum();
        let mut before = 0;
        let mut weights = vec![0.0; old];
        for turn in self.turns.iter().take(cut.turns) {
            let entries = turn.entries.iter().enumerate();
            let weight = entries
                .map(|(at, entry)| importance(&entry.message, all - before - at - 1))
                .fold(0.0, f64::max);
            before += turn.entries.len();
            if let Some(line) = line_of(turn) {
                lines.push(line);
                weights.push(weight);
            }
        }
        let untold = self.summary.as_ref().map_or(0, |summary| summary.untold_turns);
        let (lines, left_out) = self.fit(policy, lines, weights);
        self.compacted_event(cut, reason, SummaryMethod::Extract, lines, untold + left_out)
    }

    /// Leaves turns out without a summary, where a window is too small for one.
    pub fn leave_out(&mut self, cut: &Cut) -> Trimmed {
        let before = self.tokens();
        self.fold_before(cut.first_kept, Some(cut.recall_from));
        let dropped = before.saturating_sub(self.tokens());
        Trimmed { first_kept: cut.first_kept, dropped, steps: Vec::new() }
    }

    /// The event for a summary that is there.
    pub(crate) fn compacted_event(
        &self,
        cut: &Cut,
        reason: CompactionReason,
        method: SummaryMethod,
        lines: Vec<SummaryLine>,
        untold_turns: u32,
    ) -> ContextCompacted {
        let mut compacted = ContextCompacted {
            first_kept_seq: cut.first_kept,
            recall_from_seq: cut.recall_from,
            folded_turns: u32::try_from(cut.turns).unwrap_or(u32::MAX),
            tokens_before: self.tokens(),
            tokens_after: 0,
            reason,
            method,
            model: String::new(),
            prompt: EXTRACT.to_owned(),
            pins: self.pins().to_vec(),
            lines,
            untold_turns,
        };
        let kept = self.turns.iter().skip(cut.turns);
        let kept: u64 = kept.map(|turn| turn.tokens(self.counter)).sum();
        compacted.tokens_after = kept + Summary::new(&compacted).tokens(self.counter);
        compacted
    }

    /// Takes out lines until the summary is as short as it has to be: turns in short first, those that
    /// matter least; then the sections that are told last. Returns the turns that are no longer told.
    fn fit(
        &self,
        policy: &Policy,
        mut lines: Vec<SummaryLine>,
        mut weights: Vec<f64>,
    ) -> (Vec<SummaryLine>, u32) {
        let cost = |line: &SummaryLine| self.counter.text(&line.text) + 2;
        let frame = self.counter.message(&Message::user(text(self.pins(), &[], 1)));
        let most = policy.summary.saturating_sub(frame);
        let mut tokens: u64 = lines.iter().map(cost).sum();
        let mut chars: usize = lines.iter().map(|line| line.text.chars().count()).sum();
        let mut left_out = 0_u32;
        while tokens > most || chars > policy.config.summary_chars {
            let goes =
                lines.iter().zip(&weights).enumerate().max_by(|(at, (a, x)), (bt, (b, y))| {
                    // Of what is told last, what matters least, and of that the oldest.
                    a.section.cmp(&b.section).then(y.total_cmp(x)).then(bt.cmp(at))
                });
            let Some((at, (line, _))) = goes else { break };
            tokens -= cost(line);
            chars -= line.text.chars().count();
            if line.section == SummarySection::Turns {
                left_out += 1;
            }
            lines.remove(at);
            weights.remove(at);
        }
        (lines, left_out)
    }
}

/// A turn in a line: what was asked, and what was answered.
fn line_of(turn: &TurnMessages) -> Option<SummaryLine> {
    let said = turn.said().collect::<Vec<_>>().join(" ");
    let (user, answer) = LINE;
    let (user, answer) = (cut_line(&said, user), cut_line(turn.answered(), answer));
    let text = match (user.is_empty(), answer.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("User: {user}"),
        (true, false) => format!("Assistant: {answer}"),
        (false, false) => format!("User: {user} → Assistant: {answer}"),
    };
    Some(SummaryLine { section: SummarySection::Turns, text, from: vec![turn.range()] })
}
