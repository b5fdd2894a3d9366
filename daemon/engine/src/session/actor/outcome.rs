//! What the actor does when a turn's task ends.

use agentd_domain::{
    ErrorReport, EventBody, InterruptReason, SuspendReason, TitleSource, TurnCompleted, TurnEnd,
    TurnFailed, TurnId, TurnInterrupted, TurnSuspended,
};

use super::Actor;
use crate::config::TitlePolicy;
use crate::session::decide::{self, Draft};
use crate::session::{approvals, questions};
use crate::turn::TurnOutcome;

impl Actor {
    pub(super) async fn on_turn_end(&mut self, outcome: TurnOutcome) {
        let Some(running) = self.turn_is_over() else { return };
        match outcome {
            TurnOutcome::NothingToDo => {}
            TurnOutcome::Completed { end, last, offline } => {
                self.complete_turn(end, last).await;
                if !offline
                    && self.deps.config().titles == TitlePolicy::Model
                    && self.state.wants_title(TitleSource::Model)
                {
                    self.make_title();
                }
            }
            TurnOutcome::RoundsUsedUp => {
                let question_id = self.deps.ids.question_id(self.deps.clock.now());
                let drafts = decide::rounds_used_up(&self.state, question_id);
                self.finish(drafts).await;
            }
            TurnOutcome::Failed { error, last } => {
                self.fail_turn(running.turn_id, error, last).await;
            }
            // Not even its start could be stored: its message waits, and so does the next try.
            TurnOutcome::StoreFailed if self.state.turn.is_none() => self.wait_for_store(),
            TurnOutcome::StoreFailed => {
                let report = ErrorReport {
                    code: "STORE_UNAVAILABLE".to_owned(),
                    message: "the turn ended because its progress could not be stored".to_owned(),
                    hint: "check the disk of the data directory, then send the message again"
                        .to_owned(),
                    retryable: true,
                };
                self.fail_turn(running.turn_id, report, Vec::new()).await;
            }
            TurnOutcome::Cancelled { last } => {
                let (reason, by) = running.interrupt.unwrap_or((InterruptReason::NotResumed, None));
                self.interrupted(running.turn_id, last, reason, by.as_ref()).await;
            }
        }
        self.fold_now().await;
        self.rest_before_looking();
        // When the end is not stored yet, dropping the replies makes their senders ask again.
        if self.store_retry_at.is_none() {
            for reply in running.waiting {
                let _left = reply.send(Ok(true));
            }
        }
    }

    async fn complete_turn(&mut self, end: TurnEnd, last: Vec<EventBody>) {
        let mut drafts = self.drafts_of_turn(last);
        let after = self.preview(&drafts);
        if let Some(turn) = &after.turn {
            drafts.push(Draft::of(
                turn.turn_id,
                TurnCompleted {
                    end,
                    rounds: turn.rounds,
                    usage: turn.usage,
                    elapsed_ms: turn.elapsed_ms(self.deps.clock.now()),
                },
            ));
        }
        self.finish(drafts).await;
    }

    pub(super) async fn fail_turn(
        &mut self,
        turn_id: TurnId,
        error: ErrorReport,
        last: Vec<EventBody>,
    ) {
        tracing::warn!(session_id = %self.id, code = error.code, message = error.message, "turn failed");
        let mut drafts = self.incomplete();
        drafts.extend(self.drafts_of_turn(last));
        drafts.extend(decide::close_calls(&self.state));
        if self.state.turn.is_none() {
            // It broke off before it began: its message must not start turns for ever.
            drafts.extend(decide::start_turn(&self.state, turn_id, "none", "", None, &[]));
        }
        let after = self.preview(&drafts);
        if let Some(turn) = &after.turn {
            drafts.push(Draft::of(turn.turn_id, TurnFailed { error, usage: turn.usage }));
        }
        self.finish(drafts).await;
    }

    /// A turn was cancelled: by a user for good, by the daemon's stop until the next start.
    async fn interrupted(
        &mut self,
        turn_id: TurnId,
        last: Vec<EventBody>,
        reason: InterruptReason,
        by: Option<&agentd_domain::Author>,
    ) {
        let mut drafts = self.incomplete();
        drafts.extend(self.drafts_of_turn(last));
        if self.state.turn.is_none() && reason == InterruptReason::User {
            // It was cancelled before it began: its message must not start another turn.
            drafts.extend(decide::start_turn(&self.state, turn_id, "none", "", None, &[]));
        }
        let after = self.preview(&drafts);
        let Some(turn) = &after.turn else { return };
        if self.stopping && reason == InterruptReason::NotResumed {
            drafts.extend(approvals::void(&after));
            drafts.extend(questions::void(&after));
            let suspended = TurnSuspended { reason: SuspendReason::DaemonStopped };
            drafts.push(Draft::of(turn.turn_id, suspended));
        } else {
            drafts.extend(decide::close_calls(&after));
            drafts.push(Draft::of(
                turn.turn_id,
                TurnInterrupted { reason, by: by.cloned(), usage: turn.usage },
            ));
        }
        self.finish(drafts).await;
    }

    fn incomplete(&mut self) -> Vec<Draft> {
        let Some(turn) = &self.state.turn else { return Vec::new() };
        self.live
            .as_ref()
            .and_then(|live| {
                decide::incomplete_message(
                    turn.turn_id,
                    live.item_id,
                    live.reasoning.clone(),
                    live.text.clone(),
                )
            })
            .into_iter()
            .collect()
    }

    async fn finish(&mut self, drafts: Vec<Draft>) {
        match self.record(drafts, Vec::new()).await {
            Ok(_seq) => self.deps.crash_points.pass("engine.turn_ended"),
            Err(error) => self.retry_store_later(&error),
        }
    }
}
