//! Making events durable, folding them in, showing them; and snapshots.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agentd_domain::{ErrorReport, Event, EventBody, PermissionRule, Seq};
use agentd_store::{Batch, CommitError, Write};
use tokio::time::Instant;

use super::{Actor, STORE_RETRY};
use crate::error::CommandError;
use crate::session::approvals;
use crate::session::decide::{self, Draft};
use crate::session::load;
use crate::session::plans;
use crate::session::questions;
use crate::session::state::SessionState;
use crate::usage::ledger;

impl Actor {
    /// Commits events, folds them in, shows them. Returns the position of the first.
    pub(super) async fn record(
        &mut self,
        drafts: Vec<Draft>,
        mut writes: Vec<Write>,
    ) -> Result<Seq, CommandError> {
        let first = self.state.record.last_seq.next();
        if drafts.is_empty() && writes.is_empty() {
            return Ok(first);
        }
        let drafts = plans::interrupt(&self.state, drafts);
        let events = self.number(&drafts);
        let mut next = self.state.clone();
        for event in &events {
            next.apply(event);
        }
        // Outside of a turn nothing follows that would bring the entry up to date.
        let is_at_rest = next.turn.is_none() && !events.is_empty();
        if is_at_rest || events.iter().any(|event| SessionState::changes_index(&event.body)) {
            writes.push(Write::PutSession(next.record.clone()));
        }
        let unfinished = next.is_unfinished();
        if unfinished != self.marked_unfinished {
            writes.push(if unfinished {
                Write::MarkUnfinished(self.id)
            } else {
                Write::ClearUnfinished(self.id)
            });
        }
        let closes_live = events.iter().any(|event| self.closes_live(&event.body));
        if closes_live {
            writes.push(Write::ClearPartial(self.id));
        }
        writes.extend(ledger::writes(&events));
        if !events.is_empty() {
            writes.insert(0, Write::Append { session_id: self.id, events: events.clone() });
        }
        let rules: Vec<PermissionRule> = writes.iter().filter_map(Write::rule).cloned().collect();
        if let Err(error) = self.deps.store.commit(Batch::from(writes)).await {
            self.out_of_step |= match error {
                CommitError::OutOfOrder { .. }
                | CommitError::Io(_)
                | CommitError::Corrupt { .. } => true,
                CommitError::DiskFull(_) | CommitError::Closed => false,
            };
            self.account.not_recorded();
            return Err(error.into());
        }
        self.account.recorded();
        if events.iter().any(|event| changes_prefix(&event.body)) {
            self.account.prefix_changes();
        }
        self.marked_unfinished = unfinished;
        self.state = next;
        self.count_queue();
        self.show_record();
        self.deps.history.recorded(self.id, &events);
        // First: what the answer lets go on is held to them.
        self.deps.rules.insert(rules);
        self.permissions_changed(&events);
        self.question_answered(&events);
        if closes_live {
            self.live = None;
            self.partial_due = None;
        }
        for event in events {
            self.close_outputs(&event.body);
            let event = Arc::new(event);
            for subscriber in &self.subscribers {
                subscriber.push_event(&event);
            }
        }
        Ok(first)
    }

    /// Takes out the messages and denies the calls for which it is too late, before anything is
    /// decided about the queue.
    pub(super) async fn expire_messages(&mut self) -> Result<(), CommandError> {
        let now = self.deps.clock.now();
        let mut drafts = decide::expire(&self.state, now);
        drafts.extend(approvals::expired(&self.state, now));
        drafts.extend(questions::expired(&self.state, now));
        if drafts.is_empty() {
            return Ok(());
        }
        let count = drafts.len();
        match self.record(drafts, Vec::new()).await {
            Ok(_seq) => {
                tracing::info!(session_id = %self.id, count, "messages expired before their turn, or approvals and questions without an answer");
                Ok(())
            }
            Err(error) => {
                tracing::error!(session_id = %self.id, %error, "an expiry could not be stored");
                self.wait_for_store();
                Err(error)
            }
        }
    }

    /// Shows the record to those who look at all sessions.
    pub(super) fn show_record(&self) {
        self.gauges.show(&self.state.record);
        self.deps.watchers.changed(self.id);
    }

    /// Shows how many messages wait.
    pub(super) fn count_queue(&self) {
        self.gauges.queued.store(self.state.record.queued_messages, Ordering::Relaxed);
    }

    pub(super) async fn record_of_turn(
        &mut self,
        bodies: Vec<EventBody>,
    ) -> Result<Seq, CommandError> {
        let drafts = self.drafts_of_turn(bodies);
        self.record(drafts, Vec::new()).await
    }

    /// Steps of the turn, and what requests have used meanwhile.
    pub(super) fn drafts_of_turn(&self, bodies: Vec<EventBody>) -> Vec<Draft> {
        let turn_id = self.state.turn.as_ref().map(|turn| turn.turn_id);
        let revision = self.state.todo.revision;
        let steps = bodies.into_iter().map(|mut body| {
            if let EventBody::TodoListChanged(changed) = &mut body {
                changed.list.revision = revision + 1;
            }
            Draft { turn_id, body }
        });
        let used = self.account.take().into_iter().map(|(purpose, body)| Draft {
            turn_id: turn_id.filter(|_| !purpose.is_background()),
            body,
        });
        steps.chain(used).collect()
    }

    /// Records what requests have used since the last step, such as a title's that was not finished.
    pub(super) async fn record_left_over(&mut self) {
        let drafts = self.drafts_of_turn(Vec::new());
        if let Err(error) = self.record(drafts, Vec::new()).await {
            tracing::warn!(session_id = %self.id, %error, "what a request used is not recorded");
        }
    }

    pub(super) async fn record_all(
        &mut self,
        drafts: Result<Vec<Draft>, CommandError>,
    ) -> Result<Seq, CommandError> {
        self.record(drafts?, Vec::new()).await
    }

    /// The state as it would be after these events.
    pub(super) fn preview(&self, drafts: &[Draft]) -> SessionState {
        let mut state = self.state.clone();
        for event in self.number(drafts) {
            state.apply(&event);
        }
        state
    }

    pub(super) fn number(&self, drafts: &[Draft]) -> Vec<Event> {
        let at = self.deps.clock.now();
        let mut seq = self.state.record.last_seq;
        drafts
            .iter()
            .map(|Draft { turn_id, body }| {
                seq = seq.next();
                Event { seq, at, turn_id: *turn_id, body: body.clone() }
            })
            .collect()
    }

    pub(super) fn closes_live(&self, body: &EventBody) -> bool {
        let Some(live) = &self.live else { return false };
        match body {
            EventBody::AssistantMessage(message) => message.item_id == live.item_id,
            EventBody::AttemptRestarted(restarted) => restarted.discarded_item_id == live.item_id,
            EventBody::TurnCompleted(_)
            | EventBody::TurnFailed(_)
            | EventBody::TurnInterrupted(_) => true,
            _ => false,
        }
    }

    fn close_outputs(&mut self, body: &EventBody) {
        match body {
            EventBody::ToolCallFinished(finished) => self.outputs.close(&finished.call_id),
            EventBody::TurnCompleted(_)
            | EventBody::TurnFailed(_)
            | EventBody::TurnSuspended(_)
            | EventBody::TurnInterrupted(_) => self.outputs.clear(),
            _ => {}
        }
    }

    /// Closes a turn whose end could not be stored before.
    pub(super) async fn close_stalled_turn(&mut self) {
        let Some(turn_id) = self.state.turn.as_ref().map(|turn| turn.turn_id) else { return };
        if self.running.is_some() {
            return;
        }
        let report = ErrorReport {
            code: "STORE_UNAVAILABLE".to_owned(),
            message: "the turn ended because its progress could not be stored".to_owned(),
            hint: "send the message again".to_owned(),
            retryable: true,
        };
        self.fail_turn(turn_id, report, Vec::new()).await;
    }

    pub(super) fn retry_store_later(&mut self, error: &CommandError) {
        tracing::error!(session_id = %self.id, %error, "the end of a turn could not be stored");
        self.wait_for_store();
    }

    /// Starts and ends no turn for a while.
    pub(super) fn wait_for_store(&mut self) {
        self.store_retry_at = Some(Instant::now() + STORE_RETRY);
    }

    /// Stores the text that is being written, if the last time is long enough ago.
    pub(super) fn store_partial_if_due(&mut self, now: Instant) {
        if self.partial_due.is_none_or(|due| due > now) {
            return;
        }
        self.partial_due = None;
        if let Some(live) = &self.live {
            // Dropped when the store is busy: the next one has all of the text.
            self.deps.store.commit_later(Batch::of(Write::PutPartial {
                session_id: self.id,
                partial: live.to_partial(),
            }));
        }
    }

    pub(super) async fn write_snapshot_if(&mut self, every: u64) {
        let last = self.state.record.last_seq;
        if last.0 < self.snapshot_seq.0 + every || self.running.is_some() {
            return;
        }
        let write = Write::PutSnapshot { session_id: self.id, snapshot: load::encode(&self.state) };
        self.deps.crash_points.pass("engine.before_snapshot");
        match self.deps.store.commit(Batch::of(write)).await {
            Ok(()) => self.snapshot_seq = last,
            Err(CommitError::Closed) => {}
            Err(error) => {
                tracing::warn!(session_id = %self.id, %error, "a snapshot could not be stored");
                // The log has everything; try again after as many events.
                self.snapshot_seq = last;
            }
        }
    }
}

/// True when the next request does not begin as the former one did.
fn changes_prefix(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::ContextTrimmed(_)
            | EventBody::ContextCompacted(_)
            | EventBody::ProjectDocumentChanged(_)
    )
}
