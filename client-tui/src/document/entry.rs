//! Entries of a transcript by number and by key: items in the order of the log, then what is written now.

use agentd_shared::transcript::{AssistantItem, Item, TextChannel};
use agentd_shared::{Change, Transcript};

/// What an entry is known by, whatever comes before or after it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EntryKey {
    /// A message of a user, by its ULID.
    User(String),
    /// A message of the model, by its ULID.
    Assistant(String),
    /// A message of the model that is not known, by the `seq` of what is known of it.
    Orphan(u64),
    /// A turn, by its ULID.
    Turn(String),
    /// A question, by its ULID.
    Question(String),
    /// A note, by its `seq`.
    Note(u64),
}

/// What can be opened, folded, copied or jumped to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// The reasoning of a message.
    Reasoning(String),
    /// A tool call.
    Call(String),
    /// The whole entry.
    Entry(EntryKey),
}

/// An entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry<'t> {
    /// In the log.
    Item(&'t Item),
    /// Being written.
    Live(&'t AssistantItem),
}

impl Entry<'_> {
    pub(super) fn key(&self) -> EntryKey {
        match *self {
            Self::Live(message) | Self::Item(Item::Assistant(message)) => assistant_key(message),
            Self::Item(Item::User(message)) => EntryKey::User(message.item_id.clone()),
            Self::Item(Item::Turn(turn)) => EntryKey::Turn(turn.turn_id.clone()),
            Self::Item(Item::Question(question)) => {
                EntryKey::Question(question.question_id.clone())
            }
            Self::Item(Item::Note(note)) => EntryKey::Note(note.seq),
        }
    }
}

impl Entry<'_> {
    /// Whether this is the entry of a key; makes no key.
    pub(super) fn is(&self, key: &EntryKey) -> bool {
        match (*self, key) {
            (Self::Live(message) | Self::Item(Item::Assistant(message)), key) => match key {
                EntryKey::Assistant(item_id) => message.item_id == *item_id,
                EntryKey::Orphan(seq) => message.item_id.is_empty() && message.seq == *seq,
                _ => false,
            },
            (Self::Item(Item::User(message)), EntryKey::User(item_id)) => {
                message.item_id == *item_id
            }
            (Self::Item(Item::Turn(turn)), EntryKey::Turn(turn_id)) => turn.turn_id == *turn_id,
            (Self::Item(Item::Question(question)), EntryKey::Question(question_id)) => {
                question.question_id == *question_id
            }
            (Self::Item(Item::Note(note)), EntryKey::Note(seq)) => note.seq == *seq,
            _ => false,
        }
    }
}

fn assistant_key(message: &AssistantItem) -> EntryKey {
    if message.item_id.is_empty() {
        EntryKey::Orphan(message.seq)
    } else {
        EntryKey::Assistant(message.item_id.clone())
    }
}

/// How many entries there are.
pub(super) fn count(transcript: &Transcript) -> usize {
    transcript.items().len() + transcript.live().len()
}

/// The entry with this number.
pub(super) fn entry_at(transcript: &Transcript, index: usize) -> Option<Entry<'_>> {
    let items = transcript.items();
    match items.get(index) {
        Some(item) => Some(Entry::Item(item)),
        None => transcript.live().get(index - items.len()).map(Entry::Live),
    }
}

/// The number of an entry, looked for near where it was last.
pub(super) fn index_of(transcript: &Transcript, key: &EntryKey, near: usize) -> Option<usize> {
    let is_it = |index: usize| entry_at(transcript, index).is_some_and(|entry| entry.is(key));
    let count = count(transcript);
    let near = near.min(count.saturating_sub(1));
    (0..count).find_map(|away| {
        let below = near.checked_sub(away).filter(|index| is_it(*index));
        below.or_else(|| Some(near + away).filter(|index| *index < count && is_it(*index)))
    })
}

/// The entry that a target lies in.
pub(super) fn holder(transcript: &Transcript, target: &Target) -> Option<EntryKey> {
    match target {
        Target::Entry(key) => Some(key.clone()),
        Target::Reasoning(item_id) => Some(EntryKey::Assistant(item_id.clone())),
        Target::Call(call_id) => call_holder(transcript, call_id),
    }
}

fn call_holder(transcript: &Transcript, call_id: &str) -> Option<EntryKey> {
    transcript.items().iter().rev().find_map(|item| match item {
        Item::Assistant(message) => {
            let has = message.tool_calls.iter().any(|call| call.call_id == call_id);
            has.then(|| assistant_key(message))
        }
        _ => None,
    })
}

/// What a change does to entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// One of its texts is longer.
    Grew,
    /// It looks different.
    Changed,
    /// It looks different, and may stand elsewhere.
    Moved,
}

/// Entries that a change makes look different.
pub(super) fn touched(transcript: &Transcript, change: &Change) -> Vec<(EntryKey, Touch)> {
    let assistant = |item_id: &String| EntryKey::Assistant(item_id.clone());
    let changed = |key: EntryKey| (key, Touch::Changed);
    match change {
        // A call that waits for an answer is drawn anew in every frame.
        Change::Nothing
        | Change::Session
        | Change::Participants
        | Change::Note
        | Change::Gap { .. }
        | Change::Approval { .. } => Vec::new(),
        // A turn's foot tells what its requests cost.
        Change::Usage => transcript
            .last_turn()
            .map(|turn| changed(EntryKey::Turn(turn.turn_id.clone())))
            .into_iter()
            .collect(),
        Change::MessageAdded { item_id } => vec![changed(EntryKey::User(item_id.clone()))],
        Change::MessagesChanged { item_ids } => {
            item_ids.iter().map(|id| (EntryKey::User(id.clone()), Touch::Moved)).collect()
        }
        Change::LiveText { item_id, channel: TextChannel::ToolOutput, .. } => {
            call_holder(transcript, item_id).map(|key| (key, Touch::Grew)).into_iter().collect()
        }
        Change::LiveText { item_id, .. } => vec![(assistant(item_id), Touch::Grew)],
        Change::AssistantFinal { item_id } | Change::Discarded { item_id } => {
            vec![changed(assistant(item_id))]
        }
        Change::ToolCall { call_id } => {
            call_holder(transcript, call_id).map(changed).into_iter().collect()
        }
        // Its beginning delivers messages.
        Change::Turn { turn_id } => {
            let messages = transcript.turn(turn_id).into_iter().flat_map(|turn| &turn.item_ids);
            let messages = messages.map(|id| (EntryKey::User(id.clone()), Touch::Moved));
            messages.chain([(EntryKey::Turn(turn_id.clone()), Touch::Moved)]).collect()
        }
        Change::Question { question_id } => vec![changed(EntryKey::Question(question_id.clone()))],
    }
}
