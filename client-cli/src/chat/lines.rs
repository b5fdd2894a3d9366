//! Events that are one line in a chat and on the stderr of `send`.

mod context;

pub(crate) use context::compacted;

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::Role;
use agentd_shared::format::approval::{self as approval_text, visible};
use agentd_shared::text::{human_duration, one_line};

use agentd_shared::transcript::TurnMarker;

use super::plan;
use crate::command::usage::cost_text;

/// Columns for a text.
pub(super) const DETAIL_WIDTH: usize = 100;
/// Columns for a name.
const NAME_WIDTH: usize = 40;

/// What is said of a waiting message beside its text: its priority unless it is the usual one, and
/// when it is too late for it.
pub(crate) fn standing(priority: v1::Priority, expires_at_ms: i64) -> String {
    let priority = match priority {
        v1::Priority::Unspecified | v1::Priority::Normal => "",
        v1::Priority::Low => "  low priority",
        v1::Priority::High => "  high priority",
        v1::Priority::Urgent => "  urgent",
        v1::Priority::Critical => "  critical",
    };
    let expiry = match u64::try_from(expires_at_ms) {
        Ok(0) | Err(_) => String::new(),
        Ok(at) => {
            let left = Duration::from_millis(at.saturating_sub(now_ms()));
            format!("  expires in {}", human_duration(left))
        }
    };
    format!("{priority}{expiry}")
}

/// How a line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// By the way.
    Dim,
    /// To look at.
    Warn,
    /// Wrong.
    Error,
}

impl Tone {
    /// What a text in it is.
    pub(crate) fn role(self) -> Role {
        match self {
            Self::Dim => Role::Dim,
            Self::Warn => Role::Warn,
            Self::Error => Role::Error,
        }
    }
}

/// A line without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// How it is meant.
    pub(crate) tone: Tone,
    /// The text.
    pub(crate) text: String,
}

impl std::ops::Deref for Line {
    type Target = str;
    fn deref(&self) -> &str {
        &self.text
    }
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

fn line(tone: Tone, text: String) -> Line {
    Line { tone, text }
}

/// What an event tells in a line; nothing for events that are text, calls of
/// tools, ends of turns, or bookkeeping.
pub(crate) fn notes(event: &v1::Event, me: &str) -> Option<Line> {
    Some(match event.body.as_ref()? {
        Body::AttemptRestarted(restarted) => {
            let error = restarted.error.clone().unwrap_or_default();
            let why = one_line(&error.message, DETAIL_WIDTH);
            let attempt = restarted.attempt;
            line(
                Tone::Warn,
                format!("↻ the answer broke off ({why}); attempt {attempt} begins anew"),
            )
        }
        Body::ContextTrimmed(trimmed) => line(Tone::Dim, context::trimmed(trimmed)),
        Body::ContextCompacted(compacted) => line(Tone::Dim, context::compacted(compacted)),
        Body::TurnsRecalled(recalled) => line(Tone::Dim, context::recalled(recalled)),
        Body::PinsChanged(changed) => line(Tone::Dim, context::pins(changed, me)),
        Body::ProjectDocumentChanged(changed) => line(Tone::Dim, context::document(changed)),
        Body::Notice(notice) => {
            let warn = notice.level() == v1::NoticeLevel::Warn;
            let tone = if warn { Tone::Warn } else { Tone::Dim };
            line(tone, format!("◆ {}", one_line(&notice.text, 500)))
        }
        Body::TurnResumed(resumed) => {
            line(Tone::Dim, format!("◆ the turn goes on{}", by(resumed.by.as_ref(), me)))
        }
        Body::SessionRenamed(renamed) => {
            let title = one_line(&renamed.title, DETAIL_WIDTH);
            line(Tone::Dim, format!("◆ title{}: {title}", by(renamed.by.as_ref(), me)))
        }
        Body::ModelChanged(changed) => {
            let model = match changed.model.as_str() {
                "" => "the daemon's default".to_owned(),
                model => one_line(model, NAME_WIDTH),
            };
            line(
                Tone::Dim,
                format!("◆ model from the next turn on{}: {model}", by(changed.by.as_ref(), me)),
            )
        }
        Body::EffortChanged(changed) => {
            let effort = match changed.effort() {
                v1::Effort::Unspecified => "the model's default".to_owned(),
                effort => crate::json::effort(effort.into()),
            };
            line(
                Tone::Dim,
                format!("◆ effort from the next turn on{}: {effort}", by(changed.by.as_ref(), me)),
            )
        }
        Body::TodoListChanged(changed) => {
            line(Tone::Dim, todo(&changed.list.clone().unwrap_or_default()))
        }
        Body::PlanChanged(changed) => {
            line(Tone::Dim, plan::plan(&changed.plan.clone().unwrap_or_default()))
        }
        Body::MemoriesExtracted(extracted) => line(Tone::Dim, memories_extracted(extracted)?),
        Body::MemoriesTold(told) => line(Tone::Dim, memories_told(told)),
        Body::PermissionModeChanged(changed) => line(
            Tone::Dim,
            format!(
                "◆ mode from the next call on: {}{}",
                mode_name(changed.mode()),
                by(changed.by.as_ref(), me)
            ),
        ),
        Body::WorkModeChanged(changed) => line(
            Tone::Dim,
            format!(
                "◆ work mode from the next call on: {}{}",
                crate::json::work_mode(changed.mode),
                by(changed.by.as_ref(), me)
            ),
        ),
        Body::PermissionRuleRevoked(revoked) => line(
            Tone::Dim,
            format!(
                "◆ rule {} holds no longer{}",
                visible(&revoked.rule_id, NAME_WIDTH),
                by(revoked.by.as_ref(), me)
            ),
        ),
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
        Body::Unknown(unknown) => {
            let kind = one_line(&unknown.kind, NAME_WIDTH);
            line(Tone::Dim, format!("◆ an event that this version does not know: {kind}"))
        }
        _ => return None,
    })
}

/// What the session has set out to do, a line for each step.
pub(super) fn todo(list: &v1::TodoList) -> String {
    if list.items.is_empty() {
        return "◆ nothing is left on the list".to_owned();
    }
    let completed =
        list.items.iter().filter(|item| item.status() == v1::TodoStatus::Completed).count();
    let title = one_line(&list.title, DETAIL_WIDTH);
    let title = if title.is_empty() { "to do" } else { &title };
    let heading = format!("◆ {title}: {completed} of {} done", list.items.len());
    let step = |item: &v1::TodoItem| {
        let mark = match item.status() {
            v1::TodoStatus::Completed => '✓',
            v1::TodoStatus::Running => '▸',
            v1::TodoStatus::Pending | v1::TodoStatus::Unspecified => '·',
        };
        format!("  {mark} {}", one_line(&item.label, DETAIL_WIDTH))
    };
    std::iter::once(heading).chain(list.items.iter().map(step)).collect::<Vec<_>>().join("\n")
}

/// A mode as users write it.
pub(crate) fn mode_name(mode: v1::PermissionMode) -> String {
    crate::json::permission_mode(mode.into()).replace('_', "-")
}

fn approval_resolved(resolved: &v1::ApprovalResolved, me: &str) -> Line {
    let by = by(resolved.by.as_ref(), me);
    match resolved.decision() {
        v1::ApprovalDecision::Allow if resolved.rules.is_empty() => {
            line(Tone::Dim, format!("◆ allowed{by}"))
        }
        v1::ApprovalDecision::Allow => {
            let rules: Vec<String> = resolved.rules.iter().map(approval_text::rule).collect();
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
pub(crate) fn by(author: Option<&v1::Author>, me: &str) -> String {
    match author {
        Some(author) if author.client_id != me => {
            format!(" by {}", one_line(&author.name, NAME_WIDTH))
        }
        Some(_) | None => String::new(),
    }
}

/// The effort of a turn, where one was asked for: what was asked for, and what was given instead.
pub(crate) fn effort(turn: &TurnMarker) -> Option<String> {
    let name = |effort: v1::Effort| crate::json::effort(effort.into());
    let TurnMarker { effort_requested, effort_effective, .. } = turn;
    match (*effort_requested, *effort_effective) {
        (v1::Effort::Unspecified, _) => None,
        (requested, v1::Effort::Unspecified) => Some(format!("{} (not offered)", name(requested))),
        (requested, effective) if requested == effective => Some(name(requested)),
        (requested, effective) => Some(format!("{}→{}", name(requested), name(effective))),
    }
}

/// The line under a finished turn.
pub(crate) fn footer(completed: &v1::TurnCompleted, turn: Option<&TurnMarker>) -> String {
    let model = turn.map_or("", |turn| turn.model.as_str());
    let took = human_duration(Duration::from_millis(completed.elapsed_ms));
    let usage = completed.usage.unwrap_or_default();
    let about = if usage.estimated { "~" } else { "" };
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    let mut text = format!("└ {took} · {about}{tokens} tokens");
    if let Some(turn) = turn.filter(|turn| turn.cost.nano_usd > 0) {
        text.push_str(" · ");
        text.push_str(&cost_text(&turn.cost));
    }
    // Who came in the middle of the turn has not been told it.
    if !model.is_empty() {
        text.push_str(" · ");
        text.push_str(&one_line(model, NAME_WIDTH));
    }
    if let Some(effort) = turn.and_then(effort) {
        text.push_str(" · effort ");
        text.push_str(&effort);
    }
    match completed.end() {
        v1::TurnEnd::Unspecified | v1::TurnEnd::Answered => {}
        v1::TurnEnd::OutputLimit => text.push_str(" · cut by the model's output limit"),
        v1::TurnEnd::RoundsLimit => text.push_str(" · ended by the limit of rounds"),
        v1::TurnEnd::Refused => text.push_str(" · refused by the provider"),
    }
    text
}

#[cfg(test)]
mod tests {
    use agentd_shared::transcript::TurnState;

    use super::*;

    fn check(body: Body, expect: Option<&str>) {
        let event = v1::Event { seq: 1, body: Some(body), ..Default::default() };
        assert_eq!(notes(&event, "me").map(|line| line.text).as_deref(), expect);
    }

    #[test]
    fn a_todo_list_is_shown_whole() {
        let item = |label: &str, status: v1::TodoStatus| v1::TodoItem {
            label: label.into(),
            status: status.into(),
        };
        let list = v1::TodoList {
            title: "fix\u{1b}[2J".into(),
            items: vec![
                item("look", v1::TodoStatus::Completed),
                item("edit\nall", v1::TodoStatus::Running),
                item("test", v1::TodoStatus::Pending),
            ],
            revision: 3,
        };
        check(
            Body::TodoListChanged(v1::TodoListChanged { list: Some(list) }),
            Some("◆ fix\\u{1b}[2J: 1 of 3 done\n  ✓ look\n  ▸ edit all\n  · test"),
        );
        check(
            Body::TodoListChanged(v1::TodoListChanged { list: None }),
            Some("◆ nothing is left on the list"),
        );
    }

    #[test]
    fn the_footer_tells_time_tokens_and_model() {
        let usage = v1::Usage { prompt_tokens: 300, completion_tokens: 12, ..Default::default() };
        let mut completed =
            v1::TurnCompleted { elapsed_ms: 1_234, usage: Some(usage), ..Default::default() };
        let mut turn = TurnMarker {
            turn_id: "T".into(),
            seq: 1,
            started_at_ms: 0,
            item_ids: Vec::new(),
            provider: "p".into(),
            model: "m1".into(),
            effort_requested: v1::Effort::Unspecified,
            effort_effective: v1::Effort::Unspecified,
            cost: v1::Cost::default(),
            state: TurnState::Running,
        };
        assert_eq!(footer(&completed, Some(&turn)), "└ 1.2 s · 312 tokens · m1");
        assert_eq!(footer(&completed, None), "└ 1.2 s · 312 tokens");
        completed.end = v1::TurnEnd::Refused.into();
        assert!(footer(&completed, Some(&turn)).ends_with("· refused by the provider"));
        for (requested, effective, expect) in [
            (v1::Effort::High, v1::Effort::High, "high"),
            (v1::Effort::Max, v1::Effort::High, "max→high"),
            (v1::Effort::Max, v1::Effort::Unspecified, "max (not offered)"),
        ] {
            turn.effort_requested = requested;
            turn.effort_effective = effective;
            let footer = footer(&v1::TurnCompleted::default(), Some(&turn));
            assert!(footer.ends_with(&format!(" · m1 · effort {expect}")), "{footer}");
        }
        turn.effort_requested = v1::Effort::Unspecified;
        turn.cost.nano_usd = 12_000_000;
        assert_eq!(
            footer(&v1::TurnCompleted::default(), Some(&turn)),
            "└ 0 ms · 0 tokens · $0.012 · m1"
        );
    }
}
