//! A real model server, where there is one: `AGENTD_TEST_LLM_URL` is its base URL, ending in `/v1`, and
//! `AGENTD_TEST_LLM_MODEL` a model of it (else the first that it lists).
//!
//! What a small model says is anyone's guess, so the protocol is checked and not the prose.

use agentd_domain::{CallId, Capabilities, ToolCall, ToolSpec};
use agentd_llm::{
    Anthropic, AnthropicOptions, Finish, Message, OpenAiCompatible, OpenAiOptions, OpenAiResponses,
    Provider, Request, ResponsesOptions, Timeouts,
};
use agentd_testkit::Api;
use serde_json::{Value, json};

use crate::support::{Answer, complete, on_every_api};

/// A small model may not choose the tool at once.
const TRIES: usize = 4;

on_every_api! {
    a_real_server_answers_calls_a_tool_and_goes_on,
    a_real_server_says_when_a_conversation_is_too_long,
}

/// The provider and a model; none, said why, where there is no server for the API.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was left out")]
async fn real(api: Api) -> Option<(Box<dyn Provider>, String)> {
    let Ok(url) = std::env::var("AGENTD_TEST_LLM_URL") else {
        eprintln!("skipped: AGENTD_TEST_LLM_URL names no model server");
        return None;
    };
    let key = Some("none".to_owned().into());
    let timeouts = Timeouts::default();
    let provider: Box<dyn Provider> = match api {
        Api::Chat => {
            let options = OpenAiOptions { timeouts, ..OpenAiOptions::new(&url, key) };
            Box::new(OpenAiCompatible::new(options).expect("legal options"))
        }
        Api::Messages => {
            let options = AnthropicOptions { timeouts, ..AnthropicOptions::new(&url, key) };
            Box::new(Anthropic::new(options).expect("legal options"))
        }
        Api::Responses => {
            let options = ResponsesOptions { timeouts, ..ResponsesOptions::new(&url, key) };
            Box::new(OpenAiResponses::new(options).expect("legal options"))
        }
    };
    let model = match std::env::var("AGENTD_TEST_LLM_MODEL") {
        Ok(model) => model,
        Err(_not_set) => {
            let models = provider.models().await.expect("a list of models");
            models.first().expect("a model").clone()
        }
    };
    let greeting = ask(&model, "Say hello.", 8);
    let answer = complete(&*provider, greeting).await;
    if answer.error_code() == "PROVIDER_NOT_FOUND" && api != Api::Chat {
        eprintln!("skipped: {url} does not speak {api:?}");
        return None;
    }
    assert_eq!(answer.error_code(), "", "{:?}", answer.error);
    assert!(!answer.text.is_empty());
    Some((provider, model))
}

fn ask(model: &str, text: &str, max_output_tokens: u32) -> Request {
    Request {
        model: model.to_owned(),
        messages: vec![Message::user(text)],
        max_output_tokens: Some(max_output_tokens),
        ..Request::default()
    }
}

fn calculator() -> ToolSpec {
    ToolSpec {
        name: "calculator".to_owned(),
        description: "Computes an arithmetic expression.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "required": ["expression"],
        }),
        capabilities: Capabilities::PURE,
    }
}

async fn a_real_server_answers_calls_a_tool_and_goes_on(api: Api) {
    let Some((provider, model)) = real(api).await else { return };
    let question = "Use the calculator tool to compute 1234*5678.";
    let asked = Request { tools: vec![calculator()], ..ask(&model, question, 200) };
    let mut called = Answer::default();
    for _ in 0..TRIES {
        called = complete(&*provider, asked.clone()).await;
        assert_eq!(called.error_code(), "", "{:?}", called.error);
        if !called.calls().is_empty() {
            break;
        }
    }
    let end = called.end.as_ref().expect("an end");
    let usage = end.usage.expect("usage");
    assert!(usage.prompt_tokens > 0 && usage.completion_tokens > 0, "{usage:?}");
    let call = end.tool_calls.first().expect("a call in one of the tries");
    assert_eq!((call.name.as_str(), call.is_whole), ("calculator", true));
    let arguments: Value = serde_json::from_str(&call.arguments_json).expect("JSON");
    assert!(arguments["expression"].is_string(), "{arguments}");

    let call_id: CallId = "call_1".parse().expect("an id");
    let mut request = asked;
    request.messages.extend([
        Message::Assistant {
            reasoning: called.reasoning.clone(),
            text: called.text.clone(),
            tool_calls: vec![ToolCall {
                call_id: call_id.clone(),
                name: call.name.clone(),
                arguments_json: call.arguments_json.clone(),
            }],
            native: end.native.clone().map(Into::into),
        },
        Message::Tool { call_id, name: call.name.clone(), output: "7006652".to_owned() },
    ]);
    request.tools.clear();
    let answer = complete(&*provider, request).await;
    assert_eq!(answer.error_code(), "", "{:?}", answer.error);
    assert!(!answer.text.trim().is_empty());
    let finish = answer.end.expect("an end").finish;
    assert!(matches!(finish, Finish::Done | Finish::OutputLimit), "{finish:?}");
}

async fn a_real_server_says_when_a_conversation_is_too_long(api: Api) {
    let Some((provider, model)) = real(api).await else { return };
    // More than the windows of small servers; it is refused before it is read.
    let long = "Never mind this. ".repeat(400_000);
    let error = complete(&*provider, ask(&model, &long, 8)).await.error.expect("an error");
    assert_eq!(error.code(), "CONTEXT_OVERFLOW", "{error}");
}
