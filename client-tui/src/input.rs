//! What a terminal brings, and which keys mean what.

pub mod keymap;

use crossterm::event::{Event, KeyEvent, KeyEventKind, MouseEvent};

pub use keymap::{Action, Keymap};

use crate::conn::Report;
use crate::terminal::Stop;

/// Everything that can change what is shown.
#[derive(Debug)]
pub enum Input {
    /// A key.
    Key(KeyEvent),
    /// A text that was pasted as one.
    Paste(String),
    /// A click or the wheel.
    Mouse(MouseEvent),
    /// The terminal has another size.
    Resized {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// Whether the terminal's window is looked at.
    Focus(bool),
    /// Something of the daemon.
    Report(Report),
    /// Time has passed while something moves on the screen.
    Tick,
    /// The text that an editor came back with; `None` when it was not changed.
    Edited(Option<String>),
    /// What was sent before, the oldest first.
    History(Vec<String>),
    /// Files of the workspace, relative to it.
    Files(Vec<String>),
    /// Something beside the loop went wrong.
    Trouble(String),
    /// A signal.
    Stop(Stop),
}

impl Input {
    /// What an event of the terminal is; `None` for the release of a key.
    pub fn of(event: Event) -> Option<Self> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => None,
            Event::Key(key) => Some(Self::Key(key)),
            Event::Paste(text) => Some(Self::Paste(text)),
            Event::Mouse(mouse) => Some(Self::Mouse(mouse)),
            Event::Resize(columns, rows) => Some(Self::Resized { columns, rows }),
            Event::FocusGained => Some(Self::Focus(true)),
            Event::FocusLost => Some(Self::Focus(false)),
        }
    }
}
