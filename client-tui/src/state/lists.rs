//! Keys while a list has them: the sessions, or a pane.

use agentd_proto::v1;
use crossterm::event::KeyEvent;

use super::pane::PaneWish;
use super::sessions::Wish;
use super::{Effect, Pane, PaneKind, State};
use crate::conn::Command;
use crate::input::Action;

/// Columns from which on the sessions stand beside the transcript.
const WIDE: u16 = 100;

impl State {
    /// Whether the sessions stand beside the transcript.
    pub fn has_sidebar(&self) -> bool {
        self.size.0 >= WIDE && self.settings.sidebar
    }

    /// Whether the sessions fill the screen, because there is no room beside the transcript.
    pub fn has_session_screen(&self) -> bool {
        self.sessions.has_keys && !self.has_sidebar()
    }

    /// Shows the sessions and gives them the keys, or puts them away.
    pub(super) fn turn_sessions(&mut self) {
        self.pane = None;
        let is_wide = self.size.0 >= WIDE;
        if self.sessions.has_keys {
            self.sessions.has_keys = false;
            self.settings.sidebar &= !is_wide;
            return;
        }
        self.settings.sidebar |= is_wide;
        self.sessions.has_keys = true;
        if let Some(open) = &self.open {
            self.sessions.select(&open.session_id);
        }
    }

    /// Opens a pane over the session.
    pub fn open_pane(&mut self, kind: PaneKind) -> Vec<Effect> {
        self.sessions.has_keys = false;
        let pane = Pane::new(kind);
        let asked = pane.ask();
        self.pane = Some(Box::new(pane));
        asked.into_iter().map(Effect::Send).collect()
    }

    /// What a key does in the list that has the keys; `None` when none has, or the key means more than
    /// the list.
    pub(super) fn key_in_lists(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        if self.pane.is_none() && !self.sessions.has_keys {
            return None;
        }
        let beyond = matches!(
            self.keymap.action(key),
            Some(
                Action::Quit
                    | Action::Suspend
                    | Action::Redraw
                    | Action::Sessions
                    | Action::Memory
                    | Action::Tools
                    | Action::Usage
                    | Action::Sweeps
                    | Action::SearchAll
            )
        );
        if beyond {
            return None;
        }
        if self.pane.is_some() {
            Some(self.key_in_pane(key))
        } else {
            Some(self.key_in_sessions(key))
        }
    }

    /// Gives a text that was pasted to the line that is being written in a list, if there is one.
    pub(super) fn paste_in_lists(&mut self, text: &str) -> bool {
        if let Some(pane) = &mut self.pane {
            pane.paste(text);
            return true;
        }
        if !self.sessions.has_keys {
            return false;
        }
        match &mut self.sessions.asked {
            Some(super::sessions::Asked::Rename { title, .. }) => title.paste(text),
            Some(super::sessions::Asked::Filter) => self.sessions.filter.paste(text),
            _ => {}
        }
        true
    }

    /// Moves the list that has the keys; false when none has.
    pub(super) fn wheel_in_lists(&mut self, up: isize) -> bool {
        if let Some(pane) = &mut self.pane {
            pane.scroll(up, self.now_ms);
            return true;
        }
        if self.sessions.has_keys {
            self.sessions.move_choice(up);
        }
        self.sessions.has_keys
    }

    fn key_in_pane(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(pane) = &mut self.pane else { return Vec::new() };
        match pane.key(key, &self.author, self.now_ms) {
            PaneWish::Nothing => Vec::new(),
            PaneWish::Send(command) => vec![Effect::Send(*command)],
            PaneWish::Leave => {
                self.pane = None;
                Vec::new()
            }
            PaneWish::Switch(kind) => self.open_pane(kind),
            PaneWish::Go { session_id, seq } => {
                self.pane = None;
                self.go_to(&session_id, seq)
            }
        }
    }

    fn key_in_sessions(&mut self, key: KeyEvent) -> Vec<Effect> {
        match self.sessions.key(key) {
            Wish::Nothing => Vec::new(),
            Wish::Open(session_id) => {
                self.sessions.has_keys = false;
                if self.open.as_ref().is_some_and(|open| open.session_id == session_id) {
                    return Vec::new();
                }
                self.open_session(&session_id)
            }
            Wish::New => {
                self.sessions.has_keys = false;
                vec![Effect::Send(Command::CreateSession(self.new_session()))]
            }
            Wish::Rename(session_id, title) => {
                vec![Effect::Send(Command::UpdateSession(v1::UpdateSessionRequest {
                    session_id,
                    title: Some(title),
                    author: Some(self.author.clone()),
                    ..v1::UpdateSessionRequest::default()
                }))]
            }
            Wish::Delete(session_id) => {
                vec![Effect::Send(Command::DeleteSession(v1::DeleteSessionRequest { session_id }))]
            }
            Wish::Leave => {
                self.sessions.has_keys = false;
                Vec::new()
            }
        }
    }

    /// Opens a session so far back that an event of it is read, and goes there once it is.
    fn go_to(&mut self, session_id: &str, seq: u64) -> Vec<Effect> {
        self.facts.wanted_place = Some((session_id.to_owned(), seq));
        if self.open.as_ref().is_some_and(|open| open.session_id == session_id) {
            return self.go_to_wanted_place();
        }
        self.open_session(session_id)
    }
}
