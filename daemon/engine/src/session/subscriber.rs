//! The queue between a session's actor and one attached terminal.
//!
//! The actor never waits for a terminal: deltas of one item merge while they wait, and a queue that
//! grows too long is dropped, after which the terminal reads the log again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{
    Author, CallId, Event, EventBody, ItemId, Seq, SummaryLine, TimestampMs, floor_char_boundary,
};
use tokio::sync::Notify;

/// Which text a delta extends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeltaSource {
    /// The model's reasoning in a message.
    Reasoning(ItemId),
    /// The text of a message.
    Text(ItemId),
    /// What a running call shows.
    Output(CallId),
}

/// More text of something that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// What it belongs to.
    pub source: DeltaSource,
    /// Bytes of that text before this delta.
    pub offset: usize,
    /// The text.
    pub text: String,
}

/// A terminal that is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Participant {
    /// Who.
    pub author: Author,
    /// Since when.
    pub attached_at: TimestampMs,
}

/// Why a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// The daemon is stopping.
    Stopping,
    /// The session was deleted.
    Deleted,
    /// The session's actor failed; attaching again loads the session anew.
    Failed,
}

/// The terminal's end of its queue. Dropping it anywhere on its way to the terminal leaves.
#[derive(Debug)]
pub(crate) struct Seat(pub(crate) Arc<Subscriber>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What goes to a terminal.
#[derive(Debug, Clone)]
pub(crate) enum Outgoing {
    Event(Arc<Event>),
    Delta(Delta),
    Presence(Vec<Participant>),
}

/// What a terminal finds in its queue.
#[derive(Debug)]
pub(crate) enum Taken {
    /// These, in order.
    Items(Vec<Outgoing>),
    /// It was too slow: ask for a restart.
    Lagged,
    /// The restart: read the log up to here, then go on with what is in the queue.
    Restarted(Seq),
    /// There will be no more.
    End(StreamEnd),
}

/// Durable events that may wait: a burst of a turn's end, not a replay.
const MAX_EVENTS: usize = 1024;
/// Bytes of text that may wait: several seconds of the fastest model.
const MAX_DELTA_BYTES: usize = 1024 * 1024;
/// Pieces that may wait: text that alternates between reasoning and answer does not merge.
const MAX_ITEMS: usize = 4096;
/// Text in one message of the stream, well below the 4 MiB of a gRPC message.
const MAX_BATCH_BYTES: usize = 256 * 1024;
/// Events in one message of the stream.
const MAX_BATCH_ITEMS: usize = 256;

/// One terminal's queue. Internally synchronised; no method waits.
#[derive(Debug)]
pub(crate) struct Subscriber {
    pub(crate) participant: Participant,
    queue: Mutex<Queue>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<Outgoing>,
    events: usize,
    delta_bytes: usize,
    /// Bytes of text that the last restart gave; they do not count against the limit.
    restart_bytes: usize,
    /// Who is attached, when the terminal does not know it yet. Only the newest counts.
    presence: Option<Vec<Participant>>,
    lagged: bool,
    restarted: Option<Seq>,
    gone: bool,
    end: Option<StreamEnd>,
    sent: Option<Sent>,
    /// How much of the output of running calls the terminal already has.
    sent_outputs: Vec<(CallId, usize)>,
}

/// Everything that is not finished, as far as it has come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LiveText<'a> {
    /// The message that is being written: its id, its reasoning and its text.
    pub(crate) message: Option<(ItemId, &'a str, &'a str)>,
    /// What running calls have shown.
    pub(crate) outputs: &'a [(CallId, String)],
}

/// How much of the item that is being written the terminal already has.
#[derive(Debug, Clone, Copy)]
struct Sent {
    item_id: ItemId,
    reasoning: usize,
    text: usize,
}

impl Subscriber {
    pub(crate) fn new(participant: Participant) -> Self {
        Self { participant, queue: Mutex::default(), wake: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic while the lock was held leaves at worst a queue that lags.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a durable event.
    pub(crate) fn push_event(&self, event: &Arc<Event>) {
        let mut queue = self.lock();
        if queue.lagged || queue.gone {
            return;
        }
        queue.events += 1;
        queue.items.push_back(Outgoing::Event(Arc::clone(event)));
        queue.lag_if_too_long();
        drop(queue);
        self.wake.notify_one();
    }

    /// Queues more text, merged with what waits.
    pub(crate) fn push_delta(&self, delta: &Delta) {
        let mut queue = self.lock();
        if queue.lagged || queue.gone {
            return;
        }
        queue.push_delta(delta);
        queue.lag_if_too_long();
        drop(queue);
        self.wake.notify_one();
    }

    /// Queues who is attached.
    pub(crate) fn push_presence(&self, participants: &[Participant]) {
        let mut queue = self.lock();
        if queue.gone {
            return;
        }
        queue.presence = Some(participants.to_vec());
        drop(queue);
        self.wake.notify_one();
    }

    /// Begins with the text of the item that is being written.
    pub(crate) fn begin(&self, live: LiveText<'_>) {
        self.lock().push_missing(live);
        self.wake.notify_one();
    }

    /// Starts anew after a lag: the terminal reads the log up to `head`, then gets the text of the
    /// item that is being written from where it has it. Asked again, it changes nothing.
    pub(crate) fn restart(&self, head: Seq, live: LiveText<'_>) {
        let mut queue = self.lock();
        if !queue.lagged || queue.gone {
            return;
        }
        queue.lagged = false;
        queue.restarted = Some(head);
        queue.push_missing(live);
        drop(queue);
        self.wake.notify_one();
    }

    /// Ends the stream once what waits is taken.
    pub(crate) fn end(&self, end: StreamEnd) {
        self.lock().end.get_or_insert(end);
        self.wake.notify_one();
    }

    /// The terminal has gone: nothing more is queued.
    pub(crate) fn leave(&self) {
        let mut queue = self.lock();
        queue.gone = true;
        queue.lag();
    }

    /// True when the terminal has gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.lock().gone
    }

    /// Waits for something to send.
    ///
    /// # Cancel safety
    /// Nothing is taken before the future is ready.
    pub(crate) async fn take(&self) -> Taken {
        loop {
            if let Some(taken) = self.lock().take() {
                return taken;
            }
            self.wake.notified().await;
        }
    }
}

impl Queue {
    fn lag(&mut self) {
        self.items = VecDeque::new();
        self.events = 0;
        self.delta_bytes = 0;
        self.lagged = true;
        self.restarted = None;
    }

    fn lag_if_too_long(&mut self) {
        if self.events > MAX_EVENTS
            || self.items.len() > MAX_ITEMS
            || self.delta_bytes > MAX_DELTA_BYTES + self.restart_bytes
        {
            self.lag();
        }
    }

    /// Queues what the terminal does not have yet of the item that is being written.
    fn push_missing(&mut self, live: LiveText<'_>) {
        self.restart_bytes = 0;
        if let Some((item_id, reasoning, text)) = live.message {
            let sent = self.sent.filter(|sent| sent.item_id == item_id);
            let (from, of_text) = sent.map_or((0, 0), |sent| (sent.reasoning, sent.text));
            self.push_rest(DeltaSource::Reasoning(item_id), reasoning, from);
            self.push_rest(DeltaSource::Text(item_id), text, of_text);
        }
        // The ends of the others may have passed by in the log.
        self.sent_outputs
            .retain(|(sent, _)| live.outputs.iter().any(|(call_id, _)| call_id == sent));
        for (call_id, output) in live.outputs {
            let sent = self.sent_outputs.iter().find(|(sent, _)| sent == call_id);
            let from = sent.map_or(0, |(_, bytes)| *bytes);
            self.push_rest(DeltaSource::Output(call_id.clone()), output, from);
        }
    }

    fn push_rest(&mut self, source: DeltaSource, whole: &str, offset: usize) {
        if let Some(missing) = whole.get(offset..).filter(|missing| !missing.is_empty()) {
            self.restart_bytes += missing.len();
            self.push_delta(&Delta { source, offset, text: missing.to_owned() });
        }
    }

    fn push_delta(&mut self, delta: &Delta) {
        self.delta_bytes += delta.text.len();
        if let Some(Outgoing::Delta(last)) = self.items.back_mut()
            && last.source == delta.source
            && last.offset + last.text.len() == delta.offset
        {
            last.text.push_str(&delta.text);
        } else {
            self.items.push_back(Outgoing::Delta(delta.clone()));
        }
    }

    fn take(&mut self) -> Option<Taken> {
        if self.lagged {
            // The end outweighs the lag: there is nothing to go back for.
            return Some(self.end.map_or(Taken::Lagged, Taken::End));
        }
        if let Some(head) = self.restarted.take() {
            return Some(Taken::Restarted(head));
        }
        if self.items.is_empty() && self.presence.is_none() {
            return self.end.map(Taken::End);
        }
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < MAX_BATCH_ITEMS
            && bytes < MAX_BATCH_BYTES
            && let Some(item) = self.items.pop_front()
        {
            let item = match item {
                Outgoing::Event(event) => {
                    self.events -= 1;
                    self.note_event(&event);
                    // Tool outputs are the large ones; others are small beside the limit.
                    bytes += rough_size(&event);
                    Outgoing::Event(event)
                }
                Outgoing::Delta(delta) => {
                    let (delta, rest) = split(delta, MAX_BATCH_BYTES - bytes);
                    bytes += delta.text.len();
                    self.delta_bytes -= delta.text.len();
                    self.note_sent(&delta);
                    if let Some(rest) = rest {
                        self.items.push_front(Outgoing::Delta(rest));
                    }
                    Outgoing::Delta(delta)
                }
                Outgoing::Presence(participants) => Outgoing::Presence(participants),
            };
            batch.push(item);
        }
        batch.extend(self.presence.take().map(Outgoing::Presence));
        Some(Taken::Items(batch))
    }

    fn note_sent(&mut self, delta: &Delta) {
        let end = delta.offset + delta.text.len();
        match &delta.source {
            DeltaSource::Reasoning(item_id) => self.sent_of(*item_id).reasoning = end,
            DeltaSource::Text(item_id) => self.sent_of(*item_id).text = end,
            DeltaSource::Output(call_id) => {
                match self.sent_outputs.iter_mut().find(|(sent, _)| sent == call_id) {
                    Some((_, bytes)) => *bytes = end,
                    None => self.sent_outputs.push((call_id.clone(), end)),
                }
            }
        }
    }

    fn sent_of(&mut self, item_id: ItemId) -> &mut Sent {
        let nothing = Sent { item_id, reasoning: 0, text: 0 };
        let sent = self.sent.get_or_insert(nothing);
        if sent.item_id != item_id {
            *sent = nothing;
        }
        sent
    }

    /// Forgets about calls that have ended.
    fn note_event(&mut self, event: &Event) {
        match &event.body {
            EventBody::ToolCallFinished(finished) => {
                self.sent_outputs.retain(|(call_id, _)| *call_id != finished.call_id);
            }
            EventBody::TurnCompleted(_)
            | EventBody::TurnFailed(_)
            | EventBody::TurnInterrupted(_) => self.sent_outputs.clear(),
            _ => {}
        }
    }
}

/// Cuts a delta so that the first part has at most `max` bytes, but at least one character.
fn split(mut delta: Delta, max: usize) -> (Delta, Option<Delta>) {
    if delta.text.len() <= max {
        return (delta, None);
    }
    let mut at = floor_char_boundary(&delta.text, max);
    if at == 0 {
        at = delta.text.chars().next().map_or(0, char::len_utf8);
    }
    let text = delta.text.split_off(at);
    let rest = Delta { text, offset: delta.offset + at, source: delta.source.clone() };
    let rest = (!rest.text.is_empty()).then_some(rest);
    (delta, rest)
}

/// About how many bytes an event takes on the wire.
pub(crate) fn rough_size(event: &Event) -> usize {
    const SMALL: usize = 200;
    match &event.body {
        EventBody::MessageAccepted(accepted) => SMALL + accepted.text.len(),
        EventBody::AssistantMessage(message) => {
            let calls: usize =
                message.tool_calls.iter().map(|call| SMALL + call.arguments_json.len()).sum();
            SMALL + message.reasoning.len() + message.text.len() + calls
        }
        EventBody::ToolCallStarted(started) => SMALL + started.arguments_json.len(),
        EventBody::ToolCallFinished(finished) => {
            SMALL + finished.output.len() + finished.diff.len()
        }
        EventBody::ContextCompacted(compacted) => {
            let pins: usize = compacted.pins.iter().map(String::len).sum();
            let line = |line: &SummaryLine| SMALL + line.text.len() + 16 * line.from.len();
            SMALL + pins + compacted.lines.iter().map(line).sum::<usize>()
        }
        EventBody::TurnsRecalled(recalled) => SMALL + recalled.text.len(),
        EventBody::MemoriesTold(told) => SMALL + told.text.len(),
        EventBody::PinsChanged(changed) => {
            SMALL + changed.pins.iter().map(String::len).sum::<usize>()
        }
        EventBody::Unknown(unknown) => SMALL + unknown.record_json.len(),
        _ => SMALL,
    }
}

#[cfg(test)]
mod tests;
