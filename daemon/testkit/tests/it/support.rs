//! The program under test and what must hold after every kill.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Driver, Home, ProcessDaemon, ProcessDaemonBuilder, RecordedRequest, Reply};

/// The real daemon with crash points and countable effects.
pub(crate) fn agentd() -> ProcessDaemonBuilder {
    ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd-under-test"))
}

/// A model that appends a line for each user message, then answers with that message.
pub(crate) fn append_then_answer(request: &RecordedRequest) -> Reply {
    let last = request.messages().last().cloned().unwrap_or_default();
    let text = request.last_user_text();
    if last["role"] == "tool" {
        Reply::text(&format!("done: {text}"))
    } else {
        Reply::tool_call("append_line", &serde_json::json!({ "line": text }).to_string())
    }
}

/// Checks a log that may hold several crashes: no gap, one turn at a time, one result for each call,
/// and each message started at most once.
#[track_caller]
pub(crate) fn check_log(log: &[v1::Event], what: &str) {
    let mut open_turn = None;
    let mut open_calls: Vec<String> = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    for (event, seq) in log.iter().zip(1..) {
        assert_eq!(event.seq, seq, "{what}: {event:?}");
        match event.body.as_ref().expect("a body") {
            Body::TurnStarted(started) => {
                assert_eq!(open_turn, None, "{what}: two turns at once: {event:?}");
                open_turn = Some(event.turn_id.clone());
                for item_id in &started.item_ids {
                    assert!(used.insert(item_id.clone()), "{what}: used twice: {event:?}");
                }
            }
            Body::AssistantMessage(message) => {
                assert!(open_calls.is_empty(), "{what}: calls without results: {event:?}");
                open_calls = message.tool_calls.iter().map(|call| call.call_id.clone()).collect();
            }
            Body::ToolCallFinished(finished) => {
                let at = open_calls.iter().position(|call| *call == finished.call_id);
                open_calls.remove(at.unwrap_or_else(|| panic!("{what}: two results: {event:?}")));
            }
            Body::TurnCompleted(_) | Body::TurnFailed(_) | Body::TurnInterrupted(_) => {
                assert!(open_calls.is_empty(), "{what}: calls without results: {event:?}");
                assert_eq!(open_turn.take(), Some(event.turn_id.clone()), "{what}: {event:?}");
            }
            _ => {}
        }
    }
    assert_eq!(open_turn, None, "{what}: a turn is shown as running");
}

/// Checks that every line was appended at most once.
#[track_caller]
pub(crate) fn check_lines(home: &Home, what: &str) -> Vec<String> {
    let lines = home.appended_lines();
    let distinct: std::collections::BTreeSet<_> = lines.iter().collect();
    assert_eq!(distinct.len(), lines.len(), "{what}: an effect came twice: {lines:?}");
    lines
}

/// Waits until nothing runs and nothing waits in the session.
pub(crate) async fn wait_idle(driver: &mut Driver) {
    driver
        .wait_until("the session is at rest", |driver| {
            let transcript = driver.transcript();
            transcript.open_turn().is_none() && transcript.queue().count() == 0
        })
        .await;
}
