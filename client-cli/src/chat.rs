//! The chat: what is typed, what is drawn, and the loop between them.
//!
//! ```text
//!  keys -> editor (its own thread, rustyline) -> Input -> conversation -> calls of the daemon
//!  daemon -> attachment -> view (transcript, Markdown) -> canvas (rows) -> printer -> above the prompt
//! ```
//!
//! The prompt is always there, also while a turn runs. The line that is being written stands right
//! above it and is replaced in place as it grows, so that each token shows as it comes and nobody is
//! interrupted while typing. Without a terminal, or on a dumb one, text is only appended.

mod approvals;
pub(crate) mod canvas;
mod changes;
mod context;
pub(crate) mod conversation;
mod dispatch;
mod editor;
mod editor_helper;
mod gate;
mod held;
mod help;
pub(crate) mod input;
mod memories;
mod models;
mod own_turns;
pub(crate) mod queue;
pub(crate) mod rows;
mod running;
mod screen;
mod search;
mod sources;
pub(crate) mod terminal;
pub(crate) mod view;
mod yes;
