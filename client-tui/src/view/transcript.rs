//! The window on the transcript.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span, Text};

use crate::document::Look;
use crate::state::{OpenSession, Search, Settings, State};

/// Draws the window, and tells the state where it is.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &mut State) {
    let Some(open) = &mut state.open else { return };
    let is_searched = u16::from(open.search.is_some());
    let [area, bar] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(is_searched)]).areas(area);
    open.height = usize::from(area.height);
    open.area = area;
    open.document.set_look(Look {
        width: area.width,
        theme: state.settings.theme,
        reasoning: state.settings.reasoning,
        verbose: state.settings.verbose,
    });
    let window = open.document.window(&open.transcript, open.height);
    frame.render_widget(Text::from(window.rows), area);
    if let Some(search) = &open.search {
        frame.render_widget(search_line(search, open, &state.settings), bar);
    }
}

fn search_line(search: &Search, open: &OpenSession, settings: &Settings) -> Line<'static> {
    let theme = &settings.theme;
    let (at, count) = search.position();
    let cursor = if search.types { "▏" } else { "" };
    let mut said = format!("  {at}/{count}");
    if open.reads_earlier() {
        said.push_str(" · earlier turns are being read");
    } else if !open.is_whole() {
        said.push_str(" · earlier turns are not loaded: Alt-A loads all");
    }
    Line::from(vec![
        Span::styled("/", theme.accent),
        Span::styled(agentd_shared::text::sanitize(&search.query).into_owned(), theme.text),
        Span::styled(cursor, theme.accent),
        Span::styled(said, theme.dim),
    ])
}
