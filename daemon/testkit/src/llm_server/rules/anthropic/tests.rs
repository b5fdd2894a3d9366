//! What strict Messages servers refuse.

use serde_json::json;

use super::*;
use crate::llm_server::render::About;

fn about() -> About {
    About { api: Api::Messages, model: "m".to_owned(), serial: 1 }
}

/// A server that has thought, hidden a thought, and called a tool.
fn sent() -> Sent {
    let mut sent = Sent::default();
    let body = json!({"content": answer()}).to_string();
    sent.remember(&about(), body.as_bytes());
    sent
}

fn answer() -> Value {
    json!([
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    ])
}

fn request(body: Value) -> RecordedRequest {
    RecordedRequest {
        method: "POST".to_owned(),
        path: "/v1/messages".to_owned(),
        headers: vec![
            ("x-api-key".to_owned(), "k".to_owned()),
            ("anthropic-version".to_owned(), "2023-06-01".to_owned()),
        ],
        raw: Vec::new(),
        body,
    }
}

fn check_body(body: &Value, expect: &str) {
    let problem = super::check(&request(body.clone()), &sent()).err();
    let problem = problem.map(|violation| violation.message).unwrap_or_default();
    if expect.is_empty() {
        assert_eq!(problem, "", "{body}");
    } else {
        assert!(problem.contains(expect), "'{problem}' should hold '{expect}'");
    }
}

fn check(messages: &Value, expect: &str) {
    check_body(&json!({"model": "m", "max_tokens": 2000, "messages": messages}), expect);
}

fn user(content: &Value) -> Value {
    json!({"role": "user", "content": content})
}

fn said(content: &Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

#[test]
fn roles_blank_texts_and_pairs_are_checked() {
    let hi = user(&json!("hi"));
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    check(&json!([hi]), "");
    check(&json!([hi, said(&json!("a")), hi]), "");
    check(&json!([hi, said(&json!([call("x")])), user(&json!([result("x"), text("b")]))]), "");
    check(&json!([]), "at least one");
    check(&json!([said(&json!("a"))]), "must alternate");
    check(&json!([hi, hi]), "must alternate");
    check(&json!([hi, said(&json!("a"))]), "end with a user");
    check(&json!([user(&json!(" "))]), "non-empty");
    check(&json!([user(&json!([]))]), "non-empty");
    check(&json!([user(&json!([text(" \n")]))]), "non-whitespace");
    check(&json!([hi, said(&json!([call("x"), call("x")])), hi]), "must be unique");
    check(&json!([hi, said(&json!([call("x")])), hi]), "without `tool_result`");
    check(&json!([hi, said(&json!("a")), user(&json!([result("x")]))]), "unexpected");
    let late = user(&json!([text("b"), result("x")]));
    check(&json!([hi, said(&json!([call("x")])), late]), "come first");
    let blank = json!({"type": "tool_result", "tool_use_id": "x", "content": ""});
    check(&json!([hi, said(&json!([call("x")])), user(&json!([blank]))]), "blank");
    let odd = json!({"type": "tool_use", "id": "x", "name": "f", "input": "{}"});
    check(&json!([hi, said(&json!([odd])), user(&json!([result("x")]))]), "an object");
}

#[test]
fn ps_13_signed_blocks_come_back_as_they_were_or_not_at_all() {
    let hi = user(&json!("hi"));
    let results = user(&json!([result("a")]));
    let turn = |blocks: &[&Value]| json!([hi, said(&json!(blocks)), results]);
    let answer = answer();
    let [thought, hidden, call] = [&answer[0], &answer[1], &answer[2]];
    check(&turn(&[thought, hidden, call]), "");
    check(&turn(&[call]), "");
    check(&turn(&[hidden, thought, call]), "cannot be modified");
    check(&turn(&[thought, call]), "cannot be modified");
    let edited = json!({"type": "thinking", "thinking": "T", "signature": "s"});
    check(&turn(&[&edited, hidden, call]), "Invalid `signature`");
    let mut body =
        json!({"model": "n", "max_tokens": 2000, "messages": turn(&[thought, hidden, call])});
    check_body(&body, "of model 'm'");
    body["model"] = json!("m");
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    check_body(&body, "");
    body["messages"] = turn(&[call]);
    check_body(&body, "as the first block");
}

#[test]
fn options_and_headers_are_checked() {
    let body = |more: Value| {
        let mut body = json!({"model": "m", "max_tokens": 2000, "messages": [user(&json!("hi"))]});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        body
    };
    check_body(&body(json!({"max_tokens": null})), "max_tokens");
    let thinking = |budget: u64| json!({"type": "enabled", "budget_tokens": budget});
    check_body(&body(json!({"thinking": thinking(2000)})), "greater than");
    check_body(&body(json!({"thinking": thinking(1000)})), "at least 1024");
    check_body(&body(json!({"system": " "})), "system");
    let tool = json!({"name": "f", "input_schema": {"type": "object"}});
    check_body(&body(json!({"tools": [tool]})), "");
    check_body(&body(json!({"tools": [tool, tool]})), "not unique");
    check_body(&body(json!({"tools": [{"name": "f"}]})), "input_schema");
    let mut bare = request(body(json!({})));
    bare.headers.retain(|(name, _)| name != "x-api-key");
    let violation = super::check(&bare, &Sent::default()).expect_err("no key");
    assert_eq!((violation.status, violation.code), (401, "authentication_error"));
    bare.headers = vec![("authorization".to_owned(), "Bearer k".to_owned())];
    let violation = super::check(&bare, &Sent::default()).expect_err("no version");
    assert_eq!(violation.message, "anthropic-version: header is required");
}
