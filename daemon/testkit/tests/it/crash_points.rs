//! SIGKILL at every named point: what was acknowledged is there, and no effect comes twice.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{LlmServer, Reply};

use crate::support::{agentd, append_then_answer, check_lines, check_log, wait_idle};

/// Kills the daemon at `point`, starts it again and checks everything.
async fn check(point: &str) {
    let llm = LlmServer::start().await;
    llm.set_default(append_then_answer);
    let daemon =
        agentd().llm(&llm).set("session.auto_resume", "always").crash_at(point).start().await;
    let driver = daemon.driver("ann").await;
    let session_id = driver.session_id().to_owned();
    // The point may be passed before the answer is sent.
    let acknowledged = driver.try_submit("m1", "line one", v1::Delivery::Queue).await;
    let home = daemon.home().clone();
    let ended = daemon.ended().await;
    assert!(ended.was_killed(), "{point}: {ended:?}");
    drop(driver);
    let at_the_kill = home.appended_lines();

    let daemon = agentd().home(&home).llm(&llm).start().await;
    let mut driver = daemon.attach("ann", &session_id).await;
    let retried = driver.try_submit("m1", "line one", v1::Delivery::Queue).await.expect(point);
    if let Ok(first) = acknowledged {
        assert!(retried.duplicate, "{point}: an acknowledged message was lost");
        assert_eq!((first.item_id, first.seq), (retried.item_id.clone(), retried.seq), "{point}");
    }
    driver
        .wait_until("the turn of the message has ended", |driver| {
            driver.bodies().any(|body| match body {
                Body::TurnCompleted(_) => true,
                Body::TurnFailed(failed) => panic!("{point}: {failed:?}"),
                _ => false,
            })
        })
        .await;
    wait_idle(&mut driver).await;
    assert_eq!(driver.last_text(), "done: line one", "{point}");

    let log = driver.log().await;
    check_log(&log, point);
    let lines = check_lines(&home, point);
    // A call that had not started is run now; one that had started is not run again.
    let started_before = log.iter().any(|event| {
        matches!(&event.body, Some(Body::ToolCallFinished(finished))
            if finished.status() == v1::ToolStatus::Interrupted)
    });
    if started_before {
        assert_eq!(lines, at_the_kill, "{point}: a call that had started ran again");
    } else {
        assert_eq!(lines, ["line one"], "{point}");
    }
    assert_eq!(llm.violations(), Vec::<String>::new(), "{point}");

    // And the session goes on.
    driver.skip_seen();
    assert_eq!(driver.ask("line two").await, "done: line two", "{point}");
    check_lines(&home, point);
    daemon.terminate().await;
}

macro_rules! killed_at {
    ($($test:ident: $($point:literal),+;)+) => {$(
        #[tokio::test]
        async fn $test() {
            $(check($point).await;)+
        }
    )+};
}

killed_at! {
    a_kill_once_a_message_is_accepted_loses_nothing: "engine.accepted";
    a_kill_once_a_turn_has_started_loses_nothing: "engine.turn_started";
    a_kill_once_calls_are_recorded_runs_them_after_the_start: "engine.calls_recorded";
    a_kill_between_a_tools_start_and_its_run_does_not_run_it_again: "engine.tool_started";
    a_kill_between_a_tools_run_and_its_result_does_not_run_it_again: "engine.tool_ran";
    a_kill_around_the_commits_of_a_turn_loses_nothing_that_was_acknowledged:
        "store.before_apply:2", "store.before_flush:2", "store.after_flush:2",
        "store.before_apply:3", "store.before_flush:3", "store.after_flush:3";
    a_kill_around_the_commits_of_a_tool_call_repeats_no_effect:
        "store.before_apply:4", "store.before_flush:4", "store.after_flush:4",
        "store.before_apply:5", "store.before_flush:5", "store.after_flush:5",
        "store.before_apply:6", "store.before_flush:6", "store.after_flush:6";
}

#[tokio::test]
async fn a_kill_right_after_the_end_of_a_turn_keeps_the_answer() {
    let llm = LlmServer::start().await;
    llm.set_default(append_then_answer);
    let daemon = agentd().llm(&llm).crash_at("engine.turn_ended").start().await;
    let driver = daemon.driver("ann").await;
    let session_id = driver.session_id().to_owned();
    driver.submit("line one").await;
    let home = daemon.home().clone();
    assert!(daemon.ended().await.was_killed());
    drop(driver);
    let daemon = agentd().home(&home).start().await;
    let driver = daemon.attach("ann", &session_id).await;
    assert_eq!(driver.last_text(), "done: line one");
    assert_eq!(driver.transcript().open_turn(), None);
    check_log(&driver.log().await, "turn_ended");
    assert_eq!(home.appended_lines(), ["line one"]);
    assert_eq!(llm.requests().len(), 2, "nothing is asked again");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_kill_while_a_snapshot_is_written_loses_nothing() {
    for point in ["engine.before_snapshot", "store.before_flush"] {
        let llm = LlmServer::start().await;
        let daemon = agentd().llm(&llm).start().await;
        let mut driver = daemon.driver("ann").await;
        let session_id = driver.session_id().to_owned();
        for n in 0..5 {
            driver.ask(&format!("message {n}")).await;
        }
        let log = driver.log().await;
        let home = daemon.kill().await;
        drop(driver);
        // The stop of the next one writes a snapshot; it dies on the way.
        let daemon = agentd().home(&home).crash_at(point).start().await;
        let driver = daemon.attach("ann", &session_id).await;
        daemon.signal(rustix::process::Signal::TERM);
        let ended = daemon.ended().await;
        assert!(ended.was_killed(), "{point}: {ended:?}");
        drop(driver);
        let daemon = agentd().home(&home).llm(&llm).start().await;
        let mut driver = daemon.attach("ann", &session_id).await;
        assert_eq!(driver.log().await, log, "{point}");
        driver.skip_seen();
        assert_eq!(driver.ask("on").await, "on", "{point}");
        // An orderly stop writes it; the state it gives is the same.
        let home = daemon.terminate().await;
        drop(driver);
        let daemon = agentd().home(&home).llm(&llm).start().await;
        let mut driver = daemon.attach("ann", &session_id).await;
        driver.skip_seen();
        assert_eq!(driver.session().await.session.unwrap().turns, 6, "{point}");
        assert_eq!(driver.ask("and on").await, "and on", "{point}");
        daemon.terminate().await;
    }
}

#[tokio::test]
async fn dl_02_a_kill_in_the_stream_is_told_and_asked_about() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let mut driver = daemon.driver("ann").await;
    let session_id = driver.session_id().to_owned();
    llm.push(Reply::sse().text_delta("half an answer").stall());
    driver.submit("question").await;
    driver.wait_live_text("half an answer").await;
    let home = daemon.kill().await;
    drop(driver);

    let daemon = agentd().home(&home).llm(&llm).start().await;
    let mut driver = daemon.attach("ann", &session_id).await;
    let question = driver.wait_question().await;
    assert_eq!(question.kind(), v1::QuestionKind::ResumeTurn);
    // A second kill while it waits asks again nothing new.
    let home = daemon.kill().await;
    drop(driver);
    let daemon = agentd().home(&home).llm(&llm).start().await;
    let mut driver = daemon.attach("ann", &session_id).await;
    let again = driver.wait_question().await;
    assert_eq!(again.question_id, question.question_id);
    llm.push(Reply::text("a whole answer"));
    driver.answer(&again.question_id, "continue").await.unwrap();
    assert_eq!(driver.wait_answer().await, "a whole answer");
    check_log(&driver.log().await, "killed in the stream");
    daemon.terminate().await;
}

#[tokio::test]
async fn sl_02_a_kill_between_the_calls_of_one_answer_leaves_a_valid_history() {
    let llm = LlmServer::start().await;
    let daemon = agentd()
        .llm(&llm)
        .set("session.auto_resume", "never")
        .crash_at("engine.tool_started:2")
        .start()
        .await;
    let driver = daemon.driver("ann").await;
    let session_id = driver.session_id().to_owned();
    llm.push(Reply::tool_calls(&[
        ("append_line", r#"{"line":"A"}"#),
        ("append_line", r#"{"line":"B"}"#),
        ("append_line", r#"{"line":"C"}"#),
    ]));
    driver.submit("three calls").await;
    let home = daemon.home().clone();
    assert!(daemon.ended().await.was_killed());
    drop(driver);

    let daemon = agentd().home(&home).llm(&llm).start().await;
    let mut driver = daemon.attach("ann", &session_id).await;
    llm.push(Reply::text("I see"));
    driver.skip_seen();
    assert_eq!(driver.ask("continue").await, "I see");
    let statuses: Vec<_> = driver
        .bodies()
        .filter_map(|body| match body {
            Body::ToolCallFinished(finished) => Some(finished.status()),
            _ => None,
        })
        .collect();
    assert_eq!(
        statuses,
        [v1::ToolStatus::Success, v1::ToolStatus::Interrupted, v1::ToolStatus::Skipped]
    );
    assert_eq!(home.appended_lines(), ["A"]);
    assert_eq!(llm.violations(), Vec::<String>::new());
    check_log(&driver.log().await, "killed between calls");
    daemon.terminate().await;
}
