//! What the server has said that it wants back unchanged.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::Api;
use super::render::About;

/// Answers that are remembered. Older ones are those of conversations that are over.
const REMEMBERED: usize = 4096;

/// The answers with signed blocks, the newest last.
#[derive(Debug, Default)]
pub(super) struct Sent {
    answers: VecDeque<SentAnswer>,
}

/// One answer.
#[derive(Debug)]
pub(super) struct SentAnswer {
    pub(super) api: Api,
    pub(super) model: String,
    /// Content blocks of Messages, output items of Responses.
    pub(super) blocks: Vec<Value>,
}

impl Sent {
    /// Reads the body of an answer, as far as it goes.
    pub(super) fn remember(&mut self, about: &About, body: &[u8]) {
        let body = String::from_utf8_lossy(body);
        let blocks = match about.api {
            Api::Chat => return,
            Api::Messages => message_blocks(&body),
            Api::Responses => output_items(&body),
        };
        if !blocks.iter().any(is_signed) {
            return;
        }
        self.answers.push_back(SentAnswer { api: about.api, model: about.model.clone(), blocks });
        if self.answers.len() > REMEMBERED {
            self.answers.pop_front();
        }
    }

    /// The answer that holds a block or an item like this.
    pub(super) fn find(&self, api: Api, is_it: impl Fn(&Value) -> bool) -> Option<&SentAnswer> {
        let mut answers = self.answers.iter().rev().filter(|answer| answer.api == api);
        answers.find(|answer| answer.blocks.iter().any(&is_it))
    }
}

/// A block that must come back as it is, if it does.
pub(super) fn is_signed(block: &Value) -> bool {
    matches!(
        block.get("type").and_then(Value::as_str),
        Some("thinking" | "redacted_thinking" | "reasoning")
    )
}

fn events(body: &str) -> impl Iterator<Item = Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data).ok())
}

fn message_blocks(body: &str) -> Vec<Value> {
    if let Ok(whole) = serde_json::from_str::<Value>(body) {
        return super::request::list(&whole, "content").to_vec();
    }
    let mut blocks: Vec<Value> = Vec::new();
    for event in events(body) {
        match event.get("type").and_then(Value::as_str) {
            Some("content_block_start") => {
                blocks.push(event.get("content_block").cloned().unwrap_or_default());
            }
            Some("content_block_delta") => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
                let at = usize::try_from(index).unwrap_or(usize::MAX);
                if let Some(block) = blocks.get_mut(at) {
                    for field in ["text", "thinking", "signature"] {
                        append(block, field, delta);
                    }
                }
            }
            _ => {}
        }
    }
    blocks
}

fn append(block: &mut Value, field: &str, delta: &Value) {
    let Some(more) = delta.get(field).and_then(Value::as_str) else { return };
    let before = block.get(field).and_then(Value::as_str).unwrap_or_default();
    let whole = format!("{before}{more}");
    if let Some(block) = block.as_object_mut() {
        block.insert(field.to_owned(), json!(whole));
    }
}

fn output_items(body: &str) -> Vec<Value> {
    if let Ok(whole) = serde_json::from_str::<Value>(body) {
        return super::request::list(&whole, "output").to_vec();
    }
    let is_done = |event: &Value| {
        event.get("type").and_then(Value::as_str) == Some("response.output_item.done")
    };
    events(body).filter(is_done).filter_map(|event| event.get("item").cloned()).collect()
}
