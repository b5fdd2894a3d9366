//! What strict providers refuse.

mod anthropic;
mod chat;
mod responses;

use serde_json::Value;

use super::sent::Sent;
use super::{Api, RecordedRequest};

/// Rules in force.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// The form of requests: roles, blank texts, calls paired with results, signed blocks.
    pub(super) form: bool,
    /// Reasoning sent back with tool calls, in Chat Completions.
    pub(super) reasoning: bool,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl From<String> for Violation {
    fn from(message: String) -> Self {
        Self { status: 400, code: "invalid_request_error", message }
    }
}

impl Rules {
    /// Says what is wrong with a request.
    pub(super) fn check(
        self,
        api: Api,
        request: &RecordedRequest,
        sent: &Sent,
    ) -> Result<(), Violation> {
        match api {
            Api::Chat => {
                if self.form {
                    chat::check(&request.body)?;
                }
                if self.reasoning {
                    chat::check_reasoning_of(&request.body)?;
                }
            }
            Api::Messages if self.form => anthropic::check(request, sent)?,
            Api::Responses if self.form => responses::check(&request.body, sent)?,
            Api::Messages | Api::Responses => {}
        }
        Ok(())
    }
}

/// A text field of an object; empty when there is none.
fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A name that the APIs take for tools.
fn is_name(name: &str) -> bool {
    let is_legal = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_legal)
}
