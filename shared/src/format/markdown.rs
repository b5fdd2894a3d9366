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

use unicode_width::UnicodeWidthStr as _;

use self::code::CodeBlock;
pub use self::code::CodeTheme;
use super::styled::{Role, Row, Span};
use super::wrap::{hanging_rows, wrap};

/// Longest table that waits for its end, in lines. A longer one is shown as written.
const MAX_TABLE_LINES: usize = 200;

/// Narrowest text that is still wrapped at words.
const MIN_WIDTH: usize = 20;

/// How rows look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns that a row may take.
    pub width: usize,
    /// How fenced code is coloured.
    pub code: CodeTheme,
}

/// Renders one text, line by line.
#[derive(Debug, Default)]
pub struct Markdown {
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
    pub fn line(&mut self, line: &str, look: Look) -> Vec<Row> {
        let mut rows = Vec::new();
        match &mut self.block {
            Block::Code(block) => {
                if block.closes(line) {
                    self.block = Block::Text;
                } else {
                    rows.push(block.line(line));
                }
                return rows;
            }
            Block::Table(lines) if table::is_row(line) && lines.len() < MAX_TABLE_LINES => {
                lines.push(line.to_owned());
                return rows;
            }
            Block::Table(lines) => {
                rows = table::render(lines, look.width);
                self.block = Block::Text;
            }
            Block::Text => {}
        }
        if let Some(block) = CodeBlock::open(line, look.code) {
            self.block = Block::Code(Box::new(block));
        } else if table::is_row(line) {
            self.block = Block::Table(vec![line.to_owned()]);
        } else {
            rows.extend(text_rows(line, look.width));
        }
        rows
    }

    /// Tells whether a table waits for its last line.
    pub fn is_in_table(&self) -> bool {
        matches!(self.block, Block::Table(_))
    }

    /// Returns what to show of text that is not final: an unfinished table and a line without its end.
    pub fn open_rows(&self, partial: &str, look: Look) -> Vec<Row> {
        match &self.block {
            Block::Code(block) => {
                if partial.is_empty() || block.may_close(partial) {
                    Vec::new()
                } else {
                    wrap(&block.preview(partial), &Row::default(), &Row::default(), look.width)
                }
            }
            Block::Table(lines) => {
                let none = Row::default();
                let mut rows = Vec::new();
                for line in lines.iter().map(String::as_str).chain([partial]) {
                    if !line.is_empty() {
                        rows.extend(hanging_rows(line, Role::Dim, (&none, &none), look.width));
                    }
                }
                rows
            }
            Block::Text if partial.is_empty() => Vec::new(),
            Block::Text => text_rows(partial, look.width),
        }
    }

    /// Ends the text: returns the rows of a table that was still open.
    pub fn finish(&mut self, look: Look) -> Vec<Row> {
        match std::mem::take(&mut self.block) {
            Block::Table(lines) => table::render(&lines, look.width),
            Block::Text | Block::Code(_) => Vec::new(),
        }
    }
}

/// Renders a whole text at once.
pub fn render(text: &str, look: Look) -> Vec<Row> {
    let mut markdown = Markdown::default();
    let mut rows: Vec<Row> = text.lines().flat_map(|line| markdown.line(line, look)).collect();
    rows.extend(markdown.finish(look));
    rows
}

fn text_rows(line: &str, width: usize) -> Vec<Row> {
    let width = width.max(MIN_WIDTH);
    let body = line.trim_start();
    if body.is_empty() {
        return vec![Row::default()];
    }
    if is_rule(body) {
        return vec![Row::new(&"─".repeat(width.min(40)), Role::Dim)];
    }
    let mut prefix = Prefix::default();
    let body = prefix.take(line);
    let (text, role) = match heading(body) {
        Some((level, title)) if level <= 2 => (title, Role::Accent),
        Some((_, title)) => (title, Role::Heading),
        None if prefix.quoted => (body, Role::Dim),
        None => (body, Role::Plain),
    };
    wrap(&inline::spans(text, role.into()), &prefix.first, &prefix.rest, width)
}

/// What stands before the text of a line: quote bars, indentation, a list marker.
#[derive(Debug, Default)]
struct Prefix {
    /// Before the first row.
    first: Row,
    /// Before later rows.
    rest: Row,
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
                self.push(&blank, &blank, Role::Plain);
            }
            rest = trimmed;
            if let Some(quoted) = rest.strip_prefix('>') {
                self.push("│ ", "│ ", Role::Dim);
                self.quoted = true;
                rest = quoted.strip_prefix(' ').unwrap_or(quoted);
            } else if let Some((marker, item)) = bullet(rest) {
                let (marker, item) = task(marker, item);
                self.push(&marker, &" ".repeat(marker.width()), Role::Accent);
                rest = item;
            } else {
                break;
            }
        }
        rest
    }

    fn push(&mut self, first: &str, rest: &str, role: Role) {
        self.first.push(Span::new(first, role));
        self.rest.push(Span::new(rest, role));
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
