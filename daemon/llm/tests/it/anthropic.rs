//! Anthropic's Messages API, against a server that refuses what the API refuses.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Effort, ToolCall};
use agentd_llm::{
    Anthropic, AnthropicOptions, Catalogue, Finish, InfoSource, LlmError, Message, ModelInfo,
    Provider as _, Request, Timeouts,
};
use agentd_testkit::{LlmServer, Pace, Reply};
use serde_json::{Value, json};

use crate::support::{Answer, PATIENT, ask, complete, tool};

/// Is given a budget of thinking.
const BUDGETED: &str = "claude-sonnet-4-5";
/// Thinks as it sees fit.
const ADAPTIVE: &str = "claude-opus-5";
const KEY: &str = "sk-ant-0123456789abcdef";

fn info(model: &str) -> ModelInfo {
    let facts = Catalogue::builtin().facts(model).expect("a known model");
    ModelInfo::default().with(&facts, InfoSource::Catalogue)
}

fn anthropic_with(base_url: &str, timeouts: Timeouts) -> Anthropic {
    let options = AnthropicOptions {
        timeouts,
        ..AnthropicOptions::new(base_url, Some(KEY.to_owned().into()))
    };
    Anthropic::new(options).expect("legal options")
}

fn anthropic(llm: &LlmServer) -> Anthropic {
    anthropic_with(&llm.base_url(), PATIENT)
}

async fn answer_to(reply: Reply) -> Answer {
    let llm = LlmServer::start().await;
    llm.push(reply);
    complete(&anthropic(&llm), ask("hi")).await
}

/// A conversation that a provider is asked to go on with.
struct Talk {
    llm: LlmServer,
    provider: Anthropic,
    messages: Vec<Message>,
    calls: usize,
}

impl Talk {
    async fn start() -> Self {
        let llm = LlmServer::start().await;
        let provider = anthropic(&llm);
        Self { llm, provider, messages: Vec::new(), calls: 0 }
    }

    fn user(&mut self, text: &str) {
        self.messages.push(Message::user(text));
    }

    /// Asks a model, and adds its answer and the results of its calls.
    async fn ask(&mut self, model: &str, effort: Option<Effort>) -> Answer {
        let request = Request {
            model: model.to_owned(),
            info: Arc::new(info(model)),
            effort,
            messages: self.messages.clone(),
            tools: vec![tool("look")],
            ..Request::default()
        };
        let answer = complete(&self.provider, request).await;
        let Some(end) = answer.end.clone() else { return answer };
        let mut results = Vec::new();
        let mut tool_calls = Vec::new();
        for call in end.tool_calls {
            self.calls += 1;
            let call_id: agentd_domain::CallId = format!("c{}", self.calls).parse().expect("an id");
            results.push(Message::Tool {
                call_id: call_id.clone(),
                name: call.name.clone(),
                output: format!("result {}", self.calls),
            });
            tool_calls.push(ToolCall {
                call_id,
                name: call.name,
                arguments_json: call.arguments_json,
            });
        }
        self.messages.push(Message::Assistant {
            reasoning: answer.reasoning.clone(),
            text: answer.text.clone(),
            tool_calls,
            native: end.native.map(Arc::new),
        });
        self.messages.extend(results);
        answer
    }

    /// Types of the blocks of a message of the newest request.
    fn sent_types(&self, message: usize) -> Vec<String> {
        let blocks = self.sent(&format!("/messages/{message}/content"));
        let blocks = blocks.as_array().expect("blocks");
        blocks.iter().map(|block| block["type"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn sent(&self, pointer: &str) -> Value {
        let requests = self.llm.requests();
        requests.last().expect("a request").body.pointer(pointer).cloned().unwrap_or_default()
    }
}

fn look() -> Reply {
    Reply::sse()
        .signed_reasoning("T", "sig1")
        .redacted_reasoning("secret")
        .text_delta("Well.")
        .call_deltas(&[("look", r#"{"b":1,"a":"世"}"#), ("look", "{}")])
        .finish("tool_calls")
        .usage_with_cache(130, 20, 100)
        .done()
}

#[tokio::test]
async fn ps_13_a_tool_turn_goes_on_with_the_same_signed_blocks() {
    for model in [BUDGETED, ADAPTIVE] {
        let mut talk = Talk::start().await;
        talk.user("go");
        talk.llm.push(look());
        let answer = talk.ask(model, Some(Effort::High)).await;
        assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("T", "Well."));
        assert_eq!(answer.calls(), [("look", r#"{"b":1,"a":"世"}"#), ("look", "{}")]);
        let usage = answer.end.expect("an end").usage.expect("usage");
        assert_eq!((usage.prompt_tokens, usage.cached_prompt_tokens), (130, 100));
        // A second round, and then the next turn, with everything in it.
        talk.llm.push(look());
        assert_eq!(talk.ask(model, Some(Effort::High)).await.error_code(), "");
        talk.llm.push(Reply::text("Done."));
        assert_eq!(talk.ask(model, Some(Effort::High)).await.text, "Done.");
        talk.user("and?");
        assert_eq!(talk.ask(model, Some(Effort::High)).await.text, "and?");
        let signed = ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"];
        assert_eq!(talk.sent_types(1), signed);
        assert_eq!(talk.sent_types(3), signed);
        assert_eq!(talk.sent_types(2), ["tool_result", "tool_result"]);
        assert_eq!(talk.llm.violations(), Vec::<String>::new(), "{model}");
    }
}

#[tokio::test]
async fn ps_13_another_model_goes_on_and_comes_back_without_an_altered_block() {
    let mut talk = Talk::start().await;
    talk.user("go");
    talk.llm.push(look());
    talk.ask(ADAPTIVE, Some(Effort::Low)).await;
    // Another model cannot read the thinking, and with a budget it may not think in this turn.
    talk.llm.push(Reply::tool_call("look", "{}"));
    assert_eq!(talk.ask(BUDGETED, Some(Effort::Low)).await.error_code(), "");
    assert_eq!(talk.sent_types(1), ["text", "tool_use", "tool_use"]);
    assert_eq!(talk.sent("/thinking"), Value::Null);
    // The first model gets its own back.
    talk.llm.push(Reply::text("Done."));
    assert_eq!(talk.ask(ADAPTIVE, Some(Effort::Low)).await.text, "Done.");
    assert_eq!(talk.sent_types(1)[..2], ["thinking", "redacted_thinking"]);
    assert_eq!(talk.llm.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn ps_13_thinking_that_is_refused_is_left_out_and_the_session_lives() {
    let mut talk = Talk::start().await;
    talk.user("go");
    talk.llm.push(look());
    talk.ask(ADAPTIVE, Some(Effort::High)).await;
    let refusal = "messages.1.content.0: Invalid `signature` in `thinking` block. \
                   The block is bound to a different conversation.";
    talk.llm.push(Reply::error(400, "invalid_request_error", refusal));
    talk.llm.push(Reply::text("Done."));
    let answer = talk.ask(ADAPTIVE, Some(Effort::High)).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("Done.", ""));
    assert_eq!(talk.sent_types(1), ["text", "tool_use", "tool_use"]);
    // Once: what is refused again is told, and so is what has nothing to do with thinking.
    talk.user("more");
    for (refusals, message) in [(2, refusal), (1, "max_tokens: too large")] {
        for _ in 0..refusals {
            talk.llm.push(Reply::error(400, "invalid_request_error", message));
        }
        let before = talk.llm.requests().len();
        let error = talk.ask(ADAPTIVE, Some(Effort::High)).await.error.expect("an error");
        assert_eq!(error.code(), "PROVIDER_REFUSED_REQUEST");
        assert_eq!(talk.llm.requests().len(), before + refusals);
    }
}

#[tokio::test]
async fn the_key_and_the_version_are_sent_to_any_form_of_the_base_url() {
    let llm = LlmServer::start().await;
    let base = format!("http://{}", llm.address());
    for base_url in
        [base.clone(), format!("{base}/"), format!("{base}/v1"), format!("{base}/x/v1/")]
    {
        let answer = complete(&anthropic_with(&base_url, PATIENT), ask("hi")).await;
        assert_eq!(answer.text, "hi", "{base_url}");
    }
    let request = &llm.requests()[0];
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.body["max_tokens"], 8192);
    assert!(request.body.get("temperature").is_none());
    assert_eq!(llm.requests()[3].path, "/x/v1/messages");
}

#[tokio::test]
async fn models_are_listed() {
    let llm = LlmServer::start().await;
    llm.set_models(&["claude-b", "claude-a"]);
    let provider = anthropic(&llm);
    assert_eq!((provider.kind(), provider.base_url()), ("anthropic", llm.base_url().as_str()));
    assert_eq!(provider.models().await.expect("a list"), ["claude-a", "claude-b"]);
}

#[tokio::test]
async fn ps_01_single_bytes_and_cut_characters_do_no_harm() {
    let rich = || {
        let said = Reply::sse().reasoning("想").text_delta("使用 😀");
        said.call_deltas(&[("look", r#"{"b":1,"a":"世"}"#)]).finish("tool_calls").done()
    };
    for reply in [rich().byte_by_byte(), rich().split_inside("世", 1), rich().split_inside("😀", 2)]
    {
        let answer = answer_to(reply).await;
        assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("想", "使用 😀"));
        assert_eq!(answer.calls()[0], ("look", r#"{"b":1,"a":"世"}"#));
    }
}

#[tokio::test]
async fn ps_04_a_silent_stream_ends_in_an_idle_timeout_and_keeps_its_text() {
    const SHORT: Duration = Duration::from_millis(50);
    let llm = LlmServer::start().await;
    let with = |timeouts| anthropic_with(&llm.base_url(), timeouts);
    llm.push(Reply::sse().text_delta("partial").stall());
    let answer = complete(&with(Timeouts { idle: SHORT, ..PATIENT }), ask("hi")).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("partial", "PROVIDER_IDLE_TIMEOUT"));
    llm.push(Reply::silence());
    let answer = complete(&with(Timeouts { first_byte: SHORT, ..PATIENT }), ask("hi")).await;
    assert_eq!(answer.error_code(), "PROVIDER_FIRST_BYTE_TIMEOUT");
    llm.wait_for_disconnects(2).await;
    // Dropping cancels.
    llm.push(Reply::sse().text_delta("A").stall());
    drop(with(PATIENT).stream(ask("hi")).await.expect("a stream"));
    llm.wait_for_disconnects(3).await;
}

#[tokio::test]
async fn ps_05_only_whole_answers_are_taken_for_whole() {
    let two = || Reply::sse().text_delta("A").text_delta("B");
    let in_call = || two().call_deltas(&[("look", r#"{"path":"a"#)]);
    for (name, reply, text, code) in [
        ("(a) close without end", two(), "AB", "PROVIDER_STREAM_CUT"),
        ("(a) without chunks", two().until_close(), "AB", "PROVIDER_STREAM_CUT"),
        ("(b) close in a call", in_call(), "AB", "PROVIDER_STREAM_CUT"),
        ("(b) cut in a call", in_call().cut(), "AB", "PROVIDER_STREAM_CUT"),
        ("(c) no last event", two().finish("stop"), "AB", ""),
        ("(e) nothing", Reply::sse(), "", "PROVIDER_EMPTY_ANSWER"),
        ("(f) no last chunk", two().cut(), "AB", "PROVIDER_STREAM_CUT"),
        ("reset", two().reset(), "AB", "PROVIDER_STREAM_CUT"),
        ("hung up", Reply::hang_up(), "", "PROVIDER_STREAM_CUT"),
        ("cut after the end", two().finish("stop").cut(), "AB", ""),
    ] {
        let answer = answer_to(reply).await;
        assert_eq!((answer.text.as_str(), answer.error_code()), (text, code), "{name}");
        assert!(answer.calls().is_empty());
    }
}

#[tokio::test]
async fn ps_10_a_second_attempt_knows_nothing_of_the_first() {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().text_delta("AB").call_deltas(&[("x", "{\"a\":")]).reset());
    llm.push(
        Reply::sse().text_delta("ABCD").call_deltas(&[("y", "{\"b\":1}")]).finish("tool_calls"),
    );
    let provider = anthropic(&llm);
    let first = complete(&provider, ask("hi")).await;
    assert_eq!((first.text.as_str(), first.error_code()), ("AB", "PROVIDER_STREAM_CUT"));
    let second = complete(&provider, ask("hi")).await;
    assert_eq!((second.text.as_str(), second.calls()), ("ABCD", vec![("y", "{\"b\":1}")]));
    assert_eq!(llm.requests()[0].raw, llm.requests()[1].raw);
}

#[tokio::test]
async fn ta_05_the_output_limit_and_refusals_are_told() {
    for (reason, expect) in [
        ("stop", Finish::Done),
        ("length", Finish::OutputLimit),
        ("content_filter", Finish::Refused),
    ] {
        let reply = Reply::sse().text_delta("A").call_deltas(&[("look", "{}")]).finish(reason);
        let end = answer_to(reply.done()).await.end.expect("an end");
        assert_eq!(end.finish, expect);
        assert_eq!(end.tool_calls[0].is_whole, expect != Finish::OutputLimit);
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let answer = answer_to(look().whole()).await;
    assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("T", "Well."));
    let end = answer.end.expect("an end");
    assert_eq!(end.tool_calls.len(), 2);
    assert!(end.native.expect("native blocks").blocks[0].contains("sig1"));
}

#[tokio::test]
async fn sc_03_errors_are_told_apart_and_the_key_is_masked() {
    for (status, code, message, expect) in [
        (400, "invalid_request_error", "no", "PROVIDER_REFUSED_REQUEST"),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "CONTEXT_OVERFLOW",
        ),
        (400, "invalid_request_error", "Your credit balance is too low", "PROVIDER_QUOTA"),
        (401, "authentication_error", "invalid x-api-key sk-ant-0123456789", "PROVIDER_AUTH"),
        (404, "not_found_error", "model: x", "PROVIDER_NOT_FOUND"),
        (413, "request_too_large", "no", "CONTEXT_OVERFLOW"),
        (429, "rate_limit_error", "slow", "PROVIDER_RATE_LIMITED"),
        (529, "overloaded_error", "Overloaded", "PROVIDER_ERROR"),
    ] {
        let error = answer_to(Reply::error(status, code, message)).await.error.expect("an error");
        assert_eq!(error.code(), expect, "{status} {code}");
        assert_eq!(error.is_retryable(), matches!(status, 429 | 529));
        assert!(!error.to_string().contains("0123456789"), "{error}");
        if let LlmError::ContextOverflow { limit_tokens, .. } = error {
            assert_eq!(limit_tokens, (status == 400).then_some(200_000));
        }
    }
    let overloaded = json!({"type": "overloaded_error", "message": "Overloaded"});
    let answer = answer_to(Reply::sse().text_delta("A").error_event(&overloaded)).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("A", "PROVIDER_ERROR"));
    assert!(answer.error.expect("an error").is_retryable());
}

#[tokio::test]
async fn twenty_thousand_deltas_arrive_whole_and_merged() {
    let reply = Reply::sse().deltas(20_000, "token ", Pace::Coalesced).finish("stop").done();
    let answer = answer_to(reply).await;
    assert_eq!((answer.error_code(), answer.text.len()), ("", 20_000 * "token ".len()));
    assert!(answer.parts < 2_000, "{} parts", answer.parts);
}
