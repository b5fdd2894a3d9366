//! The messages that wait for a turn, above the composer.

use agentd_proto::v1;
use agentd_shared::text::one_line;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use unicode_width::UnicodeWidthStr as _;

use crate::input::Action;
use crate::state::State;

/// Most rows.
const ROWS: usize = 4;

/// Rows that it takes on a terminal of this height.
pub(super) fn rows(state: &State, height: u16) -> u16 {
    let Some(open) = &state.open else { return 0 };
    let most = if height < 16 { 1 } else { ROWS };
    u16::try_from(open.transcript.queue().count().min(most)).unwrap_or_default()
}

/// Draws it: those that run next, and how many there are beyond them.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(open) = state.open.as_ref().filter(|_| area.height > 0) else { return };
    let theme = &state.settings.theme;
    let width = usize::from(area.width);
    let count = open.transcript.queue().count();
    let room = usize::from(area.height);
    let key = state.keymap.keys(Action::Withdraw).next();
    let mut lines = Vec::new();
    for (at, message) in open.transcript.queue().take(room).enumerate() {
        let number = format!("{}. ", at + 1);
        let is_own = message.author.client_id == state.author.client_id;
        // As it is typed.
        let delivery = match message.delivery {
            v1::Delivery::Steer => "> ",
            v1::Delivery::Interrupt => "! ",
            v1::Delivery::Unspecified | v1::Delivery::Queue => "",
        };
        let author = if is_own {
            String::new()
        } else {
            format!("{}: ", one_line(&message.author.name, 20))
        };
        let side = if at + 1 < room {
            String::new()
        } else if count > room {
            format!("  and {} more", count - room)
        } else {
            key.map_or(String::new(), |key| format!("  {key} takes one back"))
        };
        let fixed = number.width() + author.width() + delivery.len() + side.width();
        let side = if fixed + 12 > width { String::new() } else { side };
        let used = number.width() + author.width() + delivery.len() + side.width();
        lines.push(Line::from(vec![
            Span::styled(number, theme.accent),
            Span::styled(author, theme.name),
            Span::styled(delivery, theme.dim),
            Span::styled(one_line(&message.text, width.saturating_sub(used)), theme.text),
            Span::styled(side, theme.dim),
        ]));
    }
    frame.render_widget(Text::from(lines), area);
}
