//! Cases of whole, cut and silent streams, on every API.

use std::time::Duration;

use agentd_llm::{Finish, LlmError, Timeouts};
use agentd_testkit::{Api, LlmServer, Reply};
use futures_util::StreamExt as _;
use serde_json::json;

use crate::support::{
    PATIENT, answer_in, ask, complete, on_every_api, provider_of, provider_of_with,
};

const SHORT: Duration = Duration::from_millis(50);
const RATE_LIMITED: &str = "PROVIDER_RATE_LIMITED";
const CUT: &str = "PROVIDER_STREAM_CUT";

on_every_api! {
    ps_01_a_character_cut_by_two_writes_is_whole,
    ps_01_a_stream_of_single_bytes_is_whole,
    ps_04_a_silent_stream_ends_in_an_idle_timeout_and_keeps_its_text,
    ps_04_an_answer_that_does_not_begin_ends_in_a_first_byte_timeout,
    ps_04_leaving_cancels_the_request_at_once,
    ps_04_a_whole_answer_does_not_wait_for_the_server_to_hang_up,
    ps_05_only_whole_answers_are_taken_for_whole,
    ps_05_the_reason_to_finish_is_passed_on,
    ps_10_a_second_attempt_knows_nothing_of_the_first,
    what_a_server_does_not_stream_is_understood,
    ps_05_the_body_tells_its_form_whatever_its_type_says,
    ps_05_an_error_in_the_place_of_an_answer_is_told,
    token_counts_that_cannot_be_are_not_believed,
    errors_have_their_meaning_before_and_in_the_stream,
}

async fn ps_01_a_character_cut_by_two_writes_is_whole(api: Api) {
    for at in 1..6 {
        let reply = Reply::sse().text_delta("使用").finish("stop").done().split_inside("使用", at);
        let answer = answer_in(api, reply).await;
        assert_eq!((answer.text.as_str(), answer.error_code()), ("使用", ""), "cut at {at}");
    }
    for at in 1..4 {
        let reply = Reply::tool_call("find", "{\"q\":\"😀\"}").split_inside("😀", at);
        assert_eq!(answer_in(api, reply).await.calls(), [("find", "{\"q\":\"😀\"}")]);
    }
}

async fn ps_01_a_stream_of_single_bytes_is_whole(api: Api) {
    let reply = Reply::sse()
        .reasoning("思考 🤔")
        .text_delta("使用 ")
        .text_delta("😀")
        .tool_delta(&json!({"index": 0, "id": "a", "function": {"name": "find", "arguments": "{\"q\":\"世"}}))
        .tool_delta(&json!({"index": 0, "function": {"arguments": "界😀\"}"}}))
        .finish("tool_calls")
        .usage(1, 2)
        .done();
    let answer = answer_in(api, reply.byte_by_byte()).await;
    assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("思考 🤔", "使用 😀"));
    assert_eq!(answer.calls(), [("find", "{\"q\":\"世界😀\"}")]);
    let usage = answer.end.expect("an end").usage.expect("usage");
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (1, 2));
}

async fn ps_04_a_silent_stream_ends_in_an_idle_timeout_and_keeps_its_text(api: Api) {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().text_delta("partial").stall());
    let provider = provider_of_with(api, &llm, Timeouts { idle: SHORT, ..PATIENT });
    let answer = complete(&*provider, ask("hi")).await;
    assert_eq!(answer.text, "partial");
    let error = answer.error.expect("an error");
    assert!(matches!(error, LlmError::IdleTimeout { after: SHORT }), "{error}");
    assert!(error.is_retryable());
    // The connection is given up, and the next request works.
    llm.wait_for_disconnects(1).await;
    assert_eq!(complete(&*provider, ask("again")).await.text, "again");
}

async fn ps_04_an_answer_that_does_not_begin_ends_in_a_first_byte_timeout(api: Api) {
    for reply in [Reply::silence(), Reply::sse().stall()] {
        let llm = LlmServer::start().await;
        llm.push(reply);
        let provider = provider_of_with(api, &llm, Timeouts { first_byte: SHORT, ..PATIENT });
        let error = complete(&*provider, ask("hi")).await.error.expect("an error");
        assert!(matches!(error, LlmError::FirstByteTimeout { after: SHORT, .. }), "{error}");
        llm.wait_for_disconnects(1).await;
    }
}

async fn ps_04_leaving_cancels_the_request_at_once(api: Api) {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().text_delta("A").stall());
    let provider = provider_of(api, &llm);
    let mut stream = provider.stream(ask("hi")).await.expect("a stream");
    stream.next().await.expect("a part").expect("no error");
    drop(stream);
    llm.wait_for_disconnects(1).await;
    assert_eq!(complete(&*provider, ask("again")).await.text, "again");
}

async fn ps_04_a_whole_answer_does_not_wait_for_the_server_to_hang_up(api: Api) {
    let answer = answer_in(api, Reply::sse().text_delta("A").finish("stop").done().stall()).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("A", ""));
}

async fn ps_05_only_whole_answers_are_taken_for_whole(api: Api) {
    let two = || Reply::sse().text_delta("A").text_delta("B");
    let in_call = || {
        two().tool_delta(
            &json!({"index": 0, "id": "x", "function": {"name": "w", "arguments": "{\"path\":\"a"}}),
        )
    };
    for (name, reply, text, error_code) in [
        ("(a) close without end", two(), "AB", CUT),
        ("(a) without chunks", two().until_close(), "AB", CUT),
        ("(b) close in a call", in_call(), "AB", CUT),
        ("(b) cut in a call", in_call().cut(), "AB", CUT),
        ("(c) no end of the stream", two().finish("stop"), "AB", ""),
        ("(d) no reason to finish", two().done(), "AB", ""),
        ("(e) nothing", Reply::sse(), "", "PROVIDER_EMPTY_ANSWER"),
        ("(e) only comments", Reply::sse().raw(": hi\n\n"), "", "PROVIDER_EMPTY_ANSWER"),
        ("(e) an end alone", Reply::sse().finish("stop").done(), "", "PROVIDER_EMPTY_ANSWER"),
        ("(f) no last chunk", two().cut(), "AB", CUT),
        ("(f) in an event", two().raw("data: {\"type\":\"resp").cut(), "AB", CUT),
        ("reset", two().reset(), "AB", CUT),
        ("hung up before headers", Reply::hang_up(), "", CUT),
        ("cut after the end", two().finish("stop").done().cut(), "AB", ""),
    ] {
        let answer = answer_in(api, reply).await;
        assert_eq!((answer.text.as_str(), answer.error_code()), (text, error_code), "{name}");
        assert_eq!(answer.end.is_some(), error_code.is_empty(), "{name}");
        assert!(answer.error.is_none_or(|error| error.is_retryable()), "{name}");
    }
}

async fn ps_05_the_reason_to_finish_is_passed_on(api: Api) {
    for (reason, expect) in [
        ("stop", Finish::Done),
        ("length", Finish::OutputLimit),
        ("content_filter", Finish::Refused),
    ] {
        let answer = answer_in(api, Reply::sse().text_delta("A").finish(reason).done()).await;
        assert_eq!(answer.end.expect("an end").finish, expect, "{reason}");
    }
}

async fn ps_10_a_second_attempt_knows_nothing_of_the_first(api: Api) {
    let llm = LlmServer::start().await;
    let half = json!({"index": 0, "id": "x", "function": {"name": "x", "arguments": "{\"a\":"}});
    llm.push(Reply::sse().text_delta("AB").tool_delta(&half).reset());
    llm.push(
        Reply::sse()
            .text_delta("ABCD")
            .call_deltas(&[("y", "{\"b\":1}")])
            .finish("tool_calls")
            .done(),
    );
    let provider = provider_of(api, &llm);
    let first = complete(&*provider, ask("hi")).await;
    assert_eq!((first.text.as_str(), first.error_code()), ("AB", CUT));
    let second = complete(&*provider, ask("hi")).await;
    assert_eq!((second.text.as_str(), second.error_code()), ("ABCD", ""));
    assert_eq!(second.calls(), [("y", "{\"b\":1}")]);
    let requests = llm.requests();
    assert_eq!(requests[0].raw, requests[1].raw);
}

/// An answer of one piece in the form of an API.
fn whole_answer(api: Api) -> serde_json::Value {
    match api {
        Api::Chat => json!({"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}),
        Api::Messages => json!({
            "type": "message",
            "content": [{"type": "text", "text": "A"}],
            "stop_reason": "end_turn",
        }),
        Api::Responses => json!({
            "object": "response",
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "A"}]}],
        }),
    }
}

async fn ps_05_the_body_tells_its_form_whatever_its_type_says(api: Api) {
    let answer = format!(" \n{:#}\n", whole_answer(api));
    for content_type in ["text/event-stream", "text/plain", "application/json"] {
        let read = answer_in(api, Reply::body(200, content_type, answer.clone())).await;
        assert_eq!((read.text.as_str(), read.error_code()), ("A", ""), "{content_type}");
    }
    for (body, expect) in
        [("<html>Log in</html>", "a web page"), ("\u{1}\u{8b} compressed\n\n", "no text")]
    {
        let error = answer_in(api, Reply::body(200, "text/event-stream", body)).await.error;
        let error = error.expect("an error");
        assert_eq!(error.code(), "PROVIDER_PROTOCOL");
        assert!(error.to_string().contains(expect), "{error}");
    }
}

async fn ps_05_an_error_in_the_place_of_an_answer_is_told(api: Api) {
    for (body, code) in [
        (r#"{"message":"the model is being loaded","code":503}"#, "PROVIDER_ERROR"),
        (r#"{"detail":"the model is being loaded"}"#, "PROVIDER_ERROR"),
        (r#"{"error":{"message":"is being loaded","code":"rate_limit_exceeded"}}"#, RATE_LIMITED),
    ] {
        let event = format!("data: {body}\n\n");
        for reply in [
            Reply::body(200, "application/json", body),
            Reply::body(200, "text/event-stream", body),
            Reply::body(200, "text/event-stream", event),
        ] {
            let error = answer_in(api, reply).await.error.expect("an error");
            assert_eq!(error.code(), code, "{error}");
            assert!(error.to_string().contains("being loaded"), "{error}");
        }
    }
}

async fn token_counts_that_cannot_be_are_not_believed(api: Api) {
    for (count, is_believed) in [(1_000_000, true), (5_000_000_000, false)] {
        let reply = Reply::sse().text_delta("A").finish("stop").usage(count, 5).done();
        let usage = answer_in(api, reply).await.end.expect("an end").usage;
        assert_eq!(usage.is_some_and(|usage| usage.prompt_tokens == count), is_believed);
        assert_eq!(usage.is_some(), is_believed, "{usage:?}");
    }
}

async fn what_a_server_does_not_stream_is_understood(api: Api) {
    let reply = Reply::sse()
        .reasoning("R")
        .text_delta("hi")
        .call_deltas(&[("f", "{\"a\":1}"), ("g", "{}")])
        .finish("tool_calls")
        .usage(10, 5)
        .whole();
    let answer = answer_in(api, reply).await;
    assert_eq!(answer.error_code(), "");
    assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("R", "hi"));
    assert_eq!(answer.calls(), [("f", "{\"a\":1}"), ("g", "{}")]);
    assert_eq!(answer.end.expect("an end").usage.expect("usage").completion_tokens, 5);
}

async fn errors_have_their_meaning_before_and_in_the_stream(api: Api) {
    for (status, code, expect) in [
        (400, "invalid_request_error", "PROVIDER_REFUSED_REQUEST"),
        (401, "authentication_error", "PROVIDER_AUTH"),
        (429, "rate_limit_error", "PROVIDER_RATE_LIMITED"),
        (500, "api_error", "PROVIDER_ERROR"),
        (529, "overloaded_error", "PROVIDER_ERROR"),
    ] {
        let reply = Reply::error(status, code, "so it is").header("retry-after", "7");
        let error = answer_in(api, reply).await.error.expect("an error");
        assert_eq!(error.code(), expect, "{status} {code}");
        assert!(error.to_string().contains("so it is"), "{error}");
        let waits = matches!(error, LlmError::RateLimited { .. } | LlmError::Server { .. });
        assert_eq!(error.retry_after(), waits.then_some(Duration::from_secs(7)), "{error}");
    }
    for (code, expect) in [
        ("overloaded_error", "PROVIDER_ERROR"),
        ("rate_limit_error", "PROVIDER_RATE_LIMITED"),
        ("invalid_request_error", "PROVIDER_REFUSED_REQUEST"),
    ] {
        let error = json!({"message": "so it is", "code": code});
        let answer = answer_in(api, Reply::sse().text_delta("A").error_event(&error)).await;
        assert_eq!((answer.text.as_str(), answer.error_code()), ("A", expect), "{code}");
        assert!(answer.error.expect("an error").to_string().contains("so it is"));
    }
    let garbage = answer_in(api, Reply::sse().text_delta("A").data("{\"a\": [garbage")).await;
    assert_eq!((garbage.text.as_str(), garbage.error_code()), ("A", "PROVIDER_PROTOCOL"));
}
