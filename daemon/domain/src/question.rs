//! Questions that a turn waits for somebody to answer.

use serde::{Deserialize, Serialize};

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The turn used up its model rounds: go on?
    ContinueRounds,
    /// The daemon stopped in the middle of the turn: go on?
    ResumeTurn,
    /// A call of the running turn asks: what do you want?
    AskUser,
}

/// The choice that lets a suspended turn go on.
pub const CHOICE_CONTINUE: &str = "continue";
/// The choice that ends a suspended turn.
pub const CHOICE_STOP: &str = "stop";
