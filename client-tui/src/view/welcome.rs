//! What is shown of a session in which nothing was said yet: where you are, and what you can do.

use agentd_shared::text::{one_line, one_row};
use agentd_shared::transcript::Item;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Text};

use super::status_bar::effort_name;
use crate::input::Action;
use crate::state::State;

/// The name in large, where there is room.
const LETTERS: [&str; 4] = [
    "                       _      _ ",
    "  __ _  __ _ ___ _ _ _| |_ __| |",
    " / _` |/ _` / -_) ' \\_   _/ _` |",
    " \\__,_|\\__, \\___|_||_||_| \\__,_|",
];
const TAIL: &str = "       |___/";

/// Columns below which rows have no names.
const NARROW: usize = 50;

/// Whether it is shown.
pub(super) fn is_shown(state: &State) -> bool {
    let Some(open) = &state.open else { return true };
    let said = |item: &Item| matches!(item, Item::User(_) | Item::Assistant(_) | Item::Turn(_));
    open.caught_up && open.transcript.live().is_empty() && !open.transcript.items().iter().any(said)
}

/// Draws it, in the middle where there is room.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = &state.settings.theme;
    let width = usize::from(area.width);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let facts = facts(state);
    let hints = hints(state);
    let large = area.height >= 18 && area.width >= 50;
    if large {
        lines.extend(LETTERS.iter().map(|row| Line::styled(*row, theme.accent)));
        lines.push(Line::styled(TAIL, theme.accent));
        lines.push(Line::default());
        lines.push(Line::styled(
            one_row("An agent that lives on this machine. It goes on when you leave.", width - 2),
            theme.text,
        ));
    } else {
        lines.push(Line::styled("agentd", theme.accent));
    }
    if area.height >= 12 {
        lines.push(Line::default());
    }
    lines.extend(facts.into_iter().map(|(name, value, is_warning)| {
        let style = if is_warning { theme.warn } else { theme.text };
        // On a narrow terminal the values tell enough.
        let name = if width < NARROW { String::new() } else { name };
        row(&name, &value, style, theme.dim, width)
    }));
    if area.height >= 12 {
        lines.push(Line::default());
    }
    lines.extend(
        hints.into_iter().map(|(key, about)| row(&key, &about, theme.dim, theme.accent, width)),
    );
    let height = usize::from(area.height);
    lines.truncate(height);
    let above = u16::try_from((height - lines.len()) / 3).unwrap_or_default();
    let left = if large { (area.width / 2).saturating_sub(36).min(12) } else { 1.min(area.width) };
    let place = Rect {
        x: area.x + left,
        y: area.y + above,
        width: area.width - left,
        height: area.height - above,
    };
    frame.render_widget(Text::from(lines), place);
}

fn row(name: &str, value: &str, style: Style, name_style: Style, width: usize) -> Line<'static> {
    // A row without a name has more room where that is little.
    let name = if width < NARROW && name.is_empty() { "  " } else { &format!("{name:<11}") };
    let value = one_line(value, width.saturating_sub(name.len() + 2));
    Line::from(vec![
        ratatui::text::Span::styled(name.to_owned(), name_style),
        ratatui::text::Span::styled(value, style),
    ])
}

/// The state that matters, the most important first; and whether it has to be looked at.
fn facts(state: &State) -> Vec<(String, String, bool)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String, is_warning: bool| {
        if !value.is_empty() {
            facts.push((name.to_owned(), value, is_warning));
        }
    };
    let session = state.open.as_ref().and_then(|open| state.sessions.get(&open.session_id));
    match state.status.as_ref().and_then(|status| status.provider.as_ref()) {
        None => add("model", "asking the daemon ...".to_owned(), false),
        Some(provider) if provider.kind == "offline" => {
            add("model", "offline: no model is configured".to_owned(), true);
            add("", "set OPENAI_API_KEY, or write one to".to_owned(), true);
            add("", "the file of `agentctl config path`".to_owned(), true);
        }
        Some(provider) => {
            let asked = session.map_or("", |session| session.model.as_str());
            let model = if asked.is_empty() { &provider.model } else { asked };
            let effort = session.map_or("", |session| effort_name(session.effort()));
            let effort = if effort.is_empty() { "" } else { &format!(", effort {effort}") };
            add("model", format!("{model}{effort} at {}", provider.base_url), false);
        }
    }
    if let Some(status) = &state.status {
        for warning in status.warnings.iter().take(2) {
            add("look at", warning.clone(), true);
        }
    }
    add("workspace", session.map_or(String::new(), |session| session.workspace.clone()), false);
    let counts = [
        state.facts.tools.map(|count| format!("{count} tools")),
        state.facts.memories.map(|count| match count {
            1 => "1 memory".to_owned(),
            count => format!("{count} memories"),
        }),
        match state.sessions.all().len() {
            0 | 1 => None,
            count => Some(format!("{count} sessions")),
        },
    ];
    add("it has", counts.into_iter().flatten().collect::<Vec<_>>().join(", "), false);
    facts
}

fn hints(state: &State) -> Vec<(String, String)> {
    let hint = |action: Action, about: &str| {
        let key = state.keymap.keys(action).next();
        key.map(|key| (key.to_string(), about.to_owned()))
    };
    [
        Some(("?".to_owned(), "all keys and commands".to_owned())),
        hint(Action::Sessions, "the sessions"),
        hint(Action::Quit, "leave; turns go on"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
