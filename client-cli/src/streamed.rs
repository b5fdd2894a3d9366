//! What a result says beyond what its tool has shown while it ran: notes on its end, and output that
//! came too fast to be shown.

use std::collections::HashSet;

/// How much of what was shown last is remembered, in bytes.
const TAIL: usize = 16 * 1024;

/// Most lines of a result that are shown again.
const MAX_LINES: usize = 20;

/// What a tool has shown.
#[derive(Debug, Default)]
pub(crate) struct Streamed {
    tail: String,
}

impl Streamed {
    /// It has shown more.
    pub(crate) fn add(&mut self, text: &str) {
        self.tail.push_str(text);
        if self.tail.len() > 2 * TAIL {
            let at = (self.tail.len() - TAIL..self.tail.len())
                .find(|at| self.tail.is_char_boundary(*at))
                .unwrap_or_default();
            self.tail.drain(..at);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tail.is_empty()
    }

    /// The last lines of its result, as far as nobody has seen them.
    pub(crate) fn unseen<'a>(&self, result: &'a str) -> Vec<&'a str> {
        let seen: HashSet<&str> = self.tail.lines().map(str::trim_end).collect();
        let last = result.trim_end().lines().rev().take(MAX_LINES);
        let mut lines: Vec<&str> =
            last.take_while(|line| !seen.contains(line.trim_end())).collect();
        lines.reverse();
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_on_the_end_are_unseen_and_what_was_shown_is_not_said_twice() {
        let mut streamed = Streamed::default();
        assert!(streamed.is_empty());
        streamed.add("one\ntw");
        streamed.add("o\n");
        let note = "[1 of its processes still ran and were ended.]";
        assert_eq!(streamed.unseen(&format!("one\ntwo\n{note}\n")), [note]);
        assert_eq!(streamed.unseen("one\ntwo\n"), [""; 0]);
    }

    #[test]
    fn the_end_of_output_that_came_too_fast_is_unseen() {
        let mut streamed = Streamed::default();
        for _ in 0..10_000 {
            streamed.add("ß and more\n");
        }
        assert!(streamed.tail.len() <= 2 * TAIL);
        let result = format!("{}END", "something else\n".repeat(100));
        let unseen = streamed.unseen(&result);
        assert_eq!((unseen.len(), unseen.last()), (MAX_LINES, Some(&"END")));
    }
}
