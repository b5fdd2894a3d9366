//! The daemon with a real model, where there is one: `AGENTD_TEST_LLM_URL` is the base URL of an
//! OpenAI-compatible server, `AGENTD_TEST_LLM_MODEL` a model of it.
//!
//! What a small model says is anyone's guess, so effects and the log are checked and not the prose.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, Driver};

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

#[tokio::test]
async fn a_conversation_with_a_real_model_survives_a_restart_in_the_middle() {
    let Ok(url) = std::env::var("AGENTD_TEST_LLM_URL") else {
        eprintln!("skipped: AGENTD_TEST_LLM_URL names no model server");
        return;
    };
    let model = std::env::var("AGENTD_TEST_LLM_MODEL").unwrap_or_else(|_| "default".to_owned());
    let mut daemon = Daemon::builder()
        .set("provider.kind", "auto")
        .set("provider.base_url", url)
        .set("provider.model", model)
        .set("provider.max_output_tokens", 200)
        .set("provider.first_byte_timeout_ms", 240_000)
        .set("session.auto_resume", "always")
        .start()
        .await;
    let mut ann = daemon.driver("ann").await.with_patience(PATIENCE);

    // A tool is called, and the daemon is restarted while the model reads the result.
    let mut calls = 0;
    for _ in 0..TRIES {
        ann.submit("Use the calculator tool to compute 1234*5678.").await;
        let over = |body: &Body| {
            matches!(
                body,
                Body::ToolCallFinished(_)
                    | Body::TurnCompleted(_)
                    | Body::TurnFailed(_)
                    | Body::TurnInterrupted(_)
            )
        };
        ann.wait_for("a result or the end of the turn", over).await;
        calls = results(&ann, "calculator").len();
        if calls > 0 {
            break;
        }
    }
    assert!(calls > 0, "the model never called the tool");
    let session_id = ann.session_id().to_owned();
    drop(ann);
    daemon.restart().await;

    let mut ann = daemon.attach("ann", &session_id).await.with_patience(PATIENCE);
    wait_idle(&mut ann).await;
    let before = ann.bodies().filter(|body| matches!(body, Body::TurnCompleted(_))).count();
    assert!(before > 0, "the turn went on after the restart and was completed");
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
    check_log(&ann.log().await, "a real model");
    daemon.stop().await;
}
