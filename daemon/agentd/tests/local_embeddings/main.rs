//! Memories that a model in a directory finds by what they mean.

#![expect(clippy::panic, clippy::unwrap_used, reason = "the helpers of tests panic as tests do")]

mod models;
mod support;
