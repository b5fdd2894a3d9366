//! Rows of a given width, broken at words.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::styled::{Ink, Row, Span};

/// Rows of text without marks, behind a bar.
pub fn quoted_rows(line: &str, ink: impl Into<Ink>, width: usize) -> Vec<Row> {
    let ink = ink.into();
    let bar = Row::new("│ ", ink);
    hanging_rows(line, ink, (&bar, &bar), width)
}

/// Rows of text without marks behind a prefix.
pub fn prefixed_rows(line: &str, ink: impl Into<Ink>, prefix: &Row, width: usize) -> Vec<Row> {
    let blank = Row::from(" ".repeat(prefix.width()).as_str());
    hanging_rows(line, ink, (prefix, &blank), width)
}

/// The same with another prefix before later rows, so that none of them looks like a line of its own.
pub fn hanging_rows(
    line: &str,
    ink: impl Into<Ink>,
    (first, rest): (&Row, &Row),
    width: usize,
) -> Vec<Row> {
    wrap(&[Span::new(line, ink)], first, rest, width)
}

/// Breaks pieces at spaces into rows. `first` and `rest` are put before the first and later rows.
pub(super) fn wrap(spans: &[Span], first: &Row, rest: &Row, width: usize) -> Vec<Row> {
    let mut rows = Rows {
        done: Vec::new(),
        row: Vec::new(),
        used: 0,
        word: Vec::new(),
        word_width: 0,
        width: width.saturating_sub(first.width().max(rest.width())).max(1),
    };
    for span in spans {
        for grapheme in span.text().graphemes(true) {
            rows.push(grapheme, span.ink());
        }
    }
    rows.end()
        .into_iter()
        .enumerate()
        .map(|(index, pieces)| {
            let mut row = if index == 0 { first.clone() } else { rest.clone() };
            row.append(joined(&pieces));
            row
        })
        .collect()
}

type Piece<'t> = (&'t str, Ink);

struct Rows<'t> {
    done: Vec<Vec<Piece<'t>>>,
    row: Vec<Piece<'t>>,
    used: usize,
    word: Vec<Piece<'t>>,
    word_width: usize,
    width: usize,
}

impl<'t> Rows<'t> {
    fn push(&mut self, grapheme: &'t str, ink: Ink) {
        let columns = grapheme.width();
        if grapheme == " " {
            self.end_word();
            if self.used < self.width {
                self.row.push((" ", ink));
                self.used += 1;
            } else {
                self.end_row();
            }
            return;
        }
        // Scripts without spaces, and words longer than a row, break anywhere.
        if self.word_width + columns > self.width {
            self.end_word();
            self.end_row();
        }
        self.word.push((grapheme, ink));
        self.word_width += columns;
        if columns > 1 {
            self.end_word();
        }
    }

    fn end_word(&mut self) {
        if self.used + self.word_width > self.width {
            self.end_row();
        }
        self.row.append(&mut self.word);
        self.used += std::mem::take(&mut self.word_width);
    }

    fn end_row(&mut self) {
        // A wrapped row may be empty only if it was nothing but the space that broke the line.
        if !self.row.is_empty() {
            self.done.push(std::mem::take(&mut self.row));
        }
        self.used = 0;
    }

    fn end(mut self) -> Vec<Vec<Piece<'t>>> {
        self.end_word();
        if !self.row.is_empty() || self.done.is_empty() {
            self.done.push(self.row);
        }
        self.done
    }
}

/// Joins neighbours of one ink, without the blanks at the end.
fn joined(pieces: &[Piece<'_>]) -> Row {
    let kept = pieces.iter().rposition(|(text, _)| *text != " ").map_or(0, |last| last + 1);
    let mut row = Row::default();
    let mut run = String::new();
    let mut run_ink = Ink::default();
    for (text, ink) in pieces.iter().take(kept) {
        if *ink != run_ink {
            row.push(Span::new(&run, run_ink));
            run.clear();
            run_ink = *ink;
        }
        run.push_str(text);
    }
    row.push(Span::new(&run, run_ink));
    row
}
