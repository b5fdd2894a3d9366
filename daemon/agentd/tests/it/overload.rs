//! What the daemon does when there is more to do than it may.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, LlmServer, Reply};
use tonic::Code;
use tonic_types::StatusExt as _;

async fn status(daemon: &Daemon) -> v1::GetStatusResponse {
    let client = daemon.client().await;
    client.admin().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner()
}

#[tokio::test]
async fn a_client_that_floods_is_told_when_to_come_back_and_others_are_served() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("submit.per_client_per_second", 1)
        .set("submit.per_client_burst", 2)
        .start()
        .await;
    let ann = daemon.driver("ann").await;
    let send = async |number: u32| {
        ann.try_submit(&format!("m{number}"), "hello", v1::Delivery::Queue).await
    };
    // A flood outruns the rate however slow this machine is.
    let mut refused = None;
    for number in 0..100 {
        if let Err(status) = send(number).await {
            refused = Some(status);
            break;
        }
    }
    let refused = refused.expect("a flood is refused");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    let details = refused.get_error_details();
    assert!(details.retry_info().is_some_and(|info| info.retry_delay.is_some()));
    assert!(details.error_info().unwrap().metadata["hint"].contains("per_client_per_second"));
    let mut bob = daemon.driver("bob").await;
    assert_eq!(bob.ask("hello").await, "hello");
    daemon.stop().await;
}

#[tokio::test]
async fn status_shows_what_runs_and_what_waits() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("session.running_turns_limit", 1).start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("busy").stall());
    ann.submit("one").await;
    ann.wait_live_text("busy").await;
    let mut bob = daemon.driver("bob").await;
    bob.submit("two").await;
    let shown = status(&daemon).await;
    assert_eq!((shown.running_turns, shown.running_turns_limit), (1, 1));
    assert_eq!((shown.waiting_turns, shown.queued_messages), (1, 1));
    let [endpoint] = &shown.endpoints[..] else { panic!("{:?}", shown.endpoints) };
    assert_eq!(endpoint.base_url, llm.base_url());
    assert_eq!(endpoint.circuit(), v1::CircuitState::Closed);
    assert_eq!((endpoint.requests, endpoint.waiting_requests), (1, 0));
    llm.push(Reply::text("done"));
    assert!(ann.interrupt().await);
    assert_eq!(bob.wait_answer().await, "done");
    daemon.stop().await;
}

#[tokio::test]
async fn an_endpoint_that_keeps_failing_is_left_alone() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("provider.max_attempts", 1)
        .set("provider.breaker_failures", 2)
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    let mut codes = Vec::new();
    for _turn in 0..3 {
        llm.push(Reply::error(500, "down", "down"));
        ann.submit("hello").await;
        let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
        codes.push(failed.error.unwrap().code);
    }
    assert_eq!(codes, ["PROVIDER_ERROR", "PROVIDER_ERROR", "PROVIDER_CIRCUIT_OPEN"]);
    assert_eq!(llm.requests().len(), 2, "the third never left");
    assert_eq!(status(&daemon).await.endpoints[0].circuit(), v1::CircuitState::Open);
    daemon.stop().await;
}
