//! The conversation as a model sees it: a fold over the log that is well-formed at every point.
//!
//! Whatever the log holds - interrupted turns, calls without results, text that broke off - the
//! messages that come out pair every call with exactly one result, in order, and hold no empty text.
//! Pairing goes by position in the turn, never by an id seen somewhere.

use std::collections::HashMap;
use std::sync::Arc;

use agentd_domain::{
    CallId, Completeness, Event, EventBody, ItemId, MemoriesTold, MemoryId, Seq, ToldMemory,
    ToolImage, TurnId, cut_head_tail,
};
use agentd_llm::{Image, Message, estimate_message_tokens, estimate_tokens};

use crate::session::OUTCOME_UNKNOWN;

/// What a model reads in place of the rest of a text that was broken off.
const BROKEN_OFF: &str = "\n\n[this answer was interrupted here]";

/// What a model reads beside pictures that its calls gave.
const IMAGES: &str = "[images that the calls above gave, in their order]";

/// What is left of a tool's output at least, in bytes.
const MIN_OUTPUT_BYTES: usize = 1024;

/// Turns, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    turns: Vec<TurnMessages>,
    /// Accepted messages that no turn has used yet.
    waiting: HashMap<ItemId, (Seq, Arc<str>)>,
}

/// A conversation as the log had it at a position, kept from one turn to the next.
#[derive(Debug)]
pub(crate) struct KeptConversation {
    pub(crate) conversation: Conversation,
    /// Last event that was folded in.
    pub(crate) last: Seq,
}

impl KeptConversation {
    /// Estimated tokens above which a conversation is read anew rather than kept in memory: about a
    /// megabyte of text.
    const MAX_TOKENS: u64 = 250_000;
    /// The same for its pictures, in bytes of base 64: their tokens do not tell.
    const MAX_IMAGE_BYTES: usize = 8 * 1024 * 1024;

    /// True when it may stay in memory.
    pub(crate) fn is_small(&self) -> bool {
        self.conversation.tokens() <= Self::MAX_TOKENS
            && self.conversation.image_bytes() <= Self::MAX_IMAGE_BYTES
    }
}

#[derive(Debug, Clone)]
struct TurnMessages {
    turn_id: TurnId,
    /// First event that belongs to the turn, its user messages included.
    first_seq: Seq,
    messages: Vec<Message>,
    tokens: u64,
    /// Calls of the newest assistant message and the results that are there.
    calls: Vec<(CallId, String, Option<String>)>,
    /// Pictures that their results hold.
    images: Vec<Image>,
    /// Where in `messages` the users' own are; the others in their role are ours.
    said: Vec<usize>,
    /// The memories that it was told, and those that were taken back.
    told: Vec<ToldMemory>,
    withdrawn: Vec<MemoryId>,
    /// Text that broke off; it counts only when nothing replaces it.
    broken_off: Option<(String, String)>,
}

impl Conversation {
    /// Folds in one event of the log.
    pub(crate) fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::MessageAccepted(accepted) => {
                let text = Arc::from(accepted.text.as_str());
                self.waiting.insert(accepted.item_id, (event.seq, text));
            }
            EventBody::MessageWithdrawn(withdrawn) => {
                self.waiting.remove(&withdrawn.item_id);
            }
            EventBody::TurnStarted(started) => {
                if let Some(turn_id) = event.turn_id {
                    self.start_turn(turn_id, event.seq, &started.item_ids);
                    if !started.reminder.is_empty() {
                        self.remind(turn_id, &started.reminder);
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
                        self.push_user(&text);
                    }
                }
            }
            body => {
                if let Some(turn_id) = event.turn_id {
                    self.apply_step(turn_id, body);
                }
            }
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
        let mut turn = TurnMessages {
            turn_id,
            first_seq,
            messages: Vec::new(),
            tokens: 0,
            calls: Vec::new(),
            images: Vec::new(),
            said: Vec::new(),
            told: Vec::new(),
            withdrawn: Vec::new(),
            broken_off: None,
        };
        for (_seq, text) in inputs {
            turn.push_said(&text);
        }
        self.turns.push(turn);
    }

    /// Adds what the model is reminded of to a turn that has begun.
    fn remind(&mut self, turn_id: TurnId, reminder: &str) {
        if let Some(turn) = self.turns.last_mut().filter(|turn| turn.turn_id == turn_id) {
            turn.push_user(reminder);
        }
    }

    /// Adds a user message to the running turn.
    pub(crate) fn push_user(&mut self, text: &str) {
        if let Some(turn) = self.turns.last_mut() {
            turn.close_calls();
            turn.push_said(text);
        }
    }

    /// What users have said in the newest turn.
    pub(crate) fn said_last(&self) -> String {
        let turn = self.turns.last();
        turn.map(|turn| turn.said().collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }

    /// What users have said, as far as it is here.
    pub(crate) fn said(&self) -> Vec<&str> {
        self.turns.iter().flat_map(TurnMessages::said).collect()
    }

    /// The memories that the model knows, each in the revision that it was told last.
    pub(crate) fn told_memories(&self) -> HashMap<MemoryId, u32> {
        let mut told = HashMap::new();
        for turn in &self.turns {
            for id in &turn.withdrawn {
                told.remove(id);
            }
            told.extend(turn.told.iter().map(|told| (told.id, told.revision)));
        }
        told
    }

    /// Folds in one step of a turn. Steps of turns that are not here are passed over.
    pub(crate) fn apply_step(&mut self, turn_id: TurnId, body: &EventBody) {
        let Some(turn) = self.turns.last_mut().filter(|turn| turn.turn_id == turn_id) else {
            return;
        };
        match body {
            EventBody::AssistantMessage(message)
                if message.completeness == Completeness::Incomplete =>
            {
                turn.broken_off = Some((message.reasoning.clone(), message.text.clone()));
            }
            EventBody::AssistantMessage(message) => {
                turn.close_calls();
                turn.broken_off = None;
                // What was cut may hold a block that is not whole.
                let is_whole = message.completeness == Completeness::Complete;
                let native = message.native.clone().filter(|_| is_whole);
                turn.push(Message::Assistant {
                    native: native.map(Arc::new),
                    reasoning: message.reasoning.clone(),
                    text: message.text.clone(),
                    tool_calls: message.tool_calls.clone(),
                });
                turn.calls = message
                    .tool_calls
                    .iter()
                    .map(|call| (call.call_id.clone(), call.name.clone(), None))
                    .collect();
            }
            EventBody::ToolCallFinished(finished) => {
                let open = turn
                    .calls
                    .iter_mut()
                    .find(|(call_id, _, output)| *call_id == finished.call_id && output.is_none());
                if let Some((_, _, output)) = open {
                    *output = Some(finished.output.clone());
                    turn.images.extend(finished.image.as_deref().map(image));
                }
                if turn.calls.iter().all(|(_, _, output)| output.is_some()) {
                    turn.close_calls();
                }
            }
            EventBody::MemoriesTold(MemoriesTold { told, withdrawn, known: _, text }) => {
                turn.push_user(text);
                turn.told.extend(told);
                turn.withdrawn.extend(withdrawn);
            }
            EventBody::AttemptRestarted(_) | EventBody::TurnResumed(_) => turn.broken_off = None,
            EventBody::TurnCompleted(_)
            | EventBody::TurnFailed(_)
            | EventBody::TurnInterrupted(_) => turn.close(),
            _ => {}
        }
    }

    /// The messages for a request. The caller puts the system message in front.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message> + '_ {
        self.turns.iter().flat_map(|turn| {
            turn.messages.iter().cloned().chain(turn.calls.iter().map(result_message))
        })
    }

    fn image_bytes(&self) -> usize {
        let messages = self.turns.iter().flat_map(|turn| &turn.messages);
        let images = messages.filter_map(|message| match message {
            Message::User { images, .. } => Some(images),
            _ => None,
        });
        images.flatten().map(|image| image.data_base64.len()).sum()
    }

    /// Estimated tokens of all messages.
    pub(crate) fn tokens(&self) -> u64 {
        self.turns.iter().map(|turn| turn.tokens).sum()
    }

    /// Leaves out the oldest turns when the conversation is larger than `budget` tokens, down to
    /// half of it, so that the next turns need not move the cut again and the prefix stays the same.
    /// The newest turn always stays. Returns the first event kept and the tokens left out.
    pub(crate) fn trim(&mut self, budget: u64) -> Option<(Seq, u64)> {
        if self.tokens() <= budget {
            return None;
        }
        let mut kept = self.tokens();
        let mut dropped = 0;
        let mut drop_turns = 0;
        for turn in self.turns.iter().take(self.turns.len().saturating_sub(1)) {
            if kept <= budget / 2 {
                break;
            }
            kept -= turn.tokens;
            dropped += turn.tokens;
            drop_turns += 1;
        }
        if drop_turns == 0 {
            return None;
        }
        self.turns.drain(..drop_turns);
        // A message may be older than the turns that ran before its own.
        let waiting = self.waiting.values().map(|(seq, _)| *seq);
        let first_kept = self.turns.iter().map(|turn| turn.first_seq).chain(waiting).min()?;
        Some((first_kept, dropped))
    }

    /// Cuts the middle out of what tools put out in the newest turn, the longest outputs first, until
    /// the conversation has `budget` tokens or nothing more can go. The log keeps all of it. False when
    /// there was nothing to cut.
    pub(crate) fn shorten_outputs(&mut self, budget: u64) -> bool {
        let all = self.tokens();
        let Some(turn) = self.turns.last_mut().filter(|_| all > budget) else { return false };
        let lengths = turn.messages.iter().map(|message| output_of(message).map_or(0, str::len));
        let mut most_bytes = lengths.max().unwrap_or(0);
        let mut saved = 0;
        while all - saved > budget && most_bytes > MIN_OUTPUT_BYTES {
            most_bytes = (most_bytes / 2).max(MIN_OUTPUT_BYTES);
            let outputs = turn.messages.iter().filter_map(output_of);
            saved = outputs.filter_map(|output| shorter(output, most_bytes)).map(|it| it.1).sum();
        }
        for message in &mut turn.messages {
            if let Message::Tool { output, .. } = message
                && let Some((cut, _saved)) = shorter(output, most_bytes)
            {
                *output = cut;
            }
        }
        turn.tokens -= saved;
        saved > 0
    }
}

impl TurnMessages {
    fn push(&mut self, message: Message) {
        self.tokens += estimate_message_tokens(&message);
        self.messages.push(message);
    }

    /// Adds what a user said. Providers refuse blank texts, which a log from elsewhere may hold.
    fn push_user(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.push(Message::user(text));
        }
    }

    /// The same for what a user said in their own words.
    fn push_said(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.said.push(self.messages.len());
            self.push_user(text);
        }
    }

    fn said(&self) -> impl Iterator<Item = &str> {
        self.said.iter().filter_map(|at| match self.messages.get(*at) {
            Some(Message::User { text, .. }) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Gives every call its one result.
    fn close_calls(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            self.push(result_message(&call));
        }
        // Results are text in most APIs, so pictures follow all of them.
        let images = std::mem::take(&mut self.images);
        if !images.is_empty() {
            self.push(Message::User { text: IMAGES.to_owned(), images });
        }
    }

    fn close(&mut self) {
        self.close_calls();
        if let Some((_reasoning, text)) = self.broken_off.take()
            && !text.trim().is_empty()
        {
            self.push(Message::Assistant {
                native: None,
                reasoning: String::new(),
                text: text + BROKEN_OFF,
                tool_calls: Vec::new(),
            });
        }
    }
}

fn image(ToolImage { media_type, data_base64 }: &ToolImage) -> Image {
    Image { media_type: media_type.clone(), data_base64: Arc::from(data_base64.as_str()) }
}

/// Head and tail of an output, and the tokens that this saves. None when it saves nothing.
fn shorter(output: &str, most_bytes: usize) -> Option<(String, u64)> {
    if output.len() <= most_bytes {
        return None;
    }
    let cut = cut_head_tail(output, most_bytes);
    let saved = estimate_tokens(output).saturating_sub(estimate_tokens(&cut));
    (saved > 0).then_some((cut, saved))
}

fn output_of(message: &Message) -> Option<&str> {
    match message {
        Message::Tool { output, .. } => Some(output),
        _ => None,
    }
}

fn result_message((call_id, name, output): &(CallId, String, Option<String>)) -> Message {
    Message::Tool {
        call_id: call_id.clone(),
        name: name.clone(),
        output: output.clone().unwrap_or_else(|| OUTCOME_UNKNOWN.to_owned()),
    }
}

#[cfg(test)]
mod tests;
