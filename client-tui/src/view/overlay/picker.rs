//! A list to choose from.

use agentd_shared::text::one_row;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span, Text};
use unicode_width::UnicodeWidthStr as _;

use super::{framed, middle};
use crate::state::overlay::{Item, Picker};
use crate::theme::Theme;

/// Columns and rows of the largest list.
const COLUMNS: u16 = 90;
const ROWS: u16 = 24;
/// Columns that what is to know of a line needs to be of use.
const DETAIL: usize = 8;
/// Columns below which hints are short.
const NARROW: u16 = 60;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, picker: &Picker, theme: &Theme) {
    let place = middle(area, COLUMNS, ROWS);
    let hint = if place.width < NARROW {
        "Enter chooses · Esc closes"
    } else {
        "write to filter · Enter chooses · Esc closes"
    };
    let inner = framed(frame, place, &picker.title, hint, theme.accent);
    let [filter, list] = Layout::vertical([Constraint::Length(1), Constraint::Min(1)]).areas(inner);
    frame.render_widget(Span::styled("› ", theme.accent), filter);
    let typed = Rect { x: filter.x + 2, width: filter.width.saturating_sub(2), ..filter };
    frame.render_widget(picker.filter.area(), typed);
    let column = u16::try_from(picker.filter.area().screen_cursor().col).unwrap_or(u16::MAX);
    let left = picker.filter.area().scroll_offset().1;
    let x = typed.x.saturating_add(column.saturating_sub(left));
    let last = filter.right().saturating_sub(1);
    frame.set_cursor_position(Position { x: x.min(last), y: filter.y });
    if picker.waits() {
        frame.render_widget(Span::styled("…", theme.dim), list);
        return;
    }
    let (shown, chosen) = picker.shown();
    if shown.is_empty() {
        frame.render_widget(Span::styled("nothing such is here", theme.dim), list);
        return;
    }
    let height = usize::from(list.height).max(1);
    // The chosen line stays in the window.
    let top = (chosen + 1).saturating_sub(height);
    let width = usize::from(list.width);
    let rows = shown.iter().enumerate().skip(top).take(height);
    let rows: Vec<Line<'_>> =
        rows.map(|(at, item)| row(item, at == chosen, width, theme)).collect();
    frame.render_widget(Text::from(rows), list);
}

fn row(item: &Item, is_chosen: bool, width: usize, theme: &Theme) -> Line<'static> {
    let mark = if item.is_current { "● " } else { "  " };
    let room = width.saturating_sub(mark.width());
    let label = one_row(&item.label, room);
    let left = room.saturating_sub(label.width() + 2);
    let mut spans = vec![Span::styled(mark, theme.accent)];
    let style = if is_chosen { theme.selected } else { theme.text };
    spans.push(Span::styled(label, style));
    if left >= DETAIL && !item.detail.is_empty() {
        let detail = format!("  {}", one_row(&item.detail, left));
        spans.push(Span::styled(detail, theme.dim));
    }
    Line::from(spans)
}
