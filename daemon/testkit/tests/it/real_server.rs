//! The daemon with a real model, where there is one, over each API that its server speaks:
//! `AGENTD_TEST_LLM_URL` is the server's base URL, ending in `/v1`, `AGENTD_TEST_LLM_MODEL` a model of it.
//!
//! What a small model says is anyone's guess, so effects and the log are checked and not the prose.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Api, Daemon, Driver};

use crate::support::{check_log, wait_idle};

/// A small model on a busy machine reads a long prompt for minutes.
const PATIENCE: Duration = Duration::from_secs(250);
/// It may not choose the tool at once.
const TRIES: usize = 4;

/// The results of calls of this tool so far.
fn results(driver: &Driver, tool: &str) -> Vec<v1::ToolCallFinished> {
    let finished = driver.bodies().filter_map(|body| match body {
        Body::ToolCallFinished(finished) if finished.name == tool => Some(finished.clone()),
        _ => None,
    });
    finished.collect()
}

mod chat {
    #[tokio::test]
    async fn a_conversation_with_a_real_model_survives_a_restart_in_the_middle() {
        super::converse_and_restart(agentd_testkit::Api::Chat).await;
    }
}

mod messages {
    #[tokio::test]
    async fn a_conversation_with_a_real_model_survives_a_restart_in_the_middle() {
        super::converse_and_restart(agentd_testkit::Api::Messages).await;
    }
}

mod responses {
    #[tokio::test]
    async fn a_conversation_with_a_real_model_survives_a_restart_in_the_middle() {
        super::converse_and_restart(agentd_testkit::Api::Responses).await;
    }
}

/// `provider.kind` for an API at any base URL.
fn kind(api: Api) -> &'static str {
    match api {
        Api::Chat => "openai",
        Api::Messages => "anthropic",
        Api::Responses => "openai-responses",
    }
}

fn is_end(body: &Body) -> bool {
    matches!(body, Body::TurnCompleted(_) | Body::TurnFailed(_) | Body::TurnInterrupted(_))
}

fn is_result_or_end(body: &Body) -> bool {
    is_end(body) || matches!(body, Body::ToolCallFinished(_))
}

/// The server has no such path.
fn is_not_spoken(end: &v1::Event) -> bool {
    let error = match &end.body {
        Some(Body::TurnFailed(failed)) => failed.error.as_ref(),
        _ => None,
    };
    error.is_some_and(|error| error.code == "PROVIDER_NOT_FOUND")
}

#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was left out")]
async fn converse_and_restart(api: Api) {
    let Ok(url) = std::env::var("AGENTD_TEST_LLM_URL") else {
        eprintln!("skipped: AGENTD_TEST_LLM_URL names no model server");
        return;
    };
    let model = std::env::var("AGENTD_TEST_LLM_MODEL").unwrap_or_else(|_| "default".to_owned());
    let mut daemon = Daemon::builder()
        .set("provider.kind", kind(api))
        .set("provider.base_url", url.as_str())
        .set("provider.model", model)
        .set("provider.max_output_tokens", 200)
        .set("provider.first_byte_timeout_ms", 240_000)
        .set("session.auto_resume", "always")
        .start()
        .await;

    // A tool is called, and the daemon is restarted while the model reads the result. A session of
    // its own for each try: a model that once answered without the tool would do as it did before.
    let mut calls = 0;
    let mut session_id = String::new();
    for _ in 0..TRIES {
        let mut ann = daemon.driver("ann").await.with_patience(PATIENCE);
        ann.submit("Use the calculator tool to compute 1234*5678.").await;
        let end = ann.wait_for("a result or the end of the turn", is_result_or_end).await;
        if api != Api::Chat && is_not_spoken(&end) {
            eprintln!("skipped: {url} does not speak {api:?}");
            daemon.stop().await;
            return;
        }
        ann.session_id().clone_into(&mut session_id);
        calls = results(&ann, "calculator").len();
        if calls > 0 {
            break;
        }
    }
    assert!(calls > 0, "the model never called the tool");
    daemon.restart().await;

    let mut ann = daemon.attach("ann", &session_id).await.with_patience(PATIENCE);
    wait_idle(&mut ann).await;
    let end = ann.bodies().filter(|body| is_end(body)).last();
    assert!(matches!(end, Some(Body::TurnCompleted(_))), "the turn goes on and completes: {end:?}");
    let finished = results(&ann, "calculator");
    assert_eq!(finished.len(), calls, "what was computed is not computed again");
    assert!(finished.iter().all(|finished| !finished.output.is_empty()), "{finished:?}");

    // The conversation goes on.
    ann.skip_seen();
    ann.submit("Say in one short sentence what you computed.").await;
    let end = ann.wait_turn_end().await;
    assert!(matches!(end, Body::TurnCompleted(_)), "{end:?}");
    assert!(!ann.last_text().trim().is_empty());
    let usage = ann.bodies().any(|body| matches!(body, Body::UsageRecorded(_)));
    assert!(usage, "the server's counts are recorded");
    check_log(&ann.log().await, &format!("a real model over {api:?}"));
    daemon.stop().await;
}
