//! The first row: which session this is, where it works, what it may do, and who else looks at it.

use agentd_proto::v1;
use agentd_shared::text::one_line;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::state::State;

/// Columns of a title at least, while something else can go.
const TITLE: usize = 16;

/// Draws the row.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(open) = &state.open else { return };
    let theme = &state.settings.theme;
    let width = usize::from(area.width);
    let known = state.sessions.get(&open.session_id);
    let title = match open.transcript.title() {
        "" => known.map_or("", |session| session.title.as_str()),
        title => title,
    };
    let title = if title.is_empty() { "new session" } else { title };
    let workspace = match open.transcript.workspace() {
        "" => known.map_or("", |session| session.workspace.as_str()),
        workspace => workspace,
    };
    let mode = match open.transcript.permission_mode() {
        v1::PermissionMode::Unspecified => {
            known.map_or(v1::PermissionMode::Unspecified, v1::Session::permission_mode)
        }
        mode => mode,
    };
    // The most important first.
    let mut parts: Vec<String> = [mode_name(mode).to_owned(), others(state), short(workspace)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let needed = |parts: &[String]| parts.iter().map(|part| part.width() + 3).sum::<usize>();
    while needed(&parts) + TITLE > width && !parts.is_empty() {
        parts.pop();
    }
    let title = one_line(title, width.saturating_sub(needed(&parts)).saturating_sub(1));
    let mut spans = vec![Span::raw(" "), Span::styled(title, theme.accent)];
    spans.extend(parts.into_iter().map(|part| Span::styled(format!(" · {part}"), theme.dim)));
    frame.render_widget(Line::from(spans), area);
}

fn mode_name(mode: v1::PermissionMode) -> &'static str {
    match mode {
        v1::PermissionMode::Unspecified => "",
        v1::PermissionMode::Plan => "plan: looks only",
        v1::PermissionMode::Ask => "asks first",
        v1::PermissionMode::AutoEdit => "edits without asking",
        v1::PermissionMode::Full => "asks for nothing",
    }
}

/// Who else is attached.
fn others(state: &State) -> String {
    let Some(open) = &state.open else { return String::new() };
    let is_other = |author: &v1::Author| author.client_id != state.author.client_id;
    let mut names: Vec<String> = open
        .transcript
        .participants()
        .iter()
        .filter_map(|participant| participant.author.as_ref())
        .filter(|author| is_other(author))
        .map(|author| one_line(&author.name, 20))
        .collect();
    names.dedup();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("with {one}"),
        [one, two] => format!("with {one} and {two}"),
        [one, rest @ ..] => format!("with {one} and {} others", rest.len()),
    }
}

/// The end of a path, which tells most.
fn short(path: &str) -> String {
    let path = one_line(path, 400);
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next(), parts.next()) {
        (Some(last), Some(before), Some(_)) => format!("…/{before}/{last}"),
        _ => path,
    }
}
