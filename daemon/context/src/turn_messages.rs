//! The messages of one turn.

use std::sync::{Arc, OnceLock};

use agentd_domain::{
    CallId, Completeness, EventBody, MemoriesTold, MemoryId, Seq, SeqRange, TimestampMs,
    ToldMemory, ToolImage, TurnId, TurnsRecalled,
};
use agentd_llm::{Image, Message};

use crate::Layer;
use crate::count::Counter;

/// What a model reads in place of the rest of a text that was broken off.
const BROKEN_OFF: &str = "\n\n[this answer was interrupted here]";

/// What a model reads beside pictures that its calls gave.
const IMAGES: &str = "[images that the calls above gave, in their order]";

/// What the model reads about a call with effects that was cut off.
pub const OUTCOME_UNKNOWN: &str = "[interrupted: the call had started and its outcome is unknown; it may have had effects. It \
     was not run again. Check the state before repeating it.]";

/// A message, with what it is for.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) layer: Layer,
    pub(crate) message: Message,
    /// Counted when it is asked for first.
    tokens: OnceLock<u64>,
}

impl Entry {
    fn new(layer: Layer, message: Message) -> Self {
        Self { layer, message, tokens: OnceLock::new() }
    }

    pub(crate) fn tokens(&self, counter: Counter) -> u64 {
        *self.tokens.get_or_init(|| counter.message(&self.message))
    }

    /// Puts another message in its place.
    pub(crate) fn replace(&mut self, message: Message) {
        self.message = message;
        self.tokens = OnceLock::new();
    }
}

/// A call, its tool's name, and the result if it is there.
type Call = (CallId, String, Option<String>);

#[derive(Debug, Clone)]
pub(crate) struct TurnMessages {
    pub(crate) turn_id: TurnId,
    /// First event that belongs to the turn, its user messages included.
    pub(crate) first_seq: Seq,
    /// Last event of it that was folded in.
    pub(crate) last_seq: Seq,
    /// When that was.
    pub(crate) last_at: Option<TimestampMs>,
    pub(crate) entries: Vec<Entry>,
    /// Calls of the newest assistant message and the results that are there.
    calls: Vec<Call>,
    /// Pictures that their results hold.
    images: Vec<Image>,
    /// The memories that it was told, and those that were taken back.
    pub(crate) told: Vec<ToldMemory>,
    pub(crate) withdrawn: Vec<MemoryId>,
    /// Folded turns that it was told again.
    pub(crate) recalled: Vec<SeqRange>,
    /// Text that broke off; it counts only when nothing replaces it.
    broken_off: Option<(String, String)>,
}

impl TurnMessages {
    pub(crate) fn new(turn_id: TurnId, first_seq: Seq, last_seq: Seq) -> Self {
        Self {
            turn_id,
            first_seq,
            last_seq,
            last_at: None,
            entries: Vec::new(),
            calls: Vec::new(),
            images: Vec::new(),
            told: Vec::new(),
            withdrawn: Vec::new(),
            recalled: Vec::new(),
            broken_off: None,
        }
    }

    /// Where it is in the log.
    pub(crate) fn range(&self) -> SeqRange {
        SeqRange { first: self.first_seq, last: self.last_seq.max(self.first_seq) }
    }

    /// Folds in one of its steps.
    pub(crate) fn apply(&mut self, body: &EventBody) {
        match body {
            EventBody::AssistantMessage(message)
                if message.completeness == Completeness::Incomplete =>
            {
                self.broken_off = Some((message.reasoning.clone(), message.text.clone()));
            }
            EventBody::AssistantMessage(message) => {
                self.close_calls();
                self.broken_off = None;
                // What was cut may hold a block that is not whole.
                let is_whole = message.completeness == Completeness::Complete;
                let native = message.native.clone().filter(|_| is_whole);
                let assistant = Message::Assistant {
                    native: native.map(Arc::new),
                    reasoning: message.reasoning.clone(),
                    text: message.text.clone(),
                    tool_calls: message.tool_calls.clone(),
                };
                self.push(Layer::Assistant, assistant);
                self.calls = message
                    .tool_calls
                    .iter()
                    .map(|call| (call.call_id.clone(), call.name.clone(), None))
                    .collect();
            }
            EventBody::ToolCallFinished(finished) => {
                let open = self
                    .calls
                    .iter_mut()
                    .find(|(call_id, _, output)| *call_id == finished.call_id && output.is_none());
                if let Some((_, _, output)) = open {
                    *output = Some(finished.output.clone());
                    self.images.extend(finished.image.as_deref().map(image));
                }
                if self.calls.iter().all(|(_, _, output)| output.is_some()) {
                    self.close_calls();
                }
            }
            EventBody::MemoriesTold(MemoriesTold { told, withdrawn, known: _, text }) => {
                self.push_user(Layer::Memories, text);
                self.told.extend(told);
                self.withdrawn.extend(withdrawn);
            }
            EventBody::TurnsRecalled(TurnsRecalled { turns, text }) => {
                self.push_user(Layer::Recalled, text);
                self.recalled.extend(turns);
            }
            EventBody::AttemptRestarted(_) | EventBody::TurnResumed(_) => self.broken_off = None,
            EventBody::TurnCompleted(_)
            | EventBody::TurnFailed(_)
            | EventBody::TurnInterrupted(_) => self.close(),
            _ => {}
        }
    }

    fn push(&mut self, layer: Layer, message: Message) {
        self.entries.push(Entry::new(layer, message));
    }

    /// Adds a text in the user's role. Providers refuse blank ones, which a log from elsewhere may hold.
    pub(crate) fn push_user(&mut self, layer: Layer, text: &str) {
        if layer == Layer::User {
            self.close_calls();
        }
        if !text.trim().is_empty() {
            self.push(layer, Message::user(text));
        }
    }

    /// What users said in their own words.
    pub(crate) fn said(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match &entry.message {
            Message::User { text, .. } if entry.layer == Layer::User => Some(text.as_str()),
            _ => None,
        })
    }

    /// What the model said last.
    pub(crate) fn answered(&self) -> &str {
        let texts = self.entries.iter().rev().filter_map(|entry| match &entry.message {
            Message::Assistant { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        });
        texts.into_iter().next().unwrap_or_default()
    }

    /// Gives every call its one result.
    fn close_calls(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            self.push(Layer::ToolOutputs, result_message(&call));
        }
        // Results are text in most APIs, so pictures follow all of them.
        let images = std::mem::take(&mut self.images);
        if !images.is_empty() {
            self.push(Layer::ToolOutputs, Message::User { text: IMAGES.to_owned(), images });
        }
    }

    fn close(&mut self) {
        self.close_calls();
        if let Some((_reasoning, text)) = self.broken_off.take()
            && !text.trim().is_empty()
        {
            let broken_off = Message::Assistant {
                native: None,
                reasoning: String::new(),
                text: text + BROKEN_OFF,
                tool_calls: Vec::new(),
            };
            self.push(Layer::Assistant, broken_off);
        }
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = Message> + '_ {
        let entries = self.entries.iter().map(|entry| entry.message.clone());
        entries.chain(self.calls.iter().map(result_message))
    }

    pub(crate) fn tokens(&self, counter: Counter) -> u64 {
        let entries: u64 = self.entries.iter().map(|entry| entry.tokens(counter)).sum();
        // Results that came while others are missing.
        let open = self.calls.iter().filter_map(|(_, _, output)| output.as_deref());
        entries + open.map(|output| counter.text(output)).sum::<u64>()
    }

    pub(crate) fn layers(&self, counter: Counter) -> impl Iterator<Item = (Layer, u64)> + '_ {
        self.entries.iter().map(move |entry| (entry.layer, entry.tokens(counter)))
    }

    pub(crate) fn forget_counts(&mut self) {
        for entry in &mut self.entries {
            entry.tokens = OnceLock::new();
        }
    }

    pub(crate) fn image_bytes(&self) -> usize {
        let images = self.entries.iter().filter_map(|entry| match &entry.message {
            Message::User { images, .. } => Some(images),
            _ => None,
        });
        images.flatten().map(|image| image.data_base64.len()).sum()
    }
}

fn image(ToolImage { media_type, data_base64 }: &ToolImage) -> Image {
    Image { media_type: media_type.clone(), data_base64: Arc::from(data_base64.as_str()) }
}

fn result_message((call_id, name, output): &Call) -> Message {
    Message::Tool {
        call_id: call_id.clone(),
        name: name.clone(),
        output: output.clone().unwrap_or_else(|| OUTCOME_UNKNOWN.to_owned()),
    }
}
