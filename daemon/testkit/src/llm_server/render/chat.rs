//! Chat Completions.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Counts, Voice};

/// Says deltas as they are: it is their language.
#[derive(Debug)]
pub(super) struct ChatVoice;

impl Voice for ChatVoice {
    fn delta(&mut self, delta: &Value, out: &mut String) {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        event(out, &chunk_of(&json!([choice])));
    }

    fn signed_reasoning(&mut self, text: &str, _signature: &str, out: &mut String) {
        self.delta(&json!({"reasoning_content": text}), out);
    }

    fn redacted_reasoning(&mut self, _data: &str, _out: &mut String) {}

    fn finish(&mut self, reason: &str, out: &mut String) {
        let choice = json!({"index": 0, "delta": {}, "finish_reason": reason});
        event(out, &chunk_of(&json!([choice])));
    }

    fn usage(&mut self, counts: Counts, out: &mut String) {
        let mut chunk = chunk_of(&json!([]));
        if let Some(chunk) = chunk.as_object_mut() {
            chunk.insert("usage".to_owned(), usage(counts));
        }
        event(out, &chunk);
    }

    fn error(&mut self, error: &Value, out: &mut String) {
        event(out, &json!({ "error": error }));
    }

    fn done(&mut self, out: &mut String) {
        out.push_str("data: [DONE]\n\n");
    }
}

pub(super) fn usage(counts: Counts) -> Value {
    let Counts { prompt, completion, cached } = counts;
    let mut usage = json!({"prompt_tokens": prompt, "completion_tokens": completion});
    if cached > 0
        && let Some(usage) = usage.as_object_mut()
    {
        usage.insert("prompt_tokens_details".to_owned(), json!({"cached_tokens": cached}));
    }
    usage
}

fn event(out: &mut String, data: &Value) {
    // Writing to a String cannot fail.
    let _ = write!(out, "data: {data}\n\n");
}

fn chunk_of(choices: &Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
        "choices": choices,
    })
}
