//! What requests to a model are made of, and what is left out when the window is too small for all of it.
//!
//! Its one job: from a session's log to the messages of a request. It must not know of stores, providers'
//! connections or terminals: the engine reads the log, asks the model, and records what is decided here.
//!
//! Reading order: `conversation` (the fold over the log) and `turn_messages`, `policy` (all thresholds),
//! `trim` (leaving out parts of turns), `fold` (turns into a summary, without a model), `ask_summary` (with
//! one), `pairs` (folded turns that bear on what was asked), `count` (tokens), `report` (for people).
//! docs/adr/0016 says why.

mod report;

pub use report::{ContextReport, Layer, LayerShare};
