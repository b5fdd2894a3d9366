//! Rows of one part of an entry. All text is inert afterwards.

mod cards;
mod notes;
mod row;

use agentd_proto::v1;
use agentd_shared::Transcript;
use agentd_shared::format::markdown::{self, CodeTheme};
use agentd_shared::format::{Markdown, Role, Row};
use agentd_shared::text::{one_line, sanitize};
use agentd_shared::transcript::{AssistantItem, Item, MessageState, Question, UserMessage};

use super::entry::Entry;
use super::layout::{DocumentRow, Kind, Part, message, slice, text};
use super::section;
use crate::theme::Theme;

pub(super) use cards::{arguments, is_settled};
pub(super) use notes::{is_shown, text as note_text};
pub(super) use row::styled;

/// Columns of a name.
const NAME: usize = 40;

/// How rows look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns of a row.
    pub width: u16,
    /// Its colours.
    pub theme: Theme,
    /// Reasoning is open unless it was folded.
    pub reasoning: bool,
    /// What is decided on the way is shown.
    pub verbose: bool,
}

impl Look {
    fn columns(self) -> usize {
        usize::from(self.width).max(1)
    }

    fn code(self) -> CodeTheme {
        if self.theme == Theme::PLAIN { CodeTheme::Plain } else { CodeTheme::Dark }
    }
}

/// What rows are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) transcript: &'t Transcript,
    pub(super) entry: Entry<'t>,
    pub(super) look: Look,
    /// The id of the client that shows it: nobody is told by name what they did themselves.
    pub(super) me: &'t str,
    /// Unix time in milliseconds, as far as it is known from events.
    pub(super) now_ms: i64,
}

/// The rows of a part of a block.
pub(super) fn render(
    source: Source<'_>,
    kind: Kind,
    open: bool,
    part: &Part,
    is_first: bool,
) -> Vec<DocumentRow> {
    let (look, entry) = (source.look, source.entry);
    let mut rows = Rows { look, rows: Vec::new() };
    let held = part.section.as_ref().map(|section| {
        let text = text(&entry, kind, source.me);
        let opening = section.opening.as_ref().map(|line| slice(&text, line));
        (slice(&text, &section.range), opening)
    });
    let (held, opening) = held.unwrap_or_default();
    if is_first && matches!(kind, Kind::User | Kind::Reasoning | Kind::Text | Kind::Question) {
        rows.rows.push(DocumentRow::default());
    }
    match kind {
        Kind::User => rows.user(&entry, &held, is_first),
        Kind::Reasoning if !open => rows.push(&Row::new("▸ thought", Role::Dim), 2),
        Kind::Reasoning => {
            if is_first {
                rows.push(&Row::new("▾ thought", Role::Dim), 2);
            }
            for line in section::lines(&held) {
                rows.wrapped(("│ ", "│ "), line, Role::Reasoning, Role::Reasoning);
            }
        }
        Kind::Text => rows.answer(&held, opening.as_deref(), is_first),
        Kind::Card(index) => rows.card(source, index, open),
        Kind::Diff(index) => rows.diff(&entry, index),
        Kind::Arguments(_) => {
            for line in section::lines(&held) {
                rows.wrapped(("    ", "    "), line, Role::Dim, Role::Plain);
            }
        }
        Kind::Output(_) => {
            for line in section::lines(&held) {
                rows.wrapped(("  │ ", "  │ "), line, Role::Dim, Role::Dim);
            }
        }
        Kind::Ending => {
            if let Some(said) = message(&entry).and_then(ending) {
                rows.push(&Row::new(&format!("  ({said})"), Role::Dim), 2);
            }
        }
        Kind::Question => {
            if let Entry::Item(Item::Question(question)) = entry {
                rows.question(question);
            }
        }
        Kind::Note => {
            if let Entry::Item(Item::Note(note)) = entry {
                rows.note(note, source.me);
            }
        }
        Kind::Foot => {
            if let Entry::Item(Item::Turn(turn)) = entry {
                rows.foot(turn, source.me);
            }
        }
    }
    rows.rows
}

/// What is said under a message that is not whole.
pub(super) fn ending(message: &AssistantItem) -> Option<&'static str> {
    match message.completeness? {
        v1::MessageCompleteness::Cut => Some("cut by the model's output limit"),
        v1::MessageCompleteness::Incomplete => Some("incomplete"),
        v1::MessageCompleteness::Complete | v1::MessageCompleteness::Unspecified => None,
    }
}

/// The name of an author, in one line.
fn name(author: &v1::Author) -> String {
    one_line(&author.name, NAME)
}

struct Rows {
    look: Look,
    rows: Vec<DocumentRow>,
}

impl Rows {
    /// Adds a row, broken where it is too wide. Its first `lead` columns are decoration.
    fn push(&mut self, row: &Row, lead: usize) {
        row::push(&mut self.rows, row, lead, self.look);
    }

    /// Adds a line of text behind marks, broken at words.
    fn wrapped(&mut self, (first, rest): (&str, &str), line: &str, mark: Role, role: Role) {
        let (first, rest) = (Row::new(first, mark), Row::new(rest, mark));
        let lead = first.width();
        let width = self.look.columns();
        for row in agentd_shared::format::hanging_rows(line, role, (&first, &rest), width) {
            self.push(&row, lead);
        }
    }

    fn user(&mut self, entry: &Entry<'_>, held: &str, is_first: bool) {
        let Entry::Item(Item::User(message)) = *entry else { return };
        let role = Role::Name;
        for (index, line) in section::lines(held).enumerate() {
            let mark = if is_first && index == 0 { "▸ " } else { "  " };
            self.wrapped((mark, "  "), line, role, role);
        }
        if is_first && let Some(said) = standing(message) {
            self.push(&Row::new(&format!("  ({said})"), Role::Warn), 2);
        }
    }

    fn answer(&mut self, held: &str, opening: Option<&str>, is_first: bool) {
        let width = self.look.columns().saturating_sub(2);
        let look = markdown::Look { width, code: self.look.code() };
        let mut markdown = Markdown::default();
        if let Some(opening) = opening {
            markdown.line(opening, look);
        }
        let mut made: Vec<Row> =
            section::lines(held).flat_map(|line| markdown.line(line, look)).collect();
        made.extend(markdown.finish(look));
        for (index, row) in made.into_iter().enumerate() {
            let mark = if is_first && index == 0 { "● " } else { "  " };
            let mut marked = Row::new(mark, Role::Accent);
            marked.append(row);
            self.push(&marked, 2);
        }
    }

    fn question(&mut self, question: &Question) {
        for (index, line) in question.prompt.lines().enumerate() {
            let mark = if index == 0 { "? " } else { "  " };
            self.wrapped((mark, "  "), line, Role::Warn, Role::Warn);
        }
        for (number, choice) in question.choices.iter().enumerate() {
            let mark = format!("  {} ", number + 1);
            let rest = " ".repeat(mark.len());
            self.wrapped((&mark, &rest), choice, Role::Accent, Role::Plain);
        }
        match &question.answer {
            Some(answer) if answer.choice.is_empty() => {
                self.push(&Row::new("  nobody answered; the question is void", Role::Dim), 2);
            }
            Some(answer) => {
                let by = answer.by.as_ref().map(|by| format!("{}: ", name(by)));
                let said = format!("{}{}", by.unwrap_or_default(), answer.choice);
                self.wrapped(("  ✓ ", "    "), &said, Role::Good, Role::Plain);
            }
            None => self.push(&Row::new("  waits for an answer", Role::Warn), 2),
        }
    }
}

/// What is said of a message that went another way than most.
fn standing(message: &UserMessage) -> Option<String> {
    match &message.state {
        MessageState::Queued | MessageState::Delivered => None,
        MessageState::Expired => Some("expired before a turn had it".to_owned()),
        MessageState::Withdrawn { by } => {
            let by = by.as_ref().map(|by| format!(" by {}", name(by)));
            Some(format!("taken back{}", sanitize(&by.unwrap_or_default())))
        }
    }
}
