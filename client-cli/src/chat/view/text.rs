//! Draws the text of the model, as it grows and as it is in the end.

use agentd_proto::v1;
use agentd_shared::format::Tone;
use agentd_shared::format::{Role, StreamText};
use agentd_shared::transcript::TextChannel;

use super::View;
use crate::chat::canvas::Mode;

/// Items whose shown length is remembered; older ones are final.
const REMEMBERED: usize = 64;

/// How much of an item is on the screen, in bytes.
#[derive(Debug, Default)]
pub(super) struct Shown {
    item_id: String,
    reasoning: usize,
    text: usize,
}

impl View {
    pub(super) fn live(&mut self, item_id: &str, channel: TextChannel, added: &str) {
        match channel {
            TextChannel::Text => self.shown(item_id).text += added.len(),
            TextChannel::Reasoning => self.shown(item_id).reasoning += added.len(),
            TextChannel::ToolOutput => {
                self.call_shows();
                return;
            }
        }
        self.push(item_id, channel, added);
    }

    /// Draws what the final message holds and the screen does not.
    pub(super) fn assistant(&mut self, message: &v1::AssistantMessage) {
        let shown = self.shown(&message.item_id);
        let (reasoning, text) = (shown.reasoning, shown.text);
        if text == 0
            && let Some(rest) = message.reasoning.get(reasoning..)
        {
            self.push(&message.item_id, TextChannel::Reasoning, rest);
        }
        if let Some(rest) = message.text.get(text..) {
            self.push(&message.item_id, TextChannel::Text, rest);
        }
        self.end_stream();
        match message.completeness() {
            v1::MessageCompleteness::Cut => {
                self.aside(Tone::Dim, "  (cut by the model's output limit)");
            }
            v1::MessageCompleteness::Incomplete => self.aside(Tone::Dim, "  (incomplete)"),
            v1::MessageCompleteness::Complete | v1::MessageCompleteness::Unspecified => {}
        }
        let shown = self.shown(&message.item_id);
        (shown.reasoning, shown.text) = (message.reasoning.len(), message.text.len());
    }

    fn shown(&mut self, item_id: &str) -> &mut Shown {
        let at =
            self.shown.iter().position(|shown| shown.item_id == item_id).unwrap_or_else(|| {
                if self.shown.len() >= REMEMBERED {
                    self.shown.remove(0);
                }
                self.shown.push(Shown { item_id: item_id.to_owned(), ..Shown::default() });
                self.shown.len() - 1
            });
        #[expect(clippy::indexing_slicing, reason = "the position was just found or pushed")]
        &mut self.shown[at]
    }

    fn push(&mut self, item_id: &str, channel: TextChannel, added: &str) {
        if added.is_empty() {
            return;
        }
        let same = self
            .stream
            .as_ref()
            .is_some_and(|stream| stream.item_id == item_id && stream.channel == channel);
        if !same {
            self.end_stream();
        }
        if self.canvas.mode() == Mode::Raw {
            if channel == TextChannel::Text {
                self.canvas.raw(added);
            }
            let begun = || StreamText::new(item_id, channel);
            self.stream.get_or_insert_with(begun);
            return;
        }
        let look = self.canvas.look();
        if channel == TextChannel::Reasoning && !self.show_reasoning {
            self.canvas.open(vec![look.row(Role::Dim, "… thinking")]);
            // It ends the open row when something else comes.
            self.stream = Some(StreamText::new(item_id, channel));
            return;
        }
        let stream = self.stream.get_or_insert_with(|| StreamText::new(item_id, channel));
        for row in stream.push(added, look.of_text()) {
            self.canvas.row(look.paint(&row));
        }
        self.open_has_grown = true;
    }

    /// Ends the text that is open, so that something else can follow.
    pub(crate) fn end_stream(&mut self) {
        let Some(mut stream) = self.stream.take() else { return };
        self.open_has_grown = self.spins();
        if self.canvas.mode() == Mode::Raw {
            if stream.channel == TextChannel::Text {
                self.canvas.end_raw();
            }
            return;
        }
        self.canvas.open(Vec::new());
        let look = self.canvas.look();
        for row in stream.finish(look.of_text()) {
            self.canvas.row(look.paint(&row));
        }
    }
}
