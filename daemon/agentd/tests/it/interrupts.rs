//! Turns that are cut off: by a user, by a message, by silence.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{AppendLine, Daemon, Gate, LlmServer, Reply, SlowRead};

use crate::support::{answers, durable, kinds, results};

#[tokio::test]
async fn sl_02_an_interrupt_between_calls_leaves_a_history_that_strict_providers_take() {
    let llm = LlmServer::start().await;
    let gate = Gate::new();
    let daemon = Daemon::builder()
        .llm(&llm)
        .tool(AppendLine::new())
        .tool(SlowRead::new(&gate))
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_calls(&[
        ("append_line", r#"{"line":"A"}"#),
        ("slow_read", "{}"),
        ("append_line", r#"{"line":"C"}"#),
    ]));
    ann.submit("three calls").await;
    gate.reached().await;
    assert!(ann.interrupt().await);
    let Body::TurnInterrupted(interrupted) = ann.wait_turn_end().await else { panic!("no end") };
    assert_eq!(interrupted.reason(), v1::InterruptReason::User);
    assert_eq!(interrupted.by.unwrap().name, "ann");
    let statuses: Vec<_> = results(&ann).iter().map(v1::ToolCallFinished::status).collect();
    assert_eq!(
        statuses,
        [v1::ToolStatus::Success, v1::ToolStatus::Interrupted, v1::ToolStatus::Skipped]
    );

    // The provider gives the same ids to the calls of the next turn.
    llm.push(Reply::tool_call("append_line", r#"{"line":"D"}"#));
    llm.push(Reply::text("going on"));
    assert_eq!(ann.ask("continue").await, "going on");
    assert_eq!(llm.violations(), Vec::<String>::new());
    assert_eq!(daemon.home().appended_lines(), ["A", "D"]);
    let outputs = llm.requests()[1].tool_outputs();
    assert_eq!(outputs.len(), 3);
    assert!(outputs[1].contains("interrupted") && outputs[2].contains("not run"), "{outputs:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn sl_02_a_call_with_effects_that_was_cut_off_is_told_as_unknown_and_not_repeated() {
    let llm = LlmServer::start().await;
    let gate = Gate::new();
    let daemon = Daemon::builder().llm(&llm).tool(AppendLine::gated(&gate)).start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("append_line", r#"{"line":"A"}"#));
    ann.submit("write").await;
    gate.reached().await;
    assert!(ann.interrupt().await);
    ann.wait_turn_end().await;
    assert_eq!(results(&ann)[0].status(), v1::ToolStatus::Interrupted);
    llm.push(Reply::text("I will look first"));
    assert_eq!(ann.ask("go on").await, "I will look first");
    assert_eq!(daemon.home().appended_lines(), ["A"]);
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn ps_04_b_c_a_stalled_stream_is_cancelled_and_the_next_message_is_answered() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("half an ").stall());
    ann.submit("one").await;
    ann.wait_live_text("half an").await;
    assert!(ann.interrupt().await);
    assert!(matches!(ann.wait_turn_end().await, Body::TurnInterrupted(_)));
    // The request to the provider is dropped, not left open.
    llm.wait_for_disconnects(1).await;
    let answer = answers(&ann).pop().unwrap();
    assert_eq!(answer.text, "half an ");
    assert_eq!(answer.completeness(), v1::MessageCompleteness::Incomplete);
    llm.push(Reply::text("two"));
    assert_eq!(ann.ask("two?").await, "two");
    // What broke off is in the history, marked.
    let request = llm.wait_for_request(2).await;
    let kept = request.messages().iter().find(|message| message["role"] == "assistant").unwrap();
    let kept = kept["content"].as_str().unwrap();
    assert!(kept.starts_with("half an") && kept.contains("interrupted"), "{kept:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn ps_04_a_d_silence_ends_as_an_error_and_the_partial_text_is_kept() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("provider.max_attempts", 1)
        .set("provider.idle_timeout_ms", 100)
        .set("provider.first_byte_timeout_ms", 100)
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    for (reply, partial) in
        [(Reply::sse().text_delta("some").stall(), "some"), (Reply::silence(), "")]
    {
        llm.push(reply);
        let before = answers(&ann).len();
        ann.submit("hello").await;
        let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
        assert!(failed.error.unwrap().retryable);
        let kept: String = answers(&ann).drain(before..).map(|answer| answer.text).collect();
        assert_eq!(kept, partial);
    }
    llm.push(Reply::text("there again"));
    assert_eq!(ann.ask("still there?").await, "there again");
    daemon.stop().await;
}

#[tokio::test]
async fn an_interrupt_without_a_turn_says_so() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    assert!(!ann.interrupt().await);
    assert_eq!(ann.ask("hello").await, "hello");
    assert!(!ann.interrupt().await);
    assert!(!kinds(&durable(&ann)).contains(&"interrupted"));
    daemon.stop().await;
}

#[tokio::test]
async fn an_interrupt_of_another_turn_leaves_the_running_one_alone() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let gate = Gate::new();
    llm.push(Reply::sse().text_delta("a").wait(&gate).text_delta("b").finish("stop").done());
    ann.submit("hello").await;
    ann.wait_live_text("a").await;
    let request = v1::InterruptTurnRequest {
        session_id: ann.session_id().to_owned(),
        turn_id: agentd_shared::client_ids::new_ulid(),
        author: Some(ann.author()),
    };
    let response = ann.client().turn().interrupt_turn(request).await.unwrap().into_inner();
    assert!(!response.interrupted);
    gate.release();
    assert_eq!(ann.wait_answer().await, "ab");
    daemon.stop().await;
}

#[tokio::test]
async fn an_interrupt_before_the_model_is_found_ends_the_turn_for_good() {
    // A local server that takes connections and says nothing keeps the search busy.
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let daemon = Daemon::builder()
        .set("provider.kind", "auto")
        .set("provider.local_servers", vec![address])
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    ann.submit("2+2").await;
    let (_busy, _) = tokio::time::timeout(Duration::from_secs(20), silent.accept())
        .await
        .expect("the search asks the server")
        .unwrap();
    assert!(ann.interrupt().await);
    let Body::TurnInterrupted(interrupted) = ann.wait_turn_end().await else { panic!("no end") };
    assert_eq!(interrupted.reason(), v1::InterruptReason::User);
    let session = ann.session().await;
    assert_eq!(session.session.unwrap().status(), v1::SessionStatus::Idle);
    assert!(session.queue.is_empty(), "the message would run after all");
    daemon.stop().await;
}
