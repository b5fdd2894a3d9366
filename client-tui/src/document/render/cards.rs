//! Tool calls: folded as cards, open with all they were given and gave back.

use std::ffi::OsStr;
use std::path::Path;

use agentd_shared::Transcript;
use agentd_shared::format::diff::{self, Names};
use agentd_shared::format::{Markdown, Role, Row, card, markdown};
use agentd_shared::text::human_bytes;
use agentd_shared::transcript::{ToolCallItem, ToolCallState, TurnState};
use serde_json::Value;

use super::{Rows, Source};
use crate::document::entry::Entry;
use crate::document::layout::{call, message};

/// Lines of output that a running call shows.
const TAIL: usize = 5;
/// Rows of a diff that are highlighted: the grammars take their time.
const HIGHLIGHTED: usize = 500;

/// Whether a call looks the same until an event tells otherwise.
pub(in crate::document) fn is_settled(call: &ToolCallItem) -> bool {
    matches!(call.state, ToolCallState::Finished(_))
}

/// What a call is given, readable: a line for each parameter, texts with their line ends.
pub(in crate::document) fn arguments(json: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(json) else { return json.to_owned() };
    let field = |(key, value): (String, Value)| match value {
        Value::String(text) if text.contains('\n') => format!("{key}:\n{text}"),
        Value::String(text) => format!("{key}: {text}"),
        other => format!("{key}: {other}"),
    };
    fields.into_iter().map(field).collect::<Vec<_>>().join("\n")
}

impl Rows {
    pub(super) fn card(&mut self, source: Source<'_>, index: usize, open: bool) {
        let Some(call) = call(&source.entry, index) else { return };
        let width = self.look.columns();
        let tail = if open { 0 } else { TAIL };
        let mut rows = match call.state {
            ToolCallState::Finished(_) => card::finished(call, width),
            ToolCallState::Running if !is_over(source) => {
                card::running(call, source.now_ms, tail, width)
            }
            ToolCallState::Running | ToolCallState::Requested => vec![card::started(call, width)],
        };
        if open {
            rows.truncate(1);
        }
        for (index, row) in rows.into_iter().enumerate() {
            self.push(&row, if index == 0 { 2 } else { 4 });
        }
        if !is_settled(call) {
            if waits(source.transcript, call) {
                self.push(&Row::new("  ? waits for your answer", Role::Warn), 2);
            } else if is_over(source) {
                self.push(&Row::new("  its turn ended before it did", Role::Warn), 2);
            }
        }
        let held = call.output.len() as u64;
        if open && call.output_bytes > held {
            let (all, held) = (human_bytes(call.output_bytes), human_bytes(held));
            self.push(&Row::new(&format!("  output: {held} of {all} are kept"), Role::Dim), 2);
        }
    }

    pub(super) fn diff(&mut self, entry: &Entry<'_>, index: usize) {
        let Some(call) = call(entry, index) else { return };
        let width = self.look.columns().saturating_sub(2);
        let look = markdown::Look { width, code: self.look.code() };
        let mut code = Code::of("", look);
        for (number, row) in diff::rows(&call.diff, Names::Shown, width).into_iter().enumerate() {
            let role = row.spans().first().map_or(Role::Plain, |span| span.ink().role);
            let row = match role {
                Role::Heading => {
                    code = Code::of(&row.text(), look);
                    row
                }
                Role::Added | Role::Removed | Role::Plain if number < HIGHLIGHTED => {
                    code.highlight(row, role)
                }
                _ => row,
            };
            self.push(&row.indented(2), 2);
        }
    }
}

/// The code of a file of which a diff shows lines.
struct Code {
    block: Markdown,
    look: markdown::Look,
}

impl Code {
    fn of(name: &str, look: markdown::Look) -> Self {
        // After the path may stand what happens to the file as a whole.
        let path = name.split_once(" (").map_or(name, |(path, _)| path);
        let language = Path::new(path).extension().and_then(OsStr::to_str).unwrap_or_default();
        let mut block = Markdown::default();
        // So long a fence stands in no code.
        block.line(&format!("{}{language}", "~".repeat(60)), look);
        Self { block, look }
    }

    /// A row, of which all but the sign has the colours of its language, if that is known.
    fn highlight(&mut self, row: Row, role: Role) -> Row {
        let text = row.text();
        let Some((sign, code)) = text.split_at_checked(1) else { return row };
        let lines = self.block.line(code, self.look);
        let spans = lines.first().map_or(&[][..], Row::spans);
        if !spans.iter().any(|span| matches!(span.ink().role, Role::Syntax(_))) {
            return row;
        }
        let mut colored = Row::new(sign, role);
        // Before the code stands its indentation in an answer.
        spans.iter().skip(1).cloned().for_each(|span| colored.push(span));
        colored
    }
}

fn waits(transcript: &Transcript, call: &ToolCallItem) -> bool {
    transcript.open_approvals().any(|(_, request)| request.call_id == call.call_id)
}

/// Whether the turn of a call is over, so that it cannot go on.
fn is_over(source: Source<'_>) -> bool {
    message(&source.entry)
        .and_then(|message| source.transcript.turn(&message.turn_id))
        .is_some_and(|turn| turn.state.is_over() || matches!(turn.state, TurnState::Suspended(_)))
}
