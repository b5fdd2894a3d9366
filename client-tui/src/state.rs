//! All that is shown, and what follows from an input. It draws nothing and calls nobody.

mod act;
mod composer;
mod effect;
mod line_edit;
mod lists;
mod notices;
mod open_session;
pub mod pane;
mod report;
mod search_transcript;
mod selection;
pub mod sessions;
mod settings;
mod standing;
#[cfg(test)]
pub(crate) mod tests;

use agentd_proto::v1;
use crossterm::event::{KeyCode, KeyEvent, MouseEvent, MouseEventKind};

pub use composer::Composer;
pub use effect::Effect;
pub use line_edit::LineEdit;
pub use notices::{Notice, Notices, Tone};
pub use open_session::OpenSession;
pub use pane::{Pane, PaneKind};
pub use search_transcript::Search;
pub use sessions::SessionList;
pub use settings::Settings;
pub use standing::{Facts, PlanLine, PlanShown, StepState};

use crate::conn::StreamId;
use crate::input::{Action, Input, Keymap};

/// Milliseconds between two ticks.
const TICK_MS: i64 = 100;
/// Rows that one click of the wheel moves.
const WHEEL: isize = 3;

/// Everything that is shown.
#[derive(Debug)]
pub struct State {
    /// Who sits here, as others see it.
    pub author: v1::Author,
    /// What may be chosen: colours, keys, what is shown.
    pub settings: Settings,
    /// Which keys do what.
    pub keymap: Keymap,
    /// The sessions that there are.
    pub sessions: SessionList,
    /// The session on the screen.
    pub open: Option<Box<OpenSession>>,
    /// The message that is being written.
    pub composer: Composer,
    /// What the daemon or the terminal has to say.
    pub notices: Notices,
    /// How the daemon is, as far as it was asked.
    pub status: Option<v1::GetStatusResponse>,
    /// What else was asked.
    pub facts: Facts,
    /// What lies over the session.
    pub pane: Option<Box<Pane>>,
    /// Whether the plan is shown.
    pub plan: PlanShown,
    /// The time, Unix time in milliseconds, as whoever brings inputs tells it.
    pub now_ms: i64,
    /// Counts the steps of what moves.
    pub ticks: u64,
    /// The terminal's window is looked at.
    pub has_focus: bool,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    streams: u64,
}

impl State {
    /// Nothing is open yet.
    pub fn new(author: v1::Author, settings: Settings) -> Self {
        Self {
            author,
            settings,
            keymap: Keymap::default(),
            sessions: SessionList::default(),
            open: None,
            composer: Composer::default(),
            notices: Notices::default(),
            status: None,
            facts: Facts::default(),
            pane: None,
            plan: PlanShown::default(),
            now_ms: 0,
            ticks: 0,
            has_focus: true,
            size: (80, 24),
            streams: 0,
        }
    }

    /// Takes an input and returns what has to be done for it, in order.
    pub fn on(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Key(key) => self.on_key(key),
            Input::Paste(text) => {
                if self.paste_in_lists(&text) {
                    return Vec::new();
                }
                if self.is_searching() {
                    self.search_paste(&text);
                } else {
                    self.composer.paste(&text);
                }
                Vec::new()
            }
            Input::Mouse(mouse) => self.on_mouse(mouse),
            Input::Resized { columns, rows } => {
                self.size = (columns, rows);
                Vec::new()
            }
            Input::Focus(has_focus) => {
                self.has_focus = has_focus;
                self.note_read().into_iter().collect()
            }
            Input::Report(report) => self.on_report(report),
            Input::Tick => {
                self.ticks = self.ticks.wrapping_add(1);
                self.notices.age();
                if let Some(open) = &mut self.open {
                    open.document.pass(TICK_MS);
                }
                Vec::new()
            }
            Input::Edited(text) => {
                if let Some(text) = text {
                    self.composer.set(&text);
                }
                Vec::new()
            }
            Input::Stop(stop) => act::stop(stop),
        }
    }

    /// Whether something moves by itself, such as a spinner.
    pub fn moves(&self) -> bool {
        let is_lost = self.open.as_ref().is_some_and(|open| open.lost.is_some());
        let is_seen = self.has_sidebar() || self.has_session_screen();
        self.notices.current().is_some()
            || self.is_running()
            || is_lost
            || (is_seen && self.sessions.any_runs())
    }

    /// Whether a turn of the open session runs.
    pub fn is_running(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.transcript.open_turn().is_some())
    }

    /// A number for another stream.
    fn next_stream(&mut self) -> StreamId {
        self.streams += 1;
        StreamId(self.streams)
    }

    fn on_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if let Some(effects) = self.key_in_lists(key) {
            return effects;
        }
        if self.is_searching()
            && let Some(effects) = self.search_key(key)
        {
            return effects;
        }
        if let Some(effects) = self.selection_key(key) {
            return effects;
        }
        if let Some(action) = self.keymap.action(key) {
            return self.act(action);
        }
        if self.composer.is_empty() && key.code == KeyCode::Char('?') {
            return self.act(Action::Help);
        }
        self.composer.key(key);
        Vec::new()
    }

    fn on_mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        let up = match mouse.kind {
            MouseEventKind::ScrollUp => WHEEL,
            MouseEventKind::ScrollDown => -WHEEL,
            _ => return self.on_button(mouse),
        };
        if self.wheel_in_lists(up) {
            return Vec::new();
        }
        self.scroll(up)
    }
}
