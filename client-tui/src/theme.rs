//! Colours by what they mean.
//!
//! Only the sixteen colours of the terminal are used for meaning, so that whatever its user has chosen for
//! them, light or dark, stays readable. Without colour the same meanings are told by bold and dim.

use ratatui::style::{Color, Modifier, Style};

/// Styles by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Plain text.
    pub text: Style,
    /// What matters less.
    pub dim: Style,
    /// What a person wrote.
    pub user: Style,
    /// Headings, the composer's prompt, what is chosen.
    pub accent: Style,
    /// The model's reasoning.
    pub reasoning: Style,
    /// Code within a line.
    pub code: Style,
    /// What went well, and lines that a change brings.
    pub good: Style,
    /// What to look at.
    pub warn: Style,
    /// What went wrong, and lines that a change takes.
    pub error: Style,
    /// Names of people and tools.
    pub name: Style,
    /// The chosen line of a list.
    pub selected: Style,
    /// The status bar.
    pub bar: Style,
}

impl Theme {
    /// The terminal's own colours.
    pub const COLORED: Self = Self {
        text: Style::new(),
        dim: Style::new().add_modifier(Modifier::DIM),
        user: Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD),
        accent: Style::new().fg(Color::Blue).add_modifier(Modifier::BOLD),
        reasoning: Style::new().fg(Color::Magenta).add_modifier(Modifier::ITALIC),
        code: Style::new().fg(Color::Cyan),
        good: Style::new().fg(Color::Green),
        warn: Style::new().fg(Color::Yellow),
        error: Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        name: Style::new().fg(Color::Cyan),
        selected: Style::new().add_modifier(Modifier::REVERSED),
        bar: Style::new().add_modifier(Modifier::REVERSED),
    };

    /// Without colour.
    pub const PLAIN: Self = Self {
        text: Style::new(),
        dim: Style::new().add_modifier(Modifier::DIM),
        user: Style::new().add_modifier(Modifier::BOLD),
        accent: Style::new().add_modifier(Modifier::BOLD),
        reasoning: Style::new().add_modifier(Modifier::ITALIC),
        code: Style::new(),
        good: Style::new(),
        warn: Style::new().add_modifier(Modifier::BOLD),
        error: Style::new().add_modifier(Modifier::BOLD),
        name: Style::new().add_modifier(Modifier::BOLD),
        selected: Style::new().add_modifier(Modifier::REVERSED),
        bar: Style::new().add_modifier(Modifier::REVERSED),
    };
}
