//! What waits for a person: exactly what will run, why it is asked, and the keys that answer.

use agentd_proto::v1;
use agentd_shared::format::approval::{self, Extent};
use agentd_shared::format::{Role, Row, hanging_rows};
use agentd_shared::transcript::Question;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span, Text};

use super::{framed, line};
use crate::input::Action;
use crate::state::State;
use crate::state::overlay::Ask;

pub(super) fn draw(frame: &mut Frame<'_>, above: Rect, state: &mut State) {
    let width = usize::from(above.width.saturating_sub(2)).max(1);
    let Some(ask) = state.current_ask() else {
        hidden(frame, above, state);
        return;
    };
    let (rows, has_choices) = match ask {
        Ask::Approval(request) => (approval_rows(request, state, width), false),
        Ask::Question(question) => (question_rows(question, state, width), true),
    };
    let writes = state.asks.reason.is_some();
    let foot = u16::from(writes) + 2;
    let wanted = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(foot);
    let height = wanted.min(above.height);
    let place = Rect { y: above.bottom().saturating_sub(height), height, ..above };
    let focused = state.asks.has_focus(state.composer.is_empty(), state.ticks);
    let window = usize::from(height.saturating_sub(foot));
    let top = state.asks.top.min(rows.len().saturating_sub(window));
    state.asks.drawn = (window, rows.len());
    state.asks.top = top;
    let theme = state.settings.theme;
    let style = if focused { theme.warn } else { theme.dim };
    let (number, count) = state.asks.count();
    let scrolls = if rows.len() > window {
        format!(" · rows {}-{} of {}", top + 1, top + window, rows.len())
    } else {
        String::new()
    };
    let hint = hint(state, focused, has_choices, width);
    let what = if has_choices { "question" } else { "approval" };
    let several = if count > 1 { format!(" ({count} wait)") } else { String::new() };
    let title = format!("{what} #{number}{several}{scrolls}");
    let inner = framed(frame, place, &title, &hint, style);
    let [text, reason] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(u16::from(writes))]).areas(inner);
    let shown = rows.iter().skip(top).take(window);
    let shown: Vec<Line<'_>> = shown.map(|row| line(row, &theme)).collect();
    frame.render_widget(Text::from(shown), text);
    if let Some(input) = &state.asks.reason {
        const LABEL: &str = "why not: ";
        frame.render_widget(Span::styled(LABEL, theme.accent), reason);
        let label = u16::try_from(LABEL.len()).unwrap_or_default();
        let place =
            Rect { x: reason.x + label, width: reason.width.saturating_sub(label), ..reason };
        frame.render_widget(input.area(), place);
        let column = u16::try_from(input.area().screen_cursor().col).unwrap_or(u16::MAX);
        let left = input.area().scroll_offset().1;
        let x = place.x.saturating_add(column.saturating_sub(left));
        let x = x.min(reason.right().saturating_sub(1));
        frame.set_cursor_position(Position { x, y: reason.y });
    }
}

/// What says that something waits although it was put away.
fn hidden(frame: &mut Frame<'_>, above: Rect, state: &State) {
    let count = state.asks.hidden();
    if count == 0 || above.height == 0 {
        return;
    }
    let key = state.keymap.name(Action::Complete);
    let text = format!(" {count} waits for you: {key} in an empty message shows it");
    let place = Rect { y: above.bottom().saturating_sub(1), height: 1, ..above };
    frame.render_widget(ratatui::widgets::Clear, place);
    frame.render_widget(Line::styled(text, state.settings.theme.warn), place);
}

fn hint(state: &State, focused: bool, has_choices: bool, width: usize) -> String {
    const NARROW: usize = 76;

    let is_narrow = width < NARROW;
    if state.asks.reason.is_some() {
        return "Enter denies with this reason · Esc goes back".to_owned();
    }
    if !focused {
        let key = state.keymap.name(Action::Complete);
        return format!("keys go to your message: {key} answers");
    }
    if !state.asks.can_have_been_read(state.ticks) {
        // Keys that would not be taken are not offered.
        let why_not = if has_choices { "" } else { " · n d deny" };
        return format!("only just asked: read it first{why_not} · Esc later");
    }
    if has_choices {
        let otherwise = if is_narrow { "" } else { " · write to answer otherwise" };
        return format!("number or Enter chooses{otherwise} · Esc later");
    }
    if is_narrow {
        // All of them, as far as they go.
        return "y a w allow · n d deny · e all · Esc".to_owned();
    }
    let all = if state.asks.whole { "e short" } else { "e all" };
    let more = if state.asks.count().1 > 1 { " · Tab next" } else { "" };
    format!("y once · a session · w workspace · n no · d why not · {all}{more} · Esc")
}

fn approval_rows(request: &v1::ApprovalRequested, state: &State, width: usize) -> Vec<Row> {
    let extent = if state.asks.whole { Extent::Whole } else { Extent::Short };
    let mut rows = Vec::new();
    for (at, text) in approval::lines(request, extent).iter().enumerate() {
        let role = match text.trim_start() {
            _ if at == 0 => Role::Heading,
            cut if cut.contains("NOT shown here]") || cut.ends_with("are NOT shown here") => {
                Role::Warn
            }
            free if free.starts_with("NOT confined") => Role::Warn,
            added if added.starts_with("| +") => Role::Added,
            removed if removed.starts_with("| -") => Role::Removed,
            why if why.starts_with("asked because") => Role::Dim,
            _ => Role::Plain,
        };
        // Later rows of a line stand further in, so that none looks like a line of its own.
        let first = Row::default();
        let rest = Row::new("    ⋮ ", Role::Dim);
        rows.extend(hanging_rows(text, role, (&first, &rest), width));
    }
    let effect = state
        .open
        .as_ref()
        .and_then(|open| open.transcript.tool_call(&request.call_id).and_then(|call| call.effect));
    let risk = risk(request, effect);
    rows.extend(hanging_rows(risk, Role::Warn, (&Row::default(), &Row::default()), width));
    for rule in &request.rules {
        let text = format!("a and w allow from now on: {}", approval::rule(rule));
        let rest = Row::new("    ⋮ ", Role::Dim);
        rows.extend(hanging_rows(&text, Role::Dim, (&Row::default(), &rest), width));
    }
    if state.asks.is_held(&request.approval_id) {
        rows.push(Row::new("your answer is kept until the daemon is back", Role::Dim));
    }
    rows
}

/// What can happen at worst, in a few words.
fn risk(request: &v1::ApprovalRequested, effect: Option<v1::ToolEffect>) -> &'static str {
    use v1::action_target::Target;

    let targets = request.action.iter().flat_map(|action| &action.targets);
    let targets: Vec<&Target> = targets.filter_map(|target| target.target.as_ref()).collect();
    let is_free =
        |target: &&Target| matches!(target, Target::Run(run) if run.confinement.is_none());
    let has = |is: fn(&Target) -> bool| targets.iter().any(|target| is(target));
    if targets.iter().any(is_free) {
        return "risk: runs with all of your rights";
    }
    if has(|target| matches!(target, Target::Run(_))) {
        return "risk: runs a program within the limits above";
    }
    if has(|target| matches!(target, Target::Write(_))) {
        return "risk: changes files";
    }
    if has(|target| matches!(target, Target::Request(_))) {
        return "risk: sends something to another machine";
    }
    match effect {
        Some(v1::ToolEffect::Pure) => "risk: none, it only computes",
        Some(v1::ToolEffect::WorkspaceRead) => "risk: reads files",
        Some(v1::ToolEffect::NetworkRead) => "risk: sends something to another machine",
        Some(v1::ToolEffect::WorkspaceWrite) => "risk: changes files",
        Some(v1::ToolEffect::Process) => "risk: runs a program",
        Some(v1::ToolEffect::Exclusive | v1::ToolEffect::Unspecified) | None => {
            "risk: unknown, the tool does not say what it does"
        }
    }
}

fn question_rows(question: &Question, state: &State, width: usize) -> Vec<Row> {
    let none = Row::default();
    let mut rows = Vec::new();
    for text in question.prompt.lines() {
        rows.extend(hanging_rows(text, Role::Plain, (&none, &none), width));
    }
    for (at, choice) in question.choices.iter().enumerate() {
        let (mark, role) =
            if at == state.asks.choice { ("▸ ", Role::Accent) } else { ("  ", Role::Plain) };
        let first = Row::new(&format!("{mark}{}. ", at + 1), role);
        let rest = Row::from("     ");
        rows.extend(hanging_rows(choice, role, (&first, &rest), width));
    }
    if question.free_text {
        let text = "any other answer: write it as a message";
        rows.extend(hanging_rows(text, Role::Dim, (&none, &none), width));
    }
    rows
}
