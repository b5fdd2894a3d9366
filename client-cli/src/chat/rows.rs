//! Which rows stand above the prompt, and what to write so that others stand there.
//!
//! Finished rows only move up. The open end (a line that is still being written, a table that waits
//! for its last line) is replaced in place: the cursor goes up over the rows that differ, clears
//! below, and writes them anew. Nothing else moves the cursor, so that a wrong guess about the
//! screen costs a few rows and never the rest.

use crate::look::painted_width;

/// Rows that are due, and rows that are on the screen and may still change.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Finished rows that are not on the screen yet.
    finished: Vec<String>,
    /// The open end as it should be.
    open: Vec<String>,
    /// The open end as it is on the screen.
    drawn: Vec<String>,
}

/// Most finished rows that wait; older ones are dropped when nobody takes them for long.
const MAX_WAITING: usize = 20_000;

impl Rows {
    /// Adds a finished row.
    pub(crate) fn finish(&mut self, row: String) {
        if self.finished.len() < MAX_WAITING {
            self.finished.push(row);
        }
    }

    /// Replaces the open end.
    pub(crate) fn set_open(&mut self, rows: Vec<String>) {
        self.open = rows;
    }

    /// Something else was written below: what is on the screen stays as it is.
    pub(crate) fn disturbed(&mut self) {
        self.drawn.clear();
    }

    /// Tells whether a row on the screen that may still change is wider than a terminal that became
    /// narrow: nobody knows how many rows of the screen it takes now.
    pub(crate) fn outgrows(&self, columns: usize) -> bool {
        self.drawn.iter().any(|row| painted_width(row) > columns)
    }

    /// The open end on the screen is final as it is there.
    pub(crate) fn keep_drawn(&mut self) {
        self.drawn.clear();
        self.open.clear();
    }

    /// Tells whether there is anything to write.
    pub(crate) fn is_due(&self) -> bool {
        !self.finished.is_empty() || self.open != self.drawn
    }

    /// What to write where the prompt begins. `height` is how many rows the cursor may go up.
    pub(crate) fn take(&mut self, height: usize) -> String {
        let finished = std::mem::take(&mut self.finished);
        let next: Vec<&String> = finished.iter().chain(&self.open).collect();
        let same = self.drawn.iter().zip(&next).take_while(|(old, new)| old == *new).count();
        // Rows beyond the top of the screen cannot be reached; they stay.
        let up = (self.drawn.len() - same).min(height);
        let from = self.drawn.len() - up;
        let mut text = String::new();
        if up > 0 {
            text = format!("\u{1b}[{up}A\r\u{1b}[J");
        }
        for row in next.iter().skip(from) {
            text.push_str(row);
            text.push('\n');
        }
        if up > 0 && next.len() <= from {
            // Whoever writes this ends it with a line feed; it must not cost a row.
            text.push_str("\u{1b}[1A\n");
        }
        // What is drawn of the open end: the finished part is no longer ours to change.
        self.drawn.clone_from(&self.open);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(rows: &[&str]) -> Vec<String> {
        rows.iter().map(|row| (*row).to_owned()).collect()
    }

    #[test]
    fn only_rows_that_differ_are_written_again() {
        let mut rows = Rows::default();
        assert!(!rows.is_due());
        rows.set_open(open(&["Hel"]));
        assert!(rows.is_due());
        assert_eq!(rows.take(20), "Hel\n");
        assert!(!rows.is_due());
        rows.set_open(open(&["Hello"]));
        assert_eq!(rows.take(20), "\u{1b}[1A\r\u{1b}[JHello\n");
        rows.set_open(open(&["Hello", "wor"]));
        assert_eq!(rows.take(20), "wor\n", "the first row stays");
        rows.finish("Hello".into());
        rows.finish("world".into());
        rows.set_open(Vec::new());
        assert_eq!(rows.take(20), "\u{1b}[1A\r\u{1b}[Jworld\n");
        rows.finish("next".into());
        assert_eq!(rows.take(20), "next\n");
    }

    #[test]
    fn a_shorter_end_clears_what_was_below() {
        let mut rows = Rows::default();
        rows.set_open(open(&["| a |", "| b |", "| c |"]));
        rows.take(20);
        rows.set_open(Vec::new());
        assert_eq!(rows.take(20), "\u{1b}[3A\r\u{1b}[J\u{1b}[1A\n");
        assert!(!rows.is_due());
    }

    #[test]
    fn a_finished_row_goes_above_the_open_end() {
        let mut rows = Rows::default();
        rows.set_open(open(&["Hel", "lo"]));
        rows.take(20);
        rows.finish("an aside".into());
        assert_eq!(rows.take(20), "\u{1b}[2A\r\u{1b}[Jan aside\nHel\nlo\n");
    }

    #[test]
    fn rows_out_of_reach_stay() {
        let mut rows = Rows::default();
        rows.set_open(open(&["1", "2", "3"]));
        rows.take(20);
        rows.set_open(open(&["x", "y", "z"]));
        assert_eq!(rows.take(2), "\u{1b}[2A\r\u{1b}[Jy\nz\n");
    }

    #[test]
    fn after_a_disturbance_the_open_end_is_written_again_below() {
        let mut rows = Rows::default();
        rows.set_open(open(&["Hel"]));
        rows.take(20);
        rows.disturbed();
        assert!(rows.is_due());
        assert_eq!(rows.take(20), "Hel\n");
    }
}
