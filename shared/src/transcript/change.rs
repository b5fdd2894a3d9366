//! What an event changed in a transcript, so that a view redraws only that.

/// What an event changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing: it was known before, or concerns nothing that is shown.
    Nothing,
    /// Title, model, workspace or origin.
    Session,
    /// Who is attached.
    Participants,
    /// A user message is new and queued.
    MessageAdded {
        /// ULID.
        item_id: String,
    },
    /// User messages were withdrawn or delivered.
    MessagesChanged {
        /// ULIDs.
        item_ids: Vec<String>,
    },
    /// A live text grew.
    LiveText {
        /// ULID of the item, or the id of the tool call.
        item_id: String,
        /// Which of its texts.
        channel: TextChannel,
        /// What is new, without anything that was there before.
        added: String,
    },
    /// A piece of a live text is missing; attach again to get it.
    Gap {
        /// ULID of the item, or the id of the tool call.
        item_id: String,
    },
    /// An assistant message is final.
    AssistantFinal {
        /// ULID.
        item_id: String,
    },
    /// Live text is void and gone; a note tells why.
    Discarded {
        /// ULID.
        item_id: String,
    },
    /// A tool call started or ended.
    ToolCall {
        /// Its id.
        call_id: String,
    },
    /// A turn started, stands still, goes on or ended.
    Turn {
        /// ULID.
        turn_id: String,
    },
    /// A question was asked or answered.
    Question {
        /// ULID.
        question_id: String,
    },
    /// A call waits until somebody says whether it may run, or waits no longer.
    Approval {
        /// ULID.
        approval_id: String,
    },
    /// A note was added at the end.
    Note,
    /// Token counts grew.
    Usage,
}

/// A text of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextChannel {
    /// The model's reasoning.
    Reasoning,
    /// The model's answer.
    Text,
    /// Output of a tool.
    ToolOutput,
}
