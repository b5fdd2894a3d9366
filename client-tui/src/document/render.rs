//! Rows of one entry.

use std::collections::HashSet;

use agentd_shared::text::sanitize;
use agentd_shared::transcript::{
    AssistantItem, Item, MessageState, NoteKind, ToolCallItem, ToolCallState, TurnState,
    UserMessage,
};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::entry::Entry;
use super::{Rendered, Target};
use crate::theme::Theme;

/// How rows look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns of a row.
    pub width: u16,
    /// Its colours.
    pub theme: Theme,
    /// Reasoning is open unless it was folded.
    pub reasoning: bool,
}

/// Makes the rows of an entry. All text is inert afterwards.
pub(super) fn render(entry: &Entry<'_>, look: Look, turned: &HashSet<Target>) -> Rendered {
    let mut rows = Rows { look, rendered: Rendered::default() };
    rows.rendered.targets.push((0, Target::Entry(entry.key())));
    match *entry {
        Entry::Live(message) | Entry::Item(Item::Assistant(message)) => {
            rows.assistant(message, turned);
        }
        Entry::Item(Item::User(message)) => rows.user(message),
        Entry::Item(Item::Turn(turn)) => match &turn.state {
            TurnState::Running | TurnState::Suspended(_) | TurnState::Completed { .. } => {}
            TurnState::Failed { error, .. } => {
                rows.wrapped("× ", &error.message, look.theme.error);
            }
            TurnState::Interrupted { .. } => rows.wrapped("◆ ", "interrupted", look.theme.dim),
        },
        Entry::Item(Item::Question(question)) => {
            rows.wrapped("? ", &question.prompt, look.theme.warn);
        }
        Entry::Item(Item::Note(note)) => {
            if let NoteKind::Notice { text, .. } = &note.kind {
                rows.wrapped("◆ ", text, look.theme.dim);
            }
        }
    }
    rows.rendered
}

struct Rows {
    look: Look,
    rendered: Rendered,
}

impl Rows {
    fn user(&mut self, message: &UserMessage) {
        if message.state == MessageState::Queued {
            return;
        }
        self.gap();
        self.wrapped("▸ ", &message.text, self.look.theme.user);
    }

    fn assistant(&mut self, message: &AssistantItem, turned: &HashSet<Target>) {
        if !message.reasoning.is_empty() {
            let target = Target::Reasoning(message.item_id.clone());
            let open = self.look.reasoning != turned.contains(&target);
            self.gap();
            self.rendered.targets.push((self.rendered.rows.len(), target));
            if open {
                self.wrapped("│ ", &message.reasoning, self.look.theme.reasoning);
            } else {
                self.wrapped("│ ", "thought", self.look.theme.dim);
            }
        }
        if !message.text.is_empty() {
            self.gap();
            let target = Target::Entry(super::EntryKey::Assistant(message.item_id.clone()));
            self.rendered.targets.push((self.rendered.rows.len(), target));
            self.wrapped("● ", &message.text, self.look.theme.text);
        }
        for call in &message.tool_calls {
            self.call(call);
        }
    }

    fn call(&mut self, call: &ToolCallItem) {
        let target = Target::Call(call.call_id.clone());
        self.rendered.targets.push((self.rendered.rows.len(), target));
        let glyph = match call.state {
            ToolCallState::Requested | ToolCallState::Running => "○ ",
            ToolCallState::Finished(_) => "◇ ",
        };
        self.wrapped(
            glyph,
            &format!("{} {}", call.name, call.arguments_json),
            self.look.theme.name,
        );
    }

    fn gap(&mut self) {
        if self.rendered.rows.last().is_none_or(|row| row.width() != 0) {
            self.rendered.rows.push(Line::default());
        }
    }

    fn wrapped(&mut self, mark: &str, text: &str, style: Style) {
        let width = usize::from(self.look.width).saturating_sub(2).max(1);
        let clean = sanitize(text);
        let mut mark = mark;
        for line in clean.lines() {
            for piece in pieces(line, width) {
                let row = vec![Span::styled(mark.to_owned(), style), Span::styled(piece, style)];
                self.rendered.rows.push(Line::from(row));
                mark = "  ";
            }
        }
    }
}

/// Cuts a line between graphemes into pieces of at most `width` columns.
fn pieces(line: &str, width: usize) -> Vec<String> {
    use unicode_segmentation::UnicodeSegmentation as _;
    use unicode_width::UnicodeWidthStr as _;

    let (mut pieces, mut piece, mut columns) = (Vec::new(), String::new(), 0);
    for grapheme in line.graphemes(true) {
        let wide = grapheme.width();
        if columns + wide > width && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
            columns = 0;
        }
        piece.push_str(grapheme);
        columns += wide;
    }
    pieces.push(piece);
    pieces
}
