//! What the pure crates need from the outside world.

use std::fmt::Debug;

use crate::{
    ApprovalId, CallId, ItemId, MemoryChangeId, MemoryId, QuestionId, SessionId, TimestampMs,
    TurnId,
};

/// Tells the time of day. Durations are measured with tokio's clock, which tests can pause.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Now.
    fn now(&self) -> TimestampMs;
}

/// Gives the random part of new ids.
pub trait IdSource: Debug + Send + Sync + 'static {
    /// 80 random bits; higher bits are ignored.
    fn random(&self) -> u128;
}

macro_rules! new_ids {
    ($($(#[$doc:meta])* $method:ident -> $id:ident,)+) => {
        impl dyn IdSource {
            $($(#[$doc])*
            pub fn $method(&self, now: TimestampMs) -> $id {
                $id::from_parts(u64::try_from(now.0).unwrap_or(0), self.random())
            })+
        }
    };
}

new_ids! {
    /// Makes the id of a session.
    session_id -> SessionId,
    /// Makes the id of a turn.
    turn_id -> TurnId,
    /// Makes the id of a message.
    item_id -> ItemId,
    /// Makes the id of a question.
    question_id -> QuestionId,
    /// Makes the id of an approval.
    approval_id -> ApprovalId,
    /// Makes the id of a memory.
    memory_id -> MemoryId,
    /// Makes the id of a change of memories.
    memory_change_id -> MemoryChangeId,
}

impl dyn IdSource {
    /// Makes the id of a tool call: unique whatever the provider sent, and legal for all of them.
    pub fn call_id(&self, now: TimestampMs) -> CallId {
        #[expect(clippy::expect_used, reason = "31 ASCII characters are always a legal id")]
        format!("call_{}", self.item_id(now)).parse().expect("a call id")
    }
}
