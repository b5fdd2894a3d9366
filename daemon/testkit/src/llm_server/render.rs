//! Saying a reply in the API of its request.

mod anthropic;
mod chat;
mod responses;
mod whole;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::script::{Cuts, Framing, Part, Rendered, Said, Write};
use super::{Api, Reply};

use anthropic::MessagesVoice;
use chat::ChatVoice;
use responses::ResponsesVoice;

/// What an answer needs to know of its request.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) api: Api,
    pub(super) model: String,
    /// Number of the request on this server, for ids that are used once.
    pub(super) serial: usize,
}

/// The tokens that a reply reports.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    prompt: u64,
    completion: u64,
    cached: u64,
}

/// How an API says things. Each call appends events to `out`.
trait Voice {
    /// A delta of Chat Completions.
    fn delta(&mut self, delta: &Value, out: &mut String);
    /// A whole block of reasoning.
    fn signed_reasoning(&mut self, text: &str, signature: &str, out: &mut String);
    /// A block of hidden reasoning.
    fn redacted_reasoning(&mut self, data: &str, out: &mut String);
    /// The reason why it ends.
    fn finish(&mut self, reason: &str, out: &mut String);
    /// Usage, where it is an event of its own.
    fn usage(&mut self, counts: Counts, out: &mut String);
    /// An error in the stream.
    fn error(&mut self, error: &Value, out: &mut String);
    /// The end of the stream.
    fn done(&mut self, out: &mut String);
}

/// Says a reply.
pub(super) fn render(reply: &Reply, about: &About) -> Rendered {
    let mut how = reply.how.clone();
    let counts = reply.parts.iter().rev().find_map(|part| match part {
        Part::Say(Said::Usage { prompt, completion, cached }) => {
            Some(Counts { prompt: *prompt, completion: *completion, cached: *cached })
        }
        _ => None,
    });
    if how.is_whole {
        let body = whole::body(&reply.parts, counts, about).to_string();
        return Rendered { how, writes: vec![Write::Bytes(body.into_bytes())] };
    }
    let mut voice: Box<dyn Voice> = match about.api {
        Api::Chat => Box::new(ChatVoice),
        Api::Messages => Box::new(MessagesVoice::new(about, counts)),
        Api::Responses => Box::new(ResponsesVoice::new(about, counts)),
    };
    let mut writes = Vec::with_capacity(reply.parts.len());
    for part in &reply.parts {
        let said = match part {
            Part::Write(write) => {
                writes.push(write.clone());
                continue;
            }
            Part::Say(said) => said,
        };
        let mut out = String::new();
        match said {
            Said::Delta(delta) => voice.delta(delta, &mut out),
            Said::SignedReasoning { text, signature } => {
                voice.signed_reasoning(text, signature, &mut out);
            }
            Said::RedactedReasoning { data } => voice.redacted_reasoning(data, &mut out),
            Said::Finish(reason) => voice.finish(reason, &mut out),
            Said::Usage { prompt, completion, cached } => {
                let counts = Counts { prompt: *prompt, completion: *completion, cached: *cached };
                voice.usage(counts, &mut out);
            }
            Said::Error(error) => voice.error(error, &mut out),
            Said::Done => voice.done(&mut out),
            Said::Refused { code, message } => {
                out = refusal(about.api, how.status, code, message).to_string();
            }
            Said::Deltas { text, count, pace } => {
                // The first opens what the rest continues.
                let delta = json!({"content": text});
                if *count > 0 {
                    voice.delta(&delta, &mut out);
                    writes.push(Write::Bytes(std::mem::take(&mut out).into_bytes()));
                }
                let mut again = String::new();
                voice.delta(&delta, &mut again);
                let bytes = again.into_bytes();
                writes.push(Write::Repeat { bytes, count: count.saturating_sub(1), pace: *pace });
            }
        }
        if !out.is_empty() {
            writes.push(Write::Bytes(out.into_bytes()));
        }
    }
    let mut rendered = Rendered { how: how.clone(), writes };
    if let Cuts::Inside { text, bytes } = &how.cuts {
        let body = rendered.bytes();
        let place = body.windows(text.len().max(1)).position(|window| window == text.as_bytes());
        let at = place.map_or(0, |place| place + bytes);
        how.cuts = Cuts::At(vec![at]);
        rendered.how = how;
    }
    rendered
}

/// The body of an HTTP error.
fn refusal(api: Api, status: u16, code: &str, message: &str) -> Value {
    match api {
        Api::Chat => json!({"error": {"message": message, "type": code, "code": code}}),
        Api::Responses => json!({
            "error": {"message": message, "type": code, "param": null, "code": code},
        }),
        Api::Messages => json!({
            "type": "error",
            "error": {"type": anthropic::error_type(status, code), "message": message},
            "request_id": "req_scripted",
        }),
    }
}

/// An answer with this status and JSON body, outside any script.
pub(super) fn json_body(status: u16, body: &Value) -> Rendered {
    let Reply { mut how, .. } = Reply::body(status, "application/json", "");
    how.framing = Framing::Length;
    Rendered { how, writes: vec![Write::Bytes(body.to_string().into_bytes())] }
}

/// Writes an event whose data says its name too, as Messages and Responses do.
fn named_event(out: &mut String, data: &Value) {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
    // Writing to a String cannot fail.
    let _ = write!(out, "event: {name}\ndata: {data}\n\n");
}

/// A text field of an object; empty when there is none.
fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The reasoning of a delta, whatever the field is called.
fn reasoning(delta: &Value) -> &str {
    let [first, second] = ["reasoning_content", "reasoning"].map(|field| text(delta, field));
    if first.is_empty() { second } else { first }
}

/// The fragments of calls in a delta.
fn fragments(delta: &Value) -> Vec<Fragment> {
    let calls = delta.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let fragment = |call: &Value| {
        let function = call.get("function").unwrap_or(&Value::Null);
        Fragment {
            id: text(call, "id").to_owned(),
            index: call.get("index").and_then(Value::as_u64),
            name: text(function, "name").to_owned(),
            arguments: match function.get("arguments") {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            },
        }
    };
    calls.iter().map(fragment).collect()
}

/// A fragment of a call.
#[derive(Debug, Clone)]
struct Fragment {
    id: String,
    index: Option<u64>,
    name: String,
    arguments: String,
}

/// The call that is being written, as its fragments name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct CallKey {
    id: String,
    index: Option<u64>,
}

impl CallKey {
    /// Whether a fragment goes on with this call.
    fn is_continued_by(&self, fragment: &Fragment) -> bool {
        let same_id = fragment.id.is_empty() || fragment.id == self.id;
        let same_index = fragment.index.is_none() || fragment.index == self.index;
        same_id && same_index
    }
}

#[cfg(test)]
mod tests;
