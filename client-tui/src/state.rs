//! All that is shown, and what follows from an input. It draws nothing and calls nobody.

mod act;
mod answer;
mod composer;
mod effect;
mod help;
mod line_edit;
mod lists;
mod models;
mod notices;
mod open_session;
pub mod overlay;
pub mod pane;
mod pick;
mod popup;
mod replies;
mod report;
mod search_transcript;
mod selection;
pub mod sessions;
mod settings;
mod slash;
mod standing;
#[cfg(test)]
pub(crate) mod tests;

use agentd_proto::v1;
use agentd_shared::input::completion::{Source, Vocabulary};
use crossterm::event::{KeyCode, KeyEvent, MouseEvent, MouseEventKind};

pub use composer::{Composer, Typed};
pub use effect::Effect;
pub use line_edit::LineEdit;
pub use notices::{Notice, Notices, Tone};
pub use open_session::OpenSession;
pub use pane::{Pane, PaneKind};
pub use popup::Popup;
pub use search_transcript::Search;
pub use sessions::SessionList;
pub use settings::Settings;
pub use standing::{Facts, PlanLine, PlanShown, StepState};

use crate::conn::StreamId;
use crate::input::{Action, Input, Keymap};
use crate::theme::Theme;
use overlay::{Asks, Overlay, Pressed};

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
    /// What is offered for the word before the cursor.
    pub popup: Option<Popup>,
    /// What was asked for and lies on top.
    pub overlay: Option<Overlay>,
    /// What waits for a person.
    pub asks: Asks,
    /// Models, as far as they were asked for.
    pub models: Option<v1::ListModelsResponse>,
    /// What can be completed beside what is known anyway.
    pub vocabulary: Vocabulary,
    /// Memories were asked for, to complete them.
    memories_asked: bool,
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
            popup: None,
            overlay: None,
            asks: Asks::default(),
            models: None,
            vocabulary: Vocabulary { themes: &Theme::NAMES, ..Vocabulary::default() },
            memories_asked: false,
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
                    self.on_paste(&text);
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
                self.give_held_again()
            }
            Input::Edited(text) => {
                if let Some(text) = text {
                    self.composer.set(&text);
                }
                Vec::new()
            }
            Input::Stop(stop) => self.stop(stop),
            Input::History(earlier) => {
                self.composer.history_loaded(earlier);
                Vec::new()
            }
            Input::Files(files) => {
                self.vocabulary.files = files;
                self.learned(Source::Files);
                Vec::new()
            }
            Input::Trouble(text) => {
                self.notices.say(Tone::Warn, &text);
                Vec::new()
            }
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
            || self.asks.moves(self.ticks)
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
        if let Some(overlay) = &mut self.overlay {
            let pressed = overlay.key(key);
            return self.on_pressed(pressed, key);
        }
        if let Some(effects) = self.key_in_lists(key) {
            return effects;
        }
        if self.is_searching()
            && let Some(effects) = self.search_key(key)
        {
            return effects;
        }
        if let Some(effects) = self.popup_key(key) {
            return effects;
        }
        if let Some(effects) = self.ask_key(key) {
            return effects;
        }
        if let Some(effects) = self.selection_key(key) {
            return effects;
        }
        if key.code == KeyCode::Esc && self.composer.escape() {
            return Vec::new();
        }
        let action = self.keymap.action(key).filter(|_| !self.composer.wants(key));
        if let Some(action) = action {
            return self.act(action);
        }
        if self.composer.is_empty() && key.code == KeyCode::Char('?') {
            return self.act(Action::Help);
        }
        self.asks.typed(self.ticks);
        match self.composer.key(key) {
            Typed::Above => self.composer.history_back(),
            Typed::Below => self.composer.history_forward(),
            Typed::Taken => return self.offer(),
            Typed::Other => {}
        }
        self.popup = None;
        Vec::new()
    }

    /// Does what a key came to in the overlay. Few actions reach beyond it.
    fn on_pressed(&mut self, pressed: Pressed, key: KeyEvent) -> Vec<Effect> {
        match pressed {
            Pressed::Taken => Vec::new(),
            Pressed::Close => {
                self.overlay = None;
                Vec::new()
            }
            Pressed::Chosen(picks, value) => {
                self.overlay = None;
                self.choose(picks, &value)
            }
            Pressed::Other => match self.keymap.action(key) {
                Some(Action::Help | Action::Interrupt) => {
                    self.overlay = None;
                    Vec::new()
                }
                Some(action @ (Action::Quit | Action::Suspend | Action::Redraw)) => {
                    self.act(action)
                }
                _ => Vec::new(),
            },
        }
    }

    fn on_paste(&mut self, text: &str) {
        if let Some(overlay) = &mut self.overlay {
            overlay.paste(text);
            return;
        }
        if let Some(reason) = &mut self.asks.reason {
            reason.paste(text);
            return;
        }
        self.asks.typed(self.ticks);
        self.popup = None;
        if let Err(error) = self.composer.paste(text) {
            self.notices.say(Tone::Error, &format!("not pasted: {error}"));
        }
    }

    fn on_mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        let up = match mouse.kind {
            MouseEventKind::ScrollUp => WHEEL,
            MouseEventKind::ScrollDown => -WHEEL,
            _ => return self.on_button(mouse),
        };
        match &mut self.overlay {
            Some(Overlay::Text(text)) => text.wheel(up),
            Some(Overlay::Picker(picker)) => picker.step(-up),
            None => {
                if !self.wheel_in_lists(up) {
                    return self.scroll(up);
                }
            }
        }
        Vec::new()
    }
}
