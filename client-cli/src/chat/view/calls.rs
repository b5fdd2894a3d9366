//! Draws calls of tools: while they run above the prompt, and when they have ended as cards.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::card;

use super::View;
use crate::chat::canvas::Mode;

impl View {
    /// A call runs from now on.
    pub(super) fn call_started(&mut self, call_id: &str) {
        self.end_stream();
        if self.canvas.mode() == Mode::Live {
            self.running.begin(call_id);
            self.open_has_grown = true;
            return;
        }
        // Where nothing can be drawn anew, only what may take long is told twice.
        let look = self.canvas.remark_look();
        if let Some(call) = self.transcript.tool_call(call_id)
            && call.effect == Some(v1::ToolEffect::Process)
        {
            self.canvas.remarks(vec![look.paint(&card::started(call, look.width))]);
        }
    }

    /// A call that runs has shown more.
    pub(super) fn call_shows(&mut self) {
        self.open_has_grown |= self.spins();
    }

    /// A call has ended, or was not run.
    pub(super) fn call_finished(&mut self, call_id: &str) {
        self.end_stream();
        self.open_has_grown |= self.running.end(call_id);
        let look = self.canvas.remark_look();
        if let Some(call) = self.transcript.tool_call(call_id) {
            self.canvas.remarks(look.paint_all(&card::finished(call, look.width)));
        }
    }

    /// Nothing runs on when its turn does not.
    pub(super) fn stop_with_turn(&mut self, body: &Body) {
        let stands_still = matches!(
            body,
            Body::TurnSuspended(_)
                | Body::TurnCompleted(_)
                | Body::TurnFailed(_)
                | Body::TurnInterrupted(_)
        );
        self.open_has_grown |= stands_still && self.running.clear();
    }

    /// Tells whether something has to be drawn anew although nothing happens.
    pub(crate) fn spins(&self) -> bool {
        !self.running.is_empty()
    }

    /// Time has passed.
    pub(crate) fn spin(&mut self) {
        self.open_has_grown |= self.spins();
    }

    /// Draws the open end anew if it has changed. Called once for each frame.
    pub(crate) fn draw_open(&mut self) {
        self.draw_open_at(i64::try_from(now_ms()).unwrap_or(i64::MAX));
    }

    /// As [`Self::draw_open`], at a time in Unix milliseconds.
    pub(crate) fn draw_open_at(&mut self, now_ms: i64) {
        if !std::mem::take(&mut self.open_has_grown) {
            return;
        }
        let look = self.canvas.look();
        let mut rows = match &mut self.stream {
            Some(stream) => look.paint_all(&stream.draw(look.of_text())),
            None => Vec::new(),
        };
        rows.extend(self.running.rows(&self.transcript, now_ms, self.height, look));
        self.canvas.open(rows);
    }
}
