//! Turns that were running when the daemon stopped.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{AppendLine, Daemon, Gate, LlmServer, Reply, SlowRead};
use tonic::Code;

use crate::support::{answers, check_error, check_gap_free, durable, kinds, results};

#[tokio::test]
async fn dl_02_a_turn_cut_by_a_stop_in_its_stream_asks_whether_to_go_on() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("The answer ").stall());
    ann.submit("question").await;
    ann.wait_live_text("The answer").await;
    daemon.restart().await;

    let question = ann.wait_question().await;
    assert_eq!(question.kind(), v1::QuestionKind::ResumeTurn);
    let partial = answers(&ann).pop().unwrap();
    assert_eq!(partial.text, "The answer ");
    assert_eq!(partial.completeness(), v1::MessageCompleteness::Incomplete);
    assert_eq!(ann.session().await.session.unwrap().status(), v1::SessionStatus::Waiting);
    assert_eq!(ann.session().await.open_questions.len(), 1);

    llm.push(Reply::text("The answer is 42."));
    ann.answer(&question.question_id, "continue").await.unwrap();
    assert_eq!(ann.wait_answer().await, "The answer is 42.");
    // The model is asked anew: the broken text is not in its way.
    assert_eq!(llm.wait_for_request(2).await.messages().len(), 2);
    check_gap_free(&ann.log().await);
    assert!(kinds(&durable(&ann)).contains(&"resumed"));
    daemon.stop().await;
}

#[tokio::test]
async fn dl_02_a_turn_that_is_not_to_go_on_ends_as_interrupted() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("half").stall());
    ann.submit("question").await;
    ann.wait_live_text("half").await;
    daemon.restart().await;
    let question = ann.wait_question().await;
    // A second restart does not ask a second time.
    daemon.restart().await;
    ann.answer(&question.question_id, "stop").await.unwrap();
    let Body::TurnInterrupted(interrupted) = ann.wait_turn_end().await else { panic!("no end") };
    assert_eq!(interrupted.reason(), v1::InterruptReason::NotResumed);
    assert_eq!(kinds(&durable(&ann)).iter().filter(|kind| **kind == "asked").count(), 1);
    assert_eq!(ann.ask("next").await, "next");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn dl_02_with_auto_resume_always_a_turn_goes_on_by_itself() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::builder().llm(&llm).set("session.auto_resume", "always").start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("half").stall());
    ann.submit("question").await;
    ann.wait_live_text("half").await;
    llm.push(Reply::text("whole"));
    daemon.restart().await;
    assert_eq!(ann.wait_answer().await, "whole");
    assert_eq!(
        kinds(&durable(&ann))[4..],
        ["assistant", "usage", "suspended", "resumed", "assistant", "usage", "completed"]
    );
    daemon.stop().await;
}

#[tokio::test]
async fn dl_02_with_auto_resume_never_a_turn_is_closed_at_the_start() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::builder().llm(&llm).set("session.auto_resume", "never").start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("half").stall());
    ann.submit("question").await;
    ann.wait_live_text("half").await;
    ann.submit("queued meanwhile").await;
    daemon.restart().await;
    let Body::TurnInterrupted(interrupted) = ann.wait_turn_end().await else { panic!("no end") };
    assert_eq!(interrupted.reason(), v1::InterruptReason::NotResumed);
    // What was accepted is answered.
    assert_eq!(ann.wait_answer().await, "queued meanwhile");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn dl_02_a_call_with_effects_cut_by_a_stop_is_not_run_again() {
    let llm = LlmServer::start().await;
    let gate = Gate::new();
    let mut daemon = Daemon::builder()
        .llm(&llm)
        .set("session.auto_resume", "always")
        .tool(AppendLine::gated(&gate))
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_calls(&[
        ("append_line", r#"{"line":"A"}"#),
        ("calculator", r#"{"expression":"1+1"}"#),
    ]));
    ann.submit("write").await;
    gate.reached().await;
    llm.push(Reply::text("I see"));
    daemon.restart().await;
    assert_eq!(ann.wait_answer().await, "I see");
    assert_eq!(daemon.home().appended_lines(), ["A"]);
    let results = results(&ann);
    assert_eq!(results.len(), 2, "one result for each call");
    assert_eq!(results[0].status(), v1::ToolStatus::Interrupted);
    assert_eq!((results[1].status(), results[1].output.as_str()), (v1::ToolStatus::Success, "2"));
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn dl_02_new_work_during_the_drain_is_refused_as_unavailable() {
    let llm = LlmServer::start().await;
    let gate = Gate::new();
    let daemon = Daemon::builder().llm(&llm).tool(SlowRead::new(&gate)).start().await;
    let ann = daemon.driver("ann").await;
    daemon.control().stop();
    let refused = loop {
        match ann.try_submit("late", "late", v1::Delivery::Queue).await {
            Err(refused) => break refused,
            // It was accepted before the stop had begun.
            Ok(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(refused.code(), Code::Unavailable, "{refused:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn ps_08_reasoning_is_sent_back_also_when_the_history_comes_from_the_log() {
    let llm = LlmServer::start().await;
    llm.demand_reasoning();
    let mut daemon = Daemon::builder().llm(&llm).set("session.auto_resume", "always").start().await;
    let mut ann = daemon.driver("ann").await;
    let call = |reasoning: &str| {
        Reply::sse()
            .reasoning(reasoning)
            .tool_delta(&serde_json::json!({"index": 0, "id": "c1", "type": "function",
                "function": {"name": "calculator", "arguments": "{\"expression\":\"1+1\"}"}}))
            .finish("tool_calls")
            .usage(1, 1)
            .done()
    };
    llm.push(call("R1"));
    llm.push(Reply::sse().text_delta("it is ").stall());
    ann.submit("one and one").await;
    ann.wait_live_text("it is").await;
    // In the middle of the turn: what the model thought before its call is in the log.
    llm.push(Reply::text("it is 2"));
    daemon.restart().await;
    assert_eq!(ann.wait_answer().await, "it is 2");
    let sent = llm.wait_for_request(3).await;
    let with_calls = sent.messages().iter().find(|message| message.get("tool_calls").is_some());
    assert_eq!(with_calls.unwrap()["reasoning_content"], "R1");

    // And in a later turn.
    daemon.restart().await;
    llm.push(call("R2"));
    llm.push(Reply::text("still 2"));
    ann.submit("again").await;
    assert_eq!(ann.wait_answer().await, "still 2");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn messages_that_waited_when_the_daemon_stopped_are_answered_after_its_start() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::builder().llm(&llm).set("session.auto_resume", "always").start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("first").stall());
    ann.submit("first").await;
    ann.wait_live_text("first").await;
    ann.submit("second").await;
    ann.submit("third").await;
    daemon.restart().await;
    for text in ["first", "second", "third"] {
        assert_eq!(ann.wait_answer().await, text);
    }
    daemon.stop().await;
}

#[tokio::test]
async fn a_session_that_was_unloaded_is_there_again_when_it_is_asked_for() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("session.idle_unload_ms", 100).start().await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("one").await;
    let session_id = ann.session_id().to_owned();
    drop(ann);
    let client = daemon.client().await;
    let unloaded = async {
        loop {
            let status = client.admin().get_status(v1::GetStatusRequest {}).await.unwrap();
            if status.into_inner().live_sessions == 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(agentd_testkit::PATIENCE, unloaded).await.expect("it is unloaded");
    let mut ann = daemon.attach("ann", &session_id).await;
    ann.skip_seen();
    assert_eq!(ann.ask("two").await, "two");
    let sent = llm.wait_for_request(2).await;
    assert_eq!(sent.messages().len(), 4, "the history is there");
    daemon.stop().await;
}

#[tokio::test]
async fn an_answer_of_an_unknown_question_is_refused() {
    let daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let unknown = agentd_shared::client_ids::new_ulid();
    let refused = ann.answer(&unknown, "continue").await.unwrap_err();
    check_error(&refused, Code::NotFound, "no open question");
    daemon.stop().await;
}
