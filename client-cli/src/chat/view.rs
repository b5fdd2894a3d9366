//! Draws a session from its events. It calls nothing and waits for nothing.

mod asks;
mod calls;
mod text;

use std::collections::HashSet;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::format::{StreamText, Tone, notes, turn};
use agentd_shared::text::one_line;
use agentd_shared::{Change, Transcript};

use self::asks::Asked;
use self::text::Shown;
use super::canvas::{Canvas, Mode};
use super::running::Running;
use super::terminal::Size;

/// Columns of a preview.
const PREVIEW_WIDTH: usize = 60;

/// A session as this terminal shows it.
#[derive(Debug)]
pub(crate) struct View {
    /// Where it is drawn.
    pub(crate) canvas: Canvas,
    /// What is known of the session.
    pub(crate) transcript: Transcript,
    /// Whether reasoning is shown.
    pub(crate) show_reasoning: bool,
    /// Our own messages: they stand on the screen already.
    own: HashSet<String>,
    client_id: String,
    stream: Option<StreamText>,
    running: Running,
    /// Rows above the prompt that can be drawn anew.
    height: usize,
    /// The open line has to be drawn anew.
    open_has_grown: bool,
    shown: Vec<Shown>,
    /// Messages that were shown as queued.
    queued: HashSet<String>,
    /// What was missed has been told.
    greeted: bool,
    /// Approvals in the order in which they were shown; their place is their number.
    approvals: Vec<Asked>,
    /// Nothing can be typed here: what asks says where it can be answered.
    watches: bool,
    /// Names of the terminals attached, as far as they were told.
    present: Option<Vec<String>>,
}

impl View {
    /// A view of a session from which nothing is known.
    pub(crate) fn new(canvas: Canvas, client_id: &str, show_reasoning: bool) -> Self {
        Self {
            canvas,
            transcript: Transcript::default(),
            show_reasoning,
            own: HashSet::new(),
            client_id: client_id.to_owned(),
            stream: None,
            running: Running::default(),
            height: Size::default().reach(),
            open_has_grown: false,
            shown: Vec::new(),
            queued: HashSet::new(),
            greeted: false,
            approvals: Vec::new(),
            watches: false,
            present: None,
        }
    }

    /// The same for who only watches.
    #[must_use]
    pub(crate) fn watching(self) -> Self {
        Self { watches: true, ..self }
    }

    /// Goes to another session on the same canvas.
    pub(crate) fn switch(&mut self) {
        let look = self.canvas.look();
        let mode = self.canvas.mode();
        let canvas = std::mem::replace(&mut self.canvas, Canvas::new(mode, look));
        *self = Self::new(canvas, &self.client_id, self.show_reasoning);
    }

    /// Marks a message as typed here.
    pub(crate) fn sent(&mut self, client_message_id: &str) {
        self.own.insert(client_message_id.to_owned());
    }

    /// Adds a remark about something else than the text that is being written: it goes above that.
    pub(crate) fn aside(&mut self, tone: Tone, text: &str) {
        self.canvas.note(tone, text);
    }

    /// Adds a remark after the text that is being written, and ends that.
    pub(crate) fn note(&mut self, tone: Tone, text: &str) {
        self.end_stream();
        self.canvas.note(tone, text);
    }

    /// The daemon has taken us in.
    pub(crate) fn attached(&mut self, attached: &v1::Attached) {
        self.transcript.attached(attached);
        let is_first = !std::mem::replace(&mut self.greeted, true);
        // Who has never been here has not left either.
        let width = self.canvas.look().width;
        if is_first && attached.cursor_seq > 0 && !attached.digest.is_empty() {
            self.aside(
                Tone::Dim,
                &one_line(&format!("◆ since you left: {}", attached.digest), width),
            );
        }
        self.participants();
    }

    /// Folds an event in and draws what it changed.
    pub(crate) fn event(&mut self, event: &v1::Event) {
        let turn_was_open = self.transcript.open_turn().is_some();
        match self.transcript.apply(event) {
            Change::Nothing | Change::Usage | Change::Gap { .. } => return,
            Change::LiveText { item_id, channel, added } => {
                self.live(&item_id, channel, &added);
                return;
            }
            Change::Participants => {
                self.participants();
                return;
            }
            _ => {}
        }
        let Some(body) = &event.body else { return };
        self.stop_with_turn(body);
        if let Body::ApprovalResolved(resolved) = body {
            self.approval_closed(resolved);
        }
        match body {
            Body::MessageAccepted(message) => self.accepted(message, turn_was_open),
            Body::MessageWithdrawn(withdrawn) => {
                self.queued.remove(&withdrawn.item_id);
                let preview = self.preview(&withdrawn.item_id);
                let by = notes::by(withdrawn.by.as_ref(), &self.client_id);
                self.aside(Tone::Dim, &format!("◆ taken back{by}: {preview}"));
            }
            Body::MessageExpired(expired) => {
                self.queued.remove(&expired.item_id);
                let preview = self.preview(&expired.item_id);
                self.aside(Tone::Warn, &format!("◆ expired before a turn had it: {preview}"));
            }
            Body::MessagesDelivered(delivered) => {
                for item_id in &delivered.item_ids {
                    let preview = self.preview(item_id);
                    self.note(Tone::Dim, &format!("◆ the running turn got: {preview}"));
                }
            }
            Body::TurnStarted(started) => {
                for item_id in &started.item_ids {
                    if self.queued.remove(item_id) {
                        let preview = self.preview(item_id);
                        self.note(Tone::Dim, &format!("▸ now: {preview}"));
                    }
                }
            }
            Body::AssistantMessage(message) => self.assistant(message),
            Body::QuestionAsked(asked) => self.question(asked),
            Body::ApprovalRequested(requested) => self.approval(requested),
            Body::TurnCompleted(_)
            | Body::TurnFailed(_)
            | Body::TurnInterrupted(_)
            | Body::TurnSuspended(_) => self.turn_ended(&event.turn_id),
            Body::ToolCallStarted(started) => self.call_started(&started.call_id),
            Body::ToolCallFinished(finished) => self.call_finished(&finished.call_id),
            Body::AttemptRestarted(_) => {
                self.end_stream();
                self.tell(event);
            }
            _ => self.tell(event),
        }
    }

    /// A turn is over, or stands still.
    fn turn_ended(&mut self, turn_id: &str) {
        let Some(turn) = self.transcript.turn(turn_id) else { return };
        let is_over = turn.state.is_over();
        for line in turn::ended(turn, &self.client_id) {
            self.note(line.tone, &line.text);
        }
        if is_over {
            self.canvas.gap();
        }
    }

    fn tell(&mut self, event: &v1::Event) {
        if let Some(line) = notes::event(event, &self.client_id) {
            self.aside(line.tone, &line.text);
        }
    }

    fn accepted(&mut self, message: &v1::MessageAccepted, turn_is_open: bool) {
        let waits = turn_is_open && !matches!(message.delivery(), v1::Delivery::Interrupt);
        if waits {
            self.queued.insert(message.item_id.clone());
        }
        if self.own.remove(&message.client_message_id) {
            return;
        }
        let author = message.author.clone().unwrap_or_default();
        let name = if author.client_id == self.client_id && self.canvas.mode() != Mode::Raw {
            "you".to_owned()
        } else {
            one_line(&author.name, PREVIEW_WIDTH)
        };
        self.canvas.named(&name, &message.text);
        if waits {
            let how = match message.delivery() {
                v1::Delivery::Steer => "  for the running turn",
                _ => "  queued",
            };
            let standing = turn::standing(message.priority(), message.expires_at_ms);
            self.aside(Tone::Dim, &format!("{how}{standing}"));
        }
    }

    fn preview(&self, item_id: &str) -> String {
        let text = self.transcript.message(item_id).map_or("a message", |known| &known.text);
        one_line(text, PREVIEW_WIDTH)
    }

    /// Tells who came and who went, but not about ourselves.
    fn participants(&mut self) {
        let names: Vec<String> = self
            .transcript
            .participants()
            .iter()
            .filter_map(|participant| participant.author.as_ref())
            .filter(|author| author.client_id != self.client_id)
            .map(|author| one_line(&author.name, PREVIEW_WIDTH))
            .collect();
        let before = self.present.replace(names.clone());
        match before {
            None if names.is_empty() => {}
            None => self.aside(Tone::Dim, &format!("◆ also here: {}", names.join(", "))),
            Some(before) => {
                for name in names.iter().filter(|name| !before.contains(name)) {
                    self.aside(Tone::Dim, &format!("◆ {name} joined"));
                }
                for name in before.iter().filter(|name| !names.contains(name)) {
                    self.aside(Tone::Dim, &format!("◆ {name} left"));
                }
            }
        }
    }

    /// Follows the terminal to a new width. An open end that cannot be replaced there stays as it
    /// is, and what comes after it is written below.
    pub(crate) fn resize(&mut self, size: Size) {
        self.height = size.reach();
        if self.canvas.outgrows(size.columns) {
            self.canvas.keep_drawn();
            if let Some(stream) = &mut self.stream {
                stream.keep_drawn();
            }
            self.open_has_grown = true;
        }
        if size.text_width() != self.canvas.look().width {
            self.canvas.set_width(size.text_width());
            self.open_has_grown |= self.stream.is_some() || !self.running.is_empty();
        }
    }

    /// Tells whether there is something to write.
    pub(crate) fn is_due(&self) -> bool {
        self.open_has_grown || self.canvas.is_due()
    }
}

#[cfg(test)]
mod tests;
