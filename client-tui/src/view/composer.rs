//! The message that is being written.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};

use crate::input::Action;
use crate::state::State;

/// Columns of the prompt.
const PROMPT: u16 = 2;
/// Columns behind the text, where the cursor stands when a row is full.
const ROOM: u16 = 1;

/// Rows that the text takes on a screen that is `width` columns wide, at most `most`.
pub(super) fn rows(state: &State, width: u16, most: u16) -> u16 {
    state.composer.rows(width.saturating_sub(PROMPT + ROOM), most).min(most)
}

/// Draws the text and puts the cursor of the terminal where it belongs.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let [prompt, text, room] = Layout::horizontal([
        Constraint::Length(PROMPT),
        Constraint::Min(1),
        Constraint::Length(ROOM),
    ])
    .areas(area);
    let theme = &state.settings.theme;
    let mark = match state.composer.mode() {
        Some('N') => "N ",
        Some(_) => "I ",
        None => "› ",
    };
    frame.render_widget(Span::styled(mark, theme.accent), prompt);
    let composer = state.composer.area();
    if composer.is_empty() {
        frame.render_widget(Line::styled(placeholder(state), theme.dim), text);
        // The widget learns its place all the same.
        let mut unseen = ratatui::buffer::Buffer::empty(text);
        ratatui::widgets::Widget::render(composer, text, &mut unseen);
    } else {
        let drawn = state.composer.drawn();
        if matches!(drawn, Cow::Owned(_)) {
            // The widget learns its place all the same.
            let mut unseen = ratatui::buffer::Buffer::empty(text);
            ratatui::widgets::Widget::render(composer, text, &mut unseen);
        }
        frame.render_widget(&*drawn, text);
    }
    // What lies on top has the cursor, or nothing has.
    if state.overlay.is_some() || state.asks.reason.is_some() {
        return;
    }
    let cursor = composer.screen_cursor();
    let (top, left) = composer.scroll_offset();
    let column = u16::try_from(cursor.col).unwrap_or(u16::MAX).saturating_sub(left);
    let row = u16::try_from(cursor.row).unwrap_or(u16::MAX).saturating_sub(top);
    let last = Position { x: room.right().saturating_sub(1), y: text.bottom().saturating_sub(1) };
    frame.set_cursor_position(Position {
        x: text.x.saturating_add(column).min(last.x),
        y: text.y.saturating_add(row).min(last.y),
    });
}

/// What an empty message says.
fn placeholder(state: &State) -> String {
    if state.is_running() {
        let key = state.keymap.name(Action::Interrupt);
        return format!("write what comes next · {key} cancels the turn");
    }
    "write a message · / commands · ? help".to_owned()
}
