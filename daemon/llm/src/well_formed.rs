//! Between history and wire: makes any conversation one that every provider takes.
//!
//! A log may hold what no provider accepts: calls whose results were lost, ids used twice, blank texts,
//! arguments that are no JSON. Sent as it is, it would be refused, and so would every later request of
//! the session. So no encoder takes a [`Request`] itself: it takes a [`WellFormed`], which only
//! [`WellFormed::from`] makes.
//!
//! The rules, which [`check`] states one by one:
//! - one system message at most, at the front; then the user speaks first and the model never last;
//! - no two messages in a row of the user or of the model, none without content, no blank text;
//! - each call is answered exactly once, in order, right after its message; no other results;
//! - ids of calls are unique and, like names of tools, of characters that every API takes;
//! - arguments are one JSON object; no text holds control characters;
//! - pictures only where the model sees, and no more than it takes;
//! - native blocks as the provider sent them, or none of them.
//!
//! The same conversation gives the same messages, and a longer one begins with those of the shorter,
//! apart from its open last turn: providers cache equal prefixes. (Pictures beyond the limit are the one
//! exception, as trimming is: the oldest give way, many at once so that the cut rarely moves.)

mod calls;
mod check;
mod images;
mod native;
mod text;

use std::ops::Deref;
use std::sync::Arc;

use agentd_domain::{NativeBlocks, ToolCall};

use self::calls::{CallIds, Results};
use self::text::{clean, is_blank, join};
use crate::{Message, ModelInfo, Request};

pub use self::check::{Violation, check};

/// Stands in for what the user said first, where that is missing.
const BEGINNING: &str = "[what was said before is left out]";
/// Stands in for what the user says last, where the model would have to go on from its own words.
const GO_ON: &str = "[go on]";

/// What a model takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It sees pictures.
    pub vision: bool,
    /// Most pictures in a request.
    pub max_images: usize,
}

impl Capabilities {
    /// Most pictures in a request: all providers take as many, and each costs as much as a long text.
    const MAX_IMAGES: usize = 20;

    /// What a model takes of which this is known.
    pub fn of(info: &ModelInfo) -> Self {
        Self { vision: info.vision, max_images: Self::MAX_IMAGES }
    }
}

/// A request whose messages every provider takes. Read-only, so that it stays so.
#[derive(Debug)]
pub struct WellFormed(Request);

impl WellFormed {
    /// The instructions, if there are any.
    pub fn system(&self) -> Option<&str> {
        match self.0.messages.first() {
            Some(Message::System(text)) => Some(text),
            _ => None,
        }
    }

    /// The messages after the instructions. The first is the user's.
    pub fn conversation(&self) -> &[Message] {
        let from = usize::from(self.system().is_some());
        self.0.messages.get(from..).unwrap_or_default()
    }
}

impl From<Request> for WellFormed {
    /// Repairs the messages; the rest stays as it is.
    fn from(mut request: Request) -> Self {
        request.messages = repair(request.messages, Capabilities::of(&request.info));
        Self(request)
    }
}

impl Deref for WellFormed {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.0
    }
}

/// Makes the messages well-formed. What is well-formed already stays as it is.
pub fn repair(messages: Vec<Message>, capabilities: Capabilities) -> Vec<Message> {
    let mut system = String::new();
    let mut said = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            Message::System(text) => join(&mut system, &clean(text).0),
            other => said.push(other),
        }
    }
    images::leave_out(&mut said, capabilities);
    let mut repaired = Repaired::default();
    let mut rest = said.into_iter().peekable();
    while let Some(message) = rest.next() {
        match message {
            Message::User { text, images } => {
                repaired.push_user(Message::User { text: clean(text).0, images });
            }
            Message::Assistant { reasoning, text, tool_calls, native } => {
                let is_result = |next: &Message| matches!(next, Message::Tool { .. });
                let results: Results = std::iter::from_fn(|| rest.next_if(is_result)).collect();
                repaired.push_assistant(Said { reasoning, text, tool_calls, native }, results);
            }
            // A result here answers no call; system messages are taken out.
            Message::Tool { .. } | Message::System(_) => {}
        }
    }
    let repaired = repaired.finish(system);
    debug_assert_eq!(check(&repaired, capabilities), Ok(()), "repair leaves nothing to repair");
    repaired
}

/// What the model said, before it is repaired.
struct Said {
    reasoning: String,
    text: String,
    tool_calls: Vec<ToolCall>,
    native: Option<Arc<NativeBlocks>>,
}

/// The messages so far. Well-formed but for its two ends.
#[derive(Default)]
struct Repaired {
    messages: Vec<Message>,
    ids: CallIds,
}

impl Repaired {
    fn push_user(&mut self, message: Message) {
        let Message::User { text, images } = message else { return };
        let text = if is_blank(&text) { String::new() } else { text };
        if text.is_empty() && images.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(Message::User { text: earlier, images: shown }) => {
                join(earlier, &text);
                shown.extend(images);
            }
            _ => self.messages.push(Message::User { text, images }),
        }
    }

    fn push_assistant(&mut self, said: Said, mut results: Results) {
        let Said { reasoning, text, tool_calls, native } = said;
        let (reasoning, mut is_changed) = clean(reasoning);
        let (text, is_cleaned) = clean(text);
        is_changed |= is_cleaned;
        let text = if is_blank(&text) { String::new() } else { text };
        if text.is_empty() && tool_calls.is_empty() {
            return;
        }
        let mut answers = Vec::with_capacity(tool_calls.len());
        let mut calls = Vec::with_capacity(tool_calls.len());
        for call in tool_calls {
            let output = results.take(&call.call_id);
            let (call, is_repaired) = self.ids.repair(call);
            is_changed |= is_repaired;
            answers.push(calls::answer(&call, output));
            calls.push(call);
        }
        if let Some(Message::Assistant {
            reasoning: earlier_reasoning,
            text: earlier,
            tool_calls,
            native,
        }) = self.messages.last_mut()
            && tool_calls.is_empty()
        {
            // An answer that was cut and one that followed it.
            join(earlier, &text);
            if !is_blank(&reasoning) {
                *earlier_reasoning = reasoning;
            }
            *tool_calls = calls;
            *native = None;
        } else {
            let native = native.filter(|_| !is_changed);
            let native = native.and_then(|it| native::usable(it, &text, &calls, &mut self.ids));
            self.messages.push(Message::Assistant { reasoning, text, tool_calls: calls, native });
        }
        self.messages.extend(answers);
    }

    fn finish(self, system: String) -> Vec<Message> {
        let Self { mut messages, ids: _ } = self;
        if !matches!(messages.first(), Some(Message::User { .. })) {
            messages.insert(0, Message::user(BEGINNING));
        }
        if matches!(messages.last(), Some(Message::Assistant { .. })) {
            messages.push(Message::user(GO_ON));
        }
        if !system.is_empty() {
            messages.insert(0, Message::System(system));
        }
        messages
    }
}

#[cfg(test)]
mod tests;
