//! OpenAI Responses.

use serde_json::{Value, json};

use super::{About, CallKey, Counts, Voice, fragments, named_event, reasoning, text};

/// Opens and closes output items around what is said.
#[derive(Debug)]
pub(super) struct ResponsesVoice {
    serial: usize,
    model: String,
    counts: Option<Counts>,
    /// Number of the next event.
    sequence: u64,
    has_started: bool,
    has_ended: bool,
    /// Items that are complete.
    output: Vec<Value>,
    open: Option<Open>,
}

/// The item that is being written.
#[derive(Debug)]
struct Open {
    kind: Kind,
    id: String,
    said: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Refusal,
    Reasoning { encrypted: String },
    Call { key: CallKey, call_id: String, name: String },
}

impl ResponsesVoice {
    pub(super) fn new(about: &About, counts: Option<Counts>) -> Self {
        Self {
            serial: about.serial,
            model: about.model.clone(),
            counts,
            sequence: 0,
            has_started: false,
            has_ended: false,
            output: Vec::new(),
            open: None,
        }
    }

    fn event(&mut self, mut data: Value, out: &mut String) {
        if let Some(data) = data.as_object_mut() {
            data.insert("sequence_number".to_owned(), json!(self.sequence));
        }
        self.sequence += 1;
        named_event(out, &data);
    }

    /// An event about the open item.
    fn item_event(&mut self, mut data: Value, out: &mut String) {
        let id = self.open.as_ref().map_or("", |open| &open.id).to_owned();
        if let Some(data) = data.as_object_mut() {
            data.insert("item_id".to_owned(), json!(id));
            data.insert("output_index".to_owned(), json!(self.output.len()));
        }
        self.event(data, out);
    }

    fn response(&self, status: &str) -> Value {
        response(&self.model, self.serial, status, &self.output)
    }

    fn start(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.has_started, true) {
            return;
        }
        let response = self.response("in_progress");
        self.event(json!({"type": "response.created", "response": response}), out);
        self.event(json!({"type": "response.in_progress", "response": response}), out);
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.serial, self.output.len())
    }

    fn open(&mut self, kind: Kind, out: &mut String) {
        self.start(out);
        self.close("completed", out);
        let prefix = match &kind {
            Kind::Text | Kind::Refusal => "msg",
            Kind::Reasoning { .. } => "rs",
            Kind::Call { .. } => "fc",
        };
        let open = Open { kind, id: self.id(prefix), said: String::new() };
        let mut item = item(&open, "in_progress");
        if let Some(item) = item.as_object_mut() {
            let empty = ["content", "summary"].into_iter().find(|field| item.contains_key(*field));
            if let Some(field) = empty {
                item.insert(field.to_owned(), json!([]));
            }
            item.remove("encrypted_content");
        }
        let index = self.output.len();
        self.open = Some(open);
        self.event(
            json!({"type": "response.output_item.added", "output_index": index, "item": item}),
            out,
        );
        if let Some(part) = self.open.as_ref().and_then(|open| part(open, "")) {
            let name = self.part_event("added");
            self.item_event(json!({"type": name, "part": part, "content_index": 0}), out);
        }
    }

    fn part_event(&self, what: &str) -> String {
        let is_reasoning =
            self.open.as_ref().is_some_and(|open| matches!(open.kind, Kind::Reasoning { .. }));
        let part = if is_reasoning { "reasoning_summary_part" } else { "content_part" };
        format!("response.{part}.{what}")
    }

    fn more(&mut self, said: &str, out: &mut String) {
        let Some(open) = &mut self.open else { return };
        open.said.push_str(said);
        let event = match &open.kind {
            Kind::Text => json!({"type": "response.output_text.delta", "content_index": 0}),
            Kind::Refusal => json!({"type": "response.refusal.delta", "content_index": 0}),
            Kind::Reasoning { .. } => {
                json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0})
            }
            Kind::Call { .. } => json!({"type": "response.function_call_arguments.delta"}),
        };
        let mut event = event;
        if let Some(event) = event.as_object_mut() {
            event.insert("delta".to_owned(), json!(said));
        }
        self.item_event(event, out);
    }

    /// Ends the open item. One that is cut gets no events but its last.
    fn close(&mut self, status: &str, out: &mut String) {
        let Some(open) = &self.open else { return };
        let (item, said) = (item(open, status), open.said.clone());
        if status == "completed" {
            let event = match &open.kind {
                Kind::Text => json!({"type": "response.output_text.done", "text": said}),
                Kind::Refusal => json!({"type": "response.refusal.done", "refusal": said}),
                Kind::Reasoning { .. } => {
                    json!({"type": "response.reasoning_summary_text.done", "text": said})
                }
                Kind::Call { name, .. } => json!({
                    "type": "response.function_call_arguments.done", "arguments": said,
                    "name": name,
                }),
            };
            let part = part(open, &said);
            self.item_event(event, out);
            if let Some(part) = part {
                let name = self.part_event("done");
                self.item_event(json!({"type": name, "part": part, "content_index": 0}), out);
            }
        }
        let index = self.output.len();
        self.open = None;
        self.output.push(item.clone());
        self.event(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
            out,
        );
    }

    fn end(&mut self, mut response: Value, out: &mut String) {
        self.has_ended = true;
        let status = text(&response, "status").to_owned();
        if let Some(response) = response.as_object_mut() {
            response.insert("usage".to_owned(), self.counts.map_or(Value::Null, usage));
        }
        self.event(json!({"type": format!("response.{status}"), "response": response}), out);
    }
}

impl Voice for ResponsesVoice {
    fn delta(&mut self, delta: &Value, out: &mut String) {
        self.start(out);
        let thought = reasoning(delta);
        if !thought.is_empty() {
            let is_open = matches!(&self.open, Some(Open { kind: Kind::Reasoning { .. }, .. }));
            if !is_open {
                self.close("completed", out);
                let encrypted = self.id("enc");
                self.open(Kind::Reasoning { encrypted }, out);
            }
            self.more(thought, out);
        }
        for (field, kind) in [("content", Kind::Text), ("refusal", Kind::Refusal)] {
            let said = text(delta, field);
            if said.is_empty() {
                continue;
            }
            if self.open.as_ref().is_none_or(|open| open.kind != kind) {
                self.open(kind, out);
            }
            self.more(said, out);
        }
        for fragment in fragments(delta) {
            let continues = matches!(
                &self.open,
                Some(Open { kind: Kind::Call { key, .. }, .. }) if key.is_continued_by(&fragment)
            );
            if !continues {
                self.close("completed", out);
                let call_id = self.id("call");
                let key = CallKey { id: fragment.id, index: fragment.index };
                self.open(Kind::Call { key, call_id, name: fragment.name }, out);
            }
            if !fragment.arguments.is_empty() {
                self.more(&fragment.arguments, out);
            }
        }
    }

    fn signed_reasoning(&mut self, text: &str, signature: &str, out: &mut String) {
        self.open(Kind::Reasoning { encrypted: signature.to_owned() }, out);
        if !text.is_empty() {
            self.more(text, out);
        }
        self.close("completed", out);
    }

    fn redacted_reasoning(&mut self, data: &str, out: &mut String) {
        self.signed_reasoning("", data, out);
    }

    fn finish(&mut self, reason: &str, out: &mut String) {
        self.start(out);
        let incomplete = incomplete_reason(reason);
        self.close(if incomplete.is_none() { "completed" } else { "incomplete" }, out);
        let mut response = self.response("completed");
        if let (Some(reason), Some(response)) = (incomplete, response.as_object_mut()) {
            response.insert("status".to_owned(), json!("incomplete"));
            response.insert("incomplete_details".to_owned(), json!({ "reason": reason }));
        }
        self.end(response, out);
    }

    fn usage(&mut self, _counts: Counts, _out: &mut String) {}

    fn error(&mut self, error: &Value, out: &mut String) {
        self.start(out);
        let code = error.get("code").or_else(|| error.get("type")).cloned();
        let code = match code {
            Some(Value::String(code)) => code,
            _ => "server_error".to_owned(),
        };
        let mut response = self.response("failed");
        if let Some(response) = response.as_object_mut() {
            let error = json!({"code": code, "message": text(error, "message")});
            response.insert("error".to_owned(), error);
        }
        self.end(response, out);
    }

    fn done(&mut self, out: &mut String) {
        if !self.has_ended {
            self.finish("stop", out);
        }
    }
}

/// Why a finish reason makes an answer incomplete, if it does.
pub(super) fn incomplete_reason(reason: &str) -> Option<&str> {
    match reason {
        "stop" | "tool_calls" => None,
        "length" => Some("max_output_tokens"),
        other => Some(other),
    }
}

pub(super) fn response(model: &str, serial: usize, status: &str, output: &[Value]) -> Value {
    json!({
        "id": format!("resp_{serial}"), "object": "response", "created_at": 0, "status": status,
        "model": model, "output": output, "error": null, "incomplete_details": null,
        "usage": null, "store": false,
    })
}

pub(super) fn usage(counts: Counts) -> Value {
    let Counts { prompt, completion, cached } = counts;
    json!({
        "input_tokens": prompt, "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": completion, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    })
}

/// The only part of an item, where items have parts.
fn part(open: &Open, said: &str) -> Option<Value> {
    match &open.kind {
        Kind::Text => Some(json!({"type": "output_text", "text": said, "annotations": []})),
        Kind::Refusal => Some(json!({"type": "refusal", "refusal": said})),
        Kind::Reasoning { .. } => Some(json!({"type": "summary_text", "text": said})),
        Kind::Call { .. } => None,
    }
}

/// An item with all that was said.
fn item(open: &Open, status: &str) -> Value {
    let Open { kind, id, said } = open;
    let parts: Vec<Value> = part(open, said).filter(|_| !said.is_empty()).into_iter().collect();
    match kind {
        Kind::Text | Kind::Refusal => json!({
            "type": "message", "id": id, "status": status, "role": "assistant", "content": parts,
        }),
        Kind::Reasoning { encrypted } => json!({
            "type": "reasoning", "id": id, "summary": parts, "encrypted_content": encrypted,
        }),
        Kind::Call { call_id, name, .. } => json!({
            "type": "function_call", "id": id, "call_id": call_id, "name": name,
            "arguments": said, "status": status,
        }),
    }
}
