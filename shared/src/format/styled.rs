//! Text with what it is: rows made of spans, each in one ink.
//!
//! An [`Ink`] says what a text *is*, so that each client may choose how that looks, in a dark or a
//! light theme or without colour. Only the colours of highlighted code are colours already.

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style};
use unicode_width::UnicodeWidthStr as _;

use crate::text::sanitize;

const TAB: &str = "    ";

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Role {
    /// Text like most text.
    #[default]
    Plain,
    /// Footers, who comes and goes: by the way.
    Dim,
    /// What a model thinks.
    Reasoning,
    /// Errors.
    Error,
    /// Things to look at.
    Warn,
    /// Things that went well.
    Good,
    /// Names of others.
    Name,
    /// Headings and column titles.
    Heading,
    /// The prompt, and headings of answers.
    Accent,
    /// Code inside a line, and code that is not highlighted.
    Code,
    /// Lines that a change brings.
    Added,
    /// Lines that a change takes.
    Removed,
    /// Highlighted code, in a colour of the theme that was asked for.
    Syntax(RgbColor),
}

impl Role {
    /// How it looks in the sixteen colours of a terminal, whatever its background is.
    pub const fn style(self, colors: Colors) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Dim | Self::Reasoning => Style::new().dimmed(),
            Self::Error => ansi(AnsiColor::Red).bold(),
            Self::Warn => ansi(AnsiColor::Yellow),
            Self::Good | Self::Added => ansi(AnsiColor::Green),
            Self::Name => ansi(AnsiColor::Cyan).bold(),
            Self::Heading => Style::new().bold(),
            Self::Accent => ansi(AnsiColor::Blue).bold(),
            Self::Code => ansi(AnsiColor::Cyan),
            Self::Removed => ansi(AnsiColor::Red),
            Self::Syntax(color) => Style::new().fg_color(Some(colors.nearest(color))),
        }
    }
}

const fn ansi(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// What a text is, and how it is stressed: bold, italic, underlined, struck out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ink {
    /// What it is.
    pub role: Role,
    /// How it is stressed, beside what its role brings.
    pub effects: Effects,
}

impl Ink {
    /// The same, stressed in one more way.
    #[must_use]
    pub const fn with(self, effect: Effects) -> Self {
        Self { role: self.role, effects: self.effects.insert(effect) }
    }

    /// How it looks in the sixteen colours of a terminal.
    pub fn style(self, colors: Colors) -> Style {
        let style = self.role.style(colors);
        style.effects(style.get_effects() | self.effects)
    }
}

impl From<Role> for Ink {
    fn from(role: Role) -> Self {
        Self { role, effects: Effects::new() }
    }
}

/// Colours that a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colors {
    /// No colour, and no style either.
    #[default]
    None,
    /// The 256 of most terminals.
    Ansi256,
    /// All.
    All,
}

impl Colors {
    /// What a terminal with colours says of itself in the variable `COLORTERM`.
    pub fn of_colorterm(value: &str) -> Self {
        if matches!(value, "truecolor" | "24bit") { Self::All } else { Self::Ansi256 }
    }

    /// A colour as it can be shown: as it is, or the nearest of the 256.
    pub const fn nearest(self, color: RgbColor) -> Color {
        match self {
            Self::All => Color::Rgb(color),
            Self::None | Self::Ansi256 => Color::Ansi256(cube(color)),
        }
    }

    /// Puts the sequences of a style around a text that is inert, when there are colours.
    pub fn paint(self, ink: impl Into<Ink>, inert: &str) -> String {
        let style = ink.into().style(self);
        if self == Self::None || style.is_plain() || inert.is_empty() {
            return inert.to_owned();
        }
        format!("{}{inert}{}", style.render(), style.render_reset())
    }
}

/// The nearest colour of the cube, which has the levels 0, 95, 135, 175, 215, 255 on each axis.
const fn cube(RgbColor(red, green, blue): RgbColor) -> Ansi256Color {
    const fn level(value: u8) -> u8 {
        match value {
            0..48 => 0,
            48..115 => 1,
            115..155 => 2,
            155..195 => 3,
            195..235 => 4,
            235..=255 => 5,
        }
    }
    Ansi256Color(16 + 36 * level(red) + 6 * level(green) + level(blue))
}

/// A piece of a row in one ink. Its text is inert: without control characters, tabs and line feeds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    text: String,
    ink: Ink,
}

impl Span {
    /// Cleans a text and gives it an ink. Line feeds become spaces: a span lives in one line. There
    /// is no other way to make one, which is why a row can be shown as it is.
    pub fn new(text: &str, ink: impl Into<Ink>) -> Self {
        let text = sanitize(text).replace('\t', TAB).replace('\n', " ");
        Self { text, ink: ink.into() }
    }

    /// The text, inert.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its ink.
    pub const fn ink(&self) -> Ink {
        self.ink
    }
}

/// One row of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Row {
    spans: Vec<Span>,
}

impl Row {
    /// A row of one text.
    pub fn new(text: &str, ink: impl Into<Ink>) -> Self {
        Self::from(Span::new(text, ink))
    }

    /// Its pieces.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Adds a piece; an empty one changes nothing.
    pub fn push(&mut self, span: Span) {
        if !span.text.is_empty() {
            self.spans.push(span);
        }
    }

    /// Adds a piece and returns the row.
    #[must_use]
    pub fn with(mut self, text: &str, ink: impl Into<Ink>) -> Self {
        self.push(Span::new(text, ink));
        self
    }

    /// Adds the pieces of another row.
    pub fn append(&mut self, other: Self) {
        self.spans.extend(other.spans);
    }

    /// The row, moved to the right by some columns.
    #[must_use]
    pub fn indented(mut self, columns: usize) -> Self {
        if columns > 0 {
            self.spans.insert(0, Span { text: " ".repeat(columns), ink: Ink::default() });
        }
        self
    }

    /// Takes away the blanks at its end.
    pub fn trim_end(&mut self) {
        while let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                return;
            }
            self.spans.pop();
        }
    }

    /// Columns that it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.width()).sum()
    }

    /// True when there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The text alone, inert.
    pub fn text(&self) -> String {
        self.spans.iter().map(Span::text).collect()
    }

    /// The row with the sequences that a terminal of these colours understands.
    pub fn paint(&self, colors: Colors) -> String {
        self.spans.iter().map(|span| colors.paint(span.ink, &span.text)).collect()
    }
}

impl From<Span> for Row {
    fn from(span: Span) -> Self {
        Self::from_iter([span])
    }
}

impl From<&str> for Row {
    fn from(text: &str) -> Self {
        Self::new(text, Role::Plain)
    }
}

impl FromIterator<Span> for Row {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        Self { spans: spans.into_iter().filter(|span| !span.text.is_empty()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_painted_only_where_there_are_colours() {
        let strong = Ink::from(Role::Warn).with(Effects::BOLD);
        let row = Row::from("a ").with("b", Role::Dim).with("", Role::Error).with("c", strong);
        assert_eq!(row.paint(Colors::None), "a bc");
        assert_eq!(row.paint(Colors::All), "a \u{1b}[2mb\u{1b}[0m\u{1b}[1m\u{1b}[33mc\u{1b}[0m");
        assert_eq!((row.width(), row.spans().len()), (4, 3));
    }

    #[test]
    fn no_text_comes_into_a_row_unless_it_is_inert() {
        let row = Row::new("a\u{1b}[2J\tb\nc\u{202e}", Role::Plain);
        assert_eq!(row.text(), "a\\u{1b}[2J    b c\\u{202e}");
    }

    #[test]
    fn colours_of_code_are_given_as_they_are_or_as_the_nearest_of_the_cube() {
        let code = Role::Syntax(RgbColor(191, 97, 106));
        assert_eq!(Colors::All.paint(code, "x"), "\u{1b}[38;2;191;97;106mx\u{1b}[0m");
        assert_eq!(Colors::Ansi256.paint(code, "x"), "\u{1b}[38;5;131mx\u{1b}[0m");
        assert_eq!(Colors::of_colorterm("truecolor"), Colors::All);
        assert_eq!(Colors::of_colorterm(""), Colors::Ansi256);
    }

    #[test]
    fn blanks_at_the_end_go_over_all_pieces() {
        let mut row = Row::from("a  ").with("  ", Role::Dim);
        row.trim_end();
        assert_eq!(row, Row::from("a"));
        assert_eq!(row.indented(2).text(), "  a");
    }
}
