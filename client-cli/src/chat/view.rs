//! Draws a session from its events. It calls nothing and waits for nothing.

use std::collections::HashSet;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::text::one_line;
use agentd_shared::transcript::TextChannel;
use agentd_shared::{Change, Transcript};

use super::canvas::{Canvas, Mode};
use super::lines::{self, Tone};
use super::stream_text::StreamText;
use super::terminal::Size;
use crate::approval_text::{self, Extent};
use crate::style;

/// Items whose shown length is remembered; older ones are final.
const REMEMBERED: usize = 64;
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
    /// The open line has to be drawn anew.
    open_has_grown: bool,
    shown: Vec<Shown>,
    /// Messages that were shown as queued.
    queued: HashSet<String>,
    /// What was missed has been told.
    greeted: bool,
    /// Approvals in the order in which they were shown; their place is their number.
    approvals: Vec<String>,
    /// Names of the terminals attached, as far as they were told.
    present: Option<Vec<String>>,
}

/// How much of an item is on the screen, in bytes.
#[derive(Debug, Default)]
struct Shown {
    item_id: String,
    reasoning: usize,
    text: usize,
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
            open_has_grown: false,
            shown: Vec::new(),
            queued: HashSet::new(),
            greeted: false,
            approvals: Vec::new(),
            present: None,
        }
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
        match body {
            Body::MessageAccepted(message) => self.accepted(message, turn_was_open),
            Body::MessageWithdrawn(withdrawn) => {
                self.queued.remove(&withdrawn.item_id);
                let preview = self.preview(&withdrawn.item_id);
                let by = lines::by(withdrawn.by.as_ref(), &self.client_id);
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
            Body::TurnCompleted(completed) => {
                let turn = self.transcript.turn(&event.turn_id);
                let footer = lines::footer(completed, turn);
                self.note(Tone::Dim, &footer);
                self.canvas.gap();
            }
            Body::TurnFailed(failed) => {
                let error = failed.error.clone().unwrap_or_default();
                self.note(Tone::Error, &format!("✗ the turn failed: {}", error.message));
                if !error.hint.is_empty() {
                    self.note(Tone::Dim, &format!("  hint: {}", error.hint));
                }
                self.canvas.gap();
            }
            Body::TurnInterrupted(interrupted) => {
                let by = lines::by(interrupted.by.as_ref(), &self.client_id);
                let why = match interrupted.reason() {
                    v1::InterruptReason::NewMessage => ", for a new message",
                    v1::InterruptReason::NotResumed => ", not taken up again",
                    v1::InterruptReason::User | v1::InterruptReason::Unspecified => "",
                };
                self.note(Tone::Warn, &format!("■ interrupted{by}{why}"));
                self.canvas.gap();
            }
            Body::TurnSuspended(suspended)
                if suspended.reason() == v1::SuspendReason::DaemonStopped =>
            {
                self.note(Tone::Warn, "◆ the daemon stopped in the middle of this turn");
            }
            Body::ToolCallStarted(_) | Body::ToolCallFinished(_) | Body::AttemptRestarted(_) => {
                self.end_stream();
                self.tell(event);
            }
            _ => self.tell(event),
        }
    }

    fn tell(&mut self, event: &v1::Event) {
        if let Some(line) = lines::notes(event, &self.client_id) {
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
            let standing = lines::standing(message.priority(), message.expires_at_ms);
            self.aside(Tone::Dim, &format!("{how}{standing}"));
        }
    }

    fn preview(&self, item_id: &str) -> String {
        let text = self.transcript.message(item_id).map_or("a message", |known| &known.text);
        one_line(text, PREVIEW_WIDTH)
    }

    fn question(&mut self, asked: &v1::QuestionAsked) {
        self.note(Tone::Warn, &format!("? {}", asked.prompt));
        let choices: Vec<String> = asked
            .choices
            .iter()
            .enumerate()
            .map(|(index, choice)| format!("{}) {}", index + 1, one_line(choice, PREVIEW_WIDTH)))
            .collect();
        self.note(Tone::Dim, &format!("  type a choice: {}", choices.join("  ")));
    }

    /// Shows exactly what will run, and how to answer.
    fn approval(&mut self, requested: &v1::ApprovalRequested) {
        self.approvals.push(requested.approval_id.clone());
        let number = self.approvals.len();
        let mut lines = approval_text::lines(requested, Extent::Short).into_iter();
        let first = lines.next().unwrap_or_default();
        self.note(Tone::Warn, &format!("? #{number} {first}"));
        for line in lines {
            self.note(Tone::Warn, &format!("  {line}"));
        }
        let rules: Vec<String> = requested.rules.iter().map(approval_text::rule).collect();
        let always = match rules.as_slice() {
            [] => String::new(),
            rules => format!("  a) always in this session: {}", rules.join("; ")),
        };
        self.note(Tone::Dim, &format!("  y) allow once{always}  n) deny (or /deny REASON)"));
        self.note(Tone::Dim, &format!("  /approvals show {number} shows all of it"));
    }

    /// The number that an approval was shown with.
    pub(crate) fn approval_number(&self, approval_id: &str) -> Option<usize> {
        self.approvals.iter().position(|shown| shown == approval_id).map(|index| index + 1)
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

    fn live(&mut self, item_id: &str, channel: TextChannel, added: &str) {
        match channel {
            TextChannel::Text => self.shown(item_id).text += added.len(),
            TextChannel::Reasoning => self.shown(item_id).reasoning += added.len(),
            TextChannel::ToolOutput => {}
        }
        self.push(item_id, channel, added);
    }

    /// Draws what the final message holds and the screen does not.
    fn assistant(&mut self, message: &v1::AssistantMessage) {
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
            self.canvas.open(vec![style::paint(look.colored, style::DIM, "… thinking")]);
            // It ends the open row when something else comes.
            self.stream = Some(StreamText::new(item_id, channel));
            return;
        }
        let stream = self.stream.get_or_insert_with(|| StreamText::new(item_id, channel));
        for row in stream.push(added, look) {
            self.canvas.row(row);
        }
        self.open_has_grown = true;
    }

    /// Draws the open line anew if it has grown. Called once for each frame.
    pub(crate) fn draw_open(&mut self) {
        if std::mem::take(&mut self.open_has_grown)
            && let Some(stream) = &mut self.stream
        {
            self.canvas.open(stream.draw(self.canvas.look()));
        }
    }

    /// Follows the terminal to a new width. An open end that cannot be replaced there stays as it
    /// is, and what comes after it is written below.
    pub(crate) fn resize(&mut self, size: Size) {
        if self.canvas.outgrows(size.columns) {
            self.canvas.keep_drawn();
            if let Some(stream) = &mut self.stream {
                stream.keep_drawn();
            }
            self.open_has_grown = true;
        }
        if size.text_width() != self.canvas.look().width {
            self.canvas.set_width(size.text_width());
            self.open_has_grown |= self.stream.is_some();
        }
    }

    /// Tells whether there is something to write.
    pub(crate) fn is_due(&self) -> bool {
        self.open_has_grown || self.canvas.is_due()
    }

    /// Ends the text that is open, so that something else can follow.
    pub(crate) fn end_stream(&mut self) {
        let Some(mut stream) = self.stream.take() else { return };
        self.open_has_grown = false;
        if self.canvas.mode() == Mode::Raw {
            if stream.channel == TextChannel::Text {
                self.canvas.end_raw();
            }
            return;
        }
        self.canvas.open(Vec::new());
        for row in stream.finish(self.canvas.look()) {
            self.canvas.row(row);
        }
    }
}

#[cfg(test)]
mod tests;
