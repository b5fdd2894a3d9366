//! Errors as providers really send them, and what they mean.

use reqwest::header::{HeaderMap, HeaderValue};

use super::*;

/// Checks the code of the error and that its text holds a part of the provider's.
fn check(status: u16, body: &str, expect: &str) {
    let refusal = if status == 0 {
        Refusal::from_json(&serde_json::from_str(body).expect("JSON"))
    } else {
        Refusal::from_body(status, body.as_bytes(), None)
    };
    let error = refusal.into_error(&ErrorText::default());
    assert_eq!(error.code(), expect, "{status} {body}: {error}");
}

#[test]
fn statuses_are_told_apart() {
    for (status, expect) in [
        (400, "PROVIDER_REFUSED_REQUEST"),
        (401, "PROVIDER_AUTH"),
        (402, "PROVIDER_QUOTA"),
        (403, "PROVIDER_AUTH"),
        (404, "PROVIDER_NOT_FOUND"),
        (405, "PROVIDER_REFUSED_REQUEST"),
        (408, "PROVIDER_ERROR"),
        (409, "PROVIDER_ERROR"),
        (413, "CONTEXT_OVERFLOW"),
        (422, "PROVIDER_REFUSED_REQUEST"),
        (429, "PROVIDER_RATE_LIMITED"),
        (500, "PROVIDER_ERROR"),
        (502, "PROVIDER_ERROR"),
        (503, "PROVIDER_ERROR"),
        (529, "PROVIDER_ERROR"),
    ] {
        check(status, "", expect);
        check(status, r#"{"error":{"message":"so it is"}}"#, expect);
        check(status, "<html><h1>Sorry</h1></html>", expect);
    }
}

#[test]
fn an_overflow_is_known_by_code_or_words() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"too many","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"request (4390 tokens) exceeds it","type":"exceed_context_size_error"}}"#,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}"#,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 16384 tokens.","code":400}"#,
        ),
        (400, r#"{"error":"the input length exceeds the context length"}"#),
        (400, r#"{"detail":"The prompt (total length 25938) is too long to fit into the model"}"#),
        (0, r#"{"error":{"code":"context_length_exceeded","message":"too long"}}"#),
    ] {
        check(status, body, "CONTEXT_OVERFLOW");
    }
    check(
        429,
        r#"{"error":{"message":"limit of the context window per minute"}}"#,
        "PROVIDER_RATE_LIMITED",
    );
}

#[test]
fn the_window_that_an_overflow_names_is_kept() {
    let limit = |status: u16, body: &str| {
        let refusal = Refusal::from_body(status, body.as_bytes(), None);
        match refusal.into_error(&ErrorText::default()) {
            LlmError::ContextOverflow { limit_tokens, .. } => limit_tokens,
            other => panic!("{body}: {other:?}"),
        }
    };
    assert_eq!(
        limit(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#
        ),
        Some(200_000)
    );
    assert_eq!(
        limit(
            400,
            r#"{"error":{"code":400,"message":"request (4390 tokens) exceeds it","type":"exceed_context_size_error","n_prompt_tokens":4390,"n_ctx":4096}}"#
        ),
        Some(4096)
    );
    assert_eq!(limit(422, "This model's maximum context length is 16384 tokens."), Some(16384));
    assert_eq!(limit(413, r#"{"error":{"type":"request_too_large","message":"m"}}"#), None);
}

#[test]
fn a_policy_that_refuses_is_no_bad_key() {
    for (status, body) in [
        (400, r#"{"error":{"code":"content_filter","message":"m"}}"#),
        (403, r#"{"error":{"code":403,"message":"Your input was flagged by moderation"}}"#),
        (400, r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}"#),
        (0, r#"{"error":{"code":"content_policy_violation","message":"m"}}"#),
    ] {
        check(status, body, "PROVIDER_CONTENT_REFUSED");
    }
}

#[test]
fn codes_refine_a_vague_status() {
    check(429, r#"{"error":{"message":"no","code":"insufficient_quota"}}"#, "PROVIDER_QUOTA");
    check(403, r#"{"error":{"message":"Insufficient Balance"}}"#, "PROVIDER_QUOTA");
    check(400, r#"{"error":{"message":"no","code":"invalid_api_key"}}"#, "PROVIDER_AUTH");
    check(
        400,
        r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#,
        "PROVIDER_REFUSED_REQUEST",
    );
    check(400, r#"{"error":{"message":"no","code":"model_not_found"}}"#, "PROVIDER_NOT_FOUND");
}

#[test]
fn errors_in_the_stream_are_told_apart() {
    check(0, r#"{"error":{"message":"m","type":"overloaded_error"}}"#, "PROVIDER_ERROR");
    check(0, r#"{"error":{"message":"m","code":502}}"#, "PROVIDER_ERROR");
    check(0, r#"{"error":{"message":"m","code":429}}"#, "PROVIDER_RATE_LIMITED");
    check(0, r#"{"error":{"message":"m","code":"401"}}"#, "PROVIDER_AUTH");
    check(0, r#"{"error":{"message":"m","type":"rate_limit_error"}}"#, "PROVIDER_RATE_LIMITED");
    let anthropic = |kind: &str| {
        format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}},"request_id":"r"}}"#)
    };
    check(0, &anthropic("overloaded_error"), "PROVIDER_ERROR");
    check(0, &anthropic("api_error"), "PROVIDER_ERROR");
    check(0, &anthropic("timeout_error"), "PROVIDER_ERROR");
    check(0, &anthropic("rate_limit_error"), "PROVIDER_RATE_LIMITED");
    check(0, &anthropic("authentication_error"), "PROVIDER_AUTH");
    check(0, &anthropic("permission_error"), "PROVIDER_AUTH");
    check(0, &anthropic("billing_error"), "PROVIDER_QUOTA");
    check(0, &anthropic("not_found_error"), "PROVIDER_NOT_FOUND");
    check(0, &anthropic("request_too_large"), "CONTEXT_OVERFLOW");
    check(0, &anthropic("invalid_request_error"), "PROVIDER_REFUSED_REQUEST");
    check(
        0,
        r#"{"error":{"message":"m","type":"invalid_request_error"}}"#,
        "PROVIDER_REFUSED_REQUEST",
    );
    check(0, r#"{"error":"something"}"#, "PROVIDER_ERROR");
    check(0, r#"{"error":{"message":"m","code":400}}"#, "PROVIDER_REFUSED_REQUEST");
}

#[test]
fn the_message_is_found_in_every_shape() {
    let message = |body: &str| Refusal::from_body(400, body.as_bytes(), None).message;
    assert_eq!(message(r#"{"error":{"message":"m"}}"#), "m");
    assert_eq!(message(r#"{"error":"m"}"#), "m");
    assert_eq!(message(r#"{"message":"m"}"#), "m");
    assert_eq!(message(r#"{"detail":"m"}"#), "m");
    assert_eq!(message(r#"{"detail":[{"msg":"m"}]}"#), r#"[{"msg":"m"}]"#);
    assert_eq!(message(r#"[{"error":{"message":"m"}}]"#), "m");
    assert_eq!(
        message("<html><title>502</title> Bad</html>").split_whitespace().collect::<Vec<_>>(),
        ["502", "Bad"]
    );
    assert_eq!(message("a < b"), "a ");
    assert_eq!(message(""), "no message");
}

#[test]
fn retry_after_is_read_in_every_form() {
    let check = |headers: &[(&'static str, &str)], expect: Option<Duration>| {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_str(value).expect("a header"));
        }
        assert_eq!(retry_after(&map), expect, "{headers:?}");
    };
    let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
    check(&[], None);
    check(&[("retry-after", "7")], Some(Duration::from_secs(7)));
    check(&[("retry-after", "0.5")], Some(Duration::from_millis(500)));
    check(&[("retry-after", "-1")], None);
    check(&[("retry-after", "1e300")], None);
    check(&[("retry-after", "NaN")], None);
    check(&[("retry-after-ms", "250"), ("retry-after", "7")], Some(Duration::from_millis(250)));
    check(&[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"), date], Some(Duration::from_secs(30)));
    check(&[("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT"), date], Some(Duration::ZERO));
    check(&[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")], None);
    check(&[("retry-after", "soon")], None);
}
