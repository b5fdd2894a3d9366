//! Styled pieces of text, and rows of a given width made from them.

use agentd_shared::text::sanitize;
use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::Look;
use crate::style;

const TAB: &str = "    ";

/// Inert text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// The text, without control characters: tabs are spaces.
    pub(super) text: String,
    style: Style,
}

impl Span {
    /// Cleans a text and gives it a style. Line feeds become spaces: a span lives in one line.
    pub(crate) fn new(text: &str, style: Style) -> Self {
        let text = sanitize(text).replace('\t', TAB).replace('\n', " ");
        Self { text, style }
    }
}

/// Joins pieces into one row of any width.
pub(crate) fn join(spans: &[Span], colored: bool) -> String {
    spans.iter().map(|span| style::paint(colored, span.style, &span.text)).collect()
}

/// Columns that a painted text takes: escape sequences take none.
pub(crate) fn painted_width(painted: &str) -> usize {
    anstyle_stripped(painted).width()
}

/// Drops the style sequences that [`style::paint`] writes.
fn anstyle_stripped(painted: &str) -> String {
    let mut plain = String::with_capacity(painted.len());
    let mut rest = painted;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    plain
}

/// Breaks pieces at spaces into rows. `first` and `rest` are put before the first and later rows.
pub(crate) fn wrap(spans: &[Span], first: &str, rest: &str, look: Look) -> Vec<String> {
    let mut rows = Rows {
        done: Vec::new(),
        row: Vec::new(),
        used: 0,
        word: Vec::new(),
        word_width: 0,
        width: look.width.saturating_sub(painted_width(first).max(painted_width(rest))).max(1),
    };
    for span in spans {
        for grapheme in span.text.graphemes(true) {
            rows.push(grapheme, span.style);
        }
    }
    rows.end()
        .into_iter()
        .enumerate()
        .map(|(index, row)| {
            let prefix = if index == 0 { first } else { rest };
            format!("{prefix}{}", paint_row(&row, look.colored))
        })
        .collect()
}

type Piece = (String, Style);

struct Rows {
    done: Vec<Vec<Piece>>,
    row: Vec<Piece>,
    used: usize,
    word: Vec<Piece>,
    word_width: usize,
    width: usize,
}

impl Rows {
    fn push(&mut self, grapheme: &str, style: Style) {
        let columns = grapheme.width();
        if grapheme == " " {
            self.end_word();
            if self.used < self.width {
                self.row.push((" ".to_owned(), style));
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
        self.word.push((grapheme.to_owned(), style));
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

    fn end(mut self) -> Vec<Vec<Piece>> {
        self.end_word();
        if !self.row.is_empty() || self.done.is_empty() {
            self.done.push(self.row);
        }
        self.done
    }
}

/// Paints neighbours of one style together, without trailing spaces.
fn paint_row(row: &[Piece], colored: bool) -> String {
    let kept = row.iter().rposition(|(text, _)| text != " ").map_or(0, |last| last + 1);
    let mut painted = String::new();
    let mut run = String::new();
    let mut run_style = Style::new();
    for (text, style) in row.iter().take(kept) {
        if *style != run_style {
            painted.push_str(&style::paint(colored, run_style, &run));
            run.clear();
            run_style = *style;
        }
        run.push_str(text);
    }
    painted.push_str(&style::paint(colored, run_style, &run));
    painted
}
