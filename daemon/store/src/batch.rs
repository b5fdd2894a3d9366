//! What a commit may hold.

use agentd_domain::{
    ClientMessageId, Event, Goal, ItemId, Memory, MemoryChange, MemoryChangeId, MemoryId,
    MemoryUpkeep, PermissionRule, Seq, SessionId, SessionRecord,
};
use serde::{Deserialize, Serialize};

use crate::Snapshot;

/// Writes that become durable together.
#[derive(Debug, Default)]
pub struct Batch {
    /// In order of application.
    pub writes: Vec<Write>,
}

/// One write.
#[derive(Debug)]
pub enum Write {
    /// Continues a log. The first event's `seq` must follow the log's last one, the others each other.
    Append {
        /// The log's session.
        session_id: SessionId,
        /// At least one event.
        events: Vec<Event>,
    },
    /// Sets the index entry and moves the session in the order of lists.
    PutSession(SessionRecord),
    /// Replaces the snapshot.
    PutSnapshot {
        /// Its session.
        session_id: SessionId,
        /// The folded state.
        snapshot: Snapshot,
    },
    /// Replaces the text of the message that is being written.
    PutPartial {
        /// Its session.
        session_id: SessionId,
        /// The text so far.
        partial: PartialMessage,
    },
    /// Removes that text, because the whole message is in the log.
    ClearPartial(SessionId),
    /// Moves a terminal's read cursor; never backwards.
    PutCursor {
        /// The session.
        session_id: SessionId,
        /// The terminal.
        client_id: String,
        /// Newest event that it has shown.
        seq: Seq,
    },
    /// Remembers the answer to a client's message id.
    PutAccepted {
        /// The session.
        session_id: SessionId,
        /// The client's id.
        client_message_id: ClientMessageId,
        /// The answer.
        accepted: AcceptedMessage,
    },
    /// Notes that a turn is under way, so that the next start finds it.
    MarkUnfinished(SessionId),
    /// Takes that note away.
    ClearUnfinished(SessionId),
    /// Adds to a counter that belongs to no session. It begins with zeros and stops at the largest
    /// number.
    AddToCounter {
        /// The counter.
        name: String,
        /// Added position by position; a longer list makes the counter longer.
        by: Vec<u64>,
    },
    /// Adds a rule of a user or a workspace, or replaces the one of the same id.
    PutRule(PermissionRule),
    /// Removes such a rule.
    DeleteRule {
        /// Its id.
        rule_id: String,
    },
    /// Adds a memory, or replaces the one of the same id.
    PutMemory(Box<Memory>),
    /// Removes a memory and its vector.
    DeleteMemory(MemoryId),
    /// Keeps what a model makes of the text of a memory, in place of what was there.
    PutMemoryVector(Box<MemoryVector>),
    /// Adds a change to the journal of memories, or replaces the one of the same id.
    PutMemoryChange(Box<MemoryChange>),
    /// Removes a change from that journal.
    DeleteMemoryChange(MemoryChangeId),
    /// Replaces what is known of the upkeep of memories.
    PutMemoryUpkeep(Box<MemoryUpkeep>),
    /// Adds a goal, or replaces the one of the same id.
    PutGoal(Goal),
    /// Removes a goal.
    DeleteGoal {
        /// Its id.
        goal_id: String,
    },
    /// Removes a session with everything under its id.
    DeleteSession(SessionId),
}

impl Write {
    /// The rule that it puts.
    pub fn rule(&self) -> Option<&PermissionRule> {
        if let Self::PutRule(rule) = self { Some(rule) } else { None }
    }
}

/// What a model makes of the text of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryVector {
    /// The memory.
    pub id: MemoryId,
    /// Vectors of other spaces cannot be compared with it. At most 64 KiB.
    pub space: String,
    /// A hash of the text, which may have changed since.
    pub text: u64,
    /// The direction, in steps of the largest number.
    pub numbers: Vec<i8>,
}

/// Numbers that are only ever added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// The sums, position by position.
    pub values: Vec<u64>,
}

/// The text of an assistant message so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialMessage {
    /// The message.
    pub item_id: ItemId,
    /// Reasoning so far.
    pub reasoning: String,
    /// Text so far.
    pub text: String,
}

/// What was answered to a submitted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedMessage {
    /// The message.
    pub item_id: ItemId,
    /// Its MessageAccepted event.
    pub seq: Seq,
}

impl Batch {
    /// A batch of one write.
    pub fn of(write: Write) -> Self {
        Self { writes: vec![write] }
    }
}

impl From<Vec<Write>> for Batch {
    fn from(writes: Vec<Write>) -> Self {
        Self { writes }
    }
}
