//! What becomes of the messages of a session, counted from its events.

use std::collections::{BTreeMap, BTreeSet};

use agentd_proto::v1;
use agentd_proto::v1::event::Body;

/// Counts of one session, or of many.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sessions: u64,
    pub(crate) events: u64,
    /// Messages that reached an end.
    pub(crate) messages: u64,
    /// Ends of turns and of messages that had none, by kind; failures by their code.
    pub(crate) ends: BTreeMap<String, u64>,
    /// Turns by who was asked.
    pub(crate) providers: BTreeMap<String, u64>,
    /// Answers that were begun anew after text was shown.
    pub(crate) restarts: u64,
    pub(crate) tool_calls: u64,
    /// Clients that left within a turn and came back.
    pub(crate) resumed: u64,
    /// Clients that read too slowly and were sent back to the log.
    pub(crate) lagged: u64,
    /// Connections that broke by themselves.
    pub(crate) lost: u64,
    /// From the start of each turn to its end, in milliseconds.
    pub(crate) turn_ms: Vec<i64>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.events += other.events;
        self.messages += other.messages;
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        for (provider, count) in other.providers {
            *self.providers.entry(provider).or_default() += count;
        }
        self.restarts += other.restarts;
        self.tool_calls += other.tool_calls;
        self.resumed += other.resumed;
        self.lagged += other.lagged;
        self.lost += other.lost;
        self.turn_ms.extend(other.turn_ms);
    }

    /// Turns that ended.
    pub(crate) fn turns(&self) -> u64 {
        u64::try_from(self.turn_ms.len()).expect("few")
    }

    fn end(&mut self, what: &str) {
        *self.ends.entry(what.to_owned()).or_default() += 1;
    }
}

/// A turn that runs.
#[derive(Debug)]
struct Turn {
    id: String,
    started_at_ms: i64,
    item_ids: Vec<String>,
}

/// The messages of one session. Panics at what no log may hold.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    last_seq: u64,
    waiting: BTreeSet<String>,
    turn: Option<Turn>,
    over: BTreeSet<String>,
    pub(crate) tally: Tally,
}

impl Ledger {
    /// The newest durable event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// True when the message reached an end.
    pub(crate) fn is_over(&self, item_id: &str) -> bool {
        self.over.contains(item_id)
    }

    /// True when nothing runs and nothing waits.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.turn.is_none() && self.waiting.is_empty()
    }

    /// Takes in an event of the stream.
    pub(crate) fn take(&mut self, event: &v1::Event) {
        if event.seq == 0 {
            return;
        }
        assert_eq!(event.seq, self.last_seq + 1, "a gap or a repetition: {event:?}");
        self.last_seq = event.seq;
        self.tally.events += 1;
        match event.body.as_ref().expect("a body") {
            Body::MessageAccepted(message) => {
                assert!(self.waiting.insert(message.item_id.clone()), "accepted twice: {event:?}");
            }
            Body::MessageWithdrawn(message) => self.never_ran(&message.item_id, "withdrawn"),
            Body::MessageExpired(message) => self.never_ran(&message.item_id, "expired"),
            Body::TurnStarted(started) => {
                self.leave_queue(&started.item_ids);
                *self.tally.providers.entry(started.provider.clone()).or_default() += 1;
                let (id, item_ids) = (event.turn_id.clone(), started.item_ids.clone());
                let before = self.turn.replace(Turn { id, started_at_ms: event.at_ms, item_ids });
                assert!(before.is_none(), "two turns at once: {before:?}, {event:?}");
            }
            Body::MessagesDelivered(delivered) => {
                self.leave_queue(&delivered.item_ids);
                let turn = self.turn.as_mut().expect("a turn that they are delivered to");
                turn.item_ids.extend(delivered.item_ids.iter().cloned());
            }
            Body::AttemptRestarted(_) => self.tally.restarts += 1,
            Body::ToolCallFinished(_) => self.tally.tool_calls += 1,
            Body::TurnCompleted(completed) => {
                let end = completed.end().as_str_name().trim_start_matches("TURN_END_");
                self.turn_ended(event, &format!("completed, {}", end.to_lowercase()));
            }
            Body::TurnFailed(failed) => {
                let code = failed.error.as_ref().map_or("", |error| &error.code);
                self.turn_ended(event, &format!("failed, {code}"));
            }
            Body::TurnInterrupted(_) => self.turn_ended(event, "interrupted"),
            _ => {}
        }
    }

    fn leave_queue(&mut self, item_ids: &[String]) {
        for item_id in item_ids {
            assert!(self.waiting.remove(item_id), "{item_id} ran and did not wait");
        }
    }

    fn never_ran(&mut self, item_id: &str, what: &str) {
        self.leave_queue(&[item_id.to_owned()]);
        self.message_over(item_id);
        self.tally.end(&format!("message {what}"));
    }

    fn turn_ended(&mut self, event: &v1::Event, what: &str) {
        let turn = self.turn.take().expect("a turn that ends");
        assert_eq!(turn.id, event.turn_id, "another turn ended: {event:?}");
        self.tally.turn_ms.push(event.at_ms - turn.started_at_ms);
        self.tally.end(&format!("turn {what}"));
        for item_id in &turn.item_ids {
            self.message_over(item_id);
        }
    }

    fn message_over(&mut self, item_id: &str) {
        assert!(self.over.insert(item_id.to_owned()), "{item_id} ended twice");
        self.tally.messages += 1;
    }
}
