//! Leaving out parts of turns when the conversation fills its room (spec c.5, c.6).
//!
//! Each step is recorded, and counts from where its event stands in the log, so that the log read anew
//! gives the same messages. Trimming makes more room than is needed at once: the requests that follow begin
//! like each other again.

use agentd_domain::{Seq, ToolCall, TrimKind, TrimStep, cut_head_tail};
use agentd_llm::Message;
use serde_json::Value;

use crate::policy::Policy;
use crate::turn_messages::{Entry, TurnMessages};
use crate::{Conversation, Layer};

/// Outputs of no more characters stay: a placeholder would be as long (spec c.5).
const SHORT_OUTPUT: usize = 100;
/// Arguments of a call above which their long texts are cut, in bytes (spec c.5).
const LONG_ARGUMENTS: usize = 2_048;
/// What stays of a long text in them (spec c.5).
const LONG_ARGUMENT: usize = 1_024;
/// What is left of an output at least, in bytes.
const MIN_OUTPUT: usize = 1_024;
/// Rounds of the newest turn whose outputs stay as long as others can go.
const KEEP_ROUNDS: [u32; 2] = [3, 1];

/// What was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trimmed {
    /// First event that the messages are made from.
    pub first_kept: Seq,
    /// Tokens that it saved.
    pub dropped: u64,
    /// How.
    pub steps: Vec<TrimStep>,
}

impl Conversation {
    /// Leaves out parts of older turns when the conversation is above `policy.trim_above`. Only what is
    /// worth a changed beginning of the request is done: a tenth of the room, unless the room is full.
    pub fn trim(&mut self, policy: &Policy) -> Option<Trimmed> {
        let before = self.tokens();
        if before <= policy.trim_above {
            return None;
        }
        let config = &policy.config;
        let mut steps = Vec::new();
        // What is longer than half of the room alone is shortened before anything else goes.
        let half = usize::try_from(policy.room / 2 * 3).unwrap_or(usize::MAX).max(MIN_OUTPUT);
        let longest = self.longest_output();
        if longest > half {
            steps.push(TrimStep { kind: TrimKind::LongOutputs, keep: small(half) });
        }
        steps.extend([
            TrimStep { kind: TrimKind::Recalled, keep: 1 },
            TrimStep { kind: TrimKind::Outputs, keep: config.outputs_keep_turns },
            TrimStep { kind: TrimKind::Reasoning, keep: 1 },
            TrimStep { kind: TrimKind::LongTexts, keep: config.long_text_chars },
        ]);
        let mut trimmed = self.clone();
        let mut done = Vec::new();
        for step in steps {
            if trimmed.trim_step(step) {
                done.push(step);
            }
        }
        let after = trimmed.tokens();
        let is_worth_it = before - after.min(before) >= policy.room / 10;
        if done.is_empty() || after >= before || (before <= policy.compact_above && !is_worth_it) {
            return None;
        }
        *self = trimmed;
        self.trimmed(before, done)
    }

    /// Leaves out parts of the newest turn until the conversation is no longer above
    /// `policy.compact_above`, or nothing more can go.
    pub fn squeeze(&mut self, policy: &Policy) -> Option<Trimmed> {
        let before = self.tokens();
        let mut squeezed = self.clone();
        let mut done = Vec::new();
        for keep in KEEP_ROUNDS {
            let step = TrimStep { kind: TrimKind::EarlierRounds, keep };
            if squeezed.tokens() > policy.compact_above && squeezed.trim_step(step) {
                done.push(step);
            }
        }
        // Looked for on copies and done once: an output that is cut twice is not what the log gives.
        let mut keep = squeezed.longest_output();
        let mut cut = None;
        while keep > MIN_OUTPUT
            && cut.as_ref().map_or(squeezed.tokens(), |(cut, _): &(Self, _)| cut.tokens())
                > policy.compact_above
        {
            keep = (keep / 2).max(MIN_OUTPUT);
            let step = TrimStep { kind: TrimKind::LongOutputs, keep: small(keep) };
            let mut shorter = squeezed.clone();
            if shorter.trim_step(step) {
                cut = Some((shorter, step));
            }
        }
        if let Some((shorter, step)) = cut {
            squeezed = shorter;
            done.push(step);
        }
        // What is not recorded has not happened, or the log would give something else.
        if squeezed.tokens() >= before {
            return None;
        }
        *self = squeezed;
        self.trimmed(before, done)
    }

    fn trimmed(&self, before: u64, steps: Vec<TrimStep>) -> Option<Trimmed> {
        let first_kept = self.first_needed(0)?;
        Some(Trimmed { first_kept, dropped: before.saturating_sub(self.tokens()), steps })
    }

    /// Does one step. False when it changed nothing.
    pub(crate) fn trim_step(&mut self, TrimStep { kind, keep }: TrimStep) -> bool {
        let keep_turns = match kind {
            TrimKind::Recalled | TrimKind::Outputs | TrimKind::Reasoning => keep.max(1),
            TrimKind::LongTexts | TrimKind::EarlierRounds | TrimKind::LongOutputs => 1,
        };
        let older =
            self.turns.len().saturating_sub(usize::try_from(keep_turns).unwrap_or(usize::MAX));
        let (older, newest) = self.turns.split_at_mut(older);
        let newest = newest.last_mut();
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        match kind {
            TrimKind::Recalled => any(older, TurnMessages::forget_recalled),
            TrimKind::Outputs => any(older, |turn| any(&mut turn.entries, omit_output)),
            TrimKind::Reasoning => any(older, |turn| any(&mut turn.entries, omit_reasoning)),
            TrimKind::LongTexts => {
                any(older, |turn| any(&mut turn.entries, |entry| cut_texts(entry, keep)))
            }
            TrimKind::EarlierRounds => {
                newest.is_some_and(|turn| any(turn.before_rounds(keep), omit_output))
            }
            TrimKind::LongOutputs => {
                newest.is_some_and(|turn| any(&mut turn.entries, |entry| cut_output(entry, keep)))
            }
        }
    }

    /// Bytes of the longest output of the newest turn.
    fn longest_output(&self) -> usize {
        let outputs = self.turns.last().into_iter().flat_map(|turn| &turn.entries);
        outputs.filter_map(output).map(str::len).max().unwrap_or(0)
    }
}

impl TurnMessages {
    fn forget_recalled(&mut self) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.layer != Layer::Recalled);
        self.recalled.clear();
        self.entries.len() < before
    }

    /// The messages before its last `keep` rounds.
    fn before_rounds(&mut self, keep: usize) -> &mut [Entry] {
        let is_round = |entry: &Entry| matches!(entry.message, Message::Assistant { .. });
        let rounds = self.entries.iter().enumerate().filter(|(_, entry)| is_round(entry));
        let rounds: Vec<usize> = rounds.map(|(at, _)| at).collect();
        let end = rounds.len().checked_sub(keep).and_then(|first| rounds.get(first));
        let end = end.copied().unwrap_or(0);
        self.entries.get_mut(..end).unwrap_or_default()
    }

    /// What looks like paths in the arguments of its calls.
    pub(crate) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        let calls = self.entries.iter().filter_map(|entry| match &entry.message {
            Message::Assistant { tool_calls, .. } => Some(tool_calls),
            _ => None,
        });
        calls.flatten().flat_map(|call| crate::pairs::paths(&call.arguments_json))
    }
}

/// Does it to all of them; true when any was changed.
fn any<'a, T: 'a>(
    items: impl IntoIterator<Item = &'a mut T>,
    mut change: impl FnMut(&mut T) -> bool,
) -> bool {
    items.into_iter().fold(false, |changed, item| change(item) | changed)
}

fn output(entry: &Entry) -> Option<&str> {
    match &entry.message {
        Message::Tool { output, .. } => Some(output),
        _ => None,
    }
}

/// Replaces an output with a line that says how to read it.
fn omit_output(entry: &mut Entry) -> bool {
    let replaced = match &entry.message {
        Message::Tool { call_id, name, output } if !is_short(output) => Message::Tool {
            call_id: call_id.clone(),
            name: name.clone(),
            output: format!(
                "[tool result omitted: {} characters; recall_output shows it: call_id {call_id}]",
                output.chars().count()
            ),
        },
        Message::User { text, images }
            if entry.layer == Layer::ToolOutputs && !images.is_empty() =>
        {
            Message::user(format!("{text} [omitted]"))
        }
        _ => return false,
    };
    entry.replace(replaced);
    true
}

fn is_short(output: &str) -> bool {
    output.chars().nth(SHORT_OUTPUT).is_none() || output.starts_with("[tool result omitted: ")
}

fn omit_reasoning(entry: &mut Entry) -> bool {
    let Message::Assistant { reasoning, native, text, tool_calls } = &entry.message else {
        return false;
    };
    if reasoning.is_empty() && native.is_none() {
        return false;
    }
    let (text, tool_calls) = (text.clone(), tool_calls.clone());
    if text.trim().is_empty() && tool_calls.is_empty() {
        // Without its reasoning nothing would be left.
        return false;
    }
    entry.replace(Message::Assistant { reasoning: String::new(), native: None, text, tool_calls });
    true
}

/// Cuts the middle out of long texts and arguments.
fn cut_texts(entry: &mut Entry, most: usize) -> bool {
    let replaced = match &entry.message {
        Message::User { text, images } => match cut_chars(text, most) {
            Some(text) => Message::User { text, images: images.clone() },
            None => return false,
        },
        Message::Assistant { reasoning, text, tool_calls, native: _ } => {
            let cut = cut_chars(text, most);
            let calls: Vec<Option<ToolCall>> = tool_calls.iter().map(cut_arguments).collect();
            if cut.is_none() && calls.iter().all(Option::is_none) {
                return false;
            }
            let calls = calls.into_iter().zip(tool_calls);
            Message::Assistant {
                reasoning: reasoning.clone(),
                text: cut.unwrap_or_else(|| text.clone()),
                tool_calls: calls.map(|(cut, call)| cut.unwrap_or_else(|| call.clone())).collect(),
                // It says the same at full length.
                native: None,
            }
        }
        _ => return false,
    };
    entry.replace(replaced);
    true
}

fn cut_chars(text: &str, most: usize) -> Option<String> {
    let characters = text.chars().count();
    if characters <= most {
        return None;
    }
    let cut = cut_head_tail(text, text.len() / characters.max(1) * most);
    (cut.len() < text.len()).then_some(cut)
}

fn cut_arguments(call: &ToolCall) -> Option<ToolCall> {
    if call.arguments_json.len() <= LONG_ARGUMENTS {
        return None;
    }
    let mut arguments: Value = serde_json::from_str(&call.arguments_json).ok()?;
    cut_strings(&mut arguments);
    let arguments_json = arguments.to_string();
    let is_shorter = arguments_json.len() < call.arguments_json.len();
    is_shorter.then(|| ToolCall { arguments_json, ..call.clone() })
}

fn cut_strings(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONG_ARGUMENT => {
            let cut = cut_head_tail(text, LONG_ARGUMENT);
            if cut.len() < text.len() {
                *text = cut;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(cut_strings),
        Value::Object(fields) => fields.values_mut().for_each(cut_strings),
        _ => {}
    }
}

/// Cuts the middle out of an output.
fn cut_output(entry: &mut Entry, most: usize) -> bool {
    let Message::Tool { call_id, name, output } = &entry.message else { return false };
    if output.len() <= most {
        return false;
    }
    let cut = cut_head_tail(output, most);
    if cut.len() >= output.len() {
        return false;
    }
    let (call_id, name) = (call_id.clone(), name.clone());
    entry.replace(Message::Tool { call_id, name, output: cut });
    true
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
