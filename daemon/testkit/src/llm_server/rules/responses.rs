//! What OpenAI's Responses API refuses.

use std::collections::HashSet;

use serde_json::Value;

use super::{is_blank, is_name, text};
use crate::llm_server::Api;
use crate::llm_server::request::list;
use crate::llm_server::sent::Sent;

/// Fewest tokens that an answer may be limited to.
const MIN_OUTPUT: u64 = 16;
const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

pub(super) fn check(body: &Value, sent: &Sent) -> Result<(), String> {
    check_options(body)?;
    check_tools(body)?;
    let items = list(body, "input");
    if items.is_empty() {
        return Err("Missing required parameter: 'input'.".to_owned());
    }
    check_items(items)?;
    check_reasoning(items, text(body, "model"), sent)
}

fn check_options(body: &Value) -> Result<(), String> {
    if text(body, "model").is_empty() {
        return Err("Missing required parameter: 'model'.".to_owned());
    }
    let includes = |what: &str| list(body, "include").iter().any(|include| include == what);
    let is_stored = body.get("store").and_then(Value::as_bool).unwrap_or(true);
    if !is_stored && !includes("reasoning.encrypted_content") {
        return Err("reasoning is lost: not stored and not included encrypted".to_owned());
    }
    if let Some(max) = body.get("max_output_tokens").filter(|max| !max.is_null())
        && max.as_u64().is_none_or(|max| max < MIN_OUTPUT)
    {
        return Err(format!("Invalid 'max_output_tokens': expected >= {MIN_OUTPUT}, got {max}."));
    }
    if let Some(effort) = body.pointer("/reasoning/effort")
        && !EFFORTS.contains(&effort.as_str().unwrap_or_default())
    {
        return Err(format!("Invalid value: '{effort}' of 'reasoning.effort'."));
    }
    match body.get("instructions") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(text)) if !is_blank(text) => Ok(()),
        Some(_) => Err("Invalid 'instructions': blank.".to_owned()),
    }
}

fn check_tools(body: &Value) -> Result<(), String> {
    let mut names = HashSet::new();
    for (at, tool) in list(body, "tools").iter().enumerate() {
        let name = text(tool, "name");
        if text(tool, "type") != "function" || !is_name(name) || !names.insert(name) {
            return Err(format!("Missing required parameter: 'tools[{at}].name'."));
        }
        if tool.pointer("/parameters/type").and_then(Value::as_str) != Some("object") {
            return Err(format!("Invalid schema for function '{name}'."));
        }
    }
    Ok(())
}

fn check_items(items: &[Value]) -> Result<(), String> {
    let mut calls: HashSet<&str> = HashSet::new();
    let mut outputs: HashSet<&str> = HashSet::new();
    let mut ids: HashSet<&str> = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let id = text(item, "id");
        if !id.is_empty() && !ids.insert(id) {
            return Err(format!("input[{at}]: Duplicate item found with id {id}."));
        }
        let call_id = text(item, "call_id");
        match text(item, "type") {
            "message" | "" => check_message(at, item)?,
            "function_call" => {
                let arguments = serde_json::from_str(text(item, "arguments"));
                if !matches!(arguments, Ok(Value::Object(_))) {
                    return Err(format!("input[{at}]: arguments are no JSON object"));
                }
                if !is_name(text(item, "name")) {
                    return Err(format!("Invalid 'input[{at}].name'."));
                }
                if call_id.is_empty() || call_id.len() > 64 || !calls.insert(call_id) {
                    return Err(format!("input[{at}]: missing or repeated call_id '{call_id}'"));
                }
            }
            "function_call_output" => {
                if !calls.contains(call_id) || !outputs.insert(call_id) {
                    return Err(format!(
                        "No tool call found for function call output with call_id {call_id}."
                    ));
                }
                if is_blank(text(item, "output")) {
                    return Err(format!("input[{at}]: a blank output"));
                }
            }
            "reasoning" => {}
            other => return Err(format!("Invalid value: '{other}' of 'input[{at}].type'.")),
        }
    }
    match calls.difference(&outputs).next() {
        Some(call_id) => Err(format!("No tool output found for function call {call_id}.")),
        None => Ok(()),
    }
}

fn check_message(at: usize, item: &Value) -> Result<(), String> {
    let role = text(item, "role");
    let (text_type, other_type) = match role {
        "user" => ("input_text", "input_image"),
        "system" | "developer" => ("input_text", "input_text"),
        "assistant" => ("output_text", "refusal"),
        other => return Err(format!("Invalid value: '{other}' of 'input[{at}].role'.")),
    };
    match item.get("content") {
        Some(Value::String(content)) if !is_blank(content) => Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => {
            for part in parts {
                let kind = text(part, "type");
                let said = text(part, if kind == "refusal" { "refusal" } else { "text" });
                let is_image = kind == "input_image";
                if (kind != text_type && kind != other_type) || (!is_image && is_blank(said)) {
                    return Err(format!("input[{at}]: a blank or misplaced part '{kind}'"));
                }
                if is_image && !text(part, "image_url").starts_with("data:image/") {
                    return Err(format!("Invalid 'input[{at}].content.image_url'."));
                }
            }
            Ok(())
        }
        _ => Err(format!("input[{at}]: a message without content")),
    }
}

/// Reasoning comes back as it was sent, with what followed it, and what followed it with it.
fn check_reasoning(items: &[Value], model: &str, sent: &Sent) -> Result<(), String> {
    for (at, item) in items.iter().enumerate() {
        let id = text(item, "id");
        let is_it = |sent: &Value| !id.is_empty() && text(sent, "id") == id;
        let answer = sent.find(Api::Responses, is_it);
        let is_reasoning = text(item, "type") == "reasoning";
        let Some(answer) = answer else {
            if is_reasoning {
                return Err(format!("The encrypted content of '{id}' could not be verified."));
            }
            continue;
        };
        let place = answer.blocks.iter().position(is_it).unwrap_or(0);
        let of_sent = |at: usize| answer.blocks.get(at);
        let id_of = |item: Option<&Value>| item.map(|item| text(item, "id").to_owned());
        if is_reasoning {
            if of_sent(place) != Some(item) || answer.model != model {
                return Err(format!("The encrypted content of '{id}' could not be verified."));
            }
            let (follows, followed) = (id_of(items.get(at + 1)), id_of(of_sent(place + 1)));
            if follows.is_none() || (followed.is_some() && follows != followed) {
                return Err(format!(
                    "Item '{id}' of type 'reasoning' was provided without its required following \
                     item."
                ));
            }
        }
        let before = place.checked_sub(1).and_then(of_sent);
        if let Some(before) = before.filter(|before| text(before, "type") == "reasoning") {
            let precedes = at.checked_sub(1).and_then(|at| items.get(at));
            if precedes.map(|item| text(item, "id")) != Some(text(before, "id")) {
                return Err(format!(
                    "Item '{id}' was provided without its required 'reasoning' item: '{}'.",
                    text(before, "id")
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
