//! What strict servers of Chat Completions refuse.

use std::collections::HashSet;

use serde_json::Value;

/// Roles, blank texts, and calls paired with results.
pub(super) fn check(body: &Value) -> Result<(), String> {
    check_pairing(messages(body)?)
}

/// Reasoning sent back with tool calls.
pub(super) fn check_reasoning_of(body: &Value) -> Result<(), String> {
    check_reasoning(messages(body)?)
}

fn messages(body: &Value) -> Result<&Vec<Value>, String> {
    let messages = body.get("messages").and_then(Value::as_array);
    messages.ok_or_else(|| "there is no array of messages".to_owned())
}

fn text<'a>(message: &'a Value, field: &str) -> Option<&'a str> {
    message.get(field).and_then(Value::as_str)
}

fn calls(message: &Value) -> &[Value] {
    message.get("tool_calls").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn check_pairing(messages: &[Value]) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut previous_role = "";
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role").unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            return Err(format!("messages[{at}]: no result for the calls {open:?}"));
        }
        let content = message.get("content").filter(|content| !content.is_null());
        match role {
            "system" if at > 0 => return Err(format!("messages[{at}]: a system message inside")),
            "system" | "user" | "assistant" | "tool" => {}
            other => return Err(format!("messages[{at}]: unknown role '{other}'")),
        }
        if role == previous_role && role != "tool" {
            return Err(format!("messages[{at}]: two messages of role {role} in a row"));
        }
        previous_role = role;
        match content {
            Some(Value::String(content)) if content.trim().is_empty() => {
                return Err(format!("messages[{at}]: blank text in a message of role {role}"));
            }
            Some(Value::String(_)) => {}
            Some(Value::Array(parts)) if role == "user" => check_parts(at, parts)?,
            Some(_) => return Err(format!("messages[{at}]: content is no text")),
            None if role == "assistant" && !calls(message).is_empty() => {}
            None => return Err(format!("messages[{at}]: a message without content")),
        }
        if message.get("tool_calls").is_some() && (role != "assistant" || calls(message).is_empty())
        {
            return Err(format!("messages[{at}]: empty or misplaced tool_calls"));
        }
        for call in calls(message) {
            let id = text(call, "id").unwrap_or_default();
            if id.is_empty() || !seen.insert(id) {
                return Err(format!("messages[{at}]: missing or repeated call id '{id}'"));
            }
            let function = call.get("function").unwrap_or(&Value::Null);
            if text(function, "name").unwrap_or_default().is_empty() {
                return Err(format!("messages[{at}]: the call '{id}' has no function name"));
            }
            let arguments = text(function, "arguments").unwrap_or_default();
            if !matches!(serde_json::from_str(arguments), Ok(Value::Object(_))) {
                return Err(format!("messages[{at}]: arguments of '{id}' are no JSON object"));
            }
            open.push(id);
        }
        if role == "tool" {
            let id = text(message, "tool_call_id").unwrap_or_default();
            if open.first() != Some(&id) {
                return Err(format!("messages[{at}]: result '{id}' where {open:?} is awaited"));
            }
            open.remove(0);
        }
    }
    if !open.is_empty() {
        return Err(format!("no result for the calls {open:?}"));
    }
    Ok(())
}

/// The parts of a message with pictures.
fn check_parts(at: usize, parts: &[Value]) -> Result<(), String> {
    if parts.is_empty() {
        return Err(format!("messages[{at}]: a message without content"));
    }
    for part in parts {
        let is_right = match text(part, "type") {
            Some("text") => text(part, "text").is_some_and(|text| !text.trim().is_empty()),
            Some("image_url") => {
                let url = part.pointer("/image_url/url").and_then(Value::as_str);
                url.is_some_and(|url| url.starts_with("data:image/") || url.starts_with("http"))
            }
            _ => false,
        };
        if !is_right {
            return Err(format!("messages[{at}]: a part that is blank or of an unknown type"));
        }
    }
    Ok(())
}

fn check_reasoning(messages: &[Value]) -> Result<(), String> {
    let is_user = |message: &Value| text(message, "role") == Some("user");
    let turn_start = messages.iter().rposition(is_user).unwrap_or(0);
    for (at, message) in messages.iter().enumerate() {
        if calls(message).is_empty() {
            continue;
        }
        match text(message, "reasoning_content") {
            None => {
                return Err(format!(
                    "Missing `reasoning_content` field in the assistant message at message index {at}."
                ));
            }
            Some(reasoning) if at > turn_start && reasoning.trim().is_empty() => {
                return Err(format!(
                    "messages[{at}]: blank `reasoning_content` in the running turn"
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(messages: &Value, expect: &str) {
        let body = json!({ "messages": messages });
        let result = super::check(&body).and_then(|()| check_reasoning_of(&body));
        let problem = result.err().unwrap_or_default();
        if expect.is_empty() {
            assert_eq!(problem, "", "{messages}");
        } else {
            assert!(problem.contains(expect), "'{problem}' should hold '{expect}'");
        }
    }

    fn call(id: &str) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}})
    }

    fn calling(ids: &[&str]) -> Value {
        let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
        json!({"role": "assistant", "content": null, "reasoning_content": "r", "tool_calls": calls})
    }

    #[test]
    fn what_strict_providers_refuse_is_refused() {
        let user = json!({"role": "user", "content": "hi"});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
        check(&json!([user, calling(&["a", "b"]), result("a"), result("b")]), "");
        check(&json!([user, calling(&["a", "b"]), result("b"), result("a")]), "is awaited");
        check(&json!([user, calling(&["a"])]), "no result");
        check(&json!([user, calling(&["a"]), user]), "no result");
        check(&json!([user, result("a")]), "is awaited");
        check(&json!([user, calling(&["a", "a"])]), "repeated call id");
        check(&json!([{"role": "user", "content": " \n"}]), "blank text");
        check(&json!([{"role": "user", "content": []}]), "without content");
        check(&json!([{"role": "assistant", "content": [1]}]), "no text");
        check(&json!([{"role": "assistant", "content": null}]), "without content");
        check(&json!([{"role": "developer", "content": "x"}]), "unknown role");
        check(&json!([user, user]), "in a row");
        check(&json!([user, {"role": "system", "content": "x"}]), "inside");
    }

    #[test]
    fn calls_without_reasoning_are_refused() {
        let user = json!({"role": "user", "content": "hi"});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
        let mut silent = calling(&["a"]);
        silent["reasoning_content"] = json!("");
        check(&json!([user, silent, result]), "blank `reasoning_content`");
        check(&json!([user, silent, result, user]), "");
        let mut lost = calling(&["a"]);
        lost.as_object_mut().expect("an object").remove("reasoning_content");
        check(&json!([user, lost, result]), "Missing `reasoning_content`");
    }
}
