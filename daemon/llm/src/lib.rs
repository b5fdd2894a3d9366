//! Talking to models.
//!
//! Its one job: turn a [`Request`] into a stream of [`StreamPart`]s, whatever oddities the provider
//! sends, and say clearly how it ended. It must not know of sessions, logs or tools that run. It owns
//! no state beyond connection pools.

mod error;
mod provider;

pub use error::LlmError;
pub use provider::{
    AssembledCall, Completion, Finish, Message, Provider, Request, ResponseStream, StreamPart,
};
