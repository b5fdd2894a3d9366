//! The last row: how the session stands; above it what the daemon has to say.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::state::{State, Tone};

/// Steps of what turns while something is being done.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Draws the notice that is shown.
pub(super) fn notice(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(notice) = state.notices.current() else { return };
    let theme = &state.settings.theme;
    let (mark, style) = match notice.tone {
        Tone::Info => ("◆ ", theme.dim),
        Tone::Warn => ("! ", theme.warn),
        Tone::Error => ("× ", theme.error),
    };
    let line = Line::from(vec![Span::styled(mark, style), Span::styled(&notice.text, style)]);
    frame.render_widget(line, area);
}

/// Draws the bar.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let mut parts = Vec::new();
    if let Some(open) = &state.open {
        if open.lost.is_some() {
            parts.push("reconnecting".to_owned());
        } else if !open.caught_up {
            parts.push("loading".to_owned());
        } else if state.is_running() {
            let step = usize::try_from(state.ticks).unwrap_or_default() % SPINNER.len();
            let spinner = SPINNER.get(step).copied().unwrap_or_default();
            parts.push(format!("{spinner} working"));
        } else {
            parts.push("ready".to_owned());
        }
        let waiting = open.transcript.queue().count();
        if waiting > 0 {
            parts.push(format!("{waiting} queued"));
        }
        if !open.document.follows() {
            parts.push("history paused".to_owned());
        }
    }
    let line = Line::styled(format!(" {}", parts.join(" · ")), state.settings.theme.bar);
    frame.render_widget(line, area);
}
