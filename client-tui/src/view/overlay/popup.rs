//! What completes the word before the cursor, above the message.

use agentd_shared::text::one_row;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Clear;
use unicode_width::UnicodeWidthStr as _;

use crate::state::State;

/// Most rows.
const ROWS: usize = 8;

pub(super) fn draw(frame: &mut Frame<'_>, above: Rect, state: &State) {
    let Some(popup) = &state.popup else { return };
    let theme = &state.settings.theme;
    let height = popup.candidates.len().min(ROWS).min(usize::from(above.height));
    let rows = u16::try_from(height).unwrap_or(above.height);
    let place = Rect { y: above.bottom().saturating_sub(rows), height: rows, ..above };
    frame.render_widget(Clear, place);
    let top = (popup.chosen.unwrap_or(0) + 1).saturating_sub(height);
    let width = usize::from(place.width);
    let labels = popup.candidates.iter().map(|candidate| candidate.label.width());
    let column = labels.max().unwrap_or(0).min(width / 2);
    let lines: Vec<Line<'_>> = popup
        .candidates
        .iter()
        .enumerate()
        .skip(top)
        .take(height)
        .map(|(at, candidate)| {
            let style = if popup.chosen == Some(at) { theme.selected } else { theme.text };
            let room = if candidate.about.is_empty() { width.saturating_sub(2) } else { column };
            let label = one_row(&candidate.label, room);
            let pad = " ".repeat(column.saturating_sub(label.width()) + 2);
            let left = width.saturating_sub(2 + label.width() + pad.len());
            Line::from(vec![
                Span::raw("  "),
                Span::styled(label, style),
                Span::raw(pad),
                Span::styled(one_row(&candidate.about, left), theme.dim),
            ])
        })
        .collect();
    frame.render_widget(Text::from(lines), place);
}
