//! Tokens, with which remote clients prove who they are and what they may do.

mod file;
mod scope;
mod secret;
mod throttle;
mod tokens;

pub use file::TokenFileError;
pub(crate) use scope::Scope;
pub(crate) use throttle::{Throttle, network_of};
pub(crate) use tokens::{Grant, Refusal, TokenError, TokenInfo, Tokens};
