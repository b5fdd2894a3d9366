//! What lies over the session: a list, what was opened of it, and its keys.

use agentd_shared::text::{one_line, one_row};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr as _;

use super::sidebar::tail;
use crate::state::pane::{Detail, Ink, PaneRow};
use crate::state::{Pane, PaneKind, State, Tone};
use crate::theme::Theme;

/// Draws the pane.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(pane) = &state.pane else { return };
    let theme = &state.settings.theme;
    let [tabs, head, body, said, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(u16::from(pane.said.is_some() || pane.confirm.is_some())),
        Constraint::Length(1),
    ])
    .areas(area);
    let width = usize::from(area.width);
    let mut line = tab_line(pane.kind, theme);
    if state.is_asked() {
        // What lies below would be missed.
        line.push_span(Span::styled("  ? the session waits for you", theme.warn));
    }
    frame.render_widget(line, tabs);
    let heading = match &pane.detail {
        Some(detail) => detail.title.clone(),
        None if pane.words.is_empty() => pane.heading(),
        None => format!("{} · /{}", pane.heading(), pane.words),
    };
    frame.render_widget(Line::styled(one_row(&format!(" {heading}"), width), theme.dim), head);
    match &pane.detail {
        Some(detail) => draw_detail(frame, body, detail, theme),
        None => draw_list(frame, body, pane, state),
    }
    if let Some(confirm) = &pane.confirm {
        let text = one_line(&confirm.question, width.saturating_sub(1));
        frame.render_widget(Line::styled(format!(" {text}"), theme.warn), said);
    } else if let Some((tone, text)) = &pane.said {
        let style = match tone {
            Tone::Info => theme.good,
            Tone::Warn => theme.warn,
            Tone::Error => theme.error,
        };
        let text = one_line(text, width.saturating_sub(1));
        frame.render_widget(Line::styled(format!(" {text}"), style), said);
    }
    if let Some(line) = &pane.line {
        let mark = if pane.adds { " remember: " } else { " / " };
        let room = width.saturating_sub(mark.len() + 1);
        let text = format!("{mark}{}", tail(line.text(), room));
        let end = u16::try_from(text.width()).unwrap_or(u16::MAX);
        frame.render_widget(Line::styled(text, theme.accent), foot);
        let x = foot.x + end.min(foot.width.saturating_sub(1));
        frame.set_cursor_position(Position { x, y: foot.y });
    } else {
        let keys = one_row(&format!(" {} · Tab next", pane.kind.keys()), width);
        let pad = " ".repeat(width.saturating_sub(keys.width()));
        frame.render_widget(Line::styled(format!("{keys}{pad}"), theme.bar), foot);
    }
}

fn tab_line(chosen: PaneKind, theme: &Theme) -> Line<'static> {
    let tabs = PaneKind::ALL.into_iter().flat_map(|kind| {
        // Brackets, for whoever sees no reversed text.
        let (text, style) = if kind == chosen {
            (format!("[{}]", kind.name()), theme.selected)
        } else {
            (format!(" {} ", kind.name()), theme.dim)
        };
        [Span::styled(text, style)]
    });
    Line::from(tabs.collect::<Vec<_>>())
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, pane: &Pane, state: &State) {
    let theme = &state.settings.theme;
    let rows = pane.rows(state.now_ms);
    let width = usize::from(area.width);
    if rows.is_empty() {
        let text = one_row(&format!(" {}", pane.when_empty()), width);
        frame.render_widget(Line::styled(text, theme.dim), area);
        return;
    }
    let height = usize::from(area.height);
    let first = (pane.selected + 1).saturating_sub(height.max(1));
    let marks = rows.iter().map(|row| row.mark.width()).max().unwrap_or_default().min(width / 3);
    let lines: Vec<Line<'_>> = rows
        .iter()
        .enumerate()
        .skip(first)
        .take(height)
        .map(|(at, row)| line(row, at == pane.selected, marks, width, theme))
        .collect();
    frame.render_widget(Text::from(lines), area);
}

fn line(
    row: &PaneRow,
    is_selected: bool,
    marks: usize,
    width: usize,
    theme: &Theme,
) -> Line<'static> {
    let cursor = if is_selected { "▸" } else { " " };
    let mark = one_line(&row.mark, marks);
    let pad = " ".repeat(marks.saturating_sub(mark.width()));
    // The text matters more than what stands beside it.
    let side =
        if width >= marks + row.side.width() + 24 { row.side.clone() } else { String::new() };
    let room = width.saturating_sub(marks + side.width() + 5);
    let text = one_line(&row.text, room);
    let gap = " ".repeat(room.saturating_sub(text.width()));
    let over = if is_selected { theme.selected } else { Style::new() };
    Line::from(vec![
        Span::styled(cursor, theme.accent),
        Span::styled(mark, ink(row.ink, theme)),
        Span::raw(pad),
        Span::raw("  "),
        Span::styled(text, theme.text),
        Span::raw(gap),
        Span::raw(" "),
        Span::styled(side, theme.dim),
        Span::raw(" "),
    ])
    .patch_style(over)
}

fn draw_detail(frame: &mut Frame<'_>, area: Rect, detail: &Detail, theme: &Theme) {
    let lines: Vec<Line<'_>> = detail
        .lines
        .iter()
        .skip(detail.above)
        .take(usize::from(area.height))
        .map(|(style, text)| Line::styled(text.replace('\t', "    "), ink(*style, theme)))
        .collect();
    let inner = Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(2), ..area };
    let text = Paragraph::new(Text::from(lines)).wrap(Wrap { trim: false });
    frame.render_widget(text, inner);
}

fn ink(ink: Ink, theme: &Theme) -> Style {
    match ink {
        Ink::Plain => theme.text,
        Ink::Dim => theme.dim,
        Ink::Heading => theme.accent,
        Ink::Warn => theme.warn,
        Ink::Good => theme.good,
        Ink::Bad => theme.error,
    }
}
