//! What strict Responses servers refuse.

use serde_json::json;

use super::*;
use crate::llm_server::render::About;

fn answer() -> Value {
    json!([
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e"},
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}",
         "status": "completed"},
    ])
}

fn check_body(body: &Value, expect: &str) {
    let mut sent = Sent::default();
    let about = About { api: Api::Responses, model: "m".to_owned(), serial: 1 };
    sent.remember(&about, json!({"output": answer()}).to_string().as_bytes());
    let problem = super::check(body, &sent).err().unwrap_or_default();
    if expect.is_empty() {
        assert_eq!(problem, "", "{body}");
    } else {
        assert!(problem.contains(expect), "'{problem}' should hold '{expect}'");
    }
}

fn check(input: &Value, expect: &str) {
    check_body(&json!({"model": "m", "input": input}), expect);
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

#[test]
fn items_pairs_and_blank_texts_are_checked() {
    let hi = message("user", "input_text", "hi");
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "x"});
    check(&json!([hi]), "");
    check(&json!([hi, call("x"), call("y"), output("x"), output("y")]), "");
    check(&json!([hi, message("assistant", "output_text", "a"), hi]), "");
    check(&json!([]), "'input'");
    check(&json!([message("user", "input_text", " ")]), "blank");
    check(&json!([message("user", "output_text", "a")]), "misplaced");
    check(&json!([message("tool", "input_text", "a")]), "role");
    check(&json!([hi, call("x")]), "No tool output found for function call x");
    check(&json!([hi, output("x")]), "No tool call found");
    check(&json!([hi, call("x"), call("x"), output("x")]), "repeated call_id");
    check(&json!([hi, call("x"), output("x"), output("x")]), "No tool call found");
    let mut odd = call("x");
    odd["arguments"] = json!("{\"a\":");
    check(&json!([hi, odd, output("x")]), "no JSON object");
}

#[test]
fn ps_13_reasoning_comes_back_as_it_was_with_what_followed() {
    let hi = message("user", "input_text", "hi");
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "x"});
    let answer = answer();
    let [thought, call] = [&answer[0], &answer[1]];
    check(&json!([hi, thought, call, output]), "");
    check(&json!([hi, call, output]), "without its required 'reasoning' item");
    check(&json!([hi, thought]), "following item");
    check(&json!([hi, thought, hi]), "following item");
    let mut edited = thought.clone();
    edited["encrypted_content"] = json!("E");
    check(&json!([hi, edited, call, output]), "could not be verified");
    let other = json!({"model": "n", "input": [hi, thought, call, output]});
    check_body(&other, "could not be verified");
}

#[test]
fn options_are_checked() {
    let body = |more: Value| {
        let hi = message("user", "input_text", "hi");
        let mut body = json!({"model": "m", "input": [hi]});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        body
    };
    check_body(&body(json!({"store": false})), "reasoning is lost");
    let kept = json!({"store": false, "include": ["reasoning.encrypted_content"]});
    check_body(&body(kept), "");
    check_body(&body(json!({"max_output_tokens": 15})), "max_output_tokens");
    check_body(&body(json!({"reasoning": {"effort": "off"}})), "reasoning.effort");
    check_body(&body(json!({"instructions": ""})), "instructions");
    let nested = json!({"type": "function", "function": {"name": "f"}});
    check_body(&body(json!({"tools": [nested]})), "tools[0].name");
}
