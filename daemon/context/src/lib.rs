//! What requests to a model are made of, and what is left out when the window is too small for all of it.
//!
//! Its one job: from a session's log to the messages of a request. It must not know of stores, providers'
//! connections or terminals: the engine reads the log, asks the model, and records what is decided here.
//!
//! Reading order: `conversation` (the fold over the log) and `turn_messages`, `policy` (all thresholds),
//! `trim` (leaving out parts of turns), `fold` (turns into a summary, without a model), `ask_summary` (with
//! one), `pairs` (folded turns that bear on what was asked), `count` (tokens), `report` (for people).
//! docs/adr/0017 says why.

mod ask_summary;
mod conversation;
mod count;
mod fold;
mod importance;
mod pairs;
mod policy;
mod report;
mod summary;
mod trim;
mod turn_messages;

#[cfg(test)]
mod tests;

pub use ask_summary::{MAX_SUMMARY_ANSWER, Rejected, SUMMARY_INSTRUCTIONS, SummaryRequest};
pub use conversation::{Conversation, KeptConversation};
pub use count::{Calibration, Counter};
pub use fold::{Cut, Keep};
pub use policy::{ContextConfig, Policy, TurnsPolicy};
pub use report::{ContextReport, Layer, LayerShare};
pub use trim::Trimmed;
pub use turn_messages::OUTCOME_UNKNOWN;
