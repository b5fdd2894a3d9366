//! The few styles that `agentctl` uses.

use anstyle::{AnsiColor, Color, Style};

const fn colored(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Reasoning, footers, who comes and goes.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Errors.
pub(crate) const ERROR: Style = colored(AnsiColor::Red).bold();
/// Things to look at.
pub(crate) const WARN: Style = colored(AnsiColor::Yellow);
/// Things that went well.
pub(crate) const GOOD: Style = colored(AnsiColor::Green);
/// Names of others.
pub(crate) const NAME: Style = colored(AnsiColor::Cyan).bold();
/// Headings and column titles.
pub(crate) const HEADING: Style = Style::new().bold();
/// The prompt, and headings of answers.
pub(crate) const ACCENT: Style = colored(AnsiColor::Blue).bold();
/// Code inside a line.
pub(crate) const CODE: Style = colored(AnsiColor::Cyan);

/// Lines that a change brings.
pub(crate) const ADDED: Style = colored(AnsiColor::Green);
/// Lines that a change takes.
pub(crate) const REMOVED: Style = colored(AnsiColor::Red);

/// Wraps text into a style when colour is on.
pub(crate) fn paint(colored: bool, style: Style, text: &str) -> String {
    if colored && !style.is_plain() && !text.is_empty() {
        format!("{}{text}{}", style.render(), style.render_reset())
    } else {
        text.to_owned()
    }
}
