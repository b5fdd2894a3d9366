//! What a terminal shows, as plain text: escape sequences are carried out, never passed on.

use std::collections::VecDeque;
use std::fmt::{Debug, Write as _};
use std::num::NonZeroU16;

use agentd_sandbox::TerminalSize;

/// Lines that one piece of [`PIECE`] bytes can scroll away at most: each line break one, and a
/// sequence of at least four bytes all that are shown.
const SCROLLED_AT_ONCE: usize = 2_048;

/// Bytes that are carried out before scrolled lines are looked at.
const PIECE: usize = 128;

/// The screen of a terminal, and the lines that have scrolled off it since it was last read.
pub(super) struct Screen {
    parser: vt100::Parser,
    columns: u16,
    above: VecDeque<String>,
    above_bytes: usize,
    /// Most bytes of lines above the screen.
    most: usize,
    left_out: usize,
}

impl Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("above_bytes", &self.above_bytes).finish_non_exhaustive()
    }
}

impl Screen {
    /// An empty screen, above which this many bytes are kept.
    pub(super) fn new(size: TerminalSize, most: usize) -> Self {
        let TerminalSize { rows, columns } = size;
        let at_least_one = |number| NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN);
        let parser =
            vt100::Parser::new(at_least_one(rows), at_least_one(columns), SCROLLED_AT_ONCE);
        let above = VecDeque::new();
        Self { parser, columns, above, above_bytes: 0, most, left_out: 0 }
    }

    /// Takes what a program has written.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            self.parser.process(piece);
            self.take_scrolled();
        }
    }

    /// Lines that have scrolled off since the last time, then the screen.
    pub(super) fn news(&mut self) -> String {
        let mut text = String::new();
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            // Writing to a string cannot fail.
            let _ok = writeln!(text, "[... {left_out} lines are left out ...]");
        }
        self.above_bytes = 0;
        for line in self.above.drain(..) {
            text += line.trim_end();
            text.push('\n');
        }
        let shown = self.parser.screen().contents();
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        text += &lines.join("\n");
        text.truncate(text.trim_end().len());
        text
    }

    /// True when arrow keys are to be sent in their other form.
    pub(super) fn wants_application_keys(&self) -> bool {
        self.parser.screen().application_cursor()
    }

    fn take_scrolled(&mut self) {
        let screen = self.parser.screen_mut();
        let count = screen.scrollback_len();
        if count == 0 {
            return;
        }
        let mut left = count;
        while left > 0 {
            screen.set_scrollback(left);
            let rows = screen.rows(0, self.columns).take(left);
            let before = self.above.len();
            self.above.extend(rows);
            let taken = self.above.len() - before;
            self.above_bytes +=
                self.above.range(before..).map(|line| line.len() + 1).sum::<usize>();
            if taken == 0 {
                break;
            }
            left -= taken;
        }
        screen.clear_scrollback();
        while self.above_bytes > self.most {
            let Some(oldest) = self.above.pop_front() else { break };
            self.above_bytes -= oldest.len() + 1;
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: TerminalSize = TerminalSize { rows: 4, columns: 20 };

    fn screen() -> Screen {
        Screen::new(SIZE, 1_000)
    }

    #[test]
    fn a_screen_is_text_without_sequences() {
        let mut screen = screen();
        screen.feed(b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\r\n");
        screen.feed("世界 e\u{301}\r\nover\rOV".as_bytes());
        assert_eq!(screen.news(), "red plain\n世界 e\u{301}\nOVer");
        screen.feed(b"\x1b[2J\x1b[Hnew");
        assert_eq!(screen.news(), "new");
        // A full screen program, and back.
        screen.feed(b"\x1b[?1049h\x1b[2;3Hmenu");
        assert_eq!(screen.news(), "\n  menu");
        screen.feed(b"\x1b[?1049l");
        assert_eq!(screen.news(), "new");
    }

    #[test]
    fn lines_that_scroll_off_are_given_once_and_the_oldest_are_counted() {
        let mut screen = screen();
        for number in 0..10 {
            screen.feed(format!("line {number}\r\n").as_bytes());
        }
        let lines = |numbers: std::ops::Range<u32>| {
            numbers.map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(screen.news(), lines(0..10));
        assert_eq!(screen.news(), lines(7..10));
        for number in 0..10_000 {
            screen.feed(format!("line {number}\r\n").as_bytes());
        }
        let news = screen.news();
        assert!(news.starts_with("[... 99") && news.ends_with("line 9999"), "{news}");
        assert!(news.len() < 1_200, "{}", news.len());
        screen.feed(&b"\n".repeat(100_000));
        screen.feed(&b"\x1b[4S".repeat(10_000));
        assert!(screen.above_bytes <= 1_000);
        screen.feed("世\r\n".repeat(50).as_bytes());
        let counted: usize = screen.above.iter().map(|line| line.len() + 1).sum();
        assert_eq!(screen.above_bytes, counted);
    }

    proptest! {
        #[test]
        fn whatever_a_program_writes_nothing_of_it_is_a_control_character(
            pieces in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..40),
                    "\x1b\\[[0-9;?]{0,6}[@-~]".prop_map(String::into_bytes),
                    "[a-z世😀\r\n\t]{0,30}".prop_map(String::into_bytes),
                ],
                0..60,
            )
        ) {
            let mut screen = screen();
            for piece in pieces {
                screen.feed(&piece);
            }
            let text = screen.news();
            prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        }
    }
}
