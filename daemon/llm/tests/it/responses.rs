//! What only the Responses API has.

use std::sync::Arc;

use agentd_domain::Effort;
use agentd_llm::{
    Catalogue, InfoSource, Message, ModelInfo, OpenAiResponses, Provider as _, Request,
    ResponsesOptions,
};
use agentd_testkit::{Api, LlmServer, Reply};
use serde_json::json;

use crate::support::{PATIENT, ask, complete, provider_of, tool};

fn known(model: &str) -> Arc<ModelInfo> {
    let facts = Catalogue::builtin().facts(model).expect("a known model");
    Arc::new(ModelInfo::default().with(&facts, InfoSource::Catalogue))
}

#[tokio::test]
async fn the_request_is_what_the_api_expects() {
    let llm = LlmServer::start().await;
    let options = ResponsesOptions {
        timeouts: PATIENT,
        ..ResponsesOptions::new(&llm.base_url(), Some("sk-test".to_owned().into()))
    };
    let provider = OpenAiResponses::new(options).expect("legal options");
    assert_eq!((provider.kind(), provider.base_url()), ("openai-responses", &*llm.base_url()));
    let request = Request {
        model: "gpt-5.5".to_owned(),
        info: known("gpt-5.5"),
        messages: vec![Message::System("be brief".to_owned()), Message::user("hi")],
        tools: vec![tool("a"), tool("b")],
        max_output_tokens: Some(7),
        effort: Some(Effort::High),
        cache_key: Some("s1".to_owned()),
        ..Request::default()
    };
    assert_eq!(complete(&provider, request).await.text, "hi");
    let sent = llm.wait_for_request(1).await;
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/responses"));
    assert_eq!(sent.header("authorization"), Some("Bearer sk-test"));
    assert_eq!(sent.body["store"], json!(false));
    assert_eq!(sent.body["stream"], json!(true));
    assert_eq!(sent.body["max_output_tokens"], json!(16));
    assert_eq!(sent.body["prompt_cache_key"], json!("s1"));
    assert_eq!(sent.body["reasoning"], json!({"effort": "high", "summary": "auto"}));
    assert_eq!((sent.model(), sent.system_text().as_str()), ("gpt-5.5", "be brief"));
    assert_eq!(sent.tool_names(), ["a", "b"]);
    assert_eq!(llm.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn models_are_listed() {
    let llm = LlmServer::start().await;
    llm.set_models(&["b", "a"]);
    let provider = provider_of(Api::Responses, &llm);
    assert_eq!(provider.models().await.expect("a list"), ["a", "b"]);
}

#[tokio::test]
async fn cached_tokens_are_part_of_the_prompt() {
    let llm = LlmServer::start().await;
    llm.push(Reply::sse().text_delta("A").finish("stop").usage_with_cache(10, 5, 4).done());
    let answer = complete(&*provider_of(Api::Responses, &llm), ask("hi")).await;
    let usage = answer.end.expect("an end").usage.expect("usage");
    assert_eq!((usage.prompt_tokens, usage.cached_prompt_tokens), (10, 4));
}

#[tokio::test]
async fn a_refusal_that_is_not_about_reasoning_is_not_tried_again() {
    let llm = LlmServer::start().await;
    llm.push(Reply::error(400, "invalid_request_error", "reasoning.effort is not supported"));
    let answer = complete(&*provider_of(Api::Responses, &llm), ask("hi")).await;
    assert_eq!(answer.error_code(), "PROVIDER_REFUSED_REQUEST");
    assert_eq!(llm.requests().len(), 1);
}

#[tokio::test]
async fn a_server_without_encrypted_reasoning_is_asked_without() {
    let llm = LlmServer::start().await;
    llm.lenient();
    let refusal = "Encrypted content is not supported with this model.";
    llm.push(Reply::error(400, "invalid_request_error", refusal));
    llm.push(Reply::text("done"));
    let answer = complete(&*provider_of(Api::Responses, &llm), ask("hi")).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("done", ""));
    let requests = llm.requests();
    assert_eq!(requests[0].body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(requests[1].body.get("include"), None);
}
