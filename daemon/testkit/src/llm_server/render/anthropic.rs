//! Anthropic Messages.

use serde_json::{Value, json};

use super::{About, CallKey, Counts, Voice, fragments, named_event, reasoning, text};

/// Opens and closes content blocks around what is said.
#[derive(Debug)]
pub(super) struct MessagesVoice {
    serial: usize,
    model: String,
    counts: Option<Counts>,
    has_started: bool,
    /// Blocks opened so far.
    blocks: usize,
    open: Option<Block>,
}

#[derive(Debug, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
    Call(CallKey),
}

impl MessagesVoice {
    pub(super) fn new(about: &About, counts: Option<Counts>) -> Self {
        Self {
            serial: about.serial,
            model: about.model.clone(),
            counts,
            has_started: false,
            blocks: 0,
            open: None,
        }
    }

    fn start(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.has_started, true) {
            return;
        }
        let counts = self.counts.unwrap_or_default();
        let usage = usage(Counts { completion: 1, ..counts });
        let message = json!({
            "id": format!("msg_{}", self.serial), "type": "message", "role": "assistant",
            "model": self.model, "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": usage,
        });
        named_event(out, &json!({"type": "message_start", "message": message}));
        named_event(out, &json!({"type": "ping"}));
    }

    fn open(&mut self, block: Block, content: &Value, out: &mut String) {
        self.start(out);
        self.close(out);
        let index = self.blocks;
        self.blocks += 1;
        self.open = Some(block);
        named_event(
            out,
            &json!({"type": "content_block_start", "index": index, "content_block": content}),
        );
    }

    fn more(&self, delta: &Value, out: &mut String) {
        let index = self.blocks.saturating_sub(1);
        named_event(out, &json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }

    fn close(&mut self, out: &mut String) {
        let Some(block) = self.open.take() else { return };
        if block == Block::Thinking {
            // The signature comes when the block is over.
            let signature = format!("sig_{}_{}", self.serial, self.blocks);
            self.more(&json!({"type": "signature_delta", "signature": signature}), out);
        }
        self.stop(out);
    }

    fn stop(&self, out: &mut String) {
        let index = self.blocks.saturating_sub(1);
        named_event(out, &json!({"type": "content_block_stop", "index": index}));
    }
}

impl Voice for MessagesVoice {
    fn delta(&mut self, delta: &Value, out: &mut String) {
        self.start(out);
        let thinking = reasoning(delta);
        if !thinking.is_empty() {
            if self.open != Some(Block::Thinking) {
                let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
                self.open(Block::Thinking, &empty, out);
            }
            self.more(&json!({"type": "thinking_delta", "thinking": thinking}), out);
        }
        for said in [text(delta, "content"), text(delta, "refusal")] {
            if said.is_empty() {
                continue;
            }
            if self.open != Some(Block::Text) {
                self.open(Block::Text, &json!({"type": "text", "text": ""}), out);
            }
            self.more(&json!({"type": "text_delta", "text": said}), out);
        }
        for fragment in fragments(delta) {
            let continues =
                matches!(&self.open, Some(Block::Call(key)) if key.is_continued_by(&fragment));
            if !continues {
                let id = format!("toolu_{}_{}", self.serial, self.blocks);
                let key = CallKey { id: fragment.id, index: fragment.index };
                let content =
                    json!({"type": "tool_use", "id": id, "name": fragment.name, "input": {}});
                self.open(Block::Call(key), &content, out);
                // The first delta of an input is always empty.
                self.more(&json!({"type": "input_json_delta", "partial_json": ""}), out);
            }
            if !fragment.arguments.is_empty() {
                let delta = json!({"type": "input_json_delta", "partial_json": fragment.arguments});
                self.more(&delta, out);
            }
        }
    }

    fn signed_reasoning(&mut self, text: &str, signature: &str, out: &mut String) {
        let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
        self.open(Block::Thinking, &empty, out);
        if !text.is_empty() {
            self.more(&json!({"type": "thinking_delta", "thinking": text}), out);
        }
        self.more(&json!({"type": "signature_delta", "signature": signature}), out);
        self.open = None;
        self.stop(out);
    }

    fn redacted_reasoning(&mut self, data: &str, out: &mut String) {
        // The kind of block does not matter: it is closed at once.
        self.open(Block::Text, &json!({"type": "redacted_thinking", "data": data}), out);
        self.close(out);
    }

    fn finish(&mut self, reason: &str, out: &mut String) {
        self.start(out);
        self.close(out);
        let mut event = json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(reason), "stop_sequence": null},
        });
        if let (Some(event), Some(counts)) = (event.as_object_mut(), self.counts) {
            event.insert("usage".to_owned(), json!({"output_tokens": counts.completion}));
        }
        named_event(out, &event);
    }

    fn usage(&mut self, _counts: Counts, _out: &mut String) {}

    fn error(&mut self, error: &Value, out: &mut String) {
        let code = ["code", "type"].map(|field| text(error, field));
        let code = if code[0].is_empty() { code[1] } else { code[0] };
        let number = error.get("code").and_then(Value::as_u64).unwrap_or(500);
        let status = u16::try_from(number).unwrap_or(500);
        let error = json!({"type": error_type(status, code), "message": text(error, "message")});
        named_event(out, &json!({"type": "error", "error": error}));
    }

    fn done(&mut self, out: &mut String) {
        named_event(out, &json!({"type": "message_stop"}));
    }
}

/// A finish reason as this API calls it.
pub(super) fn stop_reason(reason: &str) -> &str {
    match reason {
        "stop" => "end_turn",
        "tool_calls" => "tool_use",
        "length" => "max_tokens",
        "content_filter" => "refusal",
        other => other,
    }
}

/// The prompt's tokens here exclude what the cache gave.
pub(super) fn usage(counts: Counts) -> Value {
    let Counts { prompt, completion, cached } = counts;
    json!({
        "input_tokens": prompt.saturating_sub(cached), "output_tokens": completion,
        "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0,
    })
}

/// The type of an error: the code where it is one of this API's, otherwise what the status means.
pub(super) fn error_type(status: u16, code: &str) -> String {
    const TYPES: &[&str] = &[
        "invalid_request_error",
        "authentication_error",
        "billing_error",
        "permission_error",
        "not_found_error",
        "request_too_large",
        "rate_limit_error",
        "timeout_error",
        "api_error",
        "overloaded_error",
    ];
    if TYPES.contains(&code) {
        return code.to_owned();
    }
    let of_status = match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    };
    of_status.to_owned()
}
