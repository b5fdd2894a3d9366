//! Notes and the foot of a turn.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::{Role, Row, notes, turn};
use agentd_shared::text::{grouped, human_duration, one_line};
use agentd_shared::transcript::{Note, NoteKind, TurnMarker, TurnState};

use super::{NAME, Rows};

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

/// What a note tells the client `me`; empty when there is nothing in it.
pub(in crate::document) fn text(note: &Note, me: &str) -> String {
    notes::note(&note.kind, me).map_or(String::new(), |line| line.text)
}

impl Rows {
    pub(super) fn note(&mut self, note: &Note, me: &str) {
        let Some(told) = notes::note(&note.kind, me) else { return };
        let role = told.tone.role();
        // The plan and the list stand beside the transcript; here it counts that they changed.
        let most = match &note.kind {
            NoteKind::TodoListChanged { .. } | NoteKind::PlanChanged { .. }
                if !self.look.verbose =>
            {
                1
            }
            _ => usize::MAX,
        };
        for line in told.text.lines().take(most) {
            self.wrapped(("", "  "), line, role, role);
        }
    }

    pub(super) fn foot(&mut self, marker: &TurnMarker, me: &str) {
        match &marker.state {
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
                let foot = completed(marker, *end, usage, *elapsed_ms);
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
            TurnState::Interrupted { .. } => {
                for line in turn::ended(marker, me) {
                    let role = line.tone.role();
                    self.wrapped(("", "  "), &line.text, role, role);
                }
            }
        }
    }
}

fn completed(marker: &TurnMarker, end: v1::TurnEnd, usage: &v1::Usage, elapsed_ms: u64) -> String {
    let mut parts =
        vec![format!("worked for {}", human_duration(Duration::from_millis(elapsed_ms)))];
    if !marker.model.is_empty() {
        parts.push(one_line(&marker.model, NAME));
    }
    let about = if usage.estimated { "~" } else { "" };
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    parts.push(format!("{about}{} tokens", grouped(tokens)));
    if marker.cost.nano_usd > 0 {
        parts.push(turn::cost(&marker.cost));
    }
    if let Some(effort) = turn::effort(marker) {
        parts.push(format!("effort {effort}"));
    }
    match end {
        v1::TurnEnd::Unspecified | v1::TurnEnd::Answered => {}
        v1::TurnEnd::OutputLimit => parts.push("cut by the model's output limit".to_owned()),
        v1::TurnEnd::RoundsLimit => parts.push("ended by the limit of rounds".to_owned()),
        v1::TurnEnd::Refused => parts.push("refused by the provider".to_owned()),
    }
    parts.join(" · ")
}
