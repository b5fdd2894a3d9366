//! An event as one line of a trace: its number, its kind, and the little of it that fits.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use unicode_width::UnicodeWidthStr as _;

use super::names;
use crate::text::one_line;

/// Columns for the number and for the kind.
const SEQ_WIDTH: usize = 5;
const KIND_WIDTH: usize = 18;

/// The line, in at most `width` columns and cut between words where that is possible. It is inert.
pub fn line(event: &v1::Event, width: usize) -> String {
    let (kind, text) = event.body.as_ref().map_or(("unknown", String::new()), told);
    words(&head(event.seq, kind), &text, width)
}

/// What stands before the text of an event: its number and its kind.
pub fn head(seq: u64, kind: &str) -> String {
    format!("{seq:>SEQ_WIDTH$}  {kind:<KIND_WIDTH$}  ")
}

/// The kind of an event, as programs know it, and what tells most about it: its own text, else the
/// plain parts of it. The text is foreign.
pub fn told(body: &Body) -> (&'static str, String) {
    match body {
        Body::SessionCreated(it) => (
            "session_created",
            fields(&[("workspace", &it.workspace), ("title", &it.title), ("model", &it.model)]),
        ),
        Body::SessionRenamed(it) => ("session_renamed", it.title.clone()),
        Body::ModelChanged(it) => ("model_changed", fields(&[("model", &it.model)])),
        Body::EffortChanged(it) => {
            ("effort_changed", fields(&[("effort", &names::effort(it.effort()))]))
        }
        Body::PermissionModeChanged(it) => {
            let mode = names::permission_mode(it.mode());
            ("permission_mode_changed", fields(&[("mode", &mode)]))
        }
        Body::WorkModeChanged(it) => {
            ("work_mode_changed", fields(&[("mode", &names::work_mode(it.mode()))]))
        }
        Body::PermissionRuleRevoked(it) => {
            ("permission_rule_revoked", fields(&[("rule", &it.rule_id)]))
        }
        Body::ApprovalRequested(it) => {
            let summary = it.action.as_ref().map_or("", |action| action.summary.as_str());
            ("approval_requested", both(&it.tool, summary))
        }
        Body::ApprovalResolved(it) => {
            let decision = name(it.decision().as_str_name(), "APPROVAL_DECISION_");
            let scope = name(it.scope().as_str_name(), "APPROVAL_SCOPE_");
            let parts = [("decision", &*decision), ("scope", &*scope), ("reason", &it.reason)];
            ("approval_resolved", fields(&parts))
        }
        Body::MessageAccepted(it) => ("message_accepted", it.text.clone()),
        Body::MessageWithdrawn(it) => ("message_withdrawn", fields(&[("message", &it.item_id)])),
        Body::MessageExpired(it) => ("message_expired", fields(&[("message", &it.item_id)])),
        Body::MessagesDelivered(it) => {
            ("messages_delivered", fields(&[("messages", &it.item_ids.join(","))]))
        }
        Body::TurnStarted(it) => {
            let effort = |effort| match effort {
                v1::Effort::Unspecified => String::new(),
                effort => names::effort(effort),
            };
            let requested = effort(it.effort_requested());
            let effective = effort(it.effort_effective());
            let parts = [
                ("provider", &*it.provider),
                ("model", &*it.model),
                ("effort_requested", &*requested),
                ("effort_effective", &*effective),
            ];
            ("turn_started", fields(&parts))
        }
        Body::TurnSuspended(it) => {
            let reason = name(it.reason().as_str_name(), "SUSPEND_REASON_");
            ("turn_suspended", fields(&[("reason", &reason)]))
        }
        Body::TurnResumed(it) => {
            let by = it.by.as_ref().map_or("", |by| by.name.as_str());
            ("turn_resumed", fields(&[("by", by)]))
        }
        Body::TurnCompleted(it) => {
            let end = name(it.end().as_str_name(), "TURN_END_");
            let (rounds, elapsed) = (it.rounds.to_string(), it.elapsed_ms.to_string());
            let parts = [("end", &*end), ("rounds", &*rounds), ("elapsed_ms", &*elapsed)];
            ("turn_completed", fields(&parts))
        }
        Body::TurnFailed(it) => ("turn_failed", message(it.error.as_ref())),
        Body::TurnInterrupted(it) => {
            let reason = name(it.reason().as_str_name(), "INTERRUPT_REASON_");
            let by = it.by.as_ref().map_or("", |by| by.name.as_str());
            ("turn_interrupted", fields(&[("reason", &*reason), ("by", by)]))
        }
        Body::AssistantMessage(it) => ("assistant_message", assistant(it)),
        Body::AttemptRestarted(it) => ("attempt_restarted", message(it.error.as_ref())),
        Body::ToolCallStarted(it) => ("tool_call_started", both(&it.name, &it.arguments_json)),
        Body::ToolCallFinished(it) => ("tool_call_finished", both(&it.name, &it.output)),
        Body::QuestionAsked(it) => ("question_asked", it.prompt.clone()),
        Body::QuestionAnswered(it) => ("question_answered", it.choice.clone()),
        Body::UsageRecorded(it) => {
            let purpose = name(it.purpose().as_str_name(), "USAGE_PURPOSE_");
            let elapsed = it.elapsed_ms.to_string();
            let parts = [
                ("purpose", &*purpose),
                ("provider", &*it.provider),
                ("model", &*it.model),
                ("elapsed_ms", &*elapsed),
            ];
            ("usage_recorded", fields(&parts))
        }
        Body::ContextTrimmed(it) => {
            let (dropped, kept) = (it.dropped_tokens.to_string(), it.first_kept_seq.to_string());
            let parts = [("dropped_tokens", &*dropped), ("first_kept_seq", &*kept)];
            ("context_trimmed", fields(&parts))
        }
        Body::ContextCompacted(it) => {
            let reason = name(it.reason().as_str_name(), "COMPACTION_REASON_");
            let [turns, before, after] =
                [it.folded_turns.into(), it.tokens_before, it.tokens_after]
                    .map(|it: u64| it.to_string());
            let parts = [
                ("folded_turns", &*turns),
                ("tokens_before", &*before),
                ("tokens_after", &*after),
                ("reason", &*reason),
            ];
            ("context_compacted", fields(&parts))
        }
        Body::TurnsRecalled(it) => ("turns_recalled", it.text.clone()),
        Body::PinsChanged(it) => ("pins_changed", it.pins.join("; ")),
        Body::ProjectDocumentChanged(it) => {
            let bytes = it.bytes.to_string();
            ("project_document_changed", fields(&[("path", &*it.path), ("bytes", &*bytes)]))
        }
        Body::TodoListChanged(it) => {
            let list = it.list.clone().unwrap_or_default();
            let items = list.items.len().to_string();
            ("todo_list_changed", fields(&[("title", &*list.title), ("items", &*items)]))
        }
        Body::PlanChanged(it) => {
            let plan = it.plan.clone().unwrap_or_default();
            let steps = plan.steps.len().to_string();
            ("plan_changed", fields(&[("goal", &*plan.goal), ("steps", &*steps)]))
        }
        Body::MemoriesTold(it) => {
            let [told, withdrawn] = [it.told.len(), it.withdrawn.len()].map(|it| it.to_string());
            let known = it.known.to_string();
            let parts = [("told", &*told), ("withdrawn", &*withdrawn), ("known", &*known)];
            ("memories_told", fields(&parts))
        }
        Body::MemoriesExtracted(it) => {
            let [added, waiting] = [it.added.len(), it.waiting.len()].map(|it| it.to_string());
            ("memories_extracted", fields(&[("added", &*added), ("waiting", &*waiting)]))
        }
        Body::Notice(it) => ("notice", it.text.clone()),
        Body::Unknown(it) => ("unknown", both(&it.kind, &it.record_json)),
        Body::ItemDelta(it) => ("item_delta", it.text.clone()),
        Body::Presence(it) => {
            let names = it.participants.iter().filter_map(|one| one.author.as_ref());
            let names: Vec<&str> = names.map(|author| author.name.as_str()).collect();
            ("presence", names.join(", "))
        }
    }
}

/// What was said, else what was called, else what was thought.
fn assistant(said: &v1::AssistantMessage) -> String {
    if !said.text.is_empty() {
        return said.text.clone();
    }
    let calls: Vec<&str> = said.tool_calls.iter().map(|call| call.name.as_str()).collect();
    if calls.is_empty() { said.reasoning.clone() } else { fields(&[("calls", &calls.join(","))]) }
}

fn message(error: Option<&v1::ErrorReport>) -> String {
    error.map_or(String::new(), |error| error.message.clone())
}

fn both(first: &str, second: &str) -> String {
    format!("{first} {second}").trim_end().to_owned()
}

/// Those that say something.
fn fields(parts: &[(&str, &str)]) -> String {
    let parts = parts.iter().filter(|(_, value)| !value.is_empty());
    parts.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// The name of a value as programs know it.
fn name(full: &str, prefix: &str) -> String {
    full.strip_prefix(prefix).unwrap_or(full).to_ascii_lowercase()
}

/// Adds as many whole words as fit. The first one is cut when even that does not.
fn words(head: &str, text: &str, width: usize) -> String {
    let room = width.saturating_sub(head.width());
    // Whatever is cut off is not looked at.
    let whole = one_line(text, room);
    let Some(cut) = whole.strip_suffix('…').filter(|_| one_line(text, room + 1) != whole) else {
        return one_line_behind(head, &whole, width);
    };
    let kept = match cut.rsplit_once(' ') {
        Some((words, _)) => format!("{words} …"),
        None => whole.clone(),
    };
    one_line_behind(head, &kept, width)
}

fn one_line_behind(head: &str, text: &str, width: usize) -> String {
    let line = format!("{head}{text}");
    let line = line.trim_end();
    // Only on a terminal with no room for the head itself.
    if line.width() > width { one_line(line, width) } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(body: Body) -> v1::Event {
        v1::Event { seq: 12, body: Some(body), ..v1::Event::default() }
    }

    #[test]
    fn an_event_is_one_line_that_ends_with_a_word() {
        let check = |body: Body, width: usize, expect: &str| {
            assert_eq!(line(&event(body), width), expect);
        };
        let message = |text: &str| {
            Body::MessageAccepted(v1::MessageAccepted { text: text.into(), ..Default::default() })
        };
        check(message("hello\nworld"), 60, "   12  message_accepted    hello world");
        check(message("hello wonderful world"), 42, "   12  message_accepted    hello …");
        check(message("unbreakable"), 32, "   12  message_accepted    unbr…");
        check(message("\u{1b}[2J"), 60, "   12  message_accepted    \\u{1b}[2J");
        let call = v1::ToolCallStarted {
            name: "clock".into(),
            arguments_json: "{}".into(),
            ..Default::default()
        };
        check(Body::ToolCallStarted(call), 60, "   12  tool_call_started   clock {}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let text = "a title that is far longer than any terminal is wide".to_owned();
        let renamed = v1::SessionRenamed { title: text, ..Default::default() };
        for width in 20..90 {
            let line = line(&event(Body::SessionRenamed(renamed.clone())), width);
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}
