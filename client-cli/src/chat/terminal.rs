//! The terminal itself: its size, and its modes as they were before us.

use std::io::{IsTerminal as _, Write as _};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::output::Output;

/// Size that is assumed when the terminal does not tell.
const DEFAULT_SIZE: Size = Size { columns: 80, rows: 24 };
/// Narrowest and widest text.
const COLUMNS: std::ops::RangeInclusive<usize> = 20..=200;

/// Size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Characters in a row.
    pub(crate) columns: usize,
    /// Rows.
    pub(crate) rows: usize,
}

impl Default for Size {
    fn default() -> Self {
        DEFAULT_SIZE
    }
}

impl Size {
    /// Asks the terminal at stdout.
    pub(crate) fn detect() -> Self {
        match tcgetwinsize(std::io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                Self { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) }
            }
            Ok(_) | Err(_) => DEFAULT_SIZE,
        }
    }

    /// Columns for text: a full row would make some terminals wrap.
    pub(crate) fn text_width(self) -> usize {
        self.columns.saturating_sub(1).clamp(*COLUMNS.start(), *COLUMNS.end())
    }

    /// Rows that the cursor may safely go up; the prompt needs the others.
    pub(crate) fn reach(self) -> usize {
        (self.rows / 2).max(1)
    }
}

/// Puts the terminal back as it was when it is dropped: after a panic and a signal too.
#[derive(Debug)]
pub(crate) struct TerminalGuard {
    before: Option<Termios>,
    /// Escape sequences are understood.
    draws: bool,
}

impl TerminalGuard {
    /// Remembers how the terminal is now. Where nothing can be drawn it is
    /// given no escape sequence either.
    pub(crate) fn new(output: &Output) -> Self {
        let stdin = std::io::stdin();
        let before = stdin.is_terminal().then(|| tcgetattr(&stdin).ok()).flatten();
        Self { before, draws: output.can_draw() }
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        let Some(before) = &self.before else { return };
        // There is nobody left to tell if the terminal is gone.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        if self.draws {
            let mut stdout = std::io::stdout();
            // A frame that was cut off is shown, bracketed paste off, cursor on, the prompt gone.
            drop(stdout.write_all(b"\x1b[?2026l\x1b[?2004l\x1b[?25h\r\x1b[J"));
            drop(stdout.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sizes_leave_room_to_write() {
        let check = |columns: usize, rows: usize, width: usize, reach: usize| {
            let size = Size { columns, rows };
            assert_eq!((size.text_width(), size.reach()), (width, reach), "{size:?}");
        };
        check(80, 24, 79, 12);
        check(1, 1, 20, 1);
        check(500, 3, 200, 1);
    }
}
