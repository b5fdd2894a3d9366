//! What lies on top of the transcript: texts, pickers, and what waits for a person.

mod asks;
mod line_input;
mod picker;
mod text;

use crossterm::event::KeyEvent;

pub use asks::{Ask, Asks, Held, TypedAnswer};
pub use line_input::LineInput;
pub use picker::{Item, Picker, Picks};
pub use text::{Body, TextLine, TextOverlay, Wanted};

/// Something that was asked for and lies on top until it is closed.
#[derive(Debug)]
pub enum Overlay {
    /// A text to read.
    Text(TextOverlay),
    /// A list to choose from.
    Picker(Picker),
}

/// What a key came to in an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pressed {
    /// It was used.
    Taken,
    /// The overlay wants to be closed.
    Close,
    /// This was chosen.
    Chosen(Picks, String),
    /// It means nothing here.
    Other,
}

impl Overlay {
    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        match self {
            Self::Text(text) => text.key(key),
            Self::Picker(picker) => picker.key(key),
        }
    }

    /// Takes a pasted text.
    pub fn paste(&mut self, text: &str) {
        match self {
            Self::Text(overlay) => overlay.paste(text),
            Self::Picker(picker) => picker.paste(text),
        }
    }
}
