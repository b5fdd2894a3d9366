//! Scripted replies.

use serde_json::{Value, json};

use super::Gate;

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
/// A stream of parts starts with [`Reply::sse`]; unless told otherwise the body then ends cleanly.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) parts: Vec<Part>,
    pub(super) cuts: Cuts,
    pub(super) framing: Framing,
    pub(super) end: End,
    /// Nothing at all is written before this.
    pub(super) before_headers: Option<Part>,
}

/// A piece of the body.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Bytes(Vec<u8>),
    Repeat { bytes: Vec<u8>, count: usize, pace: Pace },
    Wait(Gate),
    Stall,
}

/// Where parts are cut into several writes.
#[derive(Debug, Clone)]
pub(super) enum Cuts {
    Parts,
    EveryByte,
    At(Vec<usize>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Chunked,
    Length,
    UntilClose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Clean,
    Cut,
    Reset,
}

/// Whole replies.
impl Reply {
    /// A whole streamed answer with usage, as OpenAI sends it.
    pub fn text(text: &str) -> Self {
        Self::sse().text_delta(text).finish("stop").usage(10, 5).done()
    }

    /// A whole streamed answer that calls one tool.
    pub fn tool_call(name: &str, arguments_json: &str) -> Self {
        Self::tool_calls(&[(name, arguments_json)])
    }

    /// A whole streamed answer that calls several tools, each a name and its arguments.
    pub fn tool_calls(calls: &[(&str, &str)]) -> Self {
        let mut reply = Self::sse();
        for (index, (name, arguments)) in calls.iter().enumerate() {
            reply = reply.tool_delta(&json!({
                "index": index, "id": format!("call_{index}"), "type": "function",
                "function": {"name": name, "arguments": arguments},
            }));
        }
        reply.finish("tool_calls").usage(10, 5).done()
    }

    /// An error with the usual JSON body.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": code, "code": code}});
        Self::body(status, "application/json", body.to_string())
    }

    /// An answer of one piece, as servers send that ignore `stream`.
    pub fn whole_json(text: &str) -> Self {
        let body = json!({
            "id": "chatcmpl-1", "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        });
        Self::body(200, "application/json", body.to_string())
    }

    /// Any status and body, with a `Content-Length`.
    pub fn body(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut reply = Self::empty(status, content_type);
        reply.framing = Framing::Length;
        reply.parts.push(Part::Bytes(body.into()));
        reply
    }

    /// Takes the request and never says anything; the socket stays open.
    pub fn silence() -> Self {
        let mut reply = Self::empty(200, "text/event-stream");
        reply.before_headers = Some(Part::Stall);
        reply
    }

    /// Takes the request and closes the connection.
    pub fn hang_up() -> Self {
        let mut reply = Self::silence();
        reply.before_headers = Some(Part::Bytes(Vec::new()));
        reply.end = End::Cut;
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

    /// Reasoning, in the field `reasoning_content`.
    #[must_use]
    pub fn reasoning(self, text: &str) -> Self {
        self.delta(&json!({"reasoning_content": text}))
    }

    /// One element of `tool_calls`, as it is.
    #[must_use]
    pub fn tool_delta(self, call: &Value) -> Self {
        self.delta(&json!({"tool_calls": [call]}))
    }

    /// A delta object, as it is.
    #[must_use]
    pub fn delta(self, delta: &Value) -> Self {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        self.chunk(&chunk_of(&json!([choice])))
    }

    /// A chunk with this `finish_reason`.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        let choice = json!({"index": 0, "delta": {}, "finish_reason": reason});
        self.chunk(&chunk_of(&json!([choice])))
    }

    /// The usage chunk.
    #[must_use]
    pub fn usage(self, prompt_tokens: u64, completion_tokens: u64) -> Self {
        let mut chunk = chunk_of(&json!([]));
        if let Some(chunk) = chunk.as_object_mut() {
            let usage =
                json!({"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens});
            chunk.insert("usage".to_owned(), usage);
        }
        self.chunk(&chunk)
    }

    /// An error object inside the stream.
    #[must_use]
    pub fn error_event(self, error: &Value) -> Self {
        self.chunk(&json!({ "error": error }))
    }

    /// A chunk, as it is.
    #[must_use]
    pub fn chunk(self, chunk: &Value) -> Self {
        self.data(&chunk.to_string())
    }

    /// A `data:` event with this text.
    #[must_use]
    pub fn data(self, data: &str) -> Self {
        self.raw(format!("data: {data}\n\n"))
    }

    /// Bytes of the body, as they are.
    #[must_use]
    pub fn raw(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.parts.push(Part::Bytes(bytes.into()));
        self
    }

    /// The `[DONE]` event.
    #[must_use]
    pub fn done(self) -> Self {
        self.data("[DONE]")
    }

    /// The same text delta `count` times, as fast as the socket takes it.
    #[must_use]
    pub fn deltas(mut self, count: usize, text: &str, pace: Pace) -> Self {
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
        let bytes = format!("data: {}\n\n", chunk_of(&json!([choice]))).into_bytes();
        self.parts.push(Part::Repeat { bytes, count, pace });
        self
    }

    /// Waits until the test releases the gate.
    #[must_use]
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.parts.push(Part::Wait(gate.clone()));
        self
    }

    /// Says nothing more and leaves the socket open for ever.
    #[must_use]
    pub fn stall(mut self) -> Self {
        self.parts.push(Part::Stall);
        self
    }

    /// Closes the connection without ending the chunked body.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// Resets the connection instead of ending the body.
    #[must_use]
    pub fn reset(mut self) -> Self {
        self.end = End::Reset;
        self
    }
}

/// How it is written.
impl Reply {
    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Writes every byte of the body on its own.
    #[must_use]
    pub fn byte_by_byte(mut self) -> Self {
        self.cuts = Cuts::EveryByte;
        self
    }

    /// Writes the body in pieces that end at these byte offsets; parts do not matter then.
    #[must_use]
    pub fn split_at(mut self, offsets: &[usize]) -> Self {
        self.cuts = Cuts::At(offsets.to_vec());
        self
    }

    /// Ends the body by closing the connection, as HTTP/1.0 servers do.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self
    }

    /// Holds even the headers back until the test releases the gate.
    #[must_use]
    pub fn wait_before_headers(mut self, gate: &Gate) -> Self {
        self.before_headers = Some(Part::Wait(gate.clone()));
        self
    }

    fn empty(status: u16, content_type: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            parts: Vec::new(),
            cuts: Cuts::Parts,
            framing: Framing::Chunked,
            end: End::Clean,
            before_headers: None,
        }
    }
}

fn chunk_of(choices: &Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
        "choices": choices,
    })
}
