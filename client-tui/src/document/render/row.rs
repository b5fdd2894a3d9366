//! Styled rows as lines of the screen.

use std::ops::Range;

use agentd_shared::format::{Colors, Ink, Role, Row};
use anstyle::{Color as AnsiColor, Effects};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::Look;
use crate::document::layout::DocumentRow;
use crate::theme::Theme;

/// How a text looks.
pub(in crate::document) fn style(theme: &Theme, ink: Ink) -> Style {
    let style = match ink.role {
        Role::Plain => theme.text,
        Role::Dim => theme.dim,
        Role::Reasoning => theme.reasoning,
        Role::Error => theme.error,
        Role::Warn => theme.warn,
        Role::Good | Role::Added => theme.good,
        // Bold is for what went wrong.
        Role::Removed => theme.error.remove_modifier(Modifier::BOLD),
        Role::Name => theme.user,
        Role::Heading => theme.text.add_modifier(Modifier::BOLD),
        Role::Accent => theme.accent,
        Role::Code => theme.code,
        // Every terminal of today knows the 256 colours.
        Role::Syntax(color) => match Colors::Ansi256.nearest(color) {
            AnsiColor::Ansi256(color) => Style::new().fg(Color::Indexed(color.0)),
            AnsiColor::Ansi(_) | AnsiColor::Rgb(_) => theme.code,
        },
    };
    let stressed = [
        (Effects::BOLD, Modifier::BOLD),
        (Effects::ITALIC, Modifier::ITALIC),
        (Effects::UNDERLINE, Modifier::UNDERLINED),
        (Effects::STRIKETHROUGH, Modifier::CROSSED_OUT),
    ];
    stressed.into_iter().fold(style, |style, (effect, modifier)| {
        if ink.effects.contains(effect) { style.add_modifier(modifier) } else { style }
    })
}

/// Adds a row; what is too wide goes on below, behind as many blanks as the row has decoration.
pub(super) fn push(rows: &mut Vec<DocumentRow>, row: &Row, lead: usize, look: Look) {
    let width = look.columns();
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    let mut end = |spans: &mut Vec<Span<'static>>| {
        rows.push(DocumentRow { line: Line::from(std::mem::take(spans)), lead });
    };
    for span in row.spans() {
        let style = style(&look.theme, span.ink());
        if used + span.text().width() <= width {
            used += span.text().width();
            spans.push(Span::styled(span.text().to_owned(), style));
            continue;
        }
        let mut piece = String::new();
        for grapheme in span.text().graphemes(true) {
            let columns = grapheme.width();
            if used + columns > width && used > lead {
                spans.push(Span::styled(std::mem::take(&mut piece), style));
                end(&mut spans);
                spans.push(Span::raw(" ".repeat(lead)));
                used = lead;
            }
            piece.push_str(grapheme);
            used += columns;
        }
        spans.push(Span::styled(piece, style));
    }
    end(&mut spans);
}

/// A line, of which pieces look otherwise. The pieces are bytes of its text, in order.
pub(in crate::document) fn styled(
    line: &Line<'static>,
    pieces: &[Range<usize>],
    style: Style,
) -> Line<'static> {
    let mut spans = Vec::new();
    let mut at = 0;
    for span in &line.spans {
        let text = span.content.as_ref();
        let mut done = 0;
        for piece in pieces {
            let start = piece.start.saturating_sub(at).clamp(done, text.len());
            let end = piece.end.saturating_sub(at).clamp(start, text.len());
            if start < end {
                spans.push(Span::styled(
                    text.get(done..start).unwrap_or_default().to_owned(),
                    span.style,
                ));
                let inner = text.get(start..end).unwrap_or_default().to_owned();
                spans.push(Span::styled(inner, span.style.patch(style)));
                done = end;
            }
        }
        spans.push(Span::styled(text.get(done..).unwrap_or_default().to_owned(), span.style));
        at += text.len();
    }
    spans.retain(|span| !span.content.is_empty());
    Line::from(spans)
}
