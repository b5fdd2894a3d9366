//! What Anthropic's Messages API refuses.

use std::collections::HashSet;

use serde_json::Value;

use super::{Violation, is_blank, is_name, text};
use crate::llm_server::request::list;
use crate::llm_server::sent::{Sent, is_signed};
use crate::llm_server::{Api, RecordedRequest};

/// Fewest tokens to think with.
const MIN_THINKING: u64 = 1024;
/// Most places that may be marked for the cache.
const MAX_CACHE_MARKS: usize = 4;

pub(super) fn check(request: &RecordedRequest, sent: &Sent) -> Result<(), Violation> {
    let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    if request.header("x-api-key").or(bearer).is_none_or(is_blank) {
        let message = "x-api-key header is required".to_owned();
        return Err(Violation { status: 401, code: "authentication_error", message });
    }
    if request.header("anthropic-version").is_none_or(is_blank) {
        return Err("anthropic-version: header is required".to_owned().into());
    }
    let body = &request.body;
    check_options(body)?;
    check_tools(body)?;
    check_messages(list(body, "messages"))?;
    check_signed(body, sent)?;
    Ok(())
}

fn check_options(body: &Value) -> Result<(), String> {
    if text(body, "model").is_empty() {
        return Err("model: Field required".to_owned());
    }
    let max_tokens = body.get("max_tokens").and_then(Value::as_u64);
    let max_tokens = max_tokens.filter(|max| *max > 0).ok_or("max_tokens: Field required")?;
    let thinking = body.get("thinking").unwrap_or(&Value::Null);
    match text(thinking, "type") {
        "enabled" => {
            let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or(0);
            if budget < MIN_THINKING {
                return Err("thinking.enabled.budget_tokens: at least 1024".to_owned());
            }
            if budget >= max_tokens {
                return Err("`max_tokens` must be greater than `thinking.budget_tokens`".to_owned());
            }
        }
        "disabled" | "adaptive" => {}
        "" if thinking.is_null() => {}
        other => return Err(format!("thinking.type: unknown '{other}'")),
    }
    let marks = body.to_string().matches("\"cache_control\":{").count();
    if marks > MAX_CACHE_MARKS {
        return Err(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {marks}."
        ));
    }
    match body.get("system") {
        None => {}
        Some(Value::String(system)) if !is_blank(system) => {}
        Some(Value::Array(blocks))
            if !blocks.is_empty() && !blocks.iter().any(|block| is_blank(text(block, "text"))) => {}
        Some(_) => return Err("system: text content blocks must be non-empty".to_owned()),
    }
    Ok(())
}

fn check_tools(body: &Value) -> Result<(), String> {
    let mut names = HashSet::new();
    for (at, tool) in list(body, "tools").iter().enumerate() {
        let name = text(tool, "name");
        if !is_name(name) || !names.insert(name) {
            return Err(format!("tools.{at}.name: '{name}' is illegal or not unique"));
        }
        let schema = tool.get("input_schema").unwrap_or(&Value::Null);
        if text(schema, "type") != "object" {
            return Err(format!("tools.{at}.custom.input_schema.type: Field required"));
        }
    }
    Ok(())
}

fn check_messages(messages: &[Value]) -> Result<(), String> {
    if messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expect = if at % 2 == 0 { "user" } else { "assistant" };
        let role = text(message, "role");
        if role != expect {
            return Err(format!(
                "messages.{at}: roles must alternate, first is user, but found '{role}'"
            ));
        }
        let awaited = std::mem::take(&mut open);
        let blocks = match message.get("content") {
            Some(Value::String(content)) if !is_blank(content) => &[][..],
            Some(Value::Array(blocks)) if !blocks.is_empty() => blocks,
            _ => return Err(format!("messages.{at}: content must be non-empty")),
        };
        let mut answered: Vec<&str> = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let place = format!("messages.{at}.content.{number}");
            match (role, text(block, "type")) {
                (_, "text") if is_blank(text(block, "text")) => {
                    return Err(format!(
                        "{place}: text content blocks must contain non-whitespace"
                    ));
                }
                (_, "text") | ("assistant", "thinking" | "redacted_thinking") => {}
                ("user", "image") => check_image(block, &place)?,
                ("assistant", "tool_use") => {
                    let id = text(block, "id");
                    if !is_name(id) || !seen.insert(id) {
                        return Err(format!(
                            "{place}: `tool_use` ids must be unique, found '{id}'"
                        ));
                    }
                    if !is_name(text(block, "name")) {
                        return Err(format!("{place}.tool_use.name: illegal"));
                    }
                    if !block.get("input").is_some_and(Value::is_object) {
                        return Err(format!("{place}.tool_use.input: Input should be an object"));
                    }
                    open.push(id);
                }
                ("user", "tool_result") => {
                    if answered.len() != number {
                        return Err(format!("{place}: `tool_result` blocks must come first"));
                    }
                    let id = text(block, "tool_use_id");
                    if !awaited.contains(&id) || answered.contains(&id) {
                        return Err(format!("{place}: unexpected `tool_use_id` '{id}'"));
                    }
                    check_result(block, &place)?;
                    answered.push(id);
                }
                (_, other) => return Err(format!("{place}: unexpected '{other}' of {role}")),
            }
        }
        if awaited.len() != answered.len() {
            return Err(format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks \
                 immediately after: {awaited:?}"
            ));
        }
    }
    if messages.len().is_multiple_of(2) {
        return Err("the conversation must end with a user message".to_owned());
    }
    Ok(())
}

fn check_result(block: &Value, place: &str) -> Result<(), String> {
    let is_right = match block.get("content") {
        Some(Value::String(content)) => !is_blank(content),
        Some(Value::Array(parts)) => {
            let is_blank_text =
                |part: &Value| text(part, "type") == "text" && is_blank(text(part, "text"));
            !parts.is_empty() && !parts.iter().any(is_blank_text)
        }
        _ => false,
    };
    if is_right { Ok(()) } else { Err(format!("{place}: a blank `tool_result`")) }
}

fn check_image(block: &Value, place: &str) -> Result<(), String> {
    let source = block.get("source").unwrap_or(&Value::Null);
    let is_known = ["image/png", "image/jpeg", "image/gif", "image/webp"]
        .contains(&text(source, "media_type"));
    if text(source, "type") == "base64" && is_known && !text(source, "data").is_empty() {
        Ok(())
    } else {
        Err(format!("{place}.image.source: unknown or empty"))
    }
}

/// Signed blocks are those that the server sent; those of the open turn are all there, in order, or
/// all gone.
fn check_signed(body: &Value, sent: &Sent) -> Result<(), String> {
    let messages = list(body, "messages");
    let has_result = |message: &Value| {
        list(message, "content").iter().any(|block| text(block, "type") == "tool_result")
    };
    let is_start = |message: &Value| text(message, "role") == "user" && !has_result(message);
    let turn = messages.iter().rposition(is_start).unwrap_or(0);
    for (at, message) in messages.iter().enumerate() {
        let blocks = list(message, "content");
        for block in blocks.iter().filter(|block| is_signed(block)) {
            let answer = sent.find(Api::Messages, |sent| sent == block);
            let answer = answer.ok_or_else(|| {
                format!("messages.{at}: Invalid `signature` in `{}` block", text(block, "type"))
            })?;
            if answer.model != text(body, "model") {
                return Err(format!("messages.{at}: a signed block of model '{}'", answer.model));
            }
        }
        if at > turn {
            check_open_turn(at, blocks, sent)?;
        }
    }
    let is_enabled = body.pointer("/thinking/type").and_then(Value::as_str) == Some("enabled");
    let last_answer = messages.iter().rev().nth(1);
    if is_enabled && messages.last().is_some_and(has_result) {
        let first = last_answer.and_then(|answer| list(answer, "content").first());
        if !first.is_some_and(is_signed) {
            return Err("Expected `thinking` or `redacted_thinking` as the first block of the \
                        latest assistant turn, because `thinking` is enabled"
                .to_owned());
        }
    }
    Ok(())
}

fn check_open_turn(at: usize, blocks: &[Value], sent: &Sent) -> Result<(), String> {
    let is_pinned = |block: &&Value| is_signed(block) || text(block, "type") == "tool_use";
    let call = blocks.iter().find(|block| text(block, "type") == "tool_use");
    let id = call.map(|call| text(call, "id")).unwrap_or_default();
    let is_it = |block: &Value| text(block, "type") == "tool_use" && text(block, "id") == id;
    let Some(answer) = sent.find(Api::Messages, is_it) else { return Ok(()) };
    if !blocks.iter().any(is_signed) {
        return Ok(());
    }
    // Inputs arrive in fragments: what counts of a call is its place.
    let key = |block: &Value| {
        if is_signed(block) { block.to_string() } else { text(block, "id").to_owned() }
    };
    let had: Vec<String> = answer.blocks.iter().filter(is_pinned).map(key).collect();
    let has: Vec<String> = blocks.iter().filter(is_pinned).map(key).collect();
    if had == has {
        return Ok(());
    }
    Err(format!(
        "messages.{at}: `thinking` or `redacted_thinking` blocks in the latest assistant message \
         cannot be modified. These blocks must remain as they were in the original response."
    ))
}

#[cfg(test)]
mod tests;
