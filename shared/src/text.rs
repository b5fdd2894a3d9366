//! Text for terminals: foreign text made inert, lines cut by display width, sizes and times for people.
//!
//! Whatever a model, a tool, a file name or another user says goes through [`sanitize`] or a
//! [`Sanitizer`] before it reaches a terminal.

mod lines;
mod measure;
mod sanitizer;

pub use lines::{floor_boundary, split_line};
pub use measure::{
    grouped, human_bytes, human_duration, human_usd, one_line, one_row, relative_time,
};
pub use sanitizer::{Sanitizer, sanitize};
