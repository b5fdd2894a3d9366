//! What is said in a line or a few of events that are neither text nor calls of tools.

mod context;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;

pub use self::context::compacted;
use self::context::{document, pins, recalled, trimmed};
use super::approval::{self, visible};
use super::styled::Role;
use super::{names, plan};
use crate::text::one_line;
use crate::transcript::NoteKind;

/// Columns for a text.
pub(super) const DETAIL_WIDTH: usize = 100;
/// Columns for a name.
pub(super) const NAME_WIDTH: usize = 40;

/// How a line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// By the way.
    Dim,
    /// To look at.
    Warn,
    /// Wrong.
    Error,
}

impl Tone {
    /// What a text in it is.
    pub fn role(self) -> Role {
        match self {
            Self::Dim => Role::Dim,
            Self::Warn => Role::Warn,
            Self::Error => Role::Error,
        }
    }
}

/// Something that is said, in one line or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// How it is meant.
    pub tone: Tone,
    /// The text.
    pub text: String,
}

fn memories_extracted(extracted: &v1::MemoriesExtracted) -> Option<String> {
    let v1::MemoriesExtracted { through_seq: _, added, waiting } = extracted;
    let mut parts = Vec::new();
    if !added.is_empty() {
        parts.push(format!("remembered {} from this conversation", added.len()));
    }
    if !waiting.is_empty() {
        let some = waiting.len();
        parts.push(format!(
            "{some} not in your words wait: `agentctl memory list --status quarantined`"
        ));
    }
    (!parts.is_empty()).then(|| format!("◆ {}", parts.join(", ")))
}

fn memories_told(told: &v1::MemoriesTold) -> String {
    let v1::MemoriesTold { told, withdrawn, known, text: _ } = told;
    let mut parts = Vec::new();
    if !told.is_empty() {
        parts.push(format!("told the model {} of {known} memories", told.len()));
    }
    if !withdrawn.is_empty() {
        parts.push(format!("took back {}", withdrawn.len()));
    }
    format!("◆ {}", parts.join(", "))
}

pub(super) fn line(tone: Tone, text: String) -> Line {
    Line { tone, text }
}

/// What an event tells; nothing for events that are text, calls of tools, ends of turns, or
/// bookkeeping. `me` is the id of the client that asks: nobody is told what he did himself.
pub fn event(event: &v1::Event, me: &str) -> Option<Line> {
    let body = event.body.as_ref()?;
    if let Some(kind) = NoteKind::of(body) {
        return note(&kind, me);
    }
    Some(match body {
        Body::TurnResumed(resumed) => {
            line(Tone::Dim, format!("◆ the turn goes on{}", by(resumed.by.as_ref(), me)))
        }
        Body::SessionRenamed(renamed) => {
            line(Tone::Dim, format!("◆ title: {}", one_line(&renamed.title, DETAIL_WIDTH)))
        }
        Body::ApprovalRequested(requested) => {
            let summary = requested.action.as_ref().map_or("", |action| action.summary.as_str());
            line(
                Tone::Warn,
                format!(
                    "? {} wants to: {} (`agentctl approvals` shows and answers it)",
                    visible(&requested.tool, NAME_WIDTH),
                    visible(summary, DETAIL_WIDTH)
                ),
            )
        }
        Body::ApprovalResolved(resolved) => approval_resolved(resolved, me),
        Body::QuestionAnswered(answered) if !answered.choice.is_empty() => {
            let choice = one_line(&answered.choice, NAME_WIDTH);
            line(Tone::Dim, format!("◆ answered: {choice}{}", by(answered.by.as_ref(), me)))
        }
        _ => return None,
    })
}

/// What a note of a transcript tells; nothing when there is nothing in it.
pub fn note(kind: &NoteKind, me: &str) -> Option<Line> {
    let (tone, text) = match kind {
        NoteKind::AttemptRestarted { attempt, error } => {
            let why = one_line(&error.message, DETAIL_WIDTH);
            let text = format!("↻ the answer broke off ({why}); attempt {attempt} begins anew");
            (Tone::Warn, text)
        }
        NoteKind::Notice { level, text } => {
            let tone = if *level == v1::NoticeLevel::Warn { Tone::Warn } else { Tone::Dim };
            (tone, format!("◆ {}", one_line(text, 500)))
        }
        NoteKind::Renamed { title, by: who } => {
            let title = one_line(title, DETAIL_WIDTH);
            (Tone::Dim, format!("◆ title{}: {title}", by(Some(who), me)))
        }
        NoteKind::ModelChanged { model, by: who } => {
            let model = match model.as_str() {
                "" => "the daemon's default".to_owned(),
                model => one_line(model, NAME_WIDTH),
            };
            let by = by(who.as_ref(), me);
            (Tone::Dim, format!("◆ model from the next turn on{by}: {model}"))
        }
        NoteKind::EffortChanged { effort, by: who } => {
            let effort = match effort {
                v1::Effort::Unspecified => "the model's default".to_owned(),
                effort => names::effort(*effort),
            };
            let by = by(who.as_ref(), me);
            (Tone::Dim, format!("◆ effort from the next turn on{by}: {effort}"))
        }
        NoteKind::PermissionModeChanged { mode, by: who } => {
            let (mode, by) = (names::permission_mode(*mode), by(who.as_ref(), me));
            (Tone::Dim, format!("◆ mode from the next call on: {mode}{by}"))
        }
        NoteKind::WorkModeChanged { mode, by: who } => {
            let (mode, by) = (names::work_mode(*mode), by(who.as_ref(), me));
            (Tone::Dim, format!("◆ work mode from the next call on: {mode}{by}"))
        }
        NoteKind::PermissionRuleRevoked { rule_id, by: who } => {
            let (rule, by) = (visible(rule_id, NAME_WIDTH), by(who.as_ref(), me));
            (Tone::Dim, format!("◆ rule {rule} holds no longer{by}"))
        }
        NoteKind::TodoListChanged { list } => (Tone::Dim, plan::todo(list)),
        NoteKind::PlanChanged { plan } => (Tone::Dim, plan::plan(plan)),
        NoteKind::MemoriesExtracted { extracted } => (Tone::Dim, memories_extracted(extracted)?),
        NoteKind::MemoriesTold { told } => (Tone::Dim, memories_told(told)),
        NoteKind::ContextTrimmed { trimmed: event } => (Tone::Dim, trimmed(event)),
        NoteKind::ContextCompacted { compacted: event } => (Tone::Dim, compacted(event)),
        NoteKind::TurnsRecalled { recalled: event } => (Tone::Dim, recalled(event)),
        NoteKind::PinsChanged { pins: all, by: who } => (Tone::Dim, pins(all, who.as_ref(), me)),
        NoteKind::ProjectDocumentChanged { changed } => (Tone::Dim, document(changed)),
        NoteKind::Unknown { kind } => {
            let kind = one_line(kind, NAME_WIDTH);
            (Tone::Dim, format!("◆ an event that this version does not know: {kind}"))
        }
    };
    Some(line(tone, text))
}

fn approval_resolved(resolved: &v1::ApprovalResolved, me: &str) -> Line {
    let by = by(resolved.by.as_ref(), me);
    match resolved.decision() {
        v1::ApprovalDecision::Allow if resolved.rules.is_empty() => {
            line(Tone::Dim, format!("◆ allowed{by}"))
        }
        v1::ApprovalDecision::Allow => {
            let rules: Vec<String> = resolved.rules.iter().map(approval::rule).collect();
            let wherever = match resolved.scope() {
                v1::ApprovalScope::Workspace => "workspace",
                _ => "session",
            };
            let rules = rules.join("; ");
            line(Tone::Dim, format!("◆ allowed{by}, in this {wherever} from now on: {rules}"))
        }
        v1::ApprovalDecision::Deny => {
            let reason = match resolved.reason.trim() {
                "" => String::new(),
                reason => format!(": {}", one_line(reason, DETAIL_WIDTH)),
            };
            line(Tone::Warn, format!("◆ denied{by}{reason}"))
        }
        v1::ApprovalDecision::Expired => {
            line(Tone::Warn, "◆ denied: nobody answered in time".to_owned())
        }
        v1::ApprovalDecision::Void | v1::ApprovalDecision::Unspecified => {
            line(Tone::Dim, "◆ the approval is void: its turn was cut off".to_owned())
        }
    }
}

/// " by NAME"; nothing for ourselves and for nobody.
pub fn by(author: Option<&v1::Author>, me: &str) -> String {
    match author {
        Some(author) if author.client_id != me => {
            format!(" by {}", one_line(&author.name, NAME_WIDTH))
        }
        Some(_) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: Body, expect: Option<&str>) {
        let told = v1::Event { seq: 1, body: Some(body), ..Default::default() };
        assert_eq!(event(&told, "me").map(|line| line.text).as_deref(), expect);
    }

    fn author(id: &str) -> v1::Author {
        v1::Author { client_id: id.into(), name: "ann\u{1b}".into() }
    }

    #[test]
    fn what_changed_is_told_with_who_changed_it_unless_that_is_me() {
        let renamed = |by| {
            Body::SessionRenamed(v1::SessionRenamed {
                title: "a\nb".into(),
                by,
                ..Default::default()
            })
        };
        check(renamed(Some(author("me"))), Some("◆ title: a b"));
        check(renamed(Some(author("x"))), Some("◆ title by ann\\u{1b}: a b"));
        check(renamed(None), Some("◆ title: a b"));
        let mode = v1::PermissionMode::AutoEdit.into();
        let changed = v1::PermissionModeChanged { mode, by: Some(author("x")) };
        check(
            Body::PermissionModeChanged(changed),
            Some("◆ mode from the next call on: auto-edit by ann\\u{1b}"),
        );
        let changed = v1::EffortChanged { effort: 0, by: None };
        check(
            Body::EffortChanged(changed),
            Some("◆ effort from the next turn on: the model's default"),
        );
    }

    #[test]
    fn what_is_shown_in_another_way_is_not_told_again() {
        check(Body::MessageAccepted(v1::MessageAccepted::default()), None);
        check(Body::TurnCompleted(v1::TurnCompleted::default()), None);
        check(Body::QuestionAnswered(v1::QuestionAnswered::default()), None);
        check(Body::MemoriesExtracted(v1::MemoriesExtracted::default()), None);
    }

    #[test]
    fn a_list_that_changed_is_told_whole() {
        let changed = v1::TodoListChanged { list: None };
        check(Body::TodoListChanged(changed), Some("◆ nothing is left on the list"));
    }
}
