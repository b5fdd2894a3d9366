//! What every request must be, rule by rule.

use std::collections::HashSet;

use agentd_domain::ToolCall;

use super::calls::{is_legal_id, is_legal_name, is_object};
use super::text::{is_blank, is_refused};
use super::{Capabilities, images};
use crate::Message;

/// What is wrong with a conversation. Positions count its messages from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// There is no message of the user.
    #[error("it holds no message of the user")]
    Empty,
    /// A system message stands elsewhere than at the front.
    #[error("message {at} is a system message and not the first")]
    LateSystem {
        /// Which message.
        at: usize,
    },
    /// The model speaks first.
    #[error("message {at} is the first of the conversation and not the user's")]
    FirstIsNotUser {
        /// Which message.
        at: usize,
    },
    /// The model speaks last.
    #[error("the last message is the model's")]
    LastIsModel,
    /// Two messages of one side in a row.
    #[error("message {at} has the role of the one before it")]
    RoleTwice {
        /// Which message.
        at: usize,
    },
    /// A text is blank, or a message has no content.
    #[error("message {at} holds a blank text or nothing")]
    Blank {
        /// Which message.
        at: usize,
    },
    /// A text holds a control character.
    #[error("message {at} holds a control character")]
    ControlCharacter {
        /// Which message.
        at: usize,
    },
    /// A call is not answered right after its message, in order.
    #[error("call {call_id} of message {at} is not answered right after it")]
    OrphanCall {
        /// Which message.
        at: usize,
        /// The call.
        call_id: String,
    },
    /// A result answers no call.
    #[error("message {at} is a result that answers no call")]
    OrphanResult {
        /// Which message.
        at: usize,
    },
    /// An id of a call was used before.
    #[error("message {at} uses the call id {call_id} again")]
    IdTwice {
        /// Which message.
        at: usize,
        /// The id.
        call_id: String,
    },
    /// An id, a name or arguments that some API refuses.
    #[error("message {at} holds a call whose {what} not every API takes")]
    IllegalCall {
        /// Which message.
        at: usize,
        /// "id", "name" or "arguments".
        what: &'static str,
    },
    /// More pictures than the model takes.
    #[error("it holds {count} pictures; the model takes {most}")]
    Images {
        /// Pictures that are there.
        count: usize,
        /// Pictures that may be.
        most: usize,
    },
    /// Native blocks that are no JSON objects.
    #[error("message {at} holds a native block that is no JSON object")]
    NativeBlock {
        /// Which message.
        at: usize,
    },
}

/// Tells what is wrong with a conversation, if anything is.
///
/// # Errors
/// The first [`Violation`].
pub fn check(messages: &[Message], capabilities: Capabilities) -> Result<(), Violation> {
    let start = usize::from(matches!(messages.first(), Some(Message::System(_))));
    let mut ids = HashSet::new();
    let mut open: Option<(usize, std::slice::Iter<'_, ToolCall>)> = None;
    let mut before: Option<&Message> = None;
    for (at, message) in messages.iter().enumerate() {
        if let Message::Tool { call_id, name, .. } = message {
            let asked = open.as_mut().and_then(|(_, calls)| calls.next());
            if asked.is_none_or(|call| (&call.call_id, &call.name) != (call_id, name)) {
                return Err(Violation::OrphanResult { at });
            }
        } else {
            no_call_open(open.take())?;
        }
        check_texts(at, message)?;
        if at == start && !matches!(message, Message::User { .. }) {
            return Err(Violation::FirstIsNotUser { at });
        }
        match (before, message) {
            (Some(_), Message::System(_)) => return Err(Violation::LateSystem { at }),
            (Some(Message::User { .. }), Message::User { .. })
            | (Some(Message::Assistant { .. }), Message::Assistant { .. }) => {
                return Err(Violation::RoleTwice { at });
            }
            _ => {}
        }
        if let Message::Assistant { tool_calls, native, .. } = message {
            for call in tool_calls {
                check_call(at, call)?;
                if !ids.insert(call.call_id.as_str()) {
                    let call_id = call.call_id.to_string();
                    return Err(Violation::IdTwice { at, call_id });
                }
            }
            let is_object = |block: &String| {
                serde_json::from_str::<serde_json::Value>(block).is_ok_and(|it| it.is_object())
            };
            if !native.iter().flat_map(|native| &native.blocks).all(is_object) {
                return Err(Violation::NativeBlock { at });
            }
            open = Some((at, tool_calls.iter()));
        }
        before = Some(message);
    }
    no_call_open(open)?;
    match messages.get(start..).and_then(<[Message]>::last) {
        None => return Err(Violation::Empty),
        Some(Message::Assistant { .. }) => return Err(Violation::LastIsModel),
        Some(_) => {}
    }
    let most = if capabilities.vision { capabilities.max_images } else { 0 };
    let count = messages.iter().map(images::count).sum();
    if count > most { Err(Violation::Images { count, most }) } else { Ok(()) }
}

fn no_call_open(open: Option<(usize, std::slice::Iter<'_, ToolCall>)>) -> Result<(), Violation> {
    match open.and_then(|(at, mut calls)| Some((at, calls.next()?))) {
        Some((at, call)) => Err(Violation::OrphanCall { at, call_id: call.call_id.to_string() }),
        None => Ok(()),
    }
}

fn check_texts(at: usize, message: &Message) -> Result<(), Violation> {
    let (text, other, may_be_empty) = match message {
        Message::System(text) => (text, "", false),
        Message::User { text, images } => (text, "", !images.is_empty()),
        Message::Assistant { text, reasoning, tool_calls, native: _ } => {
            (text, reasoning.as_str(), !tool_calls.is_empty())
        }
        Message::Tool { output, .. } => (output, "", false),
    };
    if text.contains(is_refused) || other.contains(is_refused) {
        return Err(Violation::ControlCharacter { at });
    }
    if is_blank(text) && !(may_be_empty && text.is_empty()) {
        return Err(Violation::Blank { at });
    }
    Ok(())
}

fn check_call(at: usize, call: &ToolCall) -> Result<(), Violation> {
    let ToolCall { call_id, name, arguments_json } = call;
    let illegal = |what| Err(Violation::IllegalCall { at, what });
    if !is_legal_id(call_id.as_str()) {
        illegal("id")
    } else if !is_legal_name(name) {
        illegal("name")
    } else if !is_object(arguments_json) {
        illegal("arguments")
    } else {
        Ok(())
    }
}
