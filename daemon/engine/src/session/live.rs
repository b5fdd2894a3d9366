//! What is not finished: the message that the model is writing, and what running calls show.

use agentd_domain::{CallId, ItemId};
use agentd_store::PartialMessage;

use super::subscriber::{Delta, DeltaSource};

/// Which text of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextChannel {
    /// The model's reasoning.
    Reasoning,
    /// The answer.
    Text,
}

/// What running calls have shown. It is for people and kept nowhere else: the result says what
/// came of the call.
#[derive(Debug, Default)]
pub(crate) struct LiveOutputs(Vec<(CallId, String)>);

impl LiveOutputs {
    /// Adds output and says where it belongs.
    pub(crate) fn extend(&mut self, call_id: CallId, text: String) -> Delta {
        let at = self.0.iter().position(|(shown, _)| *shown == call_id).unwrap_or_else(|| {
            self.0.push((call_id.clone(), String::new()));
            self.0.len() - 1
        });
        let mut offset = 0;
        if let Some((_, whole)) = self.0.get_mut(at) {
            offset = whole.len();
            whole.push_str(&text);
        }
        Delta { source: DeltaSource::Output(call_id), offset, text }
    }

    /// Forgets the output of a call that has its result.
    pub(crate) fn close(&mut self, call_id: &CallId) {
        self.0.retain(|(shown, _)| shown != call_id);
    }

    /// Forgets all of it.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What each call has shown so far.
    pub(crate) fn all(&self) -> &[(CallId, String)] {
        &self.0
    }
}

/// Text that is not in the log yet. Late terminals get it from here.
#[derive(Debug, Clone)]
pub(crate) struct LiveItem {
    pub(crate) item_id: ItemId,
    pub(crate) reasoning: String,
    pub(crate) text: String,
}

impl LiveItem {
    pub(crate) fn new(item_id: ItemId) -> Self {
        Self { item_id, reasoning: String::new(), text: String::new() }
    }

    /// Adds text and says where it belongs.
    pub(crate) fn extend(&mut self, channel: TextChannel, text: String) -> Delta {
        let (whole, source) = match channel {
            TextChannel::Reasoning => (&mut self.reasoning, DeltaSource::Reasoning(self.item_id)),
            TextChannel::Text => (&mut self.text, DeltaSource::Text(self.item_id)),
        };
        let offset = whole.len();
        whole.push_str(&text);
        Delta { source, offset, text }
    }

    /// The text so far, as the store keeps it against a crash.
    pub(crate) fn to_partial(&self) -> PartialMessage {
        PartialMessage {
            item_id: self.item_id,
            reasoning: self.reasoning.clone(),
            text: self.text.clone(),
        }
    }
}
