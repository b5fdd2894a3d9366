//! Answers of one piece.

use serde_json::{Value, json};

use super::{About, CallKey, Counts, anthropic, chat, fragments, reasoning, responses, text};
use crate::llm_server::Api;
use crate::llm_server::script::{Part, Said};

/// What the parts of a reply come to.
#[derive(Debug, Default)]
struct Gathered {
    /// Text and signature of each block.
    reasoning: Vec<(String, String)>,
    text: String,
    /// Key, name and arguments.
    calls: Vec<(CallKey, String, String)>,
    finish: Option<String>,
}

/// The body in the API of the request.
pub(super) fn body(parts: &[Part], counts: Option<Counts>, about: &About) -> Value {
    let gathered = gather(parts, about.serial);
    let finish = gathered.finish.as_deref().unwrap_or("stop").to_owned();
    let mut body = match about.api {
        Api::Chat => chat_body(&gathered, &finish),
        Api::Messages => messages_body(&gathered, &finish, about),
        Api::Responses => responses_body(&gathered, &finish, about),
    };
    let usage = match about.api {
        Api::Chat => counts.map(chat::usage),
        Api::Messages => counts.map(anthropic::usage),
        Api::Responses => counts.map(responses::usage),
    };
    if let (Some(body), Some(usage)) = (body.as_object_mut(), usage) {
        body.insert("usage".to_owned(), usage);
    }
    body
}

fn gather(parts: &[Part], serial: usize) -> Gathered {
    let mut all = Gathered::default();
    for part in parts {
        match part {
            Part::Say(Said::Delta(delta)) => {
                let thought = reasoning(delta);
                if !thought.is_empty() {
                    all.reasoning.push((thought.to_owned(), format!("sig_{serial}")));
                }
                all.text.push_str(text(delta, "content"));
                for fragment in fragments(delta) {
                    match all.calls.last_mut() {
                        Some((key, _, arguments)) if key.is_continued_by(&fragment) => {
                            arguments.push_str(&fragment.arguments);
                        }
                        _ => {
                            let key = CallKey { id: fragment.id, index: fragment.index };
                            all.calls.push((key, fragment.name, fragment.arguments));
                        }
                    }
                }
            }
            Part::Say(Said::SignedReasoning { text, signature }) => {
                all.reasoning.push((text.clone(), signature.clone()));
            }
            Part::Say(Said::Finish(reason)) => all.finish = Some(reason.clone()),
            _ => {}
        }
    }
    all
}

fn chat_body(all: &Gathered, finish: &str) -> Value {
    let mut message = json!({"role": "assistant", "content": all.text});
    if let Some(message) = message.as_object_mut() {
        let reasoning: String = all.reasoning.iter().map(|(text, _)| text.as_str()).collect();
        if !reasoning.is_empty() {
            message.insert("reasoning_content".to_owned(), json!(reasoning));
        }
        let call = |(key, name, arguments): &(CallKey, String, String)| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"id": key.id, "type": "function", "function": function})
        };
        if !all.calls.is_empty() {
            let calls: Vec<Value> = all.calls.iter().map(call).collect();
            message.insert("tool_calls".to_owned(), json!(calls));
        }
    }
    let choice = json!({"index": 0, "finish_reason": finish, "message": message});
    json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]})
}

fn messages_body(all: &Gathered, finish: &str, about: &About) -> Value {
    let mut content = Vec::new();
    for (text, signature) in &all.reasoning {
        content.push(json!({"type": "thinking", "thinking": text, "signature": signature}));
    }
    if !all.text.is_empty() {
        content.push(json!({"type": "text", "text": all.text}));
    }
    for (at, (_, name, arguments)) in all.calls.iter().enumerate() {
        let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        let id = format!("toolu_{}_{at}", about.serial);
        content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    json!({
        "id": format!("msg_{}", about.serial), "type": "message", "role": "assistant",
        "model": about.model, "content": content,
        "stop_reason": anthropic::stop_reason(finish), "stop_sequence": null,
    })
}

fn responses_body(all: &Gathered, finish: &str, about: &About) -> Value {
    let serial = about.serial;
    let mut output = Vec::new();
    for (text, signature) in &all.reasoning {
        output.push(json!({
            "type": "reasoning", "id": format!("rs_{serial}_{}", output.len()),
            "summary": [{"type": "summary_text", "text": text}], "encrypted_content": signature,
        }));
    }
    let incomplete = responses::incomplete_reason(finish);
    let status = if incomplete.is_none() { "completed" } else { "incomplete" };
    if !all.text.is_empty() {
        let part = json!({"type": "output_text", "text": all.text, "annotations": []});
        output.push(json!({
            "type": "message", "id": format!("msg_{serial}_{}", output.len()), "status": status,
            "role": "assistant", "content": [part],
        }));
    }
    for (_, name, arguments) in &all.calls {
        output.push(json!({
            "type": "function_call", "id": format!("fc_{serial}_{}", output.len()),
            "call_id": format!("call_{serial}_{}", output.len()), "name": name,
            "arguments": arguments, "status": status,
        }));
    }
    let mut body = responses::response(&about.model, serial, status, &output);
    if let (Some(reason), Some(body)) = (incomplete, body.as_object_mut()) {
        body.insert("incomplete_details".to_owned(), json!({ "reason": reason }));
    }
    body
}
