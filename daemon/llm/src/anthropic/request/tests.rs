//! What is sent, and that a strict API takes it whatever the history holds.

mod strict;

use std::sync::Arc;

use agentd_domain::{Capabilities, Effort, NativeBlocks};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use crate::{Catalogue, Image, InfoSource, ModelInfo, Request};

/// It is given a budget.
const BUDGETED: &str = "claude-sonnet-4-5";
/// It thinks as it sees fit.
const ADAPTIVE: &str = "claude-opus-5";

fn info(model: &str) -> ModelInfo {
    let facts = Catalogue::builtin().facts(model).unwrap_or_default();
    ModelInfo::default().with(&facts, InfoSource::Catalogue)
}

fn request(model: &str, effort: Option<Effort>, messages: Vec<Message>) -> Request {
    Request {
        model: model.to_owned(),
        effort,
        messages,
        info: Arc::new(info(model)),
        ..Request::default()
    }
}

fn encoded(request: &Request, earlier: EarlierThinking) -> Encoded {
    let request = WellFormed::from(request.clone());
    encode(&request, earlier).expect("a body")
}

/// The body, checked.
fn sent_with(request: &Request, earlier: EarlierThinking) -> Value {
    let encoded = encoded(request, earlier);
    let body: Value = serde_json::from_slice(&encoded.body).expect("JSON");
    if let Err(problem) = strict::check(&body) {
        panic!("{problem}\n{body:#}\n{request:#?}");
    }
    let text = String::from_utf8(encoded.body).expect("a text");
    assert_eq!(encoded.has_thinking, text.contains("signature") || text.contains("redacted_"));
    body
}

fn sent(request: &Request) -> Value {
    sent_with(request, EarlierThinking::Kept)
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        call_id: id.parse().expect("an id"),
        name: name.to_owned(),
        arguments_json: arguments.to_owned(),
    }
}

fn said(text: &str, tool_calls: Vec<ToolCall>) -> Message {
    Message::Assistant { reasoning: String::new(), text: text.to_owned(), tool_calls, native: None }
}

fn result(id: &str, output: &str) -> Message {
    Message::Tool {
        call_id: id.parse().expect("an id"),
        name: "f".to_owned(),
        output: output.to_owned(),
    }
}

fn thinking(text: &str) -> String {
    // Blanks and order that a parser would lose.
    format!(r#"{{ "type":"thinking", "signature":"sig-{text}", "thinking":"{text}\u4f7f"}}"#)
}

fn tool_use(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{"b":1,"a":2}}}}"#)
}

/// An answer that a model wrote in these blocks.
fn answered(model: &str, blocks: Vec<String>, tool_calls: Vec<ToolCall>) -> Message {
    let native = NativeBlocks { api: "anthropic".to_owned(), model: model.to_owned(), blocks };
    Message::Assistant {
        reasoning: "T".to_owned(),
        text: "Well.".to_owned(),
        tool_calls,
        native: Some(Arc::new(native)),
    }
}

fn types(message: &Value) -> Vec<&str> {
    let blocks = message["content"].as_array().expect("a list");
    blocks.iter().map(|block| block["type"].as_str().expect("a type")).collect()
}

/// All thinking blocks of the body as they stand in it.
fn raw_thinking(request: &Request, earlier: EarlierThinking) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        messages: Vec<Said<'a>>,
    }
    #[derive(serde::Deserialize)]
    struct Said<'a> {
        #[serde(borrow)]
        content: Vec<&'a RawValue>,
    }
    let encoded = encoded(request, earlier);
    let body: Body<'_> = serde_json::from_slice(&encoded.body).expect("JSON");
    let blocks = body.messages.iter().flat_map(|message| &message.content);
    let blocks = blocks.map(|block| block.get().to_owned());
    blocks.filter(|block| block.contains("signature") || block.contains("redacted_")).collect()
}

#[test]
fn a_request_is_what_the_api_expects() {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "For tests.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
        capabilities: Capabilities::PURE,
    };
    let image = Image { media_type: "image/png".to_owned(), data_base64: "AAAA".into() };
    let messages = vec![
        Message::System("Be brief.".to_owned()),
        Message::User { text: "look".to_owned(), images: vec![image] },
        said("Well.", vec![call("c1", "read", r#"{"path":"a"}"#), call("c2", "time", "")]),
        result("c2", "noon"),
        result("c1", ""),
        Message::user("and?"),
    ];
    let request = Request {
        tools: vec![tool("time"), tool("read")],
        max_output_tokens: Some(1000),
        ..request(ADAPTIVE, Some(Effort::Medium), messages)
    };
    let kept = json!({"type": "ephemeral"});
    assert_eq!(
        sent(&request),
        json!({
            "model": ADAPTIVE,
            "max_tokens": 1000,
            "stream": true,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "medium"},
            "tools": [
                {"name": "read", "description": "For tests.",
                 "input_schema": {"type": "object", "properties": {}}},
                {"name": "time", "description": "For tests.",
                 "input_schema": {"type": "object", "properties": {}}, "cache_control": kept},
            ],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": kept}],
            "messages": [
                {"role": "user", "content": [
                    {"type": "image",
                     "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    {"type": "text", "text": "look", "cache_control": kept},
                ]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "Well."},
                    {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
                    {"type": "tool_use", "id": "c2", "name": "time", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "(no output)"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "noon"},
                    {"type": "text", "text": "and?", "cache_control": kept},
                ]},
            ],
        })
    );
    let again = || encoded(&request, EarlierThinking::Kept).body;
    assert_eq!(again(), again());
}

#[test]
fn ps_14_nothing_blank_and_nothing_empty_is_sent() {
    let messages = vec![
        Message::System(" ".to_owned()),
        Message::user("a"),
        said("", Vec::new()),
        said(" \n", Vec::new()),
        Message::user(" "),
        Message::user("b"),
        said("", vec![call("c1", "f", "{}")]),
        result("c1", ""),
        Message::user("c"),
    ];
    let body = sent(&request(BUDGETED, None, messages));
    assert!(body.get("system").is_none() && body.get("thinking").is_none());
    let messages = body["messages"].as_array().expect("a list");
    assert_eq!(types(&messages[1]), ["tool_use"]);
    assert_eq!(types(&messages[2]), ["tool_result", "text"]);
    assert_eq!(messages[2]["content"][0]["content"], "(no output)");
}

#[test]
fn a_model_without_tools_is_given_those_that_were_called() {
    let messages = vec![Message::user("a"), said("", vec![call("c1", "b.c", "{}")])];
    let body = sent(&request(ADAPTIVE, None, messages));
    assert_eq!(body["tools"][0]["name"], "b_c");
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

/// A tool turn whose second request is due.
fn tool_turn(model: &str) -> Vec<Message> {
    vec![
        Message::user("go"),
        answered(
            model,
            vec![
                thinking("T"),
                r#"{"type":"redacted_thinking","data":"xyz"}"#.to_owned(),
                r#"{"type":"text","text":"Well."}"#.to_owned(),
                tool_use("toolu_1"),
            ],
            vec![call("c1", "f", r#"{"b":1,"a":2}"#)],
        ),
        result("c1", "done"),
    ]
}

#[test]
fn ps_13_signed_thinking_goes_back_as_it_came_and_in_order() {
    for (model, effort) in
        [(BUDGETED, Some(Effort::High)), (ADAPTIVE, Some(Effort::High)), (ADAPTIVE, None)]
    {
        let request = request(model, effort, tool_turn(model));
        let body = sent(&request);
        let messages = &body["messages"];
        assert_eq!(types(&messages[1]), ["thinking", "redacted_thinking", "text", "tool_use"]);
        assert_eq!(messages[1]["content"][3]["id"], "toolu_1");
        assert_eq!(messages[2]["content"][0]["tool_use_id"], "toolu_1");
        assert_eq!(
            raw_thinking(&request, EarlierThinking::Kept),
            [thinking("T"), r#"{"type":"redacted_thinking","data":"xyz"}"#.to_owned()]
        );
    }
}

#[test]
fn ps_13_thinking_of_a_model_that_nothing_is_known_of_goes_back() {
    let request = request("some-model", None, tool_turn("some-model"));
    let body = sent(&request);
    assert!(body.get("thinking").is_none(), "{body}");
    assert_eq!(types(&body["messages"][1])[..2], ["thinking", "redacted_thinking"]);
    // One that thinks only when told to is not told so, and does without.
    let told = self::request(BUDGETED, None, tool_turn(BUDGETED));
    assert_eq!(types(&sent(&told)["messages"][1]), ["text", "tool_use"]);
}

#[test]
fn ps_13_what_cannot_go_back_as_it_came_is_left_out_whole() {
    let check = |request: &Request, earlier: EarlierThinking, thinks: bool| {
        let body = sent_with(request, earlier);
        assert_eq!(types(&body["messages"][1]), ["text", "tool_use"]);
        assert_eq!(body["messages"][1]["content"][1]["id"], "c1");
        assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "c1");
        assert_eq!(body.get("thinking").is_some(), thinks, "{body}");
    };
    let (kept, left_out) = (EarlierThinking::Kept, EarlierThinking::LeftOut);
    let high = Some(Effort::High);
    // Another model wrote it. A budget needs thinking at the start of the turn, adaptive thinking not.
    check(&request(BUDGETED, high, tool_turn(ADAPTIVE)), kept, false);
    check(&request(ADAPTIVE, high, tool_turn(BUDGETED)), kept, true);
    // The API refused it.
    check(&request(BUDGETED, high, tool_turn(BUDGETED)), left_out, false);
    check(&request(ADAPTIVE, high, tool_turn(ADAPTIVE)), left_out, true);
    // Nothing is thought in this request.
    check(&request(BUDGETED, None, tool_turn(BUDGETED)), kept, false);
    check(&request(BUDGETED, Some(Effort::Off), tool_turn(BUDGETED)), kept, false);
    // An id that another call has, and a block that is none.
    let mut messages = tool_turn(ADAPTIVE);
    messages.splice(0..0, [said("", vec![call("toolu_1", "f", "{}")])]);
    let body = sent(&request(ADAPTIVE, high, messages));
    assert_eq!(types(&body["messages"][3]), ["text", "tool_use"]);
    let mut messages = tool_turn(ADAPTIVE);
    messages[1] = answered(
        ADAPTIVE,
        vec![thinking("T"), "{".to_owned(), tool_use("toolu_1")],
        vec![call("c1", "f", "{}")],
    );
    check(&request(ADAPTIVE, high, messages), kept, true);
}

#[test]
fn ps_13_a_later_round_without_thinking_does_not_switch_it_off() {
    let mut messages = tool_turn(BUDGETED);
    messages.push(said("", vec![call("c2", "f", "{}")]));
    messages.push(result("c2", "x"));
    let body = sent(&request(BUDGETED, Some(Effort::Low), messages.clone()));
    assert_eq!(body["thinking"]["type"], "enabled");
    // A turn that is over needs nothing.
    let mut messages = tool_turn(ADAPTIVE);
    messages.push(said("Done.", Vec::new()));
    messages.push(Message::user("and now?"));
    let body = sent(&request(BUDGETED, Some(Effort::Low), messages));
    assert_eq!(body["thinking"]["type"], "enabled");
}

fn any_native() -> impl Strategy<Value = Option<Arc<NativeBlocks>>> {
    let block = prop_oneof![
        3 => Just(thinking("T")),
        1 => Just(r#"{"type":"redacted_thinking","data":"d"}"#.to_owned()),
        2 => Just(r#"{"type":"text","text":"hi"}"#.to_owned()),
        1 => Just(r#"{"type":"text","text":" "}"#.to_owned()),
        3 => "[abc]1?".prop_map(|id| tool_use(&id)),
        1 => Just("{\"type\":\"thinking\"}".to_owned()),
        1 => Just("no JSON".to_owned()),
    ];
    let native = (
        prop::sample::select(vec![BUDGETED, ADAPTIVE, "other"]),
        prop::collection::vec(block, 0..4),
        prop::sample::select(vec!["anthropic", "anthropic", "openai-responses"]),
    );
    prop::option::of(native.prop_map(|(model, blocks, api)| {
        Arc::new(NativeBlocks { api: api.to_owned(), model: model.to_owned(), blocks })
    }))
}

fn any_message() -> impl Strategy<Value = Message> {
    let text = || prop::sample::select(vec!["", " \n", "hi", "世\u{1F600}\u{0}"]);
    let id = || "[abc]1?|[ 世]".prop_map(|id| id.parse().expect("an id"));
    let arguments =
        prop::sample::select(vec!["{}", "", "{\"a\":", "[]", "\"{}\"", "{\"世\":\"\\ud800\"}"]);
    let name = prop::sample::select(vec!["f", "", "a b", "世"]);
    let call = (id(), name, arguments).prop_map(|(call_id, name, arguments)| ToolCall {
        call_id,
        name: name.to_owned(),
        arguments_json: arguments.to_owned(),
    });
    let image = prop::sample::select(vec!["image/png", "image/gif"])
        .prop_map(|kind| Image { media_type: kind.to_owned(), data_base64: "AA==".into() });
    prop_oneof![
        1 => text().prop_map(|text| Message::System(text.to_owned())),
        3 => (text(), prop::collection::vec(image, 0..2))
            .prop_map(|(text, images)| Message::User { text: text.to_owned(), images }),
        4 => (text(), prop::collection::vec(call, 0..3), any_native()).prop_map(
            |(text, tool_calls, native)| Message::Assistant {
                reasoning: "R".to_owned(),
                text: text.to_owned(),
                tool_calls,
                native,
            }
        ),
        4 => (id(), text()).prop_map(|(call_id, output)| Message::Tool {
            call_id,
            name: "f".to_owned(),
            output: output.to_owned(),
        }),
    ]
}

fn any_request() -> impl Strategy<Value = Request> {
    (
        prop::sample::select(vec![BUDGETED, ADAPTIVE, "claude-3-5-haiku", "unknown"]),
        prop::option::of(prop::sample::select(Effort::ALL.to_vec())),
        prop::option::of(1_u32..50_000),
        prop::collection::vec(any_message(), 0..12),
        prop::collection::vec(prop::sample::select(vec!["f", "g", "h"]), 0..3),
    )
        .prop_map(|(model, effort, max_output_tokens, messages, tools)| Request {
            max_output_tokens,
            tools: tools
                .into_iter()
                .map(|name| ToolSpec {
                    name: name.to_owned(),
                    description: String::new(),
                    parameters: json!({}),
                    capabilities: Capabilities::PURE,
                })
                .collect(),
            ..request(model, effort, messages)
        })
}

proptest! {
    #[test]
    fn sl_02_whatever_the_history_holds_a_strict_api_takes_the_request(request in any_request()) {
        for earlier in [EarlierThinking::Kept, EarlierThinking::LeftOut] {
            sent_with(&request, earlier);
        }
    }

    #[test]
    fn ps_13_no_block_of_thinking_is_ever_changed(request in any_request()) {
        let originals: Vec<&String> = request
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant { native: Some(native), .. } => Some(&native.blocks),
                _ => None,
            })
            .flatten()
            .collect();
        for block in raw_thinking(&request, EarlierThinking::Kept) {
            prop_assert!(originals.contains(&&block), "{}", block);
        }
        prop_assert!(raw_thinking(&request, EarlierThinking::LeftOut).is_empty());
    }
}
