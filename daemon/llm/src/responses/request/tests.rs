//! What the API is asked.

use std::sync::Arc;

use agentd_domain::{Capabilities, Effort, NativeBlocks, ToolCall};
use serde_json::json;

use super::*;
use crate::{Catalogue, Image, Message, ModelInfo, Request};

fn info(model: &str) -> Arc<ModelInfo> {
    let facts = Catalogue::builtin().facts(model).unwrap_or_default();
    Arc::new(ModelInfo::default().with(&facts, InfoSource::Catalogue))
}

fn body_with(request: Request, reasoning: ReasoningItems) -> (Value, bool) {
    let info = info(&request.model);
    let encoded = encode(&WellFormed::from(Request { info, ..request }), reasoning).expect("one");
    (serde_json::from_slice(&encoded.body).expect("JSON"), encoded.has_earlier)
}

fn body(request: Request) -> Value {
    body_with(request, ReasoningItems::Both).0
}

fn ask(model: &str) -> Request {
    let messages = vec![Message::user("hi")];
    Request { model: model.to_owned(), messages, ..Request::default() }
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        call_id: id.parse().expect("an id"),
        name: "f".to_owned(),
        arguments_json: "{\"a\":1}".to_owned(),
    }
}

fn result(id: &str) -> Message {
    Message::Tool {
        call_id: id.parse().expect("an id"),
        name: "f".to_owned(),
        output: "out".to_owned(),
    }
}

fn native(model: &str) -> Arc<NativeBlocks> {
    let blocks = [
        r#"{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}"#,
        r#"{"type":"function_call","id":"fc","call_id":"theirs","name":"f","arguments":"{ \"a\":1}"}"#,
    ];
    Arc::new(NativeBlocks {
        api: "openai-responses".to_owned(),
        model: model.to_owned(),
        blocks: blocks.map(str::to_owned).to_vec(),
    })
}

fn said(text: &str, calls: &[ToolCall], native: Option<Arc<NativeBlocks>>) -> Message {
    Message::Assistant {
        reasoning: "R".to_owned(),
        text: text.to_owned(),
        tool_calls: calls.to_vec(),
        native,
    }
}

#[test]
fn a_request_asks_for_a_stream_that_nobody_stores() {
    let schema = json!({"type": "object", "properties": {}});
    let request = Request {
        messages: vec![Message::System("be brief".to_owned()), Message::user("hi")],
        tools: vec![ToolSpec {
            name: "f".to_owned(),
            description: "Does.".to_owned(),
            parameters: schema.clone(),
            capabilities: Capabilities::PURE,
        }],
        max_output_tokens: Some(100),
        cache_key: Some("session".to_owned()),
        ..ask("some-model")
    };
    assert_eq!(
        body(request),
        json!({
            "model": "some-model", "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"], "max_output_tokens": 100,
            "prompt_cache_key": "session",
            "tools": [{"type": "function", "name": "f", "description": "Does.",
                       "parameters": schema, "strict": false}],
            "instructions": "be brief",
            "input": [{"type": "message", "role": "user",
                       "content": [{"type": "input_text", "text": "hi"}]}],
        })
    );
}

#[test]
fn encrypted_reasoning_is_asked_for_where_there_can_be_any() {
    let include = |model: &str, reasoning: ReasoningItems| {
        body_with(ask(model), reasoning).0.get("include").cloned()
    };
    let asked = Some(json!(["reasoning.encrypted_content"]));
    assert_eq!(include("gpt-5.5", ReasoningItems::Both), asked);
    assert_eq!(include("gpt-5.5", ReasoningItems::Asked), asked);
    assert_eq!(include("gpt-5.5", ReasoningItems::Neither), None);
    assert_eq!(include("a-model-that-nobody-knows", ReasoningItems::Both), asked);
    assert_eq!(include("gpt-4.1", ReasoningItems::Both), None);
}

#[test]
fn limits_of_the_api_are_kept() {
    let with = |tokens: u32| body(Request { max_output_tokens: Some(tokens), ..ask("gpt-5.5") });
    assert_eq!(with(1)["max_output_tokens"], 16);
    assert_eq!(with(4_000_000)["max_output_tokens"], 128_000);
    assert_eq!(body(ask("gpt-5.5")).get("max_output_tokens"), None);
    let key = body(Request { cache_key: Some("k".repeat(100)), ..ask("m") });
    assert_eq!(key["prompt_cache_key"], "k".repeat(64));
    assert_eq!(
        body(Request { cache_key: Some(" ".to_owned()), ..ask("m") }).get("prompt_cache_key"),
        None
    );
}

#[test]
fn effort_is_said_in_the_models_own_words() {
    let reasoning = |model: &str, effort: Option<Effort>| {
        body(Request { effort, ..ask(model) }).get("reasoning").cloned()
    };
    let told = |effort: &str| Some(json!({"effort": effort, "summary": "auto"}));
    assert_eq!(reasoning("gpt-5.5", Some(Effort::High)), told("high"));
    assert_eq!(reasoning("gpt-5.5", Some(Effort::Max)), told("xhigh"));
    // The caller asks for levels that are offered.
    assert_eq!(reasoning("gpt-5.5", Some(Effort::Minimal)), Some(json!({"summary": "auto"})));
    assert_eq!(reasoning("gpt-5.5", Some(Effort::Off)), Some(json!({"effort": "none"})));
    assert_eq!(reasoning("gpt-5.5", None), Some(json!({"summary": "auto"})));
    assert_eq!(reasoning("a-model-that-nobody-knows", Some(Effort::High)), None);
}

#[test]
fn ps_13_answers_of_the_same_model_go_back_as_they_came() {
    let ask = |native| Request {
        messages: vec![Message::user("hi"), said("", &[call("ours")], native), result("ours")],
        ..ask("m")
    };
    let (sent, has_earlier) = body_with(ask(Some(native("m"))), ReasoningItems::Both);
    assert!(has_earlier);
    assert_eq!(
        sent["input"].as_array().expect("items")[1..],
        [
            json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e"}),
            json!({"type": "function_call", "id": "fc", "call_id": "theirs", "name": "f",
                   "arguments": "{ \"a\":1}"}),
            json!({"type": "function_call_output", "call_id": "theirs", "output": "out"}),
        ]
    );
    let own = [
        json!({"type": "function_call", "call_id": "ours", "name": "f", "arguments": "{\"a\":1}"}),
        json!({"type": "function_call_output", "call_id": "ours", "output": "out"}),
    ];
    for (native, reasoning) in [
        (None, ReasoningItems::Both),
        (Some(native("another")), ReasoningItems::Both),
        (Some(native("m")), ReasoningItems::Asked),
    ] {
        let (sent, has_earlier) = body_with(ask(native), reasoning);
        assert!(!has_earlier);
        assert_eq!(sent["input"].as_array().expect("items")[1..], own);
    }
}

#[test]
fn texts_and_pictures_become_parts() {
    let seen = ModelInfo { vision: true, ..ModelInfo::default() };
    let image = Image { media_type: "image/png".to_owned(), data_base64: "AA==".into() };
    let request = Request {
        messages: vec![
            Message::User { text: "see".to_owned(), images: vec![image] },
            said("I see", &[], None),
            Message::user("good"),
        ],
        info: Arc::new(seen),
        ..ask("m")
    };
    let encoded = encode(&WellFormed::from(request), ReasoningItems::Both).expect("a body");
    let sent: Value = serde_json::from_slice(&encoded.body).expect("JSON");
    assert_eq!(
        sent["input"],
        json!([
            {"type": "message", "role": "user", "content": [
                {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
                {"type": "input_text", "text": "see"},
            ]},
            {"type": "message", "role": "assistant", "content": "I see"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "good"}]},
        ])
    );
}
