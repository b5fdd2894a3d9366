//! Vectors over real HTTP.

use std::sync::Arc;
use std::time::Duration;

use agentd_llm::layers::{Endpoint, EndpointLimits, LimitedEmbedder, RetryPolicy};
use agentd_llm::{Embedder, EmbeddingOptions, LlmError, OpenAiEmbeddings, TextKind, Timeouts};
use agentd_testkit::{LlmServer, Reply};
use serde_json::{Value, json};

use crate::support::PATIENT;

const KEY: &str = "sk-emb-0123456789abcdef";

fn options(llm: &LlmServer) -> EmbeddingOptions {
    EmbeddingOptions {
        base_url: llm.base_url(),
        api_key: Some(KEY.to_owned().into()),
        timeouts: PATIENT,
        model: "e5".to_owned(),
        dimensions: None,
        query_prefix: "query: ".to_owned(),
        document_prefix: "passage: ".to_owned(),
    }
}

fn embedder(llm: &LlmServer) -> OpenAiEmbeddings {
    OpenAiEmbeddings::new(options(llm)).expect("legal options")
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("text number {n}")).collect()
}

/// What one text comes to when the server answers with this.
async fn error_of(reply: Reply) -> LlmError {
    let llm = LlmServer::start().await;
    llm.push_embeddings(reply);
    embedder(&llm).embed(&texts(1), TextKind::Query).await.expect_err("an error")
}

#[tokio::test]
async fn texts_have_vectors_in_their_order_with_the_prefix_of_their_kind() {
    let llm = LlmServer::start().await;
    let embedder = embedder(&llm);
    let words = ["a red car".to_owned(), "the car is red".to_owned(), "green tea".to_owned()];
    let documents = embedder.embed(&words, TextKind::Document).await.expect("vectors");
    assert_eq!(documents.vectors.iter().map(Vec::len).collect::<Vec<_>>(), [64; 3]);
    assert_eq!((documents.usage.prompt_tokens, documents.usage.estimated), (12, false));
    let near = |a: usize, b: usize| -> f32 {
        documents.vectors[a].iter().zip(&documents.vectors[b]).map(|(x, y)| x * y).sum()
    };
    assert!((near(0, 0) - 1.0).abs() < 1e-5 && near(0, 1) > near(0, 2));
    embedder.embed(&words[..1], TextKind::Query).await.expect("vectors");
    let requests = llm.embedding_requests();
    assert_eq!(requests[0].path, "/v1/embeddings");
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let sent: Vec<&Value> = requests.iter().map(|request| &request.body["input"]).collect();
    let passages = ["passage: a red car", "passage: the car is red", "passage: green tea"];
    assert_eq!(sent, [&json!(passages), &json!(["query: a red car"])]);
    assert_eq!(requests[0].body["dimensions"], Value::Null);
}

#[tokio::test]
async fn many_texts_are_several_requests_and_one_answer() {
    let llm = LlmServer::start().await;
    let options = EmbeddingOptions { dimensions: Some(8), ..options(&llm) };
    llm.set_dimensions(8);
    let embedder = OpenAiEmbeddings::new(options).expect("legal options");
    let embedded = embedder.embed(&texts(70), TextKind::Document).await.expect("vectors");
    assert_eq!(embedded.vectors.len(), 70);
    let requests = llm.embedding_requests();
    let counts: Vec<usize> =
        requests.iter().map(|it| it.body["input"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [32, 32, 6]);
    assert_eq!(requests[0].body["dimensions"], 8);
    assert_eq!(llm.connections(), 1, "the connection is kept");
    assert!(embedder.embed(&[], TextKind::Query).await.expect("nothing").vectors.is_empty());
    let blank = embedder.embed(&[" ".to_owned()], TextKind::Query).await.expect_err("an error");
    assert_eq!(blank.code(), "PROVIDER_REFUSED_REQUEST");
    assert_eq!(llm.embedding_requests().len(), 3, "it was not sent");
}

#[tokio::test]
async fn an_answer_that_is_no_vectors_says_what_it_is() {
    let body = |body: &str| Reply::body(200, "application/json", body);
    for (reply, part) in [
        (body("{}"), "no list of vectors"),
        (body(r#"{"data":[]}"#), "0 vectors for 1 texts"),
        (body(r#"{"data":[{"index":0,"embedding":[0,0]}]}"#), "zero or not finite"),
        (Reply::body(200, "text/html", "<p>welcome</p>"), "no list of vectors"),
    ] {
        let error = error_of(reply).await;
        assert_eq!(error.code(), "PROVIDER_PROTOCOL");
        assert!(error.to_string().contains(part), "{error}");
        assert!(error.to_string().contains("/v1 sends"), "{error}");
    }
    let endless = Reply::body(200, "application/json", "[".repeat(7 * 1024 * 1024));
    assert_eq!(error_of(endless).await.code(), "PROVIDER_ANSWER_TOO_LARGE");
    assert_eq!(error_of(Reply::hang_up()).await.code(), "PROVIDER_STREAM_CUT");
}

#[tokio::test]
async fn sc_03_an_error_names_its_cause_and_never_the_key() {
    let echoed = Reply::error(401, "invalid_api_key", &format!("Incorrect API key: {KEY}"));
    let error = error_of(echoed).await;
    assert_eq!(error.code(), "PROVIDER_AUTH");
    let llm = LlmServer::start().await;
    for text in [error.to_string(), format!("{error:?}"), format!("{:?}", embedder(&llm))] {
        assert!(!text.contains("0123456789"), "{text}");
    }
    let unknown = error_of(Reply::error(404, "model_not_found", "no model e5")).await;
    assert!(unknown.to_string().contains("no model e5"), "{unknown}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_waited_for_so_long() {
    let llm = LlmServer::start().await;
    let timeouts = Timeouts { first_byte: Duration::from_millis(50), ..PATIENT };
    let embedder =
        OpenAiEmbeddings::new(EmbeddingOptions { timeouts, ..options(&llm) }).expect("legal");
    llm.push_embeddings(Reply::silence());
    let error = embedder.embed(&texts(1), TextKind::Query).await.expect_err("an error");
    assert_eq!(error.code(), "PROVIDER_FIRST_BYTE_TIMEOUT");
}

fn limited(llm: &LlmServer) -> LimitedEmbedder {
    let limits = EndpointLimits { breaker_failures: 3, ..EndpointLimits::default() };
    let endpoint = Arc::new(Endpoint::new(llm.base_url(), &limits));
    let ms = Duration::from_millis;
    let retry = RetryPolicy { max_attempts: 3, base: ms(1), max: ms(5) };
    LimitedEmbedder::new(Arc::new(embedder(llm)), endpoint, retry, None)
}

#[tokio::test]
async fn what_nobody_waits_for_is_tried_again_and_a_question_is_not() {
    let llm = LlmServer::start().await;
    let limited = limited(&llm);
    for _ in 0..2 {
        llm.push_embeddings(Reply::error(503, "server_error", "busy"));
    }
    limited.embed(&texts(2), TextKind::Document).await.expect("vectors");
    assert_eq!(llm.embedding_requests().len(), 3);
    llm.push_embeddings(Reply::error(429, "rate_limit_exceeded", "slowly"));
    let error = limited.embed(&texts(1), TextKind::Query).await.expect_err("an error");
    assert_eq!(error.code(), "PROVIDER_RATE_LIMITED");
    llm.push_embeddings(Reply::error(400, "invalid_request_error", "no"));
    limited.embed(&texts(1), TextKind::Document).await.expect_err("it is not tried again");
    assert_eq!(llm.embedding_requests().len(), 5);
}

#[tokio::test]
async fn an_endpoint_that_keeps_failing_is_left_alone() {
    let llm = LlmServer::start().await;
    let limited = limited(&llm);
    for _ in 0..3 {
        llm.push_embeddings(Reply::error(500, "server_error", "broken"));
        limited.embed(&texts(1), TextKind::Query).await.expect_err("an error");
    }
    let error = limited.embed(&texts(1), TextKind::Query).await.expect_err("an error");
    assert_eq!(error.code(), "PROVIDER_CIRCUIT_OPEN");
    assert_eq!(llm.embedding_requests().len(), 3);
}
