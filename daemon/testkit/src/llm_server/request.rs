//! What a client sent.

use serde_json::Value;

use super::Api;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// "POST".
    pub method: String,
    /// Path with query.
    pub path: String,
    /// Headers in order of arrival, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub raw: Vec<u8>,
    /// The body as JSON; null when it is none.
    pub body: Value,
}

impl RecordedRequest {
    /// The API of the path; `None` when it belongs to none.
    pub fn api(&self) -> Option<Api> {
        Api::of_path(&self.path)
    }

    /// The first header of this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// The messages, or in Responses the input items.
    pub fn messages(&self) -> &[Value] {
        let field = if self.api() == Some(Api::Responses) { "input" } else { "messages" };
        list(&self.body, field)
    }

    /// Text of the last user message with text; empty when there is none.
    pub fn last_user_text(&self) -> String {
        self.texts("user").pop().unwrap_or_default()
    }

    /// Text of the system message or the instructions; empty when there is none.
    pub fn system_text(&self) -> String {
        let apart = match self.api() {
            Some(Api::Messages) => self.body.get("system"),
            Some(Api::Responses) => self.body.get("instructions"),
            Some(Api::Chat) | None => None,
        };
        let of_messages = || self.texts("system").pop();
        apart.map(text_of).or_else(of_messages).unwrap_or_default()
    }

    /// Texts of all tool results in order.
    pub fn tool_outputs(&self) -> Vec<String> {
        match self.api() {
            Some(Api::Messages) => {
                let blocks = self.messages().iter().flat_map(|message| list(message, "content"));
                let results = blocks.filter(|block| is(block, "type", "tool_result"));
                results.map(|block| text_of(block.get("content").unwrap_or(&Value::Null))).collect()
            }
            Some(Api::Responses) => {
                let items = self.messages().iter();
                let results = items.filter(|item| is(item, "type", "function_call_output"));
                results.map(|item| text_of(item.get("output").unwrap_or(&Value::Null))).collect()
            }
            Some(Api::Chat) | None => self.texts("tool"),
        }
    }

    /// Names of the tools on offer, in order.
    pub fn tool_names<'a>(&'a self) -> Vec<&'a str> {
        let name =
            |tool: &'a Value| tool.pointer("/function/name").or_else(|| tool.get("name"))?.as_str();
        list(&self.body, "tools").iter().filter_map(name).collect()
    }

    fn texts(&self, role: &str) -> Vec<String> {
        let messages = self.messages().iter().filter(|message| is(message, "role", role));
        let contents = messages.filter_map(|message| message.get("content"));
        contents.map(text_of).filter(|text| !text.is_empty()).collect()
    }
}

/// The text of a content, be it a string or a list of blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

fn is(object: &Value, field: &str, expect: &str) -> bool {
    object.get(field).and_then(Value::as_str) == Some(expect)
}

/// The list in a field; empty when there is none.
pub(super) fn list<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
