//! Tool calls as cards: one row for each, and more where something matters.
//!
//! A card that has ended is made from what the log holds alone, so that terminals that came early and
//! late show the same.

mod parameters;

use std::time::Duration;

use agentd_proto::v1;
use unicode_width::UnicodeWidthStr as _;

use self::parameters::Which;
use super::diff::{self, Counts, Names};
use super::styled::{Role, Row, Span};
use super::wrap::prefixed_rows;
use crate::text::{human_duration, one_line, one_row};
use crate::transcript::{ToolCallItem, ToolCallState};

/// Columns for the name of a tool.
const NAME_WIDTH: usize = 40;
/// Rows of a diff.
const DIFF_ROWS: usize = 10;
/// Rows of the output of a program that did well, and of one that did not: there the end counts too.
const OUTPUT_ROWS: usize = 3;
const LAST_ROWS: usize = 3;
/// Rows of a message of an error.
const ERROR_ROWS: usize = 3;
/// Bytes of a line that are looked at: no terminal is wider.
const LINE_BYTES: usize = 4_096;
/// Columns in which nothing can be said.
const SHORTEST_SAID: usize = 6;
/// A call says how long it runs after this time.
const LONG: Duration = Duration::from_secs(1);
/// Pictures of the sign that something runs.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// How long each of these pictures stands.
pub const SPIN: Duration = Duration::from_millis(200);

/// The rows of a call that runs: what it is, and the last `tail` lines of what it shows.
pub fn running(call: &ToolCallItem, now_ms: i64, tail: usize, width: usize) -> Vec<Row> {
    let ran = now_ms.saturating_sub(call.started_at_ms);
    let ran = Duration::from_millis(u64::try_from(ran).unwrap_or(0));
    let head = Head {
        mark: Span::new(spinner(now_ms), Role::Accent),
        said: Said::default(),
        took: if ran < LONG { String::new() } else { seconds(ran) },
    };
    let mut rows = vec![head.row(call, width)];
    let lines = last_lines(&call.output, tail);
    rows.extend(lines.iter().rev().map(|line| behind_bar(line, width)));
    rows
}

/// The picture of the sign that something runs, at a time in Unix milliseconds.
pub fn spinner(now_ms: i64) -> &'static str {
    let turn = now_ms.unsigned_abs() / u64::try_from(SPIN.as_millis()).unwrap_or(1);
    let picture = usize::try_from(turn % SPINNER.len() as u64).unwrap_or(0);
    SPINNER.get(picture).unwrap_or(&"…")
}

/// The row of a call that runs, for where nothing can be drawn anew.
pub fn started(call: &ToolCallItem, width: usize) -> Row {
    let mark = Span::new("▸", Role::Dim);
    Head { mark, said: Said::default(), took: String::new() }.row(call, width)
}

/// The rows of a call that has ended.
pub fn finished(call: &ToolCallItem, width: usize) -> Vec<Row> {
    let ToolCallState::Finished(status) = call.state else { return Vec::new() };
    let Told { mark, role, said, below } = told(call, status, width);
    let took = match call.source {
        v1::ResultSource::Cache | v1::ResultSource::Shared => "known already".to_owned(),
        v1::ResultSource::NotRun => String::new(),
        v1::ResultSource::Unspecified | v1::ResultSource::Run => {
            human_duration(Duration::from_millis(call.elapsed_ms))
        }
    };
    let head = Head { mark: Span::new(mark, role), said, took };
    let mut rows = vec![head.row(call, width)];
    rows.extend(below);
    rows
}

/// What is told of a result.
struct Told {
    mark: &'static str,
    role: Role,
    /// In the row of the call.
    said: Said,
    /// Rows below it.
    below: Vec<Row>,
}

/// What is said of a call in its row.
#[derive(Default)]
struct Said {
    text: String,
    /// What is left when the text is cut.
    end: String,
    role: Role,
    /// The text in several inks; it is not cut.
    styled: Option<Row>,
}

impl Said {
    fn plain(role: Role, text: impl Into<String>) -> Self {
        Self { text: text.into(), role, ..Self::default() }
    }

    /// The first line of what the tool gave back, and how many follow.
    fn result(output: &str) -> Self {
        let mut lines = output.lines().filter(|line| !line.trim().is_empty());
        let Some(first) = lines.next() else { return Self::default() };
        let end = match lines.count() {
            0 => String::new(),
            1 => " (+1 line)".to_owned(),
            more => format!(" (+{more} lines)"),
        };
        Self { text: format!("→ {}", head_of(first)), end, ..Self::default() }
    }

    /// What keeps it from the parameters.
    fn before(&self) -> &'static str {
        if self.text.starts_with('→') { "" } else { " ·" }
    }

    /// In at most `room` columns, with what keeps it from the parameters.
    fn row(&self, room: usize) -> Row {
        if self.text.is_empty() || room <= SHORTEST_SAID {
            return Row::default();
        }
        let mut row = Row::from(format!("{} ", self.before()).as_str());
        match &self.styled {
            Some(styled) if row.width() + styled.width() <= room => row.append(styled.clone()),
            Some(_) => return Row::default(),
            None => {
                let end = if self.end.len() * 2 < room { self.end.as_str() } else { "" };
                let taken = row.width() + end.len();
                let text = one_line(&self.text, room.saturating_sub(taken));
                row.push(Span::new(&(text + end), self.role));
            }
        }
        row
    }
}

fn told(call: &ToolCallItem, status: v1::ToolStatus, width: usize) -> Told {
    let plain = |mark, role, said: &str| Told {
        mark,
        role,
        said: Said::plain(role, said),
        below: Vec::new(),
    };
    match status {
        v1::ToolStatus::Success | v1::ToolStatus::Unspecified if !call.diff.is_empty() => Told {
            mark: "✓",
            role: Role::Good,
            said: counted(&call.diff),
            below: diff_rows(call, width),
        },
        v1::ToolStatus::Success | v1::ToolStatus::Unspecified if call.exit_code.is_some() => {
            output(call, "✓", Role::Good, 0, width)
        }
        v1::ToolStatus::Success | v1::ToolStatus::Unspecified => Told {
            mark: "✓",
            role: Role::Good,
            said: Said::result(&call.output),
            below: Vec::new(),
        },
        v1::ToolStatus::Empty => plain("✓", Role::Good, "→ nothing found"),
        v1::ToolStatus::Partial if call.exit_code.is_some() => {
            output(call, "✗", Role::Error, LAST_ROWS, width)
        }
        v1::ToolStatus::Partial => Told {
            mark: "◐",
            role: Role::Warn,
            said: Said::result(&call.output),
            below: diff_rows(call, width),
        },
        v1::ToolStatus::RetryableError | v1::ToolStatus::FatalError => {
            let code = one_line(&call.error_code, NAME_WIDTH);
            Told { below: message(&call.output, width), ..plain("✗", Role::Error, &code) }
        }
        v1::ToolStatus::Repeated => plain("↺", Role::Warn, "the same result again"),
        v1::ToolStatus::Skipped => {
            Told { below: message(&call.output, width), ..plain("–", Role::Warn, "not run") }
        }
        v1::ToolStatus::Interrupted => plain("✗", Role::Warn, "cut off; what it did is not known"),
    }
}

/// A program's output: its beginning, and its end where that counts.
fn output(call: &ToolCallItem, mark: &'static str, role: Role, last: usize, width: usize) -> Told {
    let code = call.exit_code.unwrap_or_default();
    // The model is told the code in a line of its own.
    let text = call.output.trim_end().trim_end_matches(&format!("[exit code {code}]"));
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let exit = if code == 0 { String::new() } else { format!("exit {code}") };
    if let (0, [only]) = (code, lines.as_slice()) {
        let said = Said::result(only);
        return Told { mark, role, said, below: Vec::new() };
    }
    let most = if last == 0 { OUTPUT_ROWS } else { last + 1 };
    let mut below = Vec::new();
    if lines.len() <= most {
        below.extend(lines.iter().map(|line| behind_bar(line, width)));
    } else {
        let first = most - last;
        below.extend(lines.iter().take(first).map(|line| behind_bar(line, width)));
        below.push(left_out(lines.len() - most, ""));
        below.extend(lines.iter().skip(lines.len() - last).map(|line| behind_bar(line, width)));
    }
    Told { mark, role, said: Said::plain(role, exit), below }
}

fn counted(diff: &str) -> Said {
    let counts = Counts::of(diff).row();
    Said { text: counts.text(), styled: Some(counts), ..Said::default() }
}

/// The rows of a diff that a card has room for.
fn diff_rows(call: &ToolCallItem, width: usize) -> Vec<Row> {
    if call.diff.is_empty() {
        return Vec::new();
    }
    let names = if call.arguments_json.contains("\"path\"") { Names::Hidden } else { Names::Shown };
    let mut rows = diff::rows(&call.diff, names, width.saturating_sub(2));
    let more = rows.len().saturating_sub(DIFF_ROWS);
    rows.truncate(DIFF_ROWS);
    let mut rows: Vec<Row> = rows.into_iter().map(|row| row.indented(2)).collect();
    if more > 0 {
        rows.push(left_out(more, " (/diff)"));
    }
    rows
}

/// The message of a result, in a few rows.
fn message(output: &str, width: usize) -> Vec<Row> {
    let text = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut rows = prefixed_rows(head_of(text.trim()), Role::Dim, &Row::from("  "), width);
    if rows.len() > ERROR_ROWS {
        rows.truncate(ERROR_ROWS);
        rows.push(Row::new("  …", Role::Dim));
    }
    rows
}

fn left_out(lines: usize, hint: &str) -> Row {
    let plural = if lines == 1 { "" } else { "s" };
    Row::new(&format!("  … {lines} more line{plural}{hint}"), Role::Dim)
}

fn behind_bar(line: &str, width: usize) -> Row {
    let text = one_row(head_of(line), width.saturating_sub(4));
    Row::new(&format!("  │ {text}"), Role::Dim)
}

/// The last lines of what a program shows, the last one first. A progress bar writes over its line:
/// what it wrote last is what stands there.
fn last_lines(output: &str, count: usize) -> Vec<&str> {
    let standing = |line: &'_ str| -> usize {
        let line = line.trim_end_matches('\r');
        line.rfind('\r').map_or(0, |at| at + 1)
    };
    let lines = output.rsplit('\n').map(|line| line.get(standing(line)..).unwrap_or(line));
    lines
        .map(|line| line.trim_end_matches('\r'))
        .filter(|line| !line.trim().is_empty())
        .take(count)
        .collect()
}

/// As much of a line as is looked at.
fn head_of(line: &str) -> &str {
    let mut end = line.len().min(LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or_default()
}

fn seconds(ran: Duration) -> String {
    if ran < Duration::from_secs(60) { format!("{} s", ran.as_secs()) } else { human_duration(ran) }
}

/// The row of a call: a mark, the tool, what it is called with, what came of it, how long it took.
struct Head {
    /// One column.
    mark: Span,
    said: Said,
    took: String,
}

impl Head {
    fn row(self, call: &ToolCallItem, width: usize) -> Row {
        let name = one_line(&call.name, NAME_WIDTH.min(width.saturating_sub(2)));
        let took = if self.took.is_empty() { String::new() } else { format!(" · {}", self.took) };
        let mut row = Row::from(self.mark).with(" ", Role::Plain).with(&name, Role::Heading);
        let mut room = width.saturating_sub(row.width());
        // On a narrow terminal, how long it took is what is missed least.
        let took = if took.width() * 2 > room { String::new() } else { took };
        room = room.saturating_sub(took.width());
        // What came of it has the room that the parameters leave, and half of it in any case.
        let which = if call.diff.is_empty() { Which::All } else { Which::Short };
        let wanted = parameters::row(&call.arguments_json, which, room).width() + 1;
        let said = self.said.row((room / 2).max(room.saturating_sub(wanted)));
        room = room.saturating_sub(said.width());
        let called = parameters::row(&call.arguments_json, which, room.saturating_sub(1));
        if !called.is_empty() {
            row.push(Span::new(&format!(" {called}"), Role::Dim));
        }
        row.append(said);
        row.with(&took, Role::Dim)
    }
}

#[cfg(test)]
mod tests;
