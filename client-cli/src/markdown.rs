//! Markdown for a terminal, one line at a time.
//!
//! A line-wise renderer needs no cursor movement and cannot fall behind: each source line becomes rows
//! as soon as it is whole. Only tables wait for their last line, because columns need all widths.
//! What spans lines (emphasis over a line break) is shown as written; that is the price.
//!
//! Text is cleaned after parsing, not only before: `&#27;` is harmless Markdown and an escape in HTML.

mod code;
mod inline;
mod table;
mod wrap;

use anstyle::Style;

use crate::style;
use code::CodeBlock;
pub(crate) use wrap::painted_width;
use wrap::{Span, wrap};

/// Longest table that waits for its end, in lines. A longer one is shown as written.
const MAX_TABLE_LINES: usize = 200;

/// Narrowest text that is still wrapped at words.
const MIN_WIDTH: usize = 20;

/// How rows look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Columns that a row may take.
    pub(crate) width: usize,
    /// Whether styles are used at all.
    pub(crate) colored: bool,
}

/// Renders one text, line by line.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    block: Block,
}

#[derive(Debug, Default)]
enum Block {
    #[default]
    Text,
    Code(Box<CodeBlock>),
    Table(Vec<String>),
}

impl Markdown {
    /// Takes a whole line, without its line feed, and returns the rows that are final now.
    pub(crate) fn line(&mut self, line: &str, look: Look) -> Vec<String> {
        let mut rows = Vec::new();
        match &mut self.block {
            Block::Code(block) => {
                if block.closes(line) {
                    self.block = Block::Text;
                } else {
                    rows.push(block.line(line, look.colored));
                }
                return rows;
            }
            Block::Table(lines) if table::is_row(line) && lines.len() < MAX_TABLE_LINES => {
                lines.push(line.to_owned());
                return rows;
            }
            Block::Table(lines) => {
                rows = table::render(lines, look);
                self.block = Block::Text;
            }
            Block::Text => {}
        }
        if let Some(block) = CodeBlock::open(line) {
            self.block = Block::Code(Box::new(block));
        } else if table::is_row(line) {
            self.block = Block::Table(vec![line.to_owned()]);
        } else {
            rows.extend(text_rows(line, look));
        }
        rows
    }

    /// Tells whether a table waits for its last line.
    pub(crate) fn is_in_table(&self) -> bool {
        matches!(self.block, Block::Table(_))
    }

    /// Returns what to show of text that is not final: an unfinished table and a line without its end.
    pub(crate) fn open_rows(&self, partial: &str, look: Look) -> Vec<String> {
        match &self.block {
            Block::Code(block) => {
                if partial.is_empty() || block.may_close(partial) {
                    Vec::new()
                } else {
                    wrap(&block.preview(partial), "", "", look)
                }
            }
            Block::Table(lines) => {
                let mut rows = Vec::new();
                for line in lines.iter().map(String::as_str).chain([partial]) {
                    if !line.is_empty() {
                        rows.extend(wrap(&[Span::new(line, style::DIM)], "", "", look));
                    }
                }
                rows
            }
            Block::Text if partial.is_empty() => Vec::new(),
            Block::Text => text_rows(partial, look),
        }
    }

    /// Ends the text: returns the rows of a table that was still open.
    pub(crate) fn finish(&mut self, look: Look) -> Vec<String> {
        match std::mem::take(&mut self.block) {
            Block::Table(lines) => table::render(&lines, look),
            Block::Text | Block::Code(_) => Vec::new(),
        }
    }
}

/// Rows of text without marks, behind a bar.
pub(crate) fn quoted_rows(line: &str, style: Style, look: Look) -> Vec<String> {
    let bar = style::paint(look.colored, style, "│ ");
    wrap(&[Span::new(line, style)], &bar, &bar, look)
}

/// Rows of text without marks behind a prefix, which is inert and painted already.
pub(crate) fn prefixed_rows(line: &str, style: Style, prefix: &str, look: Look) -> Vec<String> {
    let blank = " ".repeat(painted_width(prefix));
    hanging_rows(line, style, (prefix, &blank), look)
}

/// The same with another prefix before later rows, so that none of them looks like a line of its own.
pub(crate) fn hanging_rows(
    line: &str,
    style: Style,
    (first, rest): (&str, &str),
    look: Look,
) -> Vec<String> {
    wrap(&[Span::new(line, style)], first, rest, look)
}

/// Renders a whole text at once.
#[cfg(test)]
pub(crate) fn render(text: &str, look: Look) -> Vec<String> {
    let mut markdown = Markdown::default();
    let mut rows: Vec<String> = text.lines().flat_map(|line| markdown.line(line, look)).collect();
    rows.extend(markdown.finish(look));
    rows
}

fn text_rows(line: &str, look: Look) -> Vec<String> {
    let look = Look { width: look.width.max(MIN_WIDTH), ..look };
    let body = line.trim_start();
    if body.is_empty() {
        return vec![String::new()];
    }
    if is_rule(body) {
        let rule = "─".repeat(look.width.min(40));
        return vec![style::paint(look.colored, style::DIM, &rule)];
    }
    let mut prefix = Prefix::default();
    let body = prefix.take(line);
    if let Some((level, title)) = heading(body) {
        let base = if level <= 2 { style::ACCENT } else { style::HEADING };
        let spans = inline::spans(title, base);
        return wrap(&spans, &prefix.first(look), &prefix.rest(look), look);
    }
    let base = if prefix.quoted { style::DIM } else { Style::new() };
    wrap(&inline::spans(body, base), &prefix.first(look), &prefix.rest(look), look)
}

/// What stands before the text of a line: quote bars, indentation, a list marker.
#[derive(Debug, Default)]
struct Prefix {
    /// Pieces for the first row, and their counterparts for later rows.
    pieces: Vec<(String, String, Style)>,
    quoted: bool,
}

impl Prefix {
    /// Takes all markers off a line and returns the rest.
    fn take<'l>(&mut self, line: &'l str) -> &'l str {
        let mut rest = line;
        // A few levels are enough; a line of a thousand `>` is not a thousand quotes.
        for _ in 0..6 {
            let trimmed = rest.trim_start();
            let indent = rest.len() - trimmed.len();
            if indent > 0 {
                let blank = " ".repeat(indent.min(16));
                self.pieces.push((blank.clone(), blank, Style::new()));
            }
            rest = trimmed;
            if let Some(quoted) = rest.strip_prefix('>') {
                self.pieces.push(("│ ".to_owned(), "│ ".to_owned(), style::DIM));
                self.quoted = true;
                rest = quoted.strip_prefix(' ').unwrap_or(quoted);
            } else if let Some((marker, item)) = bullet(rest) {
                let (marker, item) = task(marker, item);
                let blank = " ".repeat(unicode_width::UnicodeWidthStr::width(marker.as_str()));
                self.pieces.push((marker, blank, style::ACCENT));
                rest = item;
            } else {
                break;
            }
        }
        rest
    }

    fn first(&self, look: Look) -> String {
        self.pieces.iter().map(|(first, _, s)| style::paint(look.colored, *s, first)).collect()
    }

    fn rest(&self, look: Look) -> String {
        self.pieces.iter().map(|(_, rest, s)| style::paint(look.colored, *s, rest)).collect()
    }
}

fn bullet(text: &str) -> Option<(String, &str)> {
    for marker in ["- ", "* ", "+ "] {
        if let Some(item) = text.strip_prefix(marker) {
            return Some(("• ".to_owned(), item));
        }
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=9).contains(&digits) {
        return None;
    }
    let (number, rest) = text.split_at_checked(digits)?;
    let item = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    Some((format!("{number}. "), item))
}

fn task(marker: String, item: &str) -> (String, &str) {
    if let Some(rest) = item.strip_prefix("[ ] ") {
        ("☐ ".to_owned(), rest)
    } else if let Some(rest) = item.strip_prefix("[x] ").or_else(|| item.strip_prefix("[X] ")) {
        ("☑ ".to_owned(), rest)
    } else {
        (marker, item)
    }
}

fn heading(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    if !(1..=6).contains(&level) {
        return None;
    }
    let title = text.get(level..)?.strip_prefix(' ')?;
    Some((level, title.trim_end().trim_end_matches('#').trim_end()))
}

fn is_rule(text: &str) -> bool {
    let mut marks = text.chars().filter(|character| !character.is_whitespace());
    let Some(first) = marks.next() else { return false };
    matches!(first, '-' | '*' | '_')
        && marks.clone().count() >= 2
        && marks.all(|character| character == first)
}

#[cfg(test)]
mod tests;
