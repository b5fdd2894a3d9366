//! Telling a whole answer from a cut one.

use agentd_llm::Finish;
use agentd_testkit::{LlmServer, Reply};
use serde_json::json;

use crate::support::{Answer, answer_to, ask, complete, provider};

async fn check(name: &str, reply: Reply, text: &str, error_code: &str) -> Answer {
    let answer = answer_to(reply).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), (text, error_code), "{name}");
    answer
}

const CUT: &str = "PROVIDER_STREAM_CUT";

#[tokio::test]
async fn ps_05_only_whole_answers_are_taken_for_whole() {
    let two = || Reply::sse().text_delta("A").text_delta("B");
    check("(a) close without end", two(), "AB", CUT).await;
    check("(a) without chunks", two().until_close(), "AB", CUT).await;
    let in_call = two().tool_delta(
        &json!({"index": 0, "id": "x", "function": {"name": "w", "arguments": "{\"path\":\"a"}}),
    );
    let answer = check("(b) close in a call", in_call.clone(), "AB", CUT).await;
    assert!(answer.calls().is_empty());
    check("(b) cut in a call", in_call.cut(), "AB", CUT).await;
    check("(c) no [DONE]", two().finish("stop"), "AB", "").await;
    check("(d) no finish_reason", two().done(), "AB", "").await;
    check("(e) nothing", Reply::sse(), "", "PROVIDER_EMPTY_ANSWER").await;
    check("(e) only [DONE]", Reply::sse().done(), "", "PROVIDER_EMPTY_ANSWER").await;
    check("(e) only comments", Reply::sse().raw(": hi\n\n"), "", "PROVIDER_EMPTY_ANSWER").await;
    check("(f) no last chunk", two().cut(), "AB", CUT).await;
    check("(f) in an event", two().raw("data: {\"choices\":[{\"del").cut(), "AB", CUT).await;
    check("reset", two().reset(), "AB", CUT).await;
    check("hung up before headers", Reply::hang_up(), "", CUT).await;
    check("cut after the end", two().finish("stop").cut(), "AB", "").await;
}

#[tokio::test]
async fn ps_05_every_cut_can_be_tried_again() {
    for reply in [Reply::sse().text_delta("A"), Reply::sse(), Reply::hang_up()] {
        let error = answer_to(reply).await.error.expect("an error");
        assert!(error.is_retryable(), "{error}");
    }
}

#[tokio::test]
async fn ps_10_a_second_attempt_knows_nothing_of_the_first() {
    let llm = LlmServer::start().await;
    let call = |id: &str, arguments: &str| json!({"index": 0, "id": id, "function": {"name": id, "arguments": arguments}});
    llm.push(Reply::sse().text_delta("AB").tool_delta(&call("x", "{\"a\":")).reset());
    llm.push(
        Reply::sse()
            .text_delta("ABCD")
            .tool_delta(&call("y", "{\"b\":1}"))
            .finish("tool_calls")
            .done(),
    );
    let provider = provider(&llm);
    let first = complete(&provider, ask("hi")).await;
    assert_eq!((first.text.as_str(), first.error_code()), ("AB", CUT));
    let second = complete(&provider, ask("hi")).await;
    assert_eq!((second.text.as_str(), second.error_code()), ("ABCD", ""));
    assert_eq!(second.calls(), [("y", "{\"b\":1}")]);
    let requests = llm.requests();
    assert_eq!(requests[0].raw, requests[1].raw);
}

#[tokio::test]
async fn the_reason_to_finish_is_passed_on() {
    for (reason, expect) in [
        ("stop", Finish::Done),
        ("length", Finish::OutputLimit),
        ("content_filter", Finish::Refused),
    ] {
        let answer = answer_to(Reply::sse().text_delta("A").finish(reason).done()).await;
        assert_eq!(answer.end.expect("an end").finish, expect, "{reason}");
    }
}

#[tokio::test]
async fn an_error_in_the_stream_is_no_answer() {
    let error = json!({"message": "upstream is overloaded", "code": 502});
    let reply = Reply::sse().text_delta("A").error_event(&error).finish("error").done();
    let answer = check("error in the stream", reply, "A", "PROVIDER_ERROR").await;
    assert!(answer.error.expect("an error").to_string().contains("upstream is overloaded"));
}

#[tokio::test]
async fn what_is_no_stream_is_said_so() {
    check("HTML", Reply::body(200, "text/html", "<html>"), "", "PROVIDER_PROTOCOL").await;
    check("text", Reply::sse().data("hello"), "", "PROVIDER_PROTOCOL").await;
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_refused() {
    use agentd_llm::{OpenAiCompatible, OpenAiOptions};

    let llm = LlmServer::start().await;
    llm.push(Reply::text(&"x".repeat(5000)));
    llm.push(Reply::whole_json(&"x".repeat(5000)));
    let options =
        OpenAiOptions { max_answer_bytes: 4096, ..OpenAiOptions::new(&llm.base_url(), None) };
    let provider = OpenAiCompatible::new(options).expect("legal options");
    for _ in 0..2 {
        let answer = complete(&provider, ask("hi")).await;
        assert_eq!(answer.error_code(), "PROVIDER_ANSWER_TOO_LARGE");
    }
}

#[tokio::test]
async fn ps_05_a_body_of_another_kind_is_named() {
    let named = async |reply: Reply, expect: &str| {
        let error = answer_to(reply).await.error.expect("an error");
        assert_eq!(error.code(), "PROVIDER_PROTOCOL", "{error}");
        assert!(error.to_string().contains(expect), "{error}");
    };
    named(Reply::text("A").header("content-encoding", "gzip"), "content-encoding 'gzip'").await;
    named(Reply::body(200, "image/png", "\u{1}PNG\n\n"), "'image/png'").await;
    named(Reply::body(200, "application/x-ndjson", "{\"done\":true}\n"), "x-ndjson").await;
    named(Reply::body(200, "text/plain", ""), "'text/plain'").await;
    // A wrong name does no harm to a right body.
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\n\ndata: [DONE]\n\n";
    check("text/plain", Reply::body(200, "text/plain", event), "A", "").await;
    check("identity", Reply::text("A").header("content-encoding", "identity"), "A", "").await;
}
