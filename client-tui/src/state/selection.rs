//! What a person does to entries of the transcript: choosing, folding, copying, going from one to another.

use crossterm::event::{KeyCode, KeyEvent, MouseButton, MouseEvent, MouseEventKind};

use super::{Effect, State, Tone};
use crate::document::{Copied, Direction, Landmark};

impl State {
    /// Goes to the next landmark.
    pub(super) fn jump(&mut self, landmark: Landmark, direction: Direction) -> Vec<Effect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        let found = open.document.jump(&open.transcript, landmark, direction, open.height);
        if found.is_some() {
            return Vec::new();
        }
        match (landmark, direction) {
            (Landmark::Turn | Landmark::Block, Direction::Forward) => {
                open.document.select(None);
                open.document.to_latest();
                Vec::new()
            }
            (_, Direction::Back) if !open.is_whole() => {
                let effects = self.look_for_earlier();
                self.notices.say(Tone::Info, "nothing above in what is loaded; reading more");
                effects
            }
            _ => {
                self.notices.say(Tone::Info, "there is none that way");
                Vec::new()
            }
        }
    }

    /// A key that means something while an entry is chosen and nothing is written.
    pub(super) fn selection_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        if !self.composer.is_empty() {
            return None;
        }
        let open = self.open.as_mut()?;
        let target = open.document.selected()?.clone();
        match key.code {
            KeyCode::Enter | KeyCode::Char(' ') if key.modifiers.is_empty() => {
                open.document.turn(&open.transcript, &target);
                Some(Vec::new())
            }
            KeyCode::Char('y') if key.modifiers.is_empty() => {
                let copied = open.document.source(&open.transcript, &target);
                Some(self.copy(copied))
            }
            KeyCode::Esc => {
                open.document.select(None);
                Some(Vec::new())
            }
            _ => None,
        }
    }

    /// Copies what is chosen, or the last answer.
    pub(super) fn copy_answer(&mut self) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        let copied = match open.document.selected() {
            Some(target) => open.document.source(&open.transcript, target),
            None => open.document.last_answer(&open.transcript),
        };
        self.copy(copied)
    }

    fn copy(&mut self, copied: Option<Copied>) -> Vec<Effect> {
        let Some(copied) = copied else {
            self.notices.say(Tone::Info, "there is nothing to copy");
            return Vec::new();
        };
        let bytes = copied.text.len();
        if copied.is_cut {
            self.notices.say(Tone::Warn, &format!("copied the first {bytes} bytes: no more fit"));
        } else {
            self.notices
                .say(Tone::Info, &format!("copied {} characters", copied.text.chars().count()));
        }
        vec![Effect::Copy(copied.text)]
    }

    /// The button of the mouse: a click chooses and folds, a drag copies rows.
    pub(super) fn on_button(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        // What lies on top of the transcript does not let clicks through.
        if self.pane.is_some() {
            return Vec::new();
        }
        let Some(open) = &mut self.open else { return Vec::new() };
        let area = open.area;
        let row = usize::from(mouse.row.saturating_sub(area.y));
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                open.pressed = area.contains((mouse.column, mouse.row).into()).then_some(row);
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                let Some(pressed) = open.pressed else { return Vec::new() };
                if !open.document.is_dragged() {
                    open.resumes = open.document.follows();
                    open.document.drag_from(&open.transcript, pressed);
                }
                open.document.drag_to(row);
            }
            MouseEventKind::Up(MouseButton::Left) => {
                let Some(pressed) = open.pressed.take() else { return Vec::new() };
                if open.document.is_dragged() {
                    let copied = open.document.drag_end(&open.transcript);
                    if open.resumes {
                        open.document.to_latest();
                    }
                    return self.copy(copied);
                }
                if let Some(target) = open.document.target_of_row(&open.transcript, pressed) {
                    open.document.turn(&open.transcript, &target);
                    open.document.select(Some(target));
                }
            }
            _ => {}
        }
        Vec::new()
    }
}
