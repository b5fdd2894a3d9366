//! The message that the model is writing now.

use agentd_domain::ItemId;
use agentd_store::PartialMessage;

use super::subscriber::{Delta, DeltaChannel};

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
    pub(crate) fn extend(&mut self, channel: DeltaChannel, text: String) -> Delta {
        let whole = match channel {
            DeltaChannel::Reasoning => &mut self.reasoning,
            DeltaChannel::Text => &mut self.text,
        };
        let offset = whole.len();
        whole.push_str(&text);
        Delta { item_id: self.item_id, channel, offset, text }
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
