//! How styled rows look here: their width, and the escape sequences that stdout may carry.

use std::sync::LazyLock;

use agentd_shared::format::markdown::CodeTheme;
use agentd_shared::format::{self, Colors, Role, Row};
use unicode_width::UnicodeWidthStr as _;

/// Width and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Columns that a row may take.
    pub(crate) width: usize,
    /// Whether styles are used at all.
    pub(crate) colored: bool,
}

impl Look {
    /// The same for text that the model writes.
    pub(crate) fn of_text(self) -> format::Look {
        let code = if self.colored { CodeTheme::Dark } else { CodeTheme::Plain };
        format::Look { width: self.width, code }
    }

    /// A row as it is written.
    pub(crate) fn paint(self, row: &Row) -> String {
        row.paint(colors(self.colored))
    }

    /// Rows as they are written.
    pub(crate) fn paint_all(self, rows: &[Row]) -> Vec<String> {
        rows.iter().map(|row| self.paint(row)).collect()
    }

    /// A text of our own as one row.
    pub(crate) fn row(self, role: Role, text: &str) -> String {
        self.paint(&Row::new(text, role))
    }
}

/// The colours of a terminal that is to have some.
pub(crate) fn colors(colored: bool) -> Colors {
    static COLORS: LazyLock<Colors> =
        LazyLock::new(|| Colors::of_colorterm(&std::env::var("COLORTERM").unwrap_or_default()));
    if colored { *COLORS } else { Colors::None }
}

/// Rows of text without marks behind a prefix.
pub(crate) fn prefixed_rows(
    line: &str,
    role: Role,
    prefix: impl Into<Row>,
    look: Look,
) -> Vec<String> {
    look.paint_all(&format::prefixed_rows(line, role, &prefix.into(), look.width))
}

/// Columns that a painted row takes: escape sequences take none.
pub(crate) fn painted_width(painted: &str) -> usize {
    let mut plain = String::with_capacity(painted.len());
    let mut rest = painted;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    plain.width()
}
