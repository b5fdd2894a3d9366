//! What is sent, and what never is.

use std::sync::Arc;

use agentd_domain::Capabilities;
use serde_json::json;

use super::*;
use crate::{ModelInfo, Request};

const PLAIN: Dialect =
    Dialect { echo_reasoning: ReasoningEcho::Never, has_max_completion_tokens: false };

fn user(text: &str) -> Message {
    Message::user(text)
}

fn said(text: &str) -> Message {
    Message::Assistant {
        native: None,
        reasoning: String::new(),
        text: text.to_owned(),
        tool_calls: Vec::new(),
    }
}

fn calling(reasoning: &str, text: &str, arguments: &str) -> Message {
    let call = ToolCall {
        call_id: "call_1".parse().expect("an id"),
        name: "f".to_owned(),
        arguments_json: arguments.to_owned(),
    };
    Message::Assistant {
        native: None,
        reasoning: reasoning.to_owned(),
        text: text.to_owned(),
        tool_calls: vec![call],
    }
}

fn result(output: &str) -> Message {
    Message::Tool {
        call_id: "call_1".parse().expect("an id"),
        name: "f".to_owned(),
        output: output.to_owned(),
    }
}

fn sent(messages: &[Message], echo_reasoning: ReasoningEcho) -> Value {
    let request = Request { messages: messages.to_vec(), ..Request::default() };
    let dialect = Dialect { echo_reasoning, ..PLAIN };
    let body = body(&WellFormed::from(request), dialect).expect("a body");
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    body["messages"].clone()
}

fn check(messages: &[Message], expect: &Value) {
    assert_eq!(sent(messages, ReasoningEcho::Never), *expect, "{messages:?}");
}

#[test]
fn images_follow_the_text_as_data_urls_and_may_stand_alone() {
    let image = |media_type: &str, data: &str| Image {
        media_type: media_type.to_owned(),
        data_base64: data.into(),
    };
    let shown = |text: &str| Message::User {
        text: text.to_owned(),
        images: vec![image("image/png", "AAA="), image("image/jpeg", "BBB=")],
    };
    let info = ModelInfo { vision: true, ..ModelInfo::default() };
    let content = |text: &str| {
        let request = Request {
            messages: vec![shown(text)],
            info: Arc::new(info.clone()),
            ..Request::default()
        };
        let body = body(&WellFormed::from(request), PLAIN).expect("a body");
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        body["messages"].clone()
    };
    let images = [
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA="}}),
        json!({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,BBB="}}),
    ];
    let text = json!({"type": "text", "text": "what is it"});
    let parts = [text, images[0].clone(), images[1].clone()];
    assert_eq!(content("what is it"), json!([{"role": "user", "content": parts}]));
    for blank in ["", " \n"] {
        assert_eq!(content(blank), json!([{"role": "user", "content": images}]), "{blank:?}");
    }
}

#[test]
fn the_body_is_stable_to_the_byte_and_messages_come_last() {
    let request = Request {
        model: "m".to_owned(),
        messages: vec![Message::System("be".to_owned()), user("hi")],
        tools: vec![ToolSpec {
            name: "time".to_owned(),
            description: "Tells the time.".to_owned(),
            parameters: json!({"type": "object", "properties": {}}),
            capabilities: Capabilities::PURE,
        }],
        max_output_tokens: Some(9),
        ..Request::default()
    };
    let request = WellFormed::from(request);
    let text = String::from_utf8(body(&request, PLAIN).expect("a body")).expect("text");
    assert_eq!(
        text,
        r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":9,"tools":[{"type":"function","function":{"name":"time","description":"Tells the time.","parameters":{"properties":{},"type":"object"}}}],"messages":[{"role":"system","content":"be"},{"role":"user","content":"hi"}]}"#
    );
    let openai = Dialect { has_max_completion_tokens: true, ..PLAIN };
    let text = String::from_utf8(body(&request, openai).expect("a body")).expect("text");
    assert!(text.contains(r#""max_completion_tokens":9"#) && !text.contains("max_tokens"));
}

#[test]
fn a_longer_conversation_starts_with_the_same_bytes() {
    let mut messages = vec![Message::System("be".to_owned()), user("hi")];
    let mut earlier = Vec::new();
    let steps = [
        vec![calling("r", "", "{}"), result("x")],
        vec![said("done"), user("and?")],
        vec![said("so")],
    ];
    for more in steps {
        let request = Request { messages: messages.clone(), ..Request::default() };
        let dialect = Dialect { echo_reasoning: ReasoningEcho::ToolCallTurns, ..PLAIN };
        let bytes = body(&WellFormed::from(request), dialect).expect("a body");
        let shared = bytes.strip_prefix(&earlier[..]);
        assert!(shared.is_some(), "{}", String::from_utf8_lossy(&bytes));
        earlier = bytes;
        // The brackets that close the list and the body.
        earlier.truncate(earlier.len() - 2);
        messages.extend(more);
    }
}

#[test]
fn ps_14_blank_texts_are_never_sent() {
    let null = json!(null);
    let call =
        json!([{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let called = json!({"role": "assistant", "content": null, "tool_calls": call});
    let hi = json!({"role": "user", "content": "hi"});
    for blank in ["", " \n", "\t"] {
        // (a) tool calls only, (c) a silent tool.
        check(
            &[user("hi"), calling("", blank, "{}"), result(blank)],
            &json!([hi, called, {"role": "tool", "tool_call_id": "call_1", "content": "(no output)"}]),
        );
        // (b) reasoning only, (d) blank text: the turn vanishes and roles still alternate.
        let reasoning_only = Message::Assistant {
            native: None,
            reasoning: "r".to_owned(),
            text: blank.to_owned(),
            tool_calls: Vec::new(),
        };
        check(
            &[user("hi"), reasoning_only, user("there")],
            &json!([{"role": "user", "content": "hi\n\nthere"}]),
        );
        // (e) an empty summary or prompt.
        check(&[Message::System(blank.to_owned()), user("hi"), user(blank)], &json!([hi]));
    }
    assert_ne!(called["content"], json!(""));
    assert_eq!(called["content"], null);
}

#[test]
fn neighbours_of_one_role_share_a_message() {
    check(
        &[user("a"), user("b"), said("c"), said("d"), user("e")],
        &json!([
            {"role": "user", "content": "a\n\nb"},
            {"role": "assistant", "content": "c\n\nd"},
            {"role": "user", "content": "e"},
        ]),
    );
    let call =
        json!([{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    check(
        &[user("a"), said("cut"), calling("", "", "{}"), result("x")],
        &json!([
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "cut", "tool_calls": call},
            {"role": "tool", "tool_call_id": "call_1", "content": "x"},
        ]),
    );
}

#[test]
fn system_messages_come_first_as_one() {
    check(
        &[Message::System("a".to_owned()), user("u"), Message::System("b".to_owned())],
        &json!([{"role": "system", "content": "a\n\nb"}, {"role": "user", "content": "u"}]),
    );
}

#[test]
fn ta_05_arguments_that_were_cut_go_back_as_an_object() {
    let arguments = |text: &str| {
        let wire = sent(&[user("u"), calling("", "", text), result("x")], ReasoningEcho::Never);
        wire[1]["tool_calls"][0]["function"]["arguments"].as_str().expect("text").to_owned()
    };
    assert_eq!(arguments(r#"{"a": 1}"#), r#"{"a": 1}"#);
    assert_eq!(arguments(r#"{"path":"README.md","content":""#), "{}");
    assert_eq!(arguments(r#"{"a":1}{"b":2}"#), "{}");
    assert_eq!(arguments("[1]"), "{}");
    assert_eq!(arguments(r#""{\"a\":1}""#), r#"{"a":1}"#);
}

#[test]
fn ta_05_arguments_that_are_nested_too_deep_go_back_as_an_object() {
    let arguments = |levels: usize| {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        let doubled = json!(text).to_string();
        let [plain, doubled] = [&text, &doubled].map(|text| {
            let wire = sent(&[user("u"), calling("", "", text), result("x")], ReasoningEcho::Never);
            wire[1]["tool_calls"][0]["function"]["arguments"].as_str().expect("text").to_owned()
        });
        assert_eq!(plain, doubled);
        if plain == text { "as it came".to_owned() } else { plain }
    };
    assert_eq!(arguments(100), "as it came");
    assert_eq!(arguments(200), "{}");
    assert_eq!(arguments(5_000), "{}");
}

#[test]
fn ps_08_reasoning_of_tool_turns_goes_back_where_it_is_wanted() {
    let messages = [
        user("plain"),
        Message::Assistant {
            native: None,
            reasoning: "R0".to_owned(),
            text: "a".to_owned(),
            tool_calls: Vec::new(),
        },
        user("with tools"),
        calling("R1", "", "{}"),
        result("x"),
        Message::Assistant {
            native: None,
            reasoning: "R2".to_owned(),
            text: "b".to_owned(),
            tool_calls: Vec::new(),
        },
        user("another model, which does not reason"),
        calling("", "", "{}"),
        result("x"),
    ];
    let reasoning = |echo: ReasoningEcho| -> Vec<Value> {
        let wire = sent(&messages, echo);
        let wire = wire.as_array().expect("a list");
        let said = wire.iter().filter(|message| message["role"] == "assistant");
        said.map(|message| message.get("reasoning_content").cloned().unwrap_or_default()).collect()
    };
    assert_eq!(reasoning(ReasoningEcho::Never), vec![json!(null); 4]);
    assert_eq!(
        reasoning(ReasoningEcho::WhereKnown),
        [json!(null), json!("R1"), json!("R2"), json!(null)]
    );
    assert_eq!(
        reasoning(ReasoningEcho::ToolCallTurns),
        [json!(""), json!("R1"), json!("R2"), json!("")]
    );
}
