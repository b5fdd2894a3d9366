//! What a client sent.

use serde_json::Value;

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
    /// The first header of this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// The messages.
    pub fn messages(&self) -> &[Value] {
        self.body.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Text of the last user message; empty when there is none.
    pub fn last_user_text(&self) -> String {
        self.contents("user").pop().unwrap_or_default()
    }

    /// Text of the system message; empty when there is none.
    pub fn system_text(&self) -> String {
        self.contents("system").pop().unwrap_or_default()
    }

    /// Texts of all tool results in order.
    pub fn tool_outputs(&self) -> Vec<String> {
        self.contents("tool")
    }

    /// Names of the tools on offer, in order.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool.pointer("/function/name")?.as_str()).collect()
    }

    fn contents(&self, role: &str) -> Vec<String> {
        let of_role = |message: &&Value| message.get("role").and_then(Value::as_str) == Some(role);
        let text = |message: &Value| message.get("content")?.as_str().map(str::to_owned);
        self.messages().iter().filter(of_role).filter_map(text).collect()
    }
}
