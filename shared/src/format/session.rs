//! What there is to tell of one session.

use agentd_proto::v1;

use super::facts::Fact;
use super::{names, turn};
use crate::client_ids::now_ms;
use crate::text::{grouped, one_line, relative_time};

/// Columns of a label, with the space behind it.
pub const LABEL_WIDTH: usize = 11;
/// Columns of a title, and of what was asked.
const TITLE: usize = 200;
/// Columns of a message that waits, and of what a call wants to do.
const PREVIEW: usize = 60;
const SUMMARY: usize = 80;
/// Columns of a tool's name.
const TOOL: usize = 40;

/// A session, a fact each.
pub fn facts(detail: &v1::GetSessionResponse) -> Vec<Fact> {
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let session = detail.session.clone().unwrap_or_default();
    let usage = session.usage.unwrap_or_default();
    let model = if session.model.is_empty() { "the daemon's default" } else { &session.model };
    let mode = names::permission_mode(session.permission_mode());
    let work = names::work_mode(session.work_mode());
    let status = session.status().as_str_name();
    let status = status.strip_prefix("SESSION_STATUS_").unwrap_or(status).to_ascii_lowercase();
    let mut facts = vec![
        Fact::new("id", &*session.session_id),
        Fact::new("title", title(&session.title, TITLE)),
        Fact::new("status", status),
        Fact::new("model", model),
        Fact::new("mode", format!("{mode}, work {work}")),
        Fact::new("workspace", &*session.workspace),
    ];
    facts.extend(session.further_roots.iter().map(|root| Fact::new("and", &**root)));
    let (turns, events) = (grouped(session.turns), grouped(session.last_seq));
    let tokens = format!(
        "{} in ({} cached), {} out ({} reasoning){}",
        grouped(usage.prompt_tokens),
        grouped(usage.cached_prompt_tokens),
        grouped(usage.completion_tokens),
        grouped(usage.reasoning_tokens),
        if usage.estimated { ", estimated" } else { "" }
    );
    facts.extend([
        Fact::new("created", relative_time(session.created_at_ms, now)),
        Fact::new("updated", relative_time(session.updated_at_ms, now)),
        Fact::new("turns", format!("{turns} ({events} events)")),
        Fact::new("tokens", tokens),
        Fact::new("cost", turn::cost(&session.cost.unwrap_or_default())),
    ]);
    facts.extend(session.origin.iter().map(|origin| {
        Fact::new("copy of", format!("{} up to event {}", origin.session_id, origin.seq))
    }));
    facts.extend(detail.participants.iter().map(|participant| {
        let author = participant.author.clone().unwrap_or_default();
        Fact::new("attached", format!("{} ({})", author.name, author.client_id))
    }));
    facts.extend(detail.queue.iter().zip(1..).map(|(message, number)| {
        let author = message.author.clone().unwrap_or_default();
        let preview = one_line(&message.preview, PREVIEW);
        Fact::new("queued", format!("{number} {} from {}: {preview}", message.item_id, author.name))
    }));
    facts.extend(detail.open_approvals.iter().map(|open| {
        let summary = open.action.as_ref().map_or("", |action| action.summary.as_str());
        let (tool, summary) = (one_line(&open.tool, TOOL), one_line(summary, SUMMARY));
        Fact::new("approval", format!("{} {tool}: {summary}", open.approval_id))
    }));
    facts.extend(detail.open_questions.iter().map(|question| {
        let (prompt, choices) = (one_line(&question.prompt, TITLE), question.choices.join(" | "));
        Fact::new("question", format!("{prompt} [{choices}]"))
    }));
    facts
}

/// A title, or what is shown in place of one.
pub fn title(title: &str, width: usize) -> String {
    match one_line(title, width) {
        empty if empty.is_empty() => "(no title yet)".to_owned(),
        title => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_told_with_what_waits_in_it() {
        let message = v1::QueuedMessage {
            item_id: "01Q".into(),
            preview: "then\ntest".into(),
            author: Some(v1::Author { name: "ann".into(), ..Default::default() }),
            ..Default::default()
        };
        let told = facts(&v1::GetSessionResponse {
            session: Some(v1::Session {
                session_id: "01S".into(),
                status: v1::SessionStatus::Running.into(),
                permission_mode: v1::PermissionMode::AutoEdit.into(),
                work_mode: v1::WorkMode::Review.into(),
                turns: 1_234,
                last_seq: 5,
                further_roots: vec!["/b".into()],
                ..Default::default()
            }),
            queue: vec![message],
            open_questions: vec![v1::QuestionAsked {
                prompt: "go on?".into(),
                choices: vec!["yes".into(), "no".into()],
                ..Default::default()
            }],
            ..Default::default()
        });
        let check = |label: &str, expect: &str| {
            let fact = told.iter().find(|fact| fact.label == label);
            assert_eq!(fact.map(|fact| fact.text.as_str()), Some(expect), "{label}");
        };
        check("title", "(no title yet)");
        check("status", "running");
        check("model", "the daemon's default");
        check("mode", "auto-edit, work review");
        check("and", "/b");
        check("turns", "1,234 (5 events)");
        check("queued", "1 01Q from ann: then test");
        check("question", "go on? [yes | no]");
    }
}
