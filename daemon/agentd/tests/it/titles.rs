//! Titles: from the first message, from a model, from a user.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, Driver, LlmServer, RecordedRequest, Reply};

use crate::support::durable;

fn asks_for_a_title(request: &RecordedRequest) -> bool {
    request.system_text().starts_with("Write a title")
}

async fn with_model_titles(llm: &LlmServer) -> Daemon {
    Daemon::builder()
        .llm(llm)
        .set("session.titles", "model")
        .set("provider.cheap_model", "cheap")
        .start()
        .await
}

async fn rename(driver: &Driver, title: &str) {
    let request = v1::UpdateSessionRequest {
        permission_mode: None,
        work_mode: None,
        effort: None,
        session_id: driver.session_id().to_owned(),
        title: Some(title.to_owned()),
        model: None,
        author: Some(driver.author()),
    };
    driver.client().session().update_session(request).await.unwrap();
}

#[tokio::test]
async fn the_cheap_model_makes_the_title_after_the_first_turn() {
    let llm = LlmServer::start().await;
    llm.push_when(asks_for_a_title, Reply::text("\"Weather in Rome\"\n"));
    let daemon = with_model_titles(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("how is the weather in Rome?").await;
    ann.wait_until("the title", |ann| ann.transcript().title_source() == v1::TitleSource::Model)
        .await;
    assert_eq!(ann.transcript().title(), "Weather in Rome");
    let request = llm.requests().into_iter().find(|request| asks_for_a_title(request)).unwrap();
    assert_eq!(request.model(), "cheap");
    assert!(request.tool_names().is_empty());
    let cost = durable(&ann).into_iter().find_map(|body| match body {
        Body::UsageRecorded(usage) if usage.purpose() == v1::UsagePurpose::Title => Some(usage),
        _ => None,
    });
    assert_eq!(cost.expect("its cost is recorded").model, "cheap");
    // Once is enough.
    ann.ask("and tomorrow?").await;
    let titles = llm.requests().iter().filter(|request| asks_for_a_title(request)).count();
    assert_eq!(titles, 1);
    daemon.stop().await;
}

#[tokio::test]
async fn a_manual_title_is_kept() {
    let llm = LlmServer::start().await;
    let daemon = with_model_titles(&llm).await;
    let mut ann = daemon.driver("ann").await;
    rename(&ann, "Mine").await;
    ann.ask("hello").await;
    ann.ask("again").await;
    assert_eq!(ann.transcript().title(), "Mine");
    assert_eq!(ann.transcript().title_source(), v1::TitleSource::Manual);
    assert!(!llm.requests().iter().any(|request| asks_for_a_title(request)));
    daemon.stop().await;
}

#[tokio::test]
async fn a_title_given_while_the_model_makes_one_is_kept() {
    let llm = LlmServer::start().await;
    let gate = agentd_testkit::Gate::new();
    let slow = Reply::sse().wait(&gate).text_delta("Made").finish("stop").usage(1, 1).done();
    llm.push_when(asks_for_a_title, slow);
    let daemon = with_model_titles(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("hello").await;
    gate.reached().await;
    rename(&ann, "Mine").await;
    gate.release();
    ann.wait_for("the cost of the title", |body| match body {
        Body::UsageRecorded(usage) => usage.purpose() == v1::UsagePurpose::Title,
        _ => false,
    })
    .await;
    assert_eq!(ann.session().await.session.unwrap().title, "Mine");
    daemon.stop().await;
}

#[tokio::test]
async fn a_model_that_makes_no_title_leaves_the_first_message() {
    let llm = LlmServer::start().await;
    llm.push_when(asks_for_a_title, Reply::error(500, "oops", "no titles today"));
    let daemon = with_model_titles(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("first words\nand more").await;
    ann.ask("second").await;
    assert_eq!(ann.transcript().title(), "first words and more");
    assert_eq!(ann.transcript().title_source(), v1::TitleSource::FirstMessage);
    daemon.stop().await;
}
