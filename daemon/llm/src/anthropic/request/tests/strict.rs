//! A checker as strict as the API.

use std::collections::HashSet;

use serde_json::Value;

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn is_kind(block: &Value, kind: &str) -> bool {
    block["type"] == kind
}

fn is_thinking(block: &Value) -> bool {
    is_kind(block, "thinking") || is_kind(block, "redacted_thinking")
}

fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str, String> {
    let text = value[field].as_str().ok_or_else(|| format!("{field} is no text: {value}"))?;
    if text.trim().is_empty() { Err(format!("{field} is blank: {value}")) } else { Ok(text) }
}

fn name<'a>(value: &'a Value, field: &str) -> Result<&'a str, String> {
    let text = text(value, field)?;
    let is_legal =
        text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if is_legal { Ok(text) } else { Err(format!("{field} is illegal: {value}")) }
}

fn ensure(is_so: bool, otherwise: impl Fn() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(otherwise()) }
}

/// What the API would refuse.
pub(super) fn check(body: &Value) -> Result<(), String> {
    text(body, "model")?;
    let max_tokens = body["max_tokens"].as_u64().unwrap_or(0);
    ensure(max_tokens > 0, || "no max_tokens".to_owned())?;
    for sampling in ["temperature", "top_p", "top_k"] {
        ensure(body.get(sampling).is_none(), || format!("{sampling} is sent"))?;
    }
    let is_budgeted = body["thinking"]["type"] == "enabled";
    if is_budgeted {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
        ensure((1024..max_tokens).contains(&budget), || format!("budget {budget}"))?;
    }
    for block in list(body, "system") {
        ensure(is_kind(block, "text"), || format!("system holds {block}"))?;
        text(block, "text")?;
    }
    let messages = list(body, "messages");
    check_messages(messages)?;
    let tools = list(body, "tools");
    let names: Vec<&str> = tools.iter().map(|tool| name(tool, "name")).collect::<Result<_, _>>()?;
    ensure(names.is_sorted_by(|a, b| a < b), || format!("tools are not sorted: {names:?}"))?;
    for tool in tools {
        ensure(tool["input_schema"]["type"] == "object", || format!("no schema: {tool}"))?;
    }
    let blocks = || messages.iter().flat_map(|message| list(message, "content"));
    ensure(!tools.is_empty() || !blocks().any(|block| is_kind(block, "tool_use")), || {
        "calls without tools".to_owned()
    })?;
    let kept = tools.iter().chain(list(body, "system")).chain(blocks());
    let kept = kept.filter(|block| block.get("cache_control").is_some()).count();
    ensure(kept <= 4, || format!("{kept} places to keep"))?;
    if is_budgeted && let Some(first) = first_of_open_turn(messages) {
        ensure(is_thinking(&first["content"][0]), || {
            "the open turn does not begin with thinking".to_owned()
        })?;
    }
    Ok(())
}

fn check_messages(messages: &[Value]) -> Result<(), String> {
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let is_user = at % 2 == 0;
        let role = if is_user { "user" } else { "assistant" };
        ensure(message["role"] == role, || format!("message {at} is not of {role}"))?;
        let blocks = list(message, "content");
        ensure(!blocks.is_empty(), || format!("message {at} is empty"))?;
        for block in blocks {
            check_block(block, is_user).map_err(|problem| format!("message {at}: {problem}"))?;
        }
        let of_kind = |kind: &'static str| blocks.iter().filter(move |block| is_kind(block, kind));
        let called: Vec<&str> =
            of_kind("tool_use").filter_map(|block| block["id"].as_str()).collect();
        for id in &called {
            ensure(ids.insert((*id).to_owned()), || format!("id {id} is used twice"))?;
        }
        if !is_user {
            let last = &blocks[blocks.len() - 1];
            ensure(!is_thinking(last), || format!("message {at} ends with thinking"))?;
            ensure(called.is_empty() || is_kind(last, "tool_use"), || {
                format!("message {at} goes on after its calls")
            })?;
            let next = messages.get(at + 1).map_or(&[][..], |next| list(next, "content"));
            let results: Vec<&str> = next
                .iter()
                .take_while(|block| is_kind(block, "tool_result"))
                .filter_map(|block| block["tool_use_id"].as_str())
                .collect();
            ensure(results == called, || format!("calls {called:?} have results {results:?}"))?;
        }
        let results = of_kind("tool_result").count();
        let expected = at.checked_sub(1).and_then(|before| messages.get(before));
        let expected = expected.map_or(0, |before| {
            list(before, "content").iter().filter(|block| is_kind(block, "tool_use")).count()
        });
        ensure(!is_user || results == expected, || format!("message {at}: {results} results"))?;
    }
    ensure(messages.len() % 2 == 1, || "the last word is not the user's".to_owned())
}

fn check_block(block: &Value, is_user: bool) -> Result<(), String> {
    match (block["type"].as_str().unwrap_or_default(), is_user) {
        ("text", _) => text(block, "text").map(drop),
        ("image", true) => text(&block["source"], "data").map(drop),
        ("tool_result", true) => {
            name(block, "tool_use_id")?;
            text(block, "content").map(drop)
        }
        ("thinking", false) => text(block, "signature").map(drop),
        ("redacted_thinking", false) => text(block, "data").map(drop),
        ("tool_use", false) => {
            name(block, "id")?;
            name(block, "name")?;
            ensure(block["input"].is_object(), || format!("no object: {block}"))
        }
        _ => Err(format!("does not belong here: {block}")),
    }
}

/// The first assistant message of the tool turn that is open.
fn first_of_open_turn(messages: &[Value]) -> Option<&Value> {
    let mut first = None;
    for pair in messages.rchunks(2) {
        let [assistant, user] = pair else { break };
        if !list(user, "content").iter().any(|block| is_kind(block, "tool_result")) {
            break;
        }
        first = Some(assistant);
    }
    first
}
