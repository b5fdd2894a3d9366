//! Models and efforts: which one is asked, how long it reasons, who stands in for it.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::AttachPosition;
use agentd_testkit::{Daemon, Driver, LlmServer, Reply};
use serde_json::{Value, json};

async fn update(driver: &Driver, model: Option<&str>, effort: Option<v1::Effort>) {
    let request = v1::UpdateSessionRequest {
        permission_mode: None,
        work_mode: None,
        session_id: driver.session_id().to_owned(),
        title: None,
        model: model.map(str::to_owned),
        author: Some(driver.author()),
        effort: effort.map(Into::into),
    };
    driver.client().session().update_session(request).await.unwrap();
}

/// Asks, and returns the model and the effort of the request that came of it.
async fn asked(driver: &mut Driver, llm: &LlmServer) -> (String, Value) {
    driver.ask("hello").await;
    let request = llm.requests().last().cloned().unwrap();
    (request.model().to_owned(), request.body["reasoning_effort"].clone())
}

fn last_start(driver: &Driver) -> v1::TurnStarted {
    let starts = driver.bodies().filter_map(|body| match body {
        Body::TurnStarted(started) => Some(started.clone()),
        _ => None,
    });
    starts.last().unwrap()
}

#[tokio::test]
async fn model_and_effort_count_from_the_next_turn_on_and_survive_a_restart() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::builder().llm(&llm).set("provider.model", "gpt-4o").start().await;
    let mut ann = daemon.driver("ann").await;
    assert_eq!(asked(&mut ann, &llm).await, ("gpt-4o".to_owned(), Value::Null));
    assert_eq!(last_start(&ann).effort_requested(), v1::Effort::Unspecified);
    update(&ann, Some("gpt-oss"), Some(v1::Effort::Max)).await;
    assert_eq!(asked(&mut ann, &llm).await, ("gpt-oss".to_owned(), json!("high")));
    let started = last_start(&ann);
    assert_eq!(started.model, "gpt-oss");
    assert_eq!(
        (started.effort_requested(), started.effort_effective()),
        (v1::Effort::Max, v1::Effort::High)
    );
    update(&ann, None, Some(v1::Effort::Low)).await;
    let session_id = ann.session_id().to_owned();
    daemon.restart().await;
    assert_eq!(asked(&mut ann, &llm).await, ("gpt-oss".to_owned(), json!("low")));
    // A copy goes on as the original would.
    let request = v1::ForkSessionRequest { session_id, ..Default::default() };
    let fork = ann.client().session().fork_session(request).await.unwrap().into_inner();
    let fork = fork.session.unwrap();
    let position = AttachPosition::FromSeq(fork.last_seq + 1);
    let mut copy = daemon.attach_at("ann", &fork.session_id, position).await;
    assert_eq!(asked(&mut copy, &llm).await, ("gpt-oss".to_owned(), json!("low")));
    update(&ann, Some(""), Some(v1::Effort::Unspecified)).await;
    assert_eq!(asked(&mut ann, &llm).await, ("gpt-4o".to_owned(), Value::Null));
    daemon.stop().await;
}

#[tokio::test]
async fn models_are_listed_with_what_is_known_of_them_and_who_has_which_role() {
    let llm = LlmServer::start().await;
    llm.set_models(&["gpt-oss", "mine"]);
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("provider.model", "mine")
        .set("roles.judge.model", "gpt-oss")
        .set("roles.main.fallbacks", json!(["gpt-oss"]))
        .start()
        .await;
    let ann = daemon.driver("ann").await;
    let list = ann.client().model().list_models(v1::ListModelsRequest {}).await.unwrap();
    let v1::ListModelsResponse { models, roles } = list.into_inner();
    let offered: Vec<&str> =
        models.iter().take_while(|model| model.available).map(|model| &*model.name).collect();
    assert_eq!(offered, ["gpt-oss", "mine"]);
    let gpt_oss = &models[0];
    let efforts: Vec<v1::Effort> = gpt_oss.efforts().collect();
    assert_eq!(efforts, [v1::Effort::Low, v1::Effort::Medium, v1::Effort::High]);
    assert_eq!((models[1].source.as_str(), models[1].context_tokens), ("default", 32_768));
    let haiku = models.iter().find(|model| model.name == "claude-haiku-4-5").unwrap();
    assert!(!haiku.available && haiku.source == "catalogue");
    assert_eq!(haiku.prices.unwrap().cache_write.to_string(), "1.25");
    let roles: Vec<(&str, &str, usize)> =
        roles.iter().map(|role| (&*role.role, &*role.model, role.fallbacks.len())).collect();
    let expect =
        [("main", "mine", 1), ("cheap", "mine", 1), ("embedding", "", 0), ("judge", "gpt-oss", 0)];
    assert_eq!(roles, expect);
    daemon.stop().await;
}

#[tokio::test]
async fn a_fallback_at_another_endpoint_answers_when_the_model_cannot() {
    let (broken, llm) = (LlmServer::start().await, LlmServer::start().await);
    broken.set_default(|_| Reply::error(401, "invalid_api_key", "no such key"));
    broken.push(Reply::error(404, "model_not_found", "no such model"));
    let daemon = Daemon::builder()
        .llm(&broken)
        .set("endpoints.other.kind", "openai")
        .set("endpoints.other.base_url", llm.base_url())
        .set("roles.main.fallbacks", json!(["other/spare"]))
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    assert_eq!(llm.requests().last().unwrap().model(), "spare");
    // The session says who was to answer, and who did.
    assert_eq!(last_start(&ann).model, "scripted");
    let log = ann.log().await;
    let bodies = log.iter().filter_map(|event| event.body.as_ref());
    let answered = bodies.filter_map(|body| match body {
        Body::UsageRecorded(usage)
            if usage.usage.is_some_and(|used| used.completion_tokens > 0) =>
        {
            Some(usage.model.as_str())
        }
        _ => None,
    });
    assert_eq!(answered.collect::<Vec<_>>(), ["spare"]);
    daemon.stop().await;
}

#[tokio::test]
async fn a_session_s_model_and_effort_survive_export_and_import() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).start().await;
    let mut ann = daemon.driver("ann").await;
    update(&ann, Some("gpt-oss"), Some(v1::Effort::High)).await;
    ann.ask("hello").await;
    let lines = crate::sessions::export(ann.client(), ann.session_id()).await;
    let other = Daemon::builder().llm(&llm).start().await;
    let id = "01JZ0000000000000000000007";
    let session = crate::sessions::import(&other.client().await, id, &lines, 65_536).await.unwrap();
    assert_eq!((session.model.as_str(), session.effort()), ("gpt-oss", v1::Effort::High));
    let mut copy = other.attach("bob", id).await;
    assert_eq!(asked(&mut copy, &llm).await, ("gpt-oss".to_owned(), json!("high")));
    daemon.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_model_that_cannot_call_tools_is_sent_none() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("provider.model", "tinyllama").start().await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    assert!(llm.requests().last().unwrap().tool_names().is_empty());
    daemon.stop().await;
}

#[tokio::test]
async fn an_anthropic_endpoint_is_asked_through_its_own_api() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("provider.kind", "anthropic")
        .env("ANTHROPIC_API_KEY", "sk-test")
        .set("provider.model", "claude-sonnet-5-5")
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    update(&ann, None, Some(v1::Effort::Medium)).await;
    ann.ask("hello").await;
    let request = llm.requests().last().cloned().unwrap();
    assert!(request.path.ends_with("/messages"), "{}", request.path);
    assert_eq!(request.body["output_config"]["effort"], "medium");
    assert_eq!(last_start(&ann).provider, "anthropic");
    daemon.stop().await;
}
