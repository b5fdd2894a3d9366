//! The conversation as a model sees it: a fold over the log that is well-formed at every point.
//!
//! Whatever the log holds - interrupted turns, calls without results, text that broke off - the
//! messages that come out pair every call with exactly one result, in order, and hold no empty text.
//! Pairing goes by position in the turn, never by an id seen somewhere. What was trimmed and folded is an
//! event, too, so the same log makes the same messages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use agentd_domain::{
    ContextCompacted, Event, EventBody, ItemId, MemoryId, PinsChanged, Seq, SeqRange, SummaryLine,
    SummarySection, TimestampMs, TurnId,
};
use agentd_llm::Message;

use crate::Layer;
use crate::count::Counter;
use crate::pairs::Pairs;
use crate::summary::Summary;
use crate::turn_messages::TurnMessages;

/// A summary, folded turns, and turns that are told whole, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    pub(crate) counter: Counter,
    pub(crate) summary: Option<Summary>,
    /// Folded turns that may be recalled.
    pub(crate) pairs: Pairs,
    pub(crate) turns: Vec<TurnMessages>,
    /// Accepted messages that no turn has used yet.
    waiting: HashMap<ItemId, (Seq, Arc<str>)>,
    /// What users pinned, or take back, and the model was not told yet.
    untold_pins: Vec<(Pinned, String)>,
    /// What users pinned; none while the log has not told.
    pins: Option<Vec<String>>,
    /// Memories were told in turns that are folded, and none since.
    told_is_folded: bool,
}

/// What became of something that users pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pinned {
    Added,
    Removed,
}

/// A conversation as the log had it at a position, kept from one turn to the next.
#[derive(Debug)]
pub struct KeptConversation {
    /// The conversation.
    pub conversation: Conversation,
    /// Last event that was folded in.
    pub last: Seq,
}

impl KeptConversation {
    /// Tokens above which a conversation is read anew rather than kept in memory: about a megabyte of
    /// text.
    const MAX_TOKENS: u64 = 250_000;
    /// The same for its pictures, in bytes of base 64: their tokens do not tell.
    const MAX_IMAGE_BYTES: usize = 8 * 1024 * 1024;

    /// True when it may stay in memory.
    pub fn is_small(&self) -> bool {
        self.conversation.tokens() <= Self::MAX_TOKENS
            && self.conversation.image_bytes() <= Self::MAX_IMAGE_BYTES
    }
}

impl Conversation {
    /// Counts tokens so from now on.
    pub fn count_by(&mut self, counter: Counter) {
        if self.counter != counter {
            self.counter = counter;
            self.turns.iter_mut().for_each(TurnMessages::forget_counts);
        }
    }

    /// How tokens are counted.
    pub fn counter(&self) -> Counter {
        self.counter
    }

    /// Folds in one event of the log.
    pub fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::MessageAccepted(accepted) => {
                let text = Arc::from(accepted.text.as_str());
                self.waiting.insert(accepted.item_id, (event.seq, text));
            }
            EventBody::MessageWithdrawn(withdrawn) => {
                self.waiting.remove(&withdrawn.item_id);
            }
            EventBody::MessageExpired(expired) => {
                self.waiting.remove(&expired.item_id);
            }
            EventBody::TurnStarted(started) => {
                if let Some(turn_id) = event.turn_id {
                    self.start_turn(turn_id, event.seq, &started.item_ids);
                    if !started.reminder.is_empty() {
                        self.add(turn_id, Layer::Resumed, &started.reminder);
                    }
                }
            }
            EventBody::MessagesDelivered(delivered) => {
                for item_id in &delivered.item_ids {
                    let waiting = self.waiting.remove(item_id);
                    let turn = self.turns.last_mut();
                    if let Some((seq, text)) = waiting
                        && let Some(turn) = turn.filter(|turn| Some(turn.turn_id) == event.turn_id)
                    {
                        turn.first_seq = turn.first_seq.min(seq);
                        turn.push_user(Layer::User, &text);
                    }
                }
            }
            EventBody::PinsChanged(PinsChanged { pins, by: _ }) => self.pins_changed(pins),
            body => {
                if let Some(turn_id) = event.turn_id {
                    self.apply_step(turn_id, body);
                }
                match body {
                    EventBody::ContextTrimmed(trimmed) => {
                        self.fold_before(trimmed.first_kept_seq, None);
                    }
                    EventBody::ContextCompacted(compacted) => self.compacted(compacted),
                    _ => {}
                }
            }
        }
        let turn = self.turns.last_mut().filter(|turn| Some(turn.turn_id) == event.turn_id);
        if let Some(turn) = turn {
            turn.last_seq = event.seq;
            turn.last_at = Some(event.at);
        }
    }

    fn start_turn(&mut self, turn_id: TurnId, seq: Seq, item_ids: &[ItemId]) {
        let inputs: Vec<_> =
            item_ids.iter().filter_map(|item_id| self.waiting.remove(item_id)).collect();
        if inputs.is_empty() && !item_ids.is_empty() {
            // Its message is before the cut. It was kept out with it, although a message that had
            // waited for longer keeps the turn's steps in what is read.
            return;
        }
        let first_seq =
            inputs.iter().map(|(seq, _)| *seq).min().map_or(seq, |first| first.min(seq));
        let mut turn = TurnMessages::new(turn_id, first_seq, seq);
        for (change, pin) in self.untold_pins.drain(..) {
            let told = match change {
                Pinned::Added => "[pinned by the user: keep to this]",
                Pinned::Removed => "[no longer pinned by the user]",
            };
            turn.push_user(Layer::Resumed, &format!("{told} {pin}"));
        }
        for (_seq, text) in inputs {
            turn.push_user(Layer::User, &text);
        }
        self.turns.push(turn);
    }

    fn pins_changed(&mut self, pins: &[String]) {
        let Some(before) = self.pins.replace(pins.to_vec()) else {
            // What was pinned before is not known here; a new one is the last.
            self.untold_pins.extend(pins.last().map(|pin| (Pinned::Added, pin.clone())));
            return;
        };
        let added = pins.iter().filter(|pin| !before.contains(pin));
        let removed = before.iter().filter(|pin| !pins.contains(pin));
        let changes = added.map(|pin| (Pinned::Added, pin.clone()));
        let changes = changes.chain(removed.map(|pin| (Pinned::Removed, pin.clone())));
        for (change, pin) in changes {
            // What is taken back before it was told needs no word.
            let before = self.untold_pins.len();
            self.untold_pins.retain(|(_, untold)| *untold != pin);
            if self.untold_pins.len() == before {
                self.untold_pins.push((change, pin));
            }
        }
    }

    /// Adds what the model is told to a turn that runs.
    fn add(&mut self, turn_id: TurnId, layer: Layer, text: &str) {
        if let Some(turn) = self.turns.last_mut().filter(|turn| turn.turn_id == turn_id) {
            turn.push_user(layer, text);
        }
    }

    /// Adds a user's message to the running turn.
    pub fn push_user(&mut self, text: &str) {
        if let Some(turn) = self.turns.last_mut() {
            turn.push_user(Layer::User, text);
        }
    }

    /// Folds in one step of a turn. Steps of turns that are not here are passed over.
    pub fn apply_step(&mut self, turn_id: TurnId, body: &EventBody) {
        if let EventBody::ContextTrimmed(trimmed) = body {
            for step in &trimmed.steps {
                self.trim_step(*step);
            }
            return;
        }
        if let Some(turn) = self.turns.last_mut().filter(|turn| turn.turn_id == turn_id) {
            turn.apply(body);
            self.told_is_folded &= !matches!(body, EventBody::MemoriesTold(_));
        }
    }

    /// Puts a summary in the place of the turns that it stands for.
    pub fn compacted(&mut self, compacted: &ContextCompacted) {
        self.fold_before(compacted.first_kept_seq, Some(compacted.recall_from_seq));
        self.summary = Some(Summary::new(compacted));
        self.pins.get_or_insert_with(|| compacted.pins.clone());
    }

    /// Folds the leading turns that began before an event: they are told no longer, and may be recalled
    /// if they began at `recall_from` or later.
    pub(crate) fn fold_before(&mut self, first_kept: Seq, recall_from: Option<Seq>) {
        // The newest turn is never folded, whatever an old log says.
        let older = self.turns.len().saturating_sub(1);
        let folded = self.turns.iter().take(older);
        let folded = folded.take_while(|turn| turn.first_seq < first_kept).count();
        let folded: Vec<TurnMessages> = self.turns.drain(..folded).collect();
        self.told_is_folded |= folded.iter().any(|turn| !turn.told.is_empty());
        self.pairs.extend(folded.iter());
        if let Some(from) = recall_from {
            self.pairs.forget_before(from);
        }
    }

    /// What users have said in the newest turn.
    pub fn said_last(&self) -> String {
        let turn = self.turns.last();
        turn.map(|turn| turn.said().collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }

    /// What users have said, as far as it is told whole.
    pub fn said(&self) -> Vec<&str> {
        self.turns.iter().flat_map(TurnMessages::said).collect()
    }

    /// The memories that the model knows, each in the revision that it was told last.
    pub fn told_memories(&self) -> HashMap<MemoryId, u32> {
        let mut told = HashMap::new();
        for turn in &self.turns {
            for id in &turn.withdrawn {
                told.remove(id);
            }
            told.extend(turn.told.iter().map(|told| (told.id, told.revision)));
        }
        told
    }

    /// True when memories that the model was told are no longer in the conversation, so that what is chosen
    /// has to be told again.
    pub fn has_forgotten_memories(&self) -> bool {
        self.told_is_folded
    }

    /// Folded turns that stand in the conversation again because they were recalled.
    pub(crate) fn recalled(&self) -> HashSet<SeqRange> {
        self.turns.iter().flat_map(|turn| &turn.recalled).copied().collect()
    }

    /// The messages for a request. The caller puts the system message in front.
    pub fn messages(&self) -> impl Iterator<Item = Message> + '_ {
        let summary = self.summary.iter().map(Summary::message);
        summary.chain(self.turns.iter().flat_map(TurnMessages::messages))
    }

    /// The tokens and messages of each layer that it has.
    pub fn layers(&self) -> Vec<(Layer, u64, u64)> {
        let mut found: std::collections::BTreeMap<Layer, (u64, u64)> = Default::default();
        let mut add = |layer, tokens| {
            let entry = found.entry(layer).or_default();
            entry.0 += tokens;
            entry.1 += 1;
        };
        if self.summary.is_some() {
            add(Layer::Summary, self.summary_tokens());
        }
        for turn in &self.turns {
            turn.layers(self.counter).for_each(|(layer, tokens)| add(layer, tokens));
        }
        found.into_iter().map(|(layer, (tokens, messages))| (layer, tokens, messages)).collect()
    }

    fn image_bytes(&self) -> usize {
        self.turns.iter().map(TurnMessages::image_bytes).sum()
    }

    /// Tokens of all messages, the summary included.
    pub fn tokens(&self) -> u64 {
        let turns: u64 = self.turns.iter().map(|turn| turn.tokens(self.counter)).sum();
        turns + self.summary_tokens()
    }

    /// Tokens of the summary's message.
    pub(crate) fn summary_tokens(&self) -> u64 {
        self.summary.as_ref().map_or(0, |summary| summary.tokens(self.counter))
    }

    /// Turns that are told whole.
    pub fn turns(&self) -> u32 {
        u32::try_from(self.turns.len()).unwrap_or(u32::MAX)
    }

    /// The first event that turns from this one on need, and messages that wait. A message may be older
    /// than the turns that ran before its own.
    pub(crate) fn first_needed(&self, from_turn: usize) -> Option<Seq> {
        let turns = self.turns.iter().skip(from_turn).map(|turn| turn.first_seq);
        turns.chain(self.waiting.values().map(|(seq, _)| *seq)).min()
    }

    /// Turns that began before an event.
    pub fn turns_before(&self, seq: Seq) -> u32 {
        let before = self.turns.iter().filter(|turn| turn.first_seq < seq).count();
        u32::try_from(before).unwrap_or(u32::MAX)
    }

    /// Folds what began before `first_kept` without a summary, and sets what earlier summaries say of it.
    pub fn begin_at(
        &mut self,
        first_kept: Seq,
        recall_from: Seq,
        lines: Vec<SummaryLine>,
        untold_turns: u32,
    ) {
        self.fold_before(first_kept, Some(recall_from));
        let says_something = !lines.is_empty() || untold_turns > 0;
        self.summary = says_something.then(|| Summary::of_lines(lines, untold_turns));
    }

    /// Turns of which the summary tells nothing.
    pub fn untold_turns(&self) -> u32 {
        self.summary.as_ref().map_or(0, |summary| summary.untold_turns)
    }

    /// Tokens that are left when a summary takes the place of turns.
    pub fn tokens_with(&self, compacted: &ContextCompacted) -> u64 {
        let mut after = self.clone();
        after.compacted(compacted);
        after.tokens()
    }

    /// When the turn before the newest ended.
    pub fn rested_since(&self) -> Option<TimestampMs> {
        self.turns.iter().rev().nth(1)?.last_at
    }

    /// True when the summary tells of turns in short, so that a model could write a better one.
    pub fn has_extract(&self) -> bool {
        let lines = self.summary.iter().flat_map(|summary| &summary.lines);
        lines.into_iter().any(|line| line.section == SummarySection::Turns)
    }

    /// The lines of the summary.
    pub fn summary_lines(&self) -> &[SummaryLine] {
        self.summary.as_ref().map_or(&[], |summary| &summary.lines)
    }

    /// Sets what users have pinned, where what was read of the log does not tell.
    pub fn pins_otherwise(&mut self, pins: Vec<String>) {
        self.pins.get_or_insert(pins);
    }

    /// What users pinned.
    pub fn pins(&self) -> &[String] {
        self.pins.as_deref().unwrap_or_default()
    }

    /// The newest turn.
    pub fn newest(&self) -> Option<TurnId> {
        self.turns.last().map(|turn| turn.turn_id)
    }
}
