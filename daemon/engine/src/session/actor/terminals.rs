//! Attached terminals.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agentd_domain::Author;
use tokio::time::Instant;

use super::Actor;
use crate::error::CommandError;
use crate::session::Joined;
use crate::session::subscriber::{LiveText, Participant, Seat, StreamEnd, Subscriber};

/// Terminals of one session. Each may make the daemon hold about two megabytes while it does not read.
const MAX_TERMINALS: usize = 100;

impl Actor {
    pub(super) fn attach(&mut self, author: Author) -> Result<Joined, CommandError> {
        self.drop_gone_subscribers();
        if self.subscribers.len() >= MAX_TERMINALS {
            return Err(CommandError::TooManyTerminals { limit: MAX_TERMINALS });
        }
        let participant = Participant { author, attached_at: self.deps.clock.now() };
        let subscriber = Arc::new(Subscriber::new(participant));
        self.subscribers.push(Arc::clone(&subscriber));
        subscriber.begin(self.live_text());
        self.presence_changed();
        let participants = self.participants();
        Ok(Joined { seat: Seat(subscriber), head: self.state.record.last_seq, participants })
    }

    /// What is not finished.
    pub(super) fn live_text(&self) -> LiveText<'_> {
        let message = self.live.as_ref();
        LiveText {
            message: message.map(|live| (live.item_id, &*live.reasoning, &*live.text)),
            outputs: self.outputs.all(),
        }
    }

    pub(super) fn participants(&self) -> Vec<Participant> {
        self.subscribers.iter().map(|subscriber| subscriber.participant.clone()).collect()
    }

    pub(super) fn drop_gone_subscribers(&mut self) {
        let before = self.subscribers.len();
        self.subscribers.retain(|subscriber| !subscriber.is_gone());
        if self.subscribers.len() != before {
            self.idle_since = Instant::now();
            self.presence_changed();
        }
    }

    pub(super) fn presence_changed(&self) {
        let participants = self.participants();
        self.gauges
            .attached
            .store(u32::try_from(participants.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        self.deps.watchers.changed(self.id);
        for subscriber in &self.subscribers {
            subscriber.push_presence(&participants);
        }
    }

    pub(super) fn end_streams(&mut self, end: StreamEnd) {
        for subscriber in self.subscribers.drain(..) {
            subscriber.end(end);
        }
    }
}
