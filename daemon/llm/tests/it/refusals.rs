//! Errors, redirects, and the key that must not leak.

use std::time::Duration;

use agentd_llm::{LlmError, OpenAiCompatible, OpenAiOptions, Provider as _};
use agentd_testkit::{LlmServer, Reply};
use serde_json::json;

use crate::support::{PATIENT, answer_to, ask, complete};

const KEY: &str = "sk-proj-0123456789abcdef";

fn with_key(llm: &LlmServer) -> OpenAiCompatible {
    let options = OpenAiOptions {
        timeouts: PATIENT,
        ..OpenAiOptions::new(&llm.base_url(), Some(KEY.to_owned().into()))
    };
    OpenAiCompatible::new(options).expect("legal options")
}

/// No part of the key that would tell it.
fn assert_masked(error: &LlmError) {
    for text in [error.to_string(), format!("{error:?}"), error.report().message] {
        assert!(!text.contains("sk-proj-"), "{text}");
        assert!(!text.contains("0123456789"), "{text}");
    }
}

#[tokio::test]
async fn sc_03_a_key_that_the_provider_echoes_is_masked() {
    let llm = LlmServer::start().await;
    let provider = with_key(&llm);
    llm.push(Reply::error(401, "invalid_api_key", &format!("Incorrect API key: {KEY}.\u{1b}[31m")));
    llm.push(Reply::error(401, "invalid_api_key", "Incorrect API key: sk-proj-012345*****cdef."));
    llm.push(Reply::body(403, "text/plain", format!("<p>{KEY}</p> is not allowed")));
    llm.push(Reply::body(401, "text/plain", format!("{}{KEY}", "x".repeat(64 * 1024 - 12))));
    for _ in 0..4 {
        let error = complete(&provider, ask("hi")).await.error.expect("an error");
        assert_eq!(error.code(), "PROVIDER_AUTH");
        assert_masked(&error);
        assert!(!error.to_string().contains('\u{1b}'));
        assert!(error.to_string().len() < 2200);
    }
    let in_stream = json!({"message": format!("bad key {KEY}"), "code": "invalid_api_key"});
    llm.push(Reply::sse().text_delta("A").error_event(&in_stream));
    llm.push(Reply::sse().data(&format!("{KEY} is no JSON")).text_delta("A"));
    for expect in ["PROVIDER_AUTH", "PROVIDER_PROTOCOL"] {
        let error = complete(&provider, ask("hi")).await.error.expect("an error");
        assert_eq!(error.code(), expect);
        assert_masked(&error);
    }
}

#[tokio::test]
async fn sc_03_redirects_are_not_followed() {
    let (llm, other) = (LlmServer::start().await, LlmServer::start().await);
    let target = format!("{}/chat/completions?key=1", other.base_url());
    for status in [301, 302, 307, 308] {
        llm.push(Reply::body(status, "text/plain", "").header("location", &target));
        let error = complete(&with_key(&llm), ask("hi")).await.error.expect("an error");
        assert_eq!(error.code(), "PROVIDER_PROTOCOL");
        assert!(error.to_string().contains(&other.address().to_string()), "{error}");
        assert!(!error.is_retryable());
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn statuses_become_errors_with_the_providers_words() {
    for (status, code, expect) in [
        (400, "invalid_request_error", "PROVIDER_REFUSED_REQUEST"),
        (400, "context_length_exceeded", "CONTEXT_OVERFLOW"),
        (402, "", "PROVIDER_QUOTA"),
        (404, "model_not_found", "PROVIDER_NOT_FOUND"),
        (429, "insufficient_quota", "PROVIDER_QUOTA"),
        (429, "rate_limit_exceeded", "PROVIDER_RATE_LIMITED"),
        (500, "server_error", "PROVIDER_ERROR"),
        (529, "overloaded_error", "PROVIDER_ERROR"),
    ] {
        let answer = answer_to(Reply::error(status, code, "so it is")).await;
        assert_eq!(answer.error_code(), expect, "{status} {code}");
        assert!(answer.error.expect("an error").to_string().contains("so it is"));
    }
}

#[tokio::test]
async fn the_wait_that_a_provider_asks_for_is_passed_on() {
    for (status, header, expect) in [(429, "7", 7), (503, "2", 2)] {
        let reply = Reply::error(status, "", "later").header("retry-after", header);
        let error = answer_to(reply).await.error.expect("an error");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(expect)));
    }
    let reply = Reply::error(429, "", "later")
        .header("date", "Wed, 21 Oct 2015 07:28:00 GMT")
        .header("retry-after", "Wed, 21 Oct 2015 07:28:09 GMT");
    let error = answer_to(reply).await.error.expect("an error");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));
}

#[tokio::test]
async fn an_error_whose_body_breaks_off_keeps_its_meaning() {
    let error = answer_to(Reply::sse().status(503).raw("{\"err").cut()).await;
    assert_eq!(error.error_code(), "PROVIDER_ERROR");
}

#[tokio::test]
async fn models_are_listed_sorted_and_bounded() {
    let llm = LlmServer::start().await;
    llm.set_models(&["b", "a", "c", "a"]);
    let provider = with_key(&llm);
    assert_eq!(provider.models().await.expect("a list"), ["a", "b", "c"]);
    let many: Vec<String> = (0..300).map(|n| format!("m{n:03}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    llm.set_models(&many);
    assert_eq!(provider.models().await.expect("a list").len(), 200);
}
