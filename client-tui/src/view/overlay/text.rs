//! A text that is read.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span, Text};

use super::{framed, line, middle};
use crate::state::overlay::TextOverlay;
use crate::theme::Theme;

/// Columns and rows of the largest text.
const COLUMNS: u16 = 110;
const ROWS: u16 = 50;

/// Columns below which hints are short.
const NARROW: u16 = 70;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, overlay: &mut TextOverlay, theme: &Theme) {
    let place = middle(area, COLUMNS, ROWS);
    let inner_height = usize::from(place.height.saturating_sub(2));
    let inner_width = usize::from(place.width.saturating_sub(2));
    let filters = overlay.filter().is_some();
    let height = inner_height.saturating_sub(usize::from(filters));
    let (rows, top, count) = overlay.window(inner_width, height);
    let place_of = if count > height {
        format!("{}-{} of {count} · ", top + 1, (top + rows.len()).min(count))
    } else {
        String::new()
    };
    let keys = if place.width < NARROW {
        "/ finds · Esc"
    } else {
        "PageUp/PageDown · / looks for text · Esc closes"
    };
    let hint = format!("{place_of}{keys}");
    let inner = framed(frame, place, &overlay.title, &hint, theme.accent);
    let [text, sought] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(u16::from(filters))]).areas(inner);
    let rows: Vec<Line<'_>> = rows.iter().map(|row| line(row, theme)).collect();
    frame.render_widget(Text::from(rows), text);
    if let Some((input, has_keys)) = overlay.filter() {
        frame.render_widget(Span::styled("/", theme.accent), sought);
        let place = Rect { x: sought.x + 1, width: sought.width.saturating_sub(1), ..sought };
        frame.render_widget(input.area(), place);
        if has_keys {
            let column = u16::try_from(input.area().screen_cursor().col).unwrap_or(u16::MAX);
            let left = input.area().scroll_offset().1;
            let last = sought.right().saturating_sub(1);
            let x = place.x.saturating_add(column.saturating_sub(left)).min(last);
            frame.set_cursor_position(Position { x, y: sought.y });
        }
    }
}
