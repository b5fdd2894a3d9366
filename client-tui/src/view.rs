//! Draws the state. Nothing here decides anything, and nothing calls the daemon.

mod composer;
mod status_bar;
mod transcript;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};

use crate::state::State;

/// Most rows of the composer.
const COMPOSER: u16 = 6;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, state: &mut State) {
    let area = frame.area();
    let rows = composer::rows(state, area.width).min(COMPOSER);
    let [transcript, notice, composer, bar] = Layout::vertical([
        Constraint::Min(1),
        Constraint::Length(u16::from(state.notices.current().is_some())),
        Constraint::Length(rows),
        Constraint::Length(1),
    ])
    .areas(area);
    transcript::draw(frame, transcript, state);
    status_bar::notice(frame, notice, state);
    composer::draw(frame, composer, state);
    status_bar::draw(frame, bar, state);
}
