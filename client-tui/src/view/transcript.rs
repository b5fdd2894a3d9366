//! The window on the transcript.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Text;

use crate::document::Look;
use crate::state::State;

/// Draws the window, and tells the state how high it is.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &mut State) {
    let Some(open) = &mut state.open else { return };
    open.height = usize::from(area.height);
    open.document.set_look(Look {
        width: area.width,
        theme: state.settings.theme,
        reasoning: state.settings.reasoning,
    });
    let window = open.document.window(&open.transcript, open.height);
    frame.render_widget(Text::from(window.rows), area);
}
