//! Tool calls as cards: one row for each, and more where something matters.
//!
//! A card that has ended is made from what the log holds alone, so that terminals that came early and
//! late show the same.

pub(crate) mod diff;
mod parameters;

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::text::{human_duration, one_line, one_row};
use agentd_shared::transcript::{ToolCallItem, ToolCallState};

use self::diff::{Counts, Names};
use self::parameters::Which;
use crate::markdown::{Look, painted_width, prefixed_rows};
use crate::style;

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
/// Pictures of the sign that something runs, and how long each is there.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
pub(crate) const SPIN: Duration = Duration::from_millis(200);

/// The rows of a call that runs: what it is, and the last `tail` lines of what it shows.
pub(crate) fn running(call: &ToolCallItem, now_ms: i64, tail: usize, look: Look) -> Vec<String> {
    let ran = now_ms.saturating_sub(call.started_at_ms);
    let ran = Duration::from_millis(u64::try_from(ran).unwrap_or(0));
    let turn = now_ms.unsigned_abs() / u64::try_from(SPIN.as_millis()).unwrap_or(1);
    let picture = usize::try_from(turn).unwrap_or(0) % SPINNER.len();
    let head = Head {
        mark: style::paint(look.colored, style::ACCENT, SPINNER.get(picture).unwrap_or(&"…")),
        said: Said::default(),
        took: if ran < LONG { String::new() } else { seconds(ran) },
    };
    let mut rows = vec![head.row(call, look)];
    let lines = last_lines(&call.output, tail);
    rows.extend(lines.iter().rev().map(|line| behind_bar(line, look)));
    rows
}

/// The row of a call that runs, for where nothing can be drawn anew.
pub(crate) fn started(call: &ToolCallItem, look: Look) -> String {
    let mark = style::paint(look.colored, style::DIM, "▸");
    Head { mark, said: Said::default(), took: String::new() }.row(call, look)
}

/// The rows of a call that has ended.
pub(crate) fn finished(call: &ToolCallItem, look: Look) -> Vec<String> {
    let ToolCallState::Finished(status) = call.state else { return Vec::new() };
    let Told { mark, style, said, below } = told(call, status, look);
    let took = match call.source {
        v1::ResultSource::Cache | v1::ResultSource::Shared => "known already".to_owned(),
        v1::ResultSource::NotRun => String::new(),
        v1::ResultSource::Unspecified | v1::ResultSource::Run => {
            human_duration(Duration::from_millis(call.elapsed_ms))
        }
    };
    let head = Head { mark: style::paint(look.colored, style, mark), said, took };
    let mut rows = vec![head.row(call, look)];
    rows.extend(below);
    rows
}

/// What is told of a result.
struct Told {
    mark: &'static str,
    style: anstyle::Style,
    /// In the row of the call.
    said: Said,
    /// Rows below it.
    below: Vec<String>,
}

/// What is said of a call in its row.
#[derive(Default)]
struct Said {
    text: String,
    /// What is left when the text is cut.
    end: String,
    style: anstyle::Style,
    /// The text in several styles; it is not cut.
    painted: Option<String>,
}

impl Said {
    fn plain(style: anstyle::Style, text: impl Into<String>) -> Self {
        Self { text: text.into(), style, ..Self::default() }
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
    fn row(&self, room: usize, look: Look) -> String {
        let before = self.before();
        let wide = painted_width(&self.text) + painted_width(before) + 1;
        match &self.painted {
            _ if self.text.is_empty() || room <= SHORTEST_SAID => String::new(),
            Some(painted) if wide <= room => format!("{before} {painted}"),
            Some(_) => String::new(),
            None => {
                let end = if self.end.len() * 2 < room { self.end.as_str() } else { "" };
                let taken = painted_width(before) + 1 + end.len();
                let text = one_line(&self.text, room.saturating_sub(taken));
                format!("{before} {}", style::paint(look.colored, self.style, &(text + end)))
            }
        }
    }
}

fn told(call: &ToolCallItem, status: v1::ToolStatus, look: Look) -> Told {
    let plain = |mark, style, said: &str| Told {
        mark,
        style,
        said: Said::plain(style, said),
        below: Vec::new(),
    };
    match status {
        v1::ToolStatus::Success | v1::ToolStatus::Unspecified if !call.diff.is_empty() => Told {
            mark: "✓",
            style: style::GOOD,
            said: counted(&call.diff, look),
            below: diff_rows(call, look),
        },
        v1::ToolStatus::Success | v1::ToolStatus::Unspecified if call.exit_code.is_some() => {
            output(call, "✓", style::GOOD, 0, look)
        }
        v1::ToolStatus::Success | v1::ToolStatus::Unspecified => Told {
            mark: "✓",
            style: style::GOOD,
            said: Said::result(&call.output),
            below: Vec::new(),
        },
        v1::ToolStatus::Empty => plain("✓", style::GOOD, "→ nothing found"),
        v1::ToolStatus::Partial if call.exit_code.is_some() => {
            output(call, "✗", style::ERROR, LAST_ROWS, look)
        }
        v1::ToolStatus::Partial => Told {
            mark: "◐",
            style: style::WARN,
            said: Said::result(&call.output),
            below: diff_rows(call, look),
        },
        v1::ToolStatus::RetryableError | v1::ToolStatus::FatalError => {
            let code = one_line(&call.error_code, NAME_WIDTH);
            Told { below: message(&call.output, look), ..plain("✗", style::ERROR, &code) }
        }
        v1::ToolStatus::Repeated => plain("↺", style::WARN, "the same result again"),
        v1::ToolStatus::Skipped => {
            Told { below: message(&call.output, look), ..plain("–", style::WARN, "not run") }
        }
        v1::ToolStatus::Interrupted => plain("✗", style::WARN, "cut off; what it did is not known"),
    }
}

/// A program's output: its beginning, and its end where that counts.
fn output(
    call: &ToolCallItem,
    mark: &'static str,
    style: anstyle::Style,
    last: usize,
    look: Look,
) -> Told {
    let code = call.exit_code.unwrap_or_default();
    // The model is told the code in a line of its own.
    let text = call.output.trim_end().trim_end_matches(&format!("[exit code {code}]"));
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let exit = if code == 0 { String::new() } else { format!("exit {code}") };
    if let (0, [only]) = (code, lines.as_slice()) {
        let said = Said::result(only);
        return Told { mark, style, said, below: Vec::new() };
    }
    let most = if last == 0 { OUTPUT_ROWS } else { last + 1 };
    let mut below = Vec::new();
    if lines.len() <= most {
        below.extend(lines.iter().map(|line| behind_bar(line, look)));
    } else {
        let first = most - last;
        below.extend(lines.iter().take(first).map(|line| behind_bar(line, look)));
        below.push(left_out(lines.len() - most, "", look));
        below.extend(lines.iter().skip(lines.len() - last).map(|line| behind_bar(line, look)));
    }
    Told { mark, style, said: Said::plain(style, exit), below }
}

fn counted(diff: &str, look: Look) -> Said {
    let counts = Counts::of(diff);
    let painted = Some(counts.painted(look.colored));
    Said { text: counts.painted(false), painted, ..Said::default() }
}

/// The rows of a diff that a card has room for.
fn diff_rows(call: &ToolCallItem, look: Look) -> Vec<String> {
    if call.diff.is_empty() {
        return Vec::new();
    }
    let names = if call.arguments_json.contains("\"path\"") { Names::Hidden } else { Names::Shown };
    let inner = Look { width: look.width.saturating_sub(2), ..look };
    let mut rows = diff::rows(&call.diff, names, inner);
    let more = rows.len().saturating_sub(DIFF_ROWS);
    rows.truncate(DIFF_ROWS);
    let mut rows: Vec<String> = rows.iter().map(|row| format!("  {row}")).collect();
    if more > 0 {
        rows.push(left_out(more, " (/diff)", look));
    }
    rows
}

/// The message of a result, in a few rows.
fn message(output: &str, look: Look) -> Vec<String> {
    let text = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut rows = prefixed_rows(head_of(text.trim()), style::DIM, "  ", look);
    if rows.len() > ERROR_ROWS {
        rows.truncate(ERROR_ROWS);
        rows.push(style::paint(look.colored, style::DIM, "  …"));
    }
    rows
}

fn left_out(lines: usize, hint: &str, look: Look) -> String {
    let plural = if lines == 1 { "" } else { "s" };
    style::paint(look.colored, style::DIM, &format!("  … {lines} more line{plural}{hint}"))
}

fn behind_bar(line: &str, look: Look) -> String {
    let text = one_row(head_of(line), look.width.saturating_sub(4));
    style::paint(look.colored, style::DIM, &format!("  │ {text}"))
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
    /// One column, painted.
    mark: String,
    said: Said,
    took: String,
}

impl Head {
    fn row(&self, call: &ToolCallItem, look: Look) -> String {
        let name = one_line(&call.name, NAME_WIDTH.min(look.width.saturating_sub(2)));
        let took = if self.took.is_empty() { String::new() } else { format!(" · {}", self.took) };
        let taken = painted_width(&self.mark) + 1 + painted_width(&name);
        let mut room = look.width.saturating_sub(taken);
        // On a narrow terminal, how long it took is what is missed least.
        let took = if painted_width(&took) * 2 > room { String::new() } else { took };
        room = room.saturating_sub(painted_width(&took));
        // What came of it has the room that the parameters leave, and half of it in any case.
        let which = if call.diff.is_empty() { Which::All } else { Which::Short };
        let wanted = painted_width(&parameters::row(&call.arguments_json, which, room)) + 1;
        let said = self.said.row((room / 2).max(room.saturating_sub(wanted)), look);
        room = room.saturating_sub(painted_width(&said));
        let called = parameters::row(&call.arguments_json, which, room.saturating_sub(1));
        let called = if called.is_empty() { called } else { format!(" {called}") };
        let dim = |text: &str| style::paint(look.colored, style::DIM, text);
        let name = style::paint(look.colored, style::HEADING, &name);
        format!("{} {name}{}{said}{}", self.mark, dim(&called), dim(&took))
    }
}

#[cfg(test)]
mod tests;
