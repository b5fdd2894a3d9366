//! What the agent has set out to do, above the composer.

use agentd_shared::text::one_line;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span, Text};

use crate::state::{PlanLine, State, StepState};

/// Most rows.
const ROWS: u16 = 9;

/// Rows that it takes on a terminal of this height.
pub(super) fn rows(lines: &[PlanLine], height: u16) -> u16 {
    let wanted = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    // On a low terminal the answer matters more.
    if height < 16 { wanted.min(1) } else { wanted.min(ROWS).min(height / 3) }
}

/// Draws it: the title, and of many steps those around the first that is not done.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, lines: &[PlanLine], state: &State) {
    if area.height == 0 {
        return;
    }
    let theme = &state.settings.theme;
    let width = usize::from(area.width);
    let steps: Vec<&PlanLine> =
        lines.iter().filter(|line| line.state != StepState::Title).collect();
    let done = steps.iter().filter(|line| line.state == StepState::Done).count();
    let title = lines.iter().find(|line| line.state == StepState::Title);
    let title = title.map_or("", |line| line.text.as_str());
    let tally = format!(" {done}/{} done", steps.len());
    let now = steps.iter().position(|line| line.state != StepState::Done).unwrap_or_default();
    let room = usize::from(area.height).saturating_sub(1);
    let mut rows = Vec::new();
    let head = if room == 0 {
        // The one row tells what is being done.
        steps.get(now).map_or(title, |line| line.text.as_str())
    } else {
        title
    };
    rows.push(Line::from(vec![
        Span::styled("▪ ", theme.accent),
        Span::styled(one_line(head, width.saturating_sub(tally.len() + 2)), theme.accent),
        Span::styled(tally, theme.dim),
    ]));
    let first = now.saturating_sub(room / 2).min(steps.len().saturating_sub(room));
    for line in steps.iter().skip(first).take(room) {
        let (mark, style) = match line.state {
            StepState::Title | StepState::Open => ("☐ ", theme.text),
            StepState::Runs => ("▶ ", theme.text.add_modifier(Modifier::BOLD)),
            StepState::Done => ("✓ ", theme.good),
            StepState::Failed => ("× ", theme.error),
            StepState::Interrupted => ("‖ ", theme.warn),
        };
        let text = one_line(&line.text, width.saturating_sub(4));
        let dimmed = if line.state == StepState::Done { theme.dim } else { style };
        rows.push(Line::from(vec![
            Span::raw("  "),
            Span::styled(mark, style),
            Span::styled(text, dimmed),
        ]));
    }
    frame.render_widget(Text::from(rows), area);
}
