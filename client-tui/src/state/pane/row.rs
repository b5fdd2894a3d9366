//! Lines of panes.

use agentd_shared::text::sanitize;

/// Lines of one text that are shown.
const MAX_LINES: usize = 5_000;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Text.
    Plain,
    /// By the way.
    Dim,
    /// A title.
    Heading,
    /// Something to look at.
    Warn,
    /// Something that went well.
    Good,
    /// Something that went wrong.
    Bad,
}

/// A line of a list. All of it is inert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneRow {
    /// What it is, in a word or two.
    pub mark: String,
    /// How that looks.
    pub ink: Ink,
    /// The text.
    pub text: String,
    /// What stands at the right side.
    pub side: String,
}

/// What was opened: lines, and how far they are moved up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// Its title; inert.
    pub title: String,
    /// Its lines; inert.
    pub lines: Vec<(Ink, String)>,
    /// Lines above the window.
    pub above: usize,
}

impl Detail {
    /// Nothing but a title.
    pub(super) fn new(title: String) -> Self {
        Self { title, lines: Vec::new(), above: 0 }
    }

    /// Adds a text with its lines.
    pub(super) fn add(&mut self, ink: Ink, text: &str) {
        let room = MAX_LINES.saturating_sub(self.lines.len());
        let clean = sanitize(text);
        self.lines.extend(clean.lines().take(room).map(|line| (ink, line.to_owned())));
    }

    /// Adds an empty line.
    pub(super) fn gap(&mut self) {
        self.lines.push((Ink::Plain, String::new()));
    }

    /// Moves up.
    pub(super) fn up(&mut self, lines: usize) {
        self.above = self.above.saturating_sub(lines);
    }

    /// Moves down.
    pub(super) fn down(&mut self, lines: usize) {
        self.above = (self.above + lines).min(self.lines.len().saturating_sub(1));
    }
}
