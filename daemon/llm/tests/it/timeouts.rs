//! Servers that fall silent, and clients that leave.

use std::time::Duration;

use agentd_llm::{LlmError, OpenAiCompatible, OpenAiOptions, Provider as _, Timeouts};
use agentd_testkit::{Gate, LlmServer, Reply};
use futures_util::StreamExt as _;

use crate::support::{PATIENT, ask, complete, provider, provider_with, read};

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn ps_04_a_silent_stream_ends_in_an_idle_timeout_and_keeps_its_text() {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().text_delta("partial").stall());
    let provider = provider_with(&llm, Timeouts { idle: SHORT, ..PATIENT });
    let answer = complete(&provider, ask("hi")).await;
    assert_eq!(answer.text, "partial");
    let error = answer.error.expect("an error");
    assert!(matches!(error, LlmError::IdleTimeout { after: SHORT }), "{error}");
    assert!(error.is_retryable());
    // The connection is given up, and the next request works.
    llm.wait_for_disconnects(1).await;
    assert_eq!(complete(&provider, ask("again")).await.text, "again");
}

#[tokio::test]
async fn ps_04_headers_that_never_come_end_in_a_first_byte_timeout() {
    let llm = LlmServer::start().await;
    llm.push(Reply::silence());
    let provider = provider_with(&llm, Timeouts { first_byte: SHORT, ..PATIENT });
    let error = complete(&provider, ask("hi")).await.error.expect("an error");
    assert!(matches!(error, LlmError::FirstByteTimeout { after: SHORT, .. }), "{error}");
    llm.wait_for_disconnects(1).await;
}

#[tokio::test]
async fn ps_04_headers_alone_are_no_beginning() {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().stall());
    let provider = provider_with(&llm, Timeouts { first_byte: SHORT, ..PATIENT });
    let error = complete(&provider, ask("hi")).await.error.expect("an error");
    assert!(matches!(error, LlmError::FirstByteTimeout { .. }), "{error}");
}

#[tokio::test]
async fn ps_04_a_whole_answer_does_not_wait_for_the_server_to_hang_up() {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().text_delta("A").finish("stop").stall());
    let provider = provider_with(&llm, Timeouts { idle: SHORT, ..PATIENT });
    let answer = complete(&provider, ask("hi")).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("A", ""));
    llm.push(Reply::sse().text_delta("B").done().stall());
    let answer = complete(&crate::support::provider(&llm), ask("hi")).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("B", ""));
}

#[tokio::test]
async fn ps_04_dropping_the_stream_cancels_the_request() {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().text_delta("A").stall());
    let provider = provider(&llm);
    let mut stream = provider.stream(ask("hi")).await.expect("a stream");
    stream.next().await.expect("a part").expect("no error");
    drop(stream);
    llm.wait_for_disconnects(1).await;
    assert_eq!(complete(&provider, ask("again")).await.text, "again");
}

#[tokio::test]
async fn ps_04_dropping_the_request_before_its_headers_cancels_it() {
    let llm = LlmServer::start().await;
    let gate = Gate::new();
    llm.push(Reply::text("late").wait_before_headers(&gate));
    let provider = provider(&llm);
    tokio::select! {
        _ = provider.stream(ask("hi")) => panic!("an answer through a closed gate"),
        () = gate.reached() => {}
    }
    llm.wait_for_disconnects(1).await;
}

#[tokio::test]
async fn comments_keep_a_slow_answer_alive() {
    let llm = LlmServer::start().await;
    let gate = Gate::new();
    llm.push(Reply::sse().raw(": working\n\n").wait(&gate).text_delta("A").finish("stop").done());
    let stream = provider_with(&llm, PATIENT).stream(ask("hi")).await.expect("a stream");
    gate.reached().await;
    gate.release();
    assert_eq!(read(stream).await.text, "A");
}

#[tokio::test]
async fn a_closed_port_is_a_connection_error_that_names_the_address() {
    let url = {
        let gone = LlmServer::start().await;
        gone.base_url()
    };
    let provider = OpenAiCompatible::new(OpenAiOptions::new(&url, None)).expect("legal options");
    let error = complete(&provider, ask("hi")).await.error.expect("an error");
    assert_eq!(error.code(), "PROVIDER_UNREACHABLE");
    assert!(error.to_string().contains(&url), "{error}");
    assert!(error.is_retryable());
    let error = provider.models().await.expect_err("no server");
    assert_eq!(error.code(), "PROVIDER_UNREACHABLE");
}
