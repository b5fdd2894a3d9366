//! Notes and the foot of a turn.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::{Role, Row};
use agentd_shared::text::{grouped, human_bytes, human_duration, human_usd, one_line};
use agentd_shared::transcript::{Note, NoteKind, TurnMarker, TurnState};

use super::{NAME, Rows, name};

/// Columns of a text inside a note.
const DETAIL: usize = 200;

/// Whether a note is shown. What is decided on the way is shown only to those who want to see it.
pub(in crate::document) fn is_shown(note: &Note, verbose: bool) -> bool {
    match &note.kind {
        NoteKind::MemoriesExtracted { extracted } => {
            !extracted.added.is_empty() || !extracted.waiting.is_empty()
        }
        NoteKind::MemoriesTold { .. }
        | NoteKind::ContextTrimmed { .. }
        | NoteKind::TurnsRecalled { .. }
        | NoteKind::ProjectDocumentChanged { .. }
        | NoteKind::Unknown { .. } => verbose,
        NoteKind::Notice { .. }
        | NoteKind::Renamed { .. }
        | NoteKind::ModelChanged { .. }
        | NoteKind::EffortChanged { .. }
        | NoteKind::TodoListChanged { .. }
        | NoteKind::PlanChanged { .. }
        | NoteKind::PermissionModeChanged { .. }
        | NoteKind::WorkModeChanged { .. }
        | NoteKind::PermissionRuleRevoked { .. }
        | NoteKind::AttemptRestarted { .. }
        | NoteKind::ContextCompacted { .. }
        | NoteKind::PinsChanged { .. } => true,
    }
}

/// What a note tells.
pub(in crate::document) fn text(note: &Note) -> String {
    match &note.kind {
        NoteKind::Notice { text, .. } => text.clone(),
        NoteKind::Renamed { title, by } => format!("title by {}: {title}", name(by)),
        NoteKind::ModelChanged { model, by } => {
            let model = if model.is_empty() { "the daemon's default" } else { model };
            format!("model from the next turn on{}: {model}", by_whom(by.as_ref()))
        }
        NoteKind::EffortChanged { effort, by } => {
            let effort = match effort {
                v1::Effort::Unspecified => "the model's default".to_owned(),
                effort => word(effort.as_str_name(), "EFFORT_"),
            };
            format!("effort from the next turn on{}: {effort}", by_whom(by.as_ref()))
        }
        NoteKind::TodoListChanged { list } => todo(list),
        NoteKind::PlanChanged { plan } => plan_text(plan),
        NoteKind::MemoriesExtracted { extracted } => {
            let (added, waiting) = (extracted.added.len(), extracted.waiting.len());
            let mut parts = Vec::new();
            if added > 0 {
                parts.push(format!("remembered {added} from this conversation"));
            }
            if waiting > 0 {
                parts.push(format!("{waiting} not in your words wait to be looked at"));
            }
            parts.join(", ")
        }
        NoteKind::MemoriesTold { told } => {
            let v1::MemoriesTold { told, withdrawn, known, .. } = told;
            let mut text = format!("told the model {} of {known} memories", told.len());
            if !withdrawn.is_empty() {
                text = format!("{text}, took back {}", withdrawn.len());
            }
            text
        }
        NoteKind::PermissionModeChanged { mode, by } => {
            let mode = word(mode.as_str_name(), "PERMISSION_MODE_");
            format!("mode from the next call on{}: {mode}", by_whom(by.as_ref()))
        }
        NoteKind::WorkModeChanged { mode, by } => {
            let mode = word(mode.as_str_name(), "WORK_MODE_");
            format!("work mode from the next call on{}: {mode}", by_whom(by.as_ref()))
        }
        NoteKind::PermissionRuleRevoked { rule_id, by } => {
            format!("rule {rule_id} holds no longer{}", by_whom(by.as_ref()))
        }
        NoteKind::AttemptRestarted { attempt, error } => {
            let why = one_line(&error.message, DETAIL);
            format!("the answer broke off ({why}); attempt {attempt} begins anew")
        }
        NoteKind::ContextTrimmed { trimmed } => {
            let tokens = grouped(trimmed.dropped_tokens);
            format!("left older parts out of requests: about {tokens} tokens")
        }
        NoteKind::ContextCompacted { compacted } => {
            let (before, after) =
                (grouped(compacted.tokens_before), grouped(compacted.tokens_after));
            let what = match compacted.folded_turns {
                0 => "rewrote the summary of older turns".to_owned(),
                turns => format!("folded {} into a summary", plural(turns.into(), "older turn")),
            };
            format!("{what}, {before} → {after} tokens")
        }
        NoteKind::TurnsRecalled { recalled } => {
            format!("recalled {}", plural(recalled.turns.len() as u64, "earlier turn"))
        }
        NoteKind::PinsChanged { pins, by } => {
            let by = by_whom(by.as_ref());
            match pins.as_slice() {
                [] => format!("nothing is pinned any more{by}"),
                [.., newest] => {
                    let count = plural(pins.len() as u64, "text");
                    format!("{count} pinned{by}, the last: {}", one_line(newest, DETAIL))
                }
            }
        }
        NoteKind::ProjectDocumentChanged { changed } => {
            let v1::ProjectDocumentChanged { path, sha256, bytes, is_cut } = changed;
            let cut = if *is_cut { ", of which head and tail" } else { "" };
            match (path.as_str(), sha256.as_str()) {
                ("", "") => "no document of the workspace is part of the requests".to_owned(),
                ("", _) => "the workspace's document cannot be part of the requests".to_owned(),
                (path, _) => {
                    format!("{path} is part of the requests ({}{cut})", human_bytes(*bytes))
                }
            }
        }
        NoteKind::Unknown { kind } => format!("an event that this version does not know: {kind}"),
    }
}

fn todo(list: &v1::TodoList) -> String {
    if list.items.is_empty() {
        return "nothing is left on the list".to_owned();
    }
    let done = list.items.iter().filter(|item| item.status() == v1::TodoStatus::Completed).count();
    let title = if list.title.is_empty() { "to do" } else { &list.title };
    let heading = format!("{}: {done} of {} done", one_line(title, DETAIL), list.items.len());
    let step = |item: &v1::TodoItem| {
        let mark = match item.status() {
            v1::TodoStatus::Completed => '✓',
            v1::TodoStatus::Running => '▸',
            v1::TodoStatus::Pending | v1::TodoStatus::Unspecified => '·',
        };
        format!("{mark} {}", one_line(&item.label, DETAIL))
    };
    std::iter::once(heading).chain(list.items.iter().map(step)).collect::<Vec<_>>().join("\n")
}

fn plan_text(plan: &v1::Plan) -> String {
    if plan.steps.is_empty() {
        return "there is no plan".to_owned();
    }
    let is_done = |step: &&v1::PlanStep| step.status() == v1::PlanStepStatus::Done;
    let done = plan.steps.iter().filter(is_done).count();
    let goal = one_line(&plan.goal, DETAIL);
    let heading = format!("plan: {goal}: {done} of {} done", plan.steps.len());
    let step = |step: &v1::PlanStep| {
        let mark = match step.status() {
            v1::PlanStepStatus::Done => '✓',
            v1::PlanStepStatus::Running => '▸',
            v1::PlanStepStatus::Failed => '✗',
            v1::PlanStepStatus::Interrupted => '‖',
            v1::PlanStepStatus::Pending | v1::PlanStepStatus::Unspecified => '·',
        };
        let note = match step.note.as_str() {
            "" => String::new(),
            note => format!(" ({})", one_line(note, DETAIL)),
        };
        format!("{mark} {}{note}", one_line(&step.objective, DETAIL))
    };
    std::iter::once(heading).chain(plan.steps.iter().map(step)).collect::<Vec<_>>().join("\n")
}

/// The word of an enumeration as people write it.
fn word(value: &str, prefix: &str) -> String {
    value.strip_prefix(prefix).unwrap_or(value).to_lowercase().replace('_', "-")
}

fn by_whom(by: Option<&v1::Author>) -> String {
    by.map_or(String::new(), |by| format!(" by {}", name(by)))
}

fn plural(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(count))
}

impl Rows {
    pub(super) fn note(&mut self, note: &Note) {
        let warn = match &note.kind {
            NoteKind::Notice { level, .. } => *level == v1::NoticeLevel::Warn,
            NoteKind::AttemptRestarted { .. } => true,
            _ => false,
        };
        let role = if warn { Role::Warn } else { Role::Dim };
        // The plan and the list stand beside the transcript; here it counts that they changed.
        let most = match &note.kind {
            NoteKind::TodoListChanged { .. } | NoteKind::PlanChanged { .. }
                if !self.look.verbose =>
            {
                1
            }
            _ => usize::MAX,
        };
        for (index, line) in text(note).lines().take(most).enumerate() {
            let mark = if index == 0 { "◆ " } else { "  " };
            self.wrapped((mark, "  "), line, role, role);
        }
    }

    pub(super) fn foot(&mut self, turn: &TurnMarker) {
        match &turn.state {
            TurnState::Running => {}
            TurnState::Suspended(reason) => {
                let why = match reason {
                    v1::SuspendReason::DaemonStopped => "the daemon stopped in the middle of it",
                    v1::SuspendReason::RoundsLimit => "it used up its rounds",
                    v1::SuspendReason::Unspecified => "it waits",
                };
                let said = format!("the turn stands still: {why}");
                self.wrapped(("‖ ", "  "), &said, Role::Warn, Role::Warn);
            }
            TurnState::Completed { end, usage, elapsed_ms, .. } => {
                let foot = completed(turn, *end, usage, *elapsed_ms);
                self.wrapped(("└ ", "  "), &foot, Role::Dim, Role::Dim);
            }
            TurnState::Failed { error, .. } => {
                for (index, line) in error.message.lines().enumerate() {
                    let mark = if index == 0 { "✗ " } else { "  " };
                    self.wrapped((mark, "  "), line, Role::Error, Role::Error);
                }
                if error.message.is_empty() {
                    self.push(&Row::new("✗ the turn failed", Role::Error), 2);
                }
                if !error.hint.is_empty() {
                    let hint = format!("hint: {}", error.hint);
                    self.wrapped(("  ", "  "), &hint, Role::Dim, Role::Dim);
                }
            }
            TurnState::Interrupted { reason, by, .. } => {
                let why = match reason {
                    v1::InterruptReason::NewMessage => ", for a new message",
                    v1::InterruptReason::NotResumed => ", not taken up again",
                    v1::InterruptReason::User | v1::InterruptReason::Unspecified => "",
                };
                let said = format!("interrupted{}{why}", by_whom(by.as_ref()));
                self.wrapped(("■ ", "  "), &said, Role::Warn, Role::Warn);
            }
        }
    }
}

fn completed(turn: &TurnMarker, end: v1::TurnEnd, usage: &v1::Usage, elapsed_ms: u64) -> String {
    let mut parts =
        vec![format!("worked for {}", human_duration(Duration::from_millis(elapsed_ms)))];
    if !turn.model.is_empty() {
        parts.push(one_line(&turn.model, NAME));
    }
    let about = if usage.estimated { "~" } else { "" };
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    parts.push(format!("{about}{} tokens", grouped(tokens)));
    if turn.cost.nano_usd > 0 {
        let about = if turn.cost.estimated_nano_usd > 0 { "~" } else { "" };
        parts.push(format!("{about}{}", human_usd(turn.cost.nano_usd)));
    }
    match end {
        v1::TurnEnd::Unspecified | v1::TurnEnd::Answered => {}
        v1::TurnEnd::OutputLimit => parts.push("cut by the model's output limit".to_owned()),
        v1::TurnEnd::RoundsLimit => parts.push("ended by the limit of rounds".to_owned()),
        v1::TurnEnd::Refused => parts.push("refused by the provider".to_owned()),
    }
    parts.join(" · ")
}
