//! Draws the state. Nothing here decides anything, and nothing calls the daemon.

mod composer;
mod header;
mod overlay;
mod panes;
mod plan;
mod queue;
mod sidebar;
mod status_bar;
#[cfg(test)]
mod tests;
mod transcript;
mod welcome;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};

use crate::state::State;

/// Most rows of the composer.
const COMPOSER: u16 = 6;
/// Rows of the terminal from which on the session has a header.
const TALL: u16 = 10;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, state: &mut State) {
    let area = frame.area();
    if state.pane.is_some() {
        panes::draw(frame, area, state);
        overlay::draw(frame, area, state);
        return;
    }
    if state.has_session_screen() {
        sidebar::draw(frame, area, state);
        overlay::draw(frame, area, state);
        return;
    }
    let beside = if state.has_sidebar() { sidebar::WIDTH } else { 0 };
    let [side, area] =
        Layout::horizontal([Constraint::Length(beside), Constraint::Min(1)]).areas(area);
    sidebar::draw(frame, side, state);

    let rows = composer::rows(state, area.width, COMPOSER);
    let plan = state.plan_view();
    let [head, transcript, plan_rows, waiting, notice, composer, bar] = Layout::vertical([
        Constraint::Length(u16::from(area.height >= TALL)),
        Constraint::Min(1),
        Constraint::Length(plan::rows(&plan, area.height)),
        Constraint::Length(queue::rows(state, area.height)),
        Constraint::Length(u16::from(state.notices.current().is_some())),
        Constraint::Length(rows),
        Constraint::Length(1),
    ])
    .areas(area);
    header::draw(frame, head, state);
    if welcome::is_shown(state) {
        welcome::draw(frame, transcript, state);
    } else {
        transcript::draw(frame, transcript, state);
    }
    plan::draw(frame, plan_rows, &plan, state);
    queue::draw(frame, waiting, state);
    status_bar::notice(frame, notice, state);
    composer::draw(frame, composer, state);
    status_bar::draw(frame, bar, state);
    overlay::draw(frame, transcript, state);
}
