//! Sees that the beginning of a request is not the request before, whatever the provider says of it.
//!
//! Requests of a session grow at their end. If an earlier message changes without a reason, there is a
//! fault in how requests are made, and every provider's cache is missed. Messages are compared by their
//! hashes; a megabyte takes about a millisecond.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use agentd_domain::{NativeBlocks, ToolCall};
use agentd_llm::{Image, Message, Request};

/// The request before.
#[derive(Debug, Default)]
pub(super) struct PrefixWatch {
    last: Option<Seen>,
}

#[derive(Debug)]
struct Seen {
    model: String,
    /// Messages of it.
    messages: usize,
    /// Hash of tools and messages.
    hash: u64,
}

/// A request that did not begin as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken {
    /// Messages of the request before.
    pub(super) messages: usize,
}

impl PrefixWatch {
    /// Notes a request that is about to leave, and compares it with the one before.
    pub(super) fn note(&mut self, request: &Request) -> Option<Broken> {
        let last = self.last.take().filter(|last| last.model == request.model);
        let mut hasher = DefaultHasher::new();
        for tool in &request.tools {
            (&tool.name, &tool.description, tool.parameters.to_string()).hash(&mut hasher);
        }
        let mut at_last = None;
        for (number, message) in request.messages.iter().enumerate() {
            hash(message, &mut hasher);
            if last.as_ref().is_some_and(|last| last.messages == number + 1) {
                at_last = Some(hasher.finish());
            }
        }
        let broken = last
            .filter(|last| at_last != Some(last.hash))
            .map(|last| Broken { messages: last.messages });
        self.last = Some(Seen {
            model: request.model.clone(),
            messages: request.messages.len(),
            hash: hasher.finish(),
        });
        broken
    }

    /// The next request begins otherwise, as it should.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }
}

fn hash(message: &Message, hasher: &mut DefaultHasher) {
    std::mem::discriminant(message).hash(hasher);
    match message {
        Message::System(text) => text.hash(hasher),
        Message::User { text, images } => {
            text.hash(hasher);
            images.len().hash(hasher);
            for Image { media_type, data_base64 } in images {
                (media_type, data_base64).hash(hasher);
            }
        }
        Message::Assistant { reasoning, text, tool_calls, native } => {
            (reasoning, text, tool_calls.len()).hash(hasher);
            for ToolCall { call_id, name, arguments_json } in tool_calls {
                (call_id.as_str(), name, arguments_json).hash(hasher);
            }
            if let Some(native) = native {
                let NativeBlocks { api, model, blocks } = &**native;
                (api, model, blocks).hash(hasher);
            }
        }
        Message::Tool { call_id, name, output } => (call_id.as_str(), name, output).hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(texts: &[&str]) -> Request {
        let messages = texts.iter().map(|text| Message::user(*text)).collect();
        Request { model: "m".to_owned(), messages, ..Request::default() }
    }

    /// Says of each request whether it is broken.
    fn check(requests: &[Request], expect: &[bool]) {
        let mut watch = PrefixWatch::default();
        let broken: Vec<_> = requests.iter().map(|request| watch.note(request).is_some()).collect();
        assert_eq!(broken, expect);
    }

    #[test]
    fn a_request_that_goes_on_is_sound() {
        let requests = [request(&["a"]), request(&["a", "b", "c"]), request(&["a", "b", "c"])];
        check(&requests, &[false, false, false]);
    }

    #[test]
    fn a_changed_or_missing_message_is_seen_once() {
        let first = || request(&["a", "b"]);
        check(&[first(), request(&["x", "b"]), request(&["x", "b", "c"])], &[false, true, false]);
        check(&[first(), request(&["a"])], &[false, true]);
        check(&[first(), request(&["b", "a", "c"])], &[false, true]);
        check(&[first(), request(&["ab", "", "c"])], &[false, true]);
    }

    #[test]
    fn another_model_begins_anew() {
        let other = Request { model: "n".to_owned(), ..request(&["x"]) };
        check(&[request(&["a"]), other, request(&["a"])], &[false, false, false]);
    }

    #[test]
    fn after_a_cut_the_beginning_may_be_another() {
        let mut watch = PrefixWatch::default();
        assert_eq!(watch.note(&request(&["a", "b"])), None);
        watch.forget();
        assert_eq!(watch.note(&request(&["b"])), None);
        assert_eq!(watch.note(&request(&["x"])), Some(Broken { messages: 1 }));
    }
}
