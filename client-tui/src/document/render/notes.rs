//! Notes and the foot of a turn.

use agentd_shared::format::{notes, turn};
use agentd_shared::transcript::{Note, NoteKind, TurnMarker};

use super::Rows;

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
        for line in turn::ended(marker, me) {
            let role = line.tone.role();
            for (at, text) in line.text.lines().enumerate() {
                self.wrapped((if at == 0 { "" } else { "  " }, "  "), text, role, role);
            }
        }
    }
}
