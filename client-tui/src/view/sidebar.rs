//! The sessions: beside the transcript where there is room, else in its place.

use agentd_shared::text::{one_line, relative_time};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders};
use unicode_width::UnicodeWidthStr as _;

use super::status_bar::spinner;
use crate::state::State;
use crate::state::sessions::{Asked, Doing, Row};

/// Columns beside the transcript.
pub(super) const WIDTH: u16 = 34;

/// Draws the list.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    if area.width == 0 {
        return;
    }
    let theme = &state.settings.theme;
    let block = Block::new().borders(Borders::RIGHT).border_style(theme.dim);
    let inner = if state.has_session_screen() { area } else { block.inner(area) };
    if !state.has_session_screen() {
        frame.render_widget(block, area);
    }
    let [head, list, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)])
            .areas(inner);
    let width = usize::from(inner.width);
    let rows = state.sessions.rows();
    let title = if state.sessions.filter.is_empty() {
        format!(" sessions {}", rows.len())
    } else {
        format!(" sessions {} · /{}", rows.len(), state.sessions.filter.text())
    };
    frame.render_widget(Line::styled(one_row(&title, width), theme.accent), head);
    let height = usize::from(list.height);
    // The chosen one is always in the window.
    let first = (state.sessions.selected + 1).saturating_sub(height.max(1));
    let lines: Vec<Line<'_>> = rows
        .enumerate()
        .skip(first)
        .take(height)
        .map(|(at, row)| line(state, row, at == state.sessions.selected, width))
        .collect();
    if lines.is_empty() {
        let text = match (state.sessions.is_known(), state.sessions.is_lost) {
            (_, true) => " the daemon is away",
            (false, false) => " asking the daemon ...",
            (true, false) if state.sessions.filter.is_empty() => " no session yet",
            (true, false) => " nothing fits",
        };
        frame.render_widget(Line::styled(one_row(text, width), theme.dim), list);
    } else {
        frame.render_widget(Text::from(lines), list);
    }
    draw_foot(frame, foot, state);
}

fn one_row(text: &str, width: usize) -> String {
    agentd_shared::text::one_row(text, width)
}

fn line(state: &State, row: Row<'_>, is_selected: bool, width: usize) -> Line<'static> {
    let theme = &state.settings.theme;
    let session = row.session;
    let is_open = state.open.as_ref().is_some_and(|open| open.session_id == session.session_id);
    let quiet = relative_time(session.updated_at_ms, state.now_ms);
    let (glyph, word, style) = match row.doing {
        Doing::Waits => ("?", "waits for you".to_owned(), theme.warn),
        Doing::Runs => (spinner(state), "running".to_owned(), theme.accent),
        Doing::Queued(count) => ("≡", format!("{count} queued"), theme.dim),
        Doing::Unread => ("•", "unread".to_owned(), theme.good),
        Doing::Idle => (" ", quiet.trim_end_matches(" ago").to_owned(), theme.dim),
    };
    let title = if session.title.is_empty() { "new session" } else { &session.title };
    let marker = if is_open { "▸" } else { " " };
    let room = width.saturating_sub(word.width() + 5);
    let title = one_line(title, room);
    let pad = " ".repeat(room.saturating_sub(title.width()));
    let has_keys = state.sessions.has_keys;
    let over = if is_selected && has_keys { theme.selected } else { Style::new() };
    let title_style = if is_open { theme.accent } else { theme.text };
    Line::from(vec![
        Span::styled(marker, theme.accent),
        Span::styled(glyph, style),
        Span::raw(" "),
        Span::styled(title, title_style),
        Span::raw(pad),
        Span::raw(" "),
        Span::styled(word, style),
        Span::raw(" "),
    ])
    .patch_style(over)
}

/// What is asked, or the keys.
fn draw_foot(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = &state.settings.theme;
    let width = usize::from(area.width);
    let title_of = |session_id: &str| {
        let title = state.sessions.get(session_id).map_or("", |session| session.title.as_str());
        if title.is_empty() { "new session".to_owned() } else { title.to_owned() }
    };
    let written = |frame: &mut Frame<'_>, label: &str, text: &str| {
        let line = format!("{label}{}", tail(text, width.saturating_sub(label.width() + 1)));
        let end = u16::try_from(line.width()).unwrap_or(u16::MAX).min(area.width.saturating_sub(1));
        frame.render_widget(Line::styled(line, theme.accent), area);
        frame.set_cursor_position(Position { x: area.x + end, y: area.y });
    };
    match &state.sessions.asked {
        Some(Asked::Rename { title, .. }) => written(frame, " title: ", title.text()),
        Some(Asked::Filter) => written(frame, " /", state.sessions.filter.text()),
        Some(Asked::Delete { session_id }) => {
            let room = width.saturating_sub(" delete \"\"? y/n".len());
            let text = format!(" delete \"{}\"? y/n", one_line(&title_of(session_id), room));
            frame.render_widget(Line::styled(text, theme.warn), area);
        }
        None if state.sessions.has_keys => {
            let keys = if width < 40 {
                " ⏎ open n new r D / Esc"
            } else {
                " Enter open · n new · r rename · D delete · / filter · Esc"
            };
            frame.render_widget(Line::styled(one_row(keys, width), theme.dim), area);
        }
        None => {
            let hint = one_row(" Ctrl-O sessions", width);
            frame.render_widget(Line::styled(hint, theme.dim), area);
        }
    }
}

/// The end of a text, which is where it is written.
pub(super) fn tail(text: &str, width: usize) -> String {
    let text = agentd_shared::text::sanitize(text).into_owned();
    let mut from = 0;
    for (at, _) in text.char_indices() {
        from = at;
        if text.get(at..).is_some_and(|rest| rest.width() <= width) {
            break;
        }
    }
    text.get(from..).filter(|rest| rest.width() <= width).unwrap_or_default().to_owned()
}
