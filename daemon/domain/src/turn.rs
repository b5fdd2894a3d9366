//! How turns end and why they stand still.

use serde::{Deserialize, Serialize};

/// Why a turn ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model answered.
    Answered,
    /// The provider's output limit cut the answer.
    OutputLimit,
    /// The rounds limit was reached and nobody wanted to go on.
    RoundsLimit,
    /// The provider refused by its content policy.
    Refused,
}

/// Why a turn was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterruptReason {
    /// A user asked for it.
    User,
    /// A message that interrupts arrived, or any message while the turn was suspended.
    NewMessage,
    /// The daemon stopped, and policy or user decided against going on.
    NotResumed,
}

/// Why a turn stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspendReason {
    /// The daemon stopped while the turn ran.
    DaemonStopped,
    /// The limit of model rounds was reached.
    RoundsLimit,
}
