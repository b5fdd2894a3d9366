//! Scripted replies.

use std::time::Duration;

use serde_json::{Value, json};

use super::Gate;
use super::script::{Cuts, End, Framing, How, Part, Said, Write};

/// How many deltas share a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Each delta is an HTTP chunk and a write of its own.
    EachWrite,
    /// Blocks of about 64 KiB: the fastest a server can be.
    Coalesced,
}

/// One scripted reply: status, headers, and a body of parts that are written one after the other.
///
/// It is written once and said in the API of the request: what is not marked as raw is translated.
/// Deltas and finish reasons are named as Chat Completions names them. A stream of parts starts with
/// [`Reply::sse`]; unless told otherwise the body then ends cleanly.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) how: How,
    pub(super) parts: Vec<Part>,
}

/// Whole replies.
impl Reply {
    /// A whole streamed answer with usage.
    pub fn text(text: &str) -> Self {
        Self::sse().text_delta(text).finish("stop").usage(10, 5).done()
    }

    /// A whole streamed answer that calls one tool.
    pub fn tool_call(name: &str, arguments_json: &str) -> Self {
        Self::tool_calls(&[(name, arguments_json)])
    }

    /// A whole streamed answer that calls several tools, each a name and its arguments.
    pub fn tool_calls(calls: &[(&str, &str)]) -> Self {
        Self::sse().call_deltas(calls).finish("tool_calls").usage(10, 5).done()
    }

    /// An error with the API's usual JSON body.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let mut reply = Self::empty(status, "application/json");
        reply.how.framing = Framing::Length;
        reply.say(Said::Refused { code: code.to_owned(), message: message.to_owned() })
    }

    /// An answer of one piece, as servers send that ignore `stream`.
    pub fn whole_json(text: &str) -> Self {
        Self::text(text).whole()
    }

    /// Any status and body, with a `Content-Length`.
    pub fn body(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut reply = Self::empty(status, content_type);
        reply.how.framing = Framing::Length;
        reply.write(Write::Bytes(body.into()))
    }

    /// Takes the request and never says anything; the socket stays open.
    pub fn silence() -> Self {
        let mut reply = Self::sse();
        reply.how.before_headers = Some(Write::Stall);
        reply
    }

    /// Takes the request and closes the connection.
    pub fn hang_up() -> Self {
        let mut reply = Self::sse();
        reply.how.before_headers = Some(Write::Bytes(Vec::new()));
        reply.how.end = End::Cut;
        reply
    }
}

/// Streams, part by part.
impl Reply {
    /// An event stream without events yet.
    pub fn sse() -> Self {
        Self::empty(200, "text/event-stream")
    }

    /// Text of the answer.
    #[must_use]
    pub fn text_delta(self, text: &str) -> Self {
        self.delta(&json!({"content": text}))
    }

    /// Reasoning: in the field `reasoning_content` of Chat Completions; elsewhere in a block that the
    /// server signs.
    #[must_use]
    pub fn reasoning(self, text: &str) -> Self {
        self.delta(&json!({"reasoning_content": text}))
    }

    /// A whole block of reasoning with this signature (Messages) or encrypted content (Responses).
    #[must_use]
    pub fn signed_reasoning(self, text: &str, signature: &str) -> Self {
        self.say(Said::SignedReasoning { text: text.to_owned(), signature: signature.to_owned() })
    }

    /// A block of reasoning that nobody may read: `redacted_thinking`, or a reasoning item with
    /// nothing but encrypted content. Chat Completions has no such thing and says nothing.
    #[must_use]
    pub fn redacted_reasoning(self, data: &str) -> Self {
        self.say(Said::RedactedReasoning { data: data.to_owned() })
    }

    /// Whole tool calls, each a name and its arguments.
    #[must_use]
    pub fn call_deltas(mut self, calls: &[(&str, &str)]) -> Self {
        for (index, (name, arguments)) in calls.iter().enumerate() {
            self = self.tool_delta(&json!({
                "index": index, "id": format!("call_{index}"), "type": "function",
                "function": {"name": name, "arguments": arguments},
            }));
        }
        self
    }

    /// One element of `tool_calls`, as it is in Chat Completions. Elsewhere a new id or index starts
    /// a call, and the server makes up an id that is unique in the conversation.
    #[must_use]
    pub fn tool_delta(self, call: &Value) -> Self {
        self.delta(&json!({"tool_calls": [call]}))
    }

    /// A delta object, as it is in Chat Completions.
    #[must_use]
    pub fn delta(self, delta: &Value) -> Self {
        self.say(Said::Delta(delta.clone()))
    }

    /// Why the answer ends: a `finish_reason`. In Responses this is the event that ends it.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.say(Said::Finish(reason.to_owned()))
    }

    /// The usage. It may stand before or after the finish reason.
    #[must_use]
    pub fn usage(self, prompt_tokens: u64, completion_tokens: u64) -> Self {
        self.usage_with_cache(prompt_tokens, completion_tokens, 0)
    }

    /// The usage with the part of the prompt that was read from the cache.
    #[must_use]
    pub fn usage_with_cache(self, prompt: u64, completion: u64, cached: u64) -> Self {
        self.say(Said::Usage { prompt, completion, cached })
    }

    /// An error object inside the stream, with "message" and "code" or "type".
    #[must_use]
    pub fn error_event(self, error: &Value) -> Self {
        self.say(Said::Error(error.clone()))
    }

    /// What ends the stream: `[DONE]`, `message_stop`, or `response.completed` unless that was sent.
    #[must_use]
    pub fn done(self) -> Self {
        self.say(Said::Done)
    }

    /// The same text delta `count` times, as fast as the socket takes it.
    #[must_use]
    pub fn deltas(self, count: usize, text: &str, pace: Pace) -> Self {
        self.say(Said::Deltas { text: text.to_owned(), count, pace })
    }

    /// A chunk, as it is, in every API.
    #[must_use]
    pub fn chunk(self, chunk: &Value) -> Self {
        self.data(&chunk.to_string())
    }

    /// A named event, as it is, in every API.
    #[must_use]
    pub fn event(self, name: &str, data: &Value) -> Self {
        self.raw(format!("event: {name}\ndata: {data}\n\n"))
    }

    /// A `data:` event with this text, in every API.
    #[must_use]
    pub fn data(self, data: &str) -> Self {
        self.raw(format!("data: {data}\n\n"))
    }

    /// Bytes of the body, as they are, in every API.
    #[must_use]
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.write(Write::Bytes(bytes.into()))
    }

    /// Waits until the test releases the gate.
    #[must_use]
    pub fn wait(self, gate: &Gate) -> Self {
        self.write(Write::Wait(gate.clone()))
    }

    /// Says nothing for a while. For soaks; tests that wait for something use a [`Gate`].
    #[must_use]
    pub fn pause(self, time: Duration) -> Self {
        self.write(Write::Pause(time))
    }

    /// Says nothing more and leaves the socket open for ever.
    #[must_use]
    pub fn stall(self) -> Self {
        self.write(Write::Stall)
    }

    /// Closes the connection without ending the chunked body.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.how.end = End::Cut;
        self
    }

    /// Resets the connection instead of ending the body.
    #[must_use]
    pub fn reset(mut self) -> Self {
        self.how.end = End::Reset;
        self
    }
}

/// How it is written.
impl Reply {
    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.how.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.how.status = status;
        self
    }

    /// Says all of it in one JSON text instead of a stream; raw parts and waits are left out.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.how.is_whole = true;
        self.how.framing = Framing::Length;
        self.how.headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        self
    }

    /// Writes every byte of the body on its own.
    #[must_use]
    pub fn byte_by_byte(mut self) -> Self {
        self.how.cuts = Cuts::EveryByte;
        self
    }

    /// Writes the body in pieces that end at these byte offsets; parts do not matter then.
    #[must_use]
    pub fn split_at(mut self, offsets: &[usize]) -> Self {
        self.how.cuts = Cuts::At(offsets.to_vec());
        self
    }

    /// Writes the body in two pieces, the first of which ends `bytes` into the first place that holds
    /// the text.
    #[must_use]
    pub fn split_inside(mut self, text: &str, bytes: usize) -> Self {
        self.how.cuts = Cuts::Inside { text: text.to_owned(), bytes };
        self
    }

    /// Ends the body by closing the connection, as HTTP/1.0 servers do.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.how.framing = Framing::UntilClose;
        self
    }

    /// Holds even the headers back until the test releases the gate.
    #[must_use]
    pub fn wait_before_headers(mut self, gate: &Gate) -> Self {
        self.how.before_headers = Some(Write::Wait(gate.clone()));
        self
    }

    /// Holds even the headers back for a while.
    #[must_use]
    pub fn pause_before_headers(mut self, time: Duration) -> Self {
        self.how.before_headers = Some(Write::Pause(time));
        self
    }

    fn empty(status: u16, content_type: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { how: How::new(status, headers), parts: Vec::new() }
    }

    fn say(mut self, said: Said) -> Self {
        self.parts.push(Part::Say(said));
        self
    }

    fn write(mut self, write: Write) -> Self {
        self.parts.push(Part::Write(write));
        self
    }
}
