//! Short names for what the tests look for.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{AppendLine, Daemon, Driver, LlmServer, Reply};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// A daemon that asks before it appends a line.
pub(crate) async fn asking(llm: &LlmServer) -> Daemon {
    let daemon = Daemon::builder().llm(llm).set("permission.mode", "ask");
    daemon.tool(AppendLine::new()).start().await
}

/// The next turn appends a line, and is done.
pub(crate) fn push_append(llm: &LlmServer, line: &str) {
    let arguments = serde_json::json!({ "line": line });
    llm.push(Reply::tool_call("append_line", &arguments.to_string()));
    llm.push(Reply::text("done"));
}

/// The bodies of durable events, without those that only tell of presence and live text.
pub(crate) fn durable(driver: &Driver) -> Vec<Body> {
    driver.events().filter(|event| event.seq > 0).filter_map(|event| event.body.clone()).collect()
}

/// Names of durable events, for comparing orders.
pub(crate) fn kinds(bodies: &[Body]) -> Vec<&'static str> {
    bodies.iter().map(kind).collect()
}

pub(crate) fn kind(body: &Body) -> &'static str {
    match body {
        Body::SessionCreated(_) => "created",
        Body::SessionRenamed(_) => "renamed",
        Body::ModelChanged(_) => "model",
        Body::MessageAccepted(_) => "accepted",
        Body::MessageWithdrawn(_) => "withdrawn",
        Body::MessagesDelivered(_) => "delivered",
        Body::TurnStarted(_) => "started",
        Body::TurnSuspended(_) => "suspended",
        Body::TurnResumed(_) => "resumed",
        Body::TurnCompleted(_) => "completed",
        Body::TurnFailed(_) => "failed",
        Body::TurnInterrupted(_) => "interrupted",
        Body::AssistantMessage(_) => "assistant",
        Body::AttemptRestarted(_) => "restarted",
        Body::ToolCallStarted(_) => "tool started",
        Body::ToolCallFinished(_) => "tool finished",
        Body::QuestionAsked(_) => "asked",
        Body::QuestionAnswered(_) => "answered",
        Body::UsageRecorded(_) => "usage",
        Body::ContextTrimmed(_) => "trimmed",
        Body::ContextCompacted(_) => "compacted",
        Body::TurnsRecalled(_) => "recalled",
        Body::PinsChanged(_) => "pins",
        Body::ProjectDocumentChanged(_) => "project document",
        Body::Notice(_) => "notice",
        Body::ApprovalRequested(_) => "approval requested",
        Body::ApprovalResolved(_) => "approval resolved",
        Body::PermissionModeChanged(_) => "permission mode",
        Body::WorkModeChanged(_) => "work mode",
        Body::PermissionRuleRevoked(_) => "rule revoked",
        Body::EffortChanged(_) => "effort",
        Body::MessageExpired(_) => "expired",
        Body::TodoListChanged(_) => "todo",
        Body::PlanChanged(_) => "plan",
        Body::MemoriesTold(_) => "memories",
        Body::MemoriesExtracted(_) => "memories found",
        Body::Unknown(_) => "unknown",
        Body::ItemDelta(_) => "delta",
        Body::Presence(_) => "presence",
    }
}

/// The texts of live deltas of one channel, joined, for each item in order of appearance.
pub(crate) fn live_texts(driver: &Driver, channel: v1::DeltaChannel) -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for body in driver.bodies() {
        if let Body::ItemDelta(delta) = body
            && delta.channel() == channel
        {
            let at = texts.iter().position(|(id, _)| *id == delta.item_id).unwrap_or_else(|| {
                texts.push((delta.item_id.clone(), String::new()));
                texts.len() - 1
            });
            let text = &mut texts[at].1;
            assert_eq!(delta.offset, text.len() as u64, "a gap or a repetition in live text");
            text.push_str(&delta.text);
        }
    }
    texts
}

/// The results of tool calls, in order: name, status, output.
pub(crate) fn results(driver: &Driver) -> Vec<v1::ToolCallFinished> {
    driver
        .bodies()
        .filter_map(|body| match body {
            Body::ToolCallFinished(finished) => Some(finished.clone()),
            _ => None,
        })
        .collect()
}

/// The assistant messages, in order.
pub(crate) fn answers(driver: &Driver) -> Vec<v1::AssistantMessage> {
    driver
        .bodies()
        .filter_map(|body| match body {
            Body::AssistantMessage(message) => Some(message.clone()),
            _ => None,
        })
        .collect()
}

/// Checks an error: its code, that it says `part`, and that it says what to do.
#[track_caller]
pub(crate) fn check_error(status: &Status, code: Code, part: &str) {
    assert_eq!(status.code(), code, "{status:?}");
    assert!(status.message().contains(part), "{part:?} is not in {:?}", status.message());
    let details = status.get_error_details();
    let hint = details.error_info().and_then(|info| info.metadata.get("hint").cloned());
    assert!(hint.is_some_and(|hint| !hint.is_empty()), "no hint in {status:?}");
}

/// Checks that the numbers of a log are 1, 2, 3 ...
#[track_caller]
pub(crate) fn check_gap_free(log: &[v1::Event]) {
    for (event, wanted) in log.iter().zip(1..) {
        assert_eq!(event.seq, wanted, "{event:?}");
    }
}
