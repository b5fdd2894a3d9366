//! The last row: how the session stands; above it what the daemon has to say.

use std::cmp::Reverse;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::text::{human_duration, one_line};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::state::pane::cost;
use crate::state::{OpenSession, State, Tone};

/// Steps of what turns while something is being done.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// What stands between parts of the bar.
const BETWEEN: &str = " · ";
/// Rows below the window that are counted.
const COUNTED: usize = 999;

/// The step that is shown now.
pub(super) fn spinner(state: &State) -> &'static str {
    let count = u64::try_from(SPINNER.len()).unwrap_or(1);
    let step = usize::try_from(state.ticks % count).unwrap_or_default();
    SPINNER.get(step).copied().unwrap_or_default()
}

/// Draws the notice that is shown.
pub(super) fn notice(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(notice) = state.notices.current() else { return };
    let theme = &state.settings.theme;
    let (mark, style) = match notice.tone {
        Tone::Info => ("◆ ", theme.dim),
        Tone::Warn => ("! ", theme.warn),
        Tone::Error => ("× ", theme.error),
    };
    let text = one_line(&notice.text, usize::from(area.width).saturating_sub(2));
    let line = Line::from(vec![Span::styled(mark, style), Span::styled(text, style)]);
    frame.render_widget(line, area);
}

/// A part of the bar. The less it matters, the sooner it goes where there is no room.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    matters: u8,
    text: String,
}

/// Draws the bar.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &mut State) {
    let width = usize::from(area.width);
    let line = fit(&parts(state), width.saturating_sub(1));
    let pad = " ".repeat(width.saturating_sub(line.width() + 1));
    let line = Line::styled(format!(" {line}{pad}"), state.settings.theme.bar);
    frame.render_widget(line, area);
}

/// Joins parts in their order: of those that do not fit together the ones that matter most.
fn fit(parts: &[Part], width: usize) -> String {
    let mut by_weight: Vec<(usize, &Part)> = parts.iter().enumerate().collect();
    by_weight.sort_by_key(|(_, part)| Reverse(part.matters));
    let (mut kept, mut used) = (Vec::new(), 0);
    for (at, part) in by_weight {
        let needed = part.text.width() + if kept.is_empty() { 0 } else { BETWEEN.width() };
        // The first is there in any case, as much of it as fits.
        if kept.is_empty() || used + needed <= width {
            kept.push((at, part.text.as_str()));
            used += needed;
        }
    }
    kept.sort_unstable();
    let texts: Vec<&str> = kept.into_iter().map(|(_, text)| text).collect();
    agentd_shared::text::one_row(&texts.join(BETWEEN), width)
}

fn parts(state: &mut State) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut add = |matters: u8, text: String| {
        if !text.is_empty() {
            parts.push(Part { matters, text });
        }
    };
    let below = state
        .open
        .as_mut()
        .filter(|open| !open.document.follows())
        .map(|open| open.document.rows_below(&open.transcript, open.height, COUNTED));
    let Some(open) = &state.open else {
        return vec![Part { matters: 10, text: "no session is open".to_owned() }];
    };
    add(10, phase(state, open));
    if let Some(below) = below {
        let more = if below >= COUNTED { "+" } else { "" };
        add(9, format!("history paused, {below}{more} rows below"));
    }
    match open.transcript.queue().count() {
        0 => {}
        count => add(7, format!("{count} queued")),
    }
    match state.sessions.waiting_beside(Some(&open.session_id)) {
        0 => {}
        1 => add(8, "1 session waits for you".to_owned()),
        count => add(8, format!("{count} sessions wait for you")),
    }
    add(6, model(state, open));
    add(5, context(state));
    let session = state.sessions.get(&open.session_id);
    let total = session.and_then(|session| session.cost);
    let total = total.unwrap_or_else(|| *open.transcript.cost());
    if total != v1::Cost::default() {
        add(4, cost(&total));
    }
    if state.sessions.is_lost && open.lost.is_none() {
        add(3, "sessions not followed".to_owned());
    }
    parts
}

/// What is being done.
fn phase(state: &State, open: &OpenSession) -> String {
    if open.failed.is_some() {
        return "session is gone".to_owned();
    }
    if open.lost.is_some() {
        return format!("{} reconnecting", spinner(state));
    }
    if !open.caught_up {
        return "loading".to_owned();
    }
    let Some(turn) = open.transcript.open_turn() else { return "ready".to_owned() };
    if state.is_asked() {
        return "? waits for you".to_owned();
    }
    let ran = state.now_ms.saturating_sub(turn.started_at_ms).max(0);
    let ran = Duration::from_secs(u64::try_from(ran / 1_000).unwrap_or_default());
    let ran = if ran.as_secs() < 60 { format!("{} s", ran.as_secs()) } else { human_duration(ran) };
    let live = open.transcript.live().last();
    let does = match live {
        Some(message) if message.text.is_empty() && !message.reasoning.is_empty() => "thinking",
        Some(message) if !message.text.is_empty() => "answering",
        _ => "working",
    };
    format!("{} {does} {ran}", spinner(state))
}

/// The model and its effort, as they were asked for and as they are.
fn model(state: &State, open: &OpenSession) -> String {
    let session = state.sessions.get(&open.session_id);
    let provider = state.status.as_ref().and_then(|status| status.provider.as_ref());
    if provider.is_some_and(|provider| provider.kind == "offline") {
        return "offline".to_owned();
    }
    let default = provider.map_or("", |provider| provider.model.as_str());
    let asked = match session.map_or_else(|| open.transcript.model(), |session| &session.model) {
        "" => default,
        model => model,
    };
    let effort = session.map_or_else(|| open.transcript.effort(), v1::Session::effort);
    let turn = open.transcript.last_turn();
    // Only while it runs: afterwards the next one counts.
    let turn = turn.filter(|turn| !turn.state.is_over() && !turn.model.is_empty());
    let answers = turn.map_or(asked, |turn| &turn.model);
    let name = if asked.is_empty() || asked == answers {
        one_line(answers, 28)
    } else {
        format!("{} → {}", one_line(asked, 20), one_line(answers, 20))
    };
    let effort = turn.map_or(effort, |turn| turn.effort_requested);
    let given = turn.map_or(effort, |turn| turn.effort_effective);
    let effort = match (effort_name(effort), effort_name(given)) {
        ("", "") => String::new(),
        (wanted, given) if wanted == given || given.is_empty() => format!(" {wanted}"),
        ("", given) => format!(" {given}"),
        (wanted, given) => format!(" {wanted} → {given}"),
    };
    format!("{name}{effort}")
}

pub(super) fn effort_name(effort: v1::Effort) -> &'static str {
    match effort {
        v1::Effort::Unspecified => "",
        v1::Effort::Off => "off",
        v1::Effort::Minimal => "minimal",
        v1::Effort::Low => "low",
        v1::Effort::Medium => "medium",
        v1::Effort::High => "high",
        v1::Effort::Max => "max",
    }
}

/// How full the model's window is.
fn context(state: &State) -> String {
    let Some(context) = &state.facts.context else { return String::new() };
    let tokens: u64 = context.layers.iter().map(|layer| layer.tokens).sum();
    match (tokens.saturating_mul(100)).checked_div(context.window_tokens) {
        Some(percent) => format!("context {percent} %"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_most_stays_in_its_order() {
        let part = |matters, text: &str| Part { matters, text: text.to_owned() };
        let all = || vec![part(9, "ready"), part(4, "model"), part(6, "日本"), part(1, "cost")];
        let check = |width, expect: &str| assert_eq!(fit(&all(), width), expect, "{width}");
        check(40, "ready · model · 日本 · cost");
        check(22, "ready · model · 日本");
        check(14, "ready · 日本");
        check(6, "ready");
        check(3, "re…");
        check(0, "");
    }
}
