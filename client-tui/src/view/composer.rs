//! The message that is being written.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::Span;

use crate::state::State;

/// Columns of the prompt.
const PROMPT: u16 = 2;

/// Rows that the text takes when it is `width` columns wide.
pub(super) fn rows(state: &State, width: u16) -> u16 {
    state.composer.rows(width.saturating_sub(PROMPT))
}

/// Draws the text and puts the cursor of the terminal where it belongs.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let [prompt, text] =
        Layout::horizontal([Constraint::Length(PROMPT), Constraint::Min(1)]).areas(area);
    frame.render_widget(Span::styled("› ", state.settings.theme.accent), prompt);
    let composer = state.composer.area();
    frame.render_widget(composer, text);
    let cursor = composer.screen_cursor();
    let (top, left) = composer.scroll_offset();
    let column = u16::try_from(cursor.col).unwrap_or(u16::MAX).saturating_sub(left);
    let row = u16::try_from(cursor.row).unwrap_or(u16::MAX).saturating_sub(top);
    let last = Position { x: text.right().saturating_sub(1), y: text.bottom().saturating_sub(1) };
    frame.set_cursor_position(Position {
        x: text.x.saturating_add(column).min(last.x),
        y: text.y.saturating_add(row).min(last.y),
    });
}
