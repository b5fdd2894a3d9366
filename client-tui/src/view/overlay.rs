//! What lies on top: texts, pickers, what waits for a person, what completes a word.

mod ask;
mod picker;
mod popup;
mod text;

use agentd_shared::format::{Role, Row};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear};

use crate::state::State;
use crate::state::overlay::Overlay;
use crate::theme::Theme;

/// Draws what lies on top. `above` is what lies above the composer.
pub(super) fn draw(frame: &mut Frame<'_>, above: Rect, state: &mut State) {
    ask::draw(frame, above, state);
    popup::draw(frame, above, state);
    let theme = state.settings.theme;
    let area = frame.area();
    match &mut state.overlay {
        Some(Overlay::Text(overlay)) => text::draw(frame, area, overlay, &theme),
        Some(Overlay::Picker(picker)) => picker::draw(frame, area, picker, &theme),
        None => {}
    }
}

/// A framed place with a title above and a hint below; returns what is within.
fn framed(frame: &mut Frame<'_>, area: Rect, title: &str, hint: &str, style: Style) -> Rect {
    let room = usize::from(area.width.saturating_sub(4));
    let cut = |text: &str| format!(" {} ", agentd_shared::text::one_line(text, room));
    let mut block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(style)
        .title(Span::styled(cut(title), style));
    if !hint.is_empty() {
        block = block.title_bottom(cut(hint));
    }
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    inner
}

/// A place in the middle, at most so large.
fn middle(area: Rect, columns: u16, rows: u16) -> Rect {
    let (width, height) = (area.width.min(columns), area.height.min(rows));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

/// A row in the colours of a theme.
fn line(row: &Row, theme: &Theme) -> Line<'static> {
    let spans = row.spans().iter();
    spans.map(|span| Span::styled(span.text().to_owned(), style(span.ink().role, theme))).collect()
}

fn style(role: Role, theme: &Theme) -> Style {
    match role {
        Role::Plain | Role::Syntax(_) => theme.text,
        Role::Dim => theme.dim,
        Role::Reasoning => theme.reasoning,
        Role::Error | Role::Removed => theme.error,
        Role::Warn => theme.warn,
        Role::Good | Role::Added => theme.good,
        Role::Name => theme.name,
        Role::Heading | Role::Accent => theme.accent,
        Role::Code => theme.code,
    }
}
