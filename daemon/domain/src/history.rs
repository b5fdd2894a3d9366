//! What was said in sessions, as it is searched.

use crate::{Seq, SessionId, TimestampMs};

/// Who has said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// A person or a script.
    User,
    /// The model.
    Assistant,
}

/// Which messages are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// What is looked for.
    pub question: String,
    /// In this session only; none: in all.
    pub session: Option<SessionId>,
    /// Said then or later.
    pub since: Option<TimestampMs>,
    /// Said by these only.
    pub by: Option<Speaker>,
    /// Most messages.
    pub most: usize,
    /// Without what belongs to the newest turn of this session: it asks.
    pub without_turn_of: Option<SessionId>,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryHit {
    /// The session in which it was said.
    pub session_id: SessionId,
    /// Its title; may be empty.
    pub title: String,
    /// Where in the log it is.
    pub seq: Seq,
    /// When it was said.
    pub at: TimestampMs,
    /// By whom.
    pub by: Speaker,
    /// The name of a user's terminal; empty for the model.
    pub name: String,
    /// The part of it that fits, in one line.
    pub snippet: String,
    /// How well it fits; comparable within one answer only.
    pub score: f32,
}

/// What was searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HistoryExtent {
    /// Sessions that there are.
    pub sessions: usize,
    /// Those that are still to be read: the answer is not the whole.
    pub sessions_unread: usize,
    /// Those of which something could not be read.
    pub sessions_damaged: usize,
    /// Messages that were searched.
    pub messages: usize,
    /// Older messages that were not, because there are too many.
    pub messages_left_out: u64,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryAnswer {
    /// The best first.
    pub hits: Vec<HistoryHit>,
    /// There are others that fit less.
    pub more: bool,
    /// Where it was looked for.
    pub extent: HistoryExtent,
}
