//! What the actor does with each command.

use std::sync::Arc;

use agentd_domain::{
    Author, EventBody, InterruptReason, ItemId, Notice, NoticeLevel, Seq, TitleSource, TurnId,
};
use agentd_store::{AcceptedMessage, Batch, Write};

use tokio::time::Instant;

use super::{Actor, Exit};
use crate::by_hand::SessionPlace;
use crate::error::CommandError;
use crate::pins;
use crate::roots::Roots;
use crate::session::approvals::{self, Standing};
use crate::session::decide::{self, Draft};
use crate::session::plans;
use crate::session::{
    Command, PinChange, Reply, RequestParts, SessionUpdate, SessionView, Submission, Submitted,
};
use crate::usage::ledger;

impl Actor {
    pub(super) async fn on_command(&mut self, command: Command) -> Option<Exit> {
        self.idle_since = Instant::now();
        if self.stopping {
            refuse(command, || CommandError::Stopping);
            return None;
        }
        // A client that has left gets no answer; what it asked for stands.
        match command {
            Command::Submit { submission, reply } => {
                let _left = reply.send(self.submit(submission).await);
            }
            Command::Withdraw { item_id, by, reply } => {
                let drafts = decide::withdraw(&self.state, item_id, by);
                let _left = reply.send(self.record_all(drafts).await);
            }
            Command::Interrupt { turn_id, by, reply } => self.interrupt(turn_id, by, reply).await,
            Command::Answer { question_id, choice, by, reply } => {
                let now = self.deps.clock.now();
                let drafts = decide::answer(&self.state, question_id, &choice, &by, now);
                let _left = reply.send(self.record_all(drafts).await);
            }
            Command::AnswerApproval { answer, reply } => {
                let _left = reply.send(self.answer_approval(answer).await);
            }
            Command::RevokeRule { rule_id, by, reply } => {
                let drafts = approvals::revoke(&self.state, rule_id, by);
                let _left = reply.send(self.record_all(drafts).await);
            }
            Command::Update { update, by, reply } => {
                let _left = reply.send(self.update(update, by).await);
            }
            Command::View { reply } => {
                let _left = reply.send(Ok(self.view()));
            }
            Command::Place { reply } => {
                let _left = reply.send(Ok(SessionPlace {
                    roots: Roots::of(&self.state.record),
                    changes: Arc::clone(self.files.changes()),
                    standing: Standing::of(&self.state),
                }));
            }
            Command::FoldingView { reply } => {
                let _left = reply.send(Ok(self.folding_view()));
            }
            Command::Compact { reply } => self.compact(reply),
            Command::Pins { change, by, reply } => {
                let _left = reply.send(self.change_pins(change, by).await);
            }
            Command::RequestParts { reply } => {
                let _left = reply.send(Ok(RequestParts {
                    summary: self.state.summary,
                    project_document: self.state.project_document.clone(),
                }));
            }
            Command::Note { text, reply } => {
                let notice = Notice { level: NoticeLevel::Info, text };
                let told = self.record(vec![Draft::plain(notice)], Vec::new()).await;
                let _left = reply.send(told.map(|_seq| ()));
            }
            Command::LookForMemories { reply } => self.look_on_request(reply),
            Command::Attach { author, reply } => {
                let joined = self.attach(author);
                let left = reply.send(joined).is_err();
                if left {
                    self.drop_gone_subscribers();
                }
            }
            Command::Resync { subscriber, reply } => {
                subscriber.restart(self.state.record.last_seq, self.live_text());
                let _left = reply.send(Ok(()));
            }
            Command::Detach => self.drop_gone_subscribers(),
            Command::Delete { reply } => match self.delete().await {
                Ok(()) => return Some(Exit::Deleted(reply)),
                Err(error) => {
                    let _left = reply.send(Err(error));
                }
            },
        }
        None
    }

    pub(super) async fn submit(
        &mut self,
        submission: Submission,
    ) -> Result<Submitted, CommandError> {
        let client_message_id = submission.client_message_id.clone();
        if let Some(AcceptedMessage { item_id, seq }) =
            self.deps.store.accepted(self.id, &client_message_id).await?
        {
            return Ok(Submitted {
                item_id,
                seq,
                queue_position: self.position(item_id),
                duplicate: true,
            });
        }
        let config = self.deps.config();
        let item_id = self.deps.ids.item_id(self.deps.clock.now());
        let limits = (config.queue_limit, config.message_max_bytes);
        let drafts =
            decide::submit(&self.state, submission, item_id, self.deps.clock.now(), limits)?;
        let drafts = plans::interrupt(&self.state, drafts);
        let at = drafts
            .iter()
            .position(|draft| matches!(draft.body, EventBody::MessageAccepted(_)))
            .unwrap_or(0);
        let seq = Seq(self.state.record.last_seq.0 + 1 + at as u64);
        let accepted = Write::PutAccepted {
            session_id: self.id,
            client_message_id,
            accepted: AcceptedMessage { item_id, seq },
        };
        self.record(drafts, vec![accepted]).await?;
        self.deps.crash_points.pass("engine.accepted");
        let busy = usize::from(self.running.is_some() && self.state.turn.is_some());
        let queue_position = self.position(item_id) + busy;
        Ok(Submitted { item_id, seq, queue_position, duplicate: false })
    }

    /// Messages of the queue that run before this one.
    pub(super) fn position(&self, item_id: ItemId) -> usize {
        self.state.queue_in_order().position(|queued| queued.item_id == item_id).unwrap_or(0)
    }

    pub(super) async fn interrupt(
        &mut self,
        turn_id: Option<TurnId>,
        by: Author,
        reply: Reply<bool>,
    ) {
        let wanted = |open: TurnId| turn_id.is_none_or(|wanted| wanted == open);
        if self.running.as_ref().is_some_and(|running| wanted(running.turn_id)) {
            self.cancel_turn(InterruptReason::User, Some(by));
            if let Some(running) = &mut self.running {
                running.waiting.push(reply);
            }
            return;
        }
        if self.state.turn.as_ref().is_some_and(|open| wanted(open.turn_id)) {
            let drafts = decide::close_turn(&self.state, InterruptReason::User, Some(&by));
            let _left = reply.send(self.record(drafts, Vec::new()).await.map(|_seq| true));
            return;
        }
        let _left = reply.send(Ok(false));
    }

    pub(super) async fn update(
        &mut self,
        update: SessionUpdate,
        by: Option<Author>,
    ) -> Result<SessionView, CommandError> {
        let SessionUpdate { title, model, effort, permission_mode, work_mode } = update;
        let mut drafts =
            approvals::change_modes(&self.state, permission_mode, work_mode, by.as_ref());
        if let Some(title) = title
            && (self.state.record.title != title.as_str()
                || self.state.record.title_source != Some(TitleSource::Manual))
        {
            drafts.push(decide::renamed(&title, TitleSource::Manual, by.clone()));
        }
        if let Some(model) = model {
            drafts.extend(decide::change_model(&self.state, model, by.clone())?);
        }
        if let Some(effort) = effort {
            drafts.extend(decide::change_effort(&self.state, effort, by));
        }
        self.record(drafts, Vec::new()).await?;
        Ok(self.view())
    }

    async fn change_pins(
        &mut self,
        change: PinChange,
        by: Author,
    ) -> Result<Vec<String>, CommandError> {
        let draft = pins::change(&self.state.pins, change, by)?;
        self.record(draft.into_iter().collect(), Vec::new()).await?;
        Ok(self.state.pins.clone())
    }

    pub(super) fn view(&self) -> SessionView {
        SessionView {
            record: self.state.record.clone(),
            queue: self.state.queue_in_order().cloned().collect(),
            open_questions: self
                .state
                .turn
                .as_ref()
                .and_then(|turn| turn.question.clone())
                .into_iter()
                .collect(),
            participants: self.participants(),
            todo: self.state.todo.clone(),
            plan: self.state.plan.clone(),
            rules: self.state.rules.clone(),
            open_approvals: self
                .state
                .turn
                .as_ref()
                .map(|turn| turn.approvals.clone())
                .unwrap_or_default(),
        }
    }

    pub(super) async fn delete(&mut self) -> Result<(), CommandError> {
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
        self.turns.shutdown().await;
        self.background.shutdown().await;
        let _was_running = self.turn_is_over();
        self.deps.tools.end_session(Some(self.id)).await;
        // The log goes; what the last request used was used all the same.
        let used = self.number(&self.drafts_of_turn(Vec::new()));
        let mut writes: Vec<Write> = ledger::writes(&used).collect();
        writes.push(Write::DeleteSession(self.id));
        if let Err(error) = self.deps.store.commit(Batch::from(writes)).await {
            self.account.not_recorded();
            return Err(error.into());
        }
        self.account.recorded();
        self.deps.history.is_new(self.id);
        self.gauges.hide();
        self.deps.watchers.changed(self.id);
        // Nothing may write to the log any more, a snapshot included.
        self.snapshot_seq = self.state.record.last_seq;
        self.forget_copies().await;
        Ok(())
    }
}

impl Actor {
    /// Removes what was kept of the session's changes.
    async fn forget_copies(&self) {
        let Some(undo) = self.deps.undo.clone() else { return };
        let owner = self.id.to_string();
        let removed = tokio::task::spawn_blocking(move || undo.forget(&owner)).await;
        if let Err(error) = removed.map_err(std::io::Error::from).and_then(|removed| removed) {
            // The oldest copies go by themselves in the end.
            tracing::warn!(session_id = %self.id, %error, "copies of a deleted session are left");
        }
    }
}

/// Answers a command with an error.
pub(super) fn refuse(command: Command, error: impl FnOnce() -> CommandError) {
    // A client that has left does not mind.
    let _left = match command {
        Command::Submit { reply, .. } => reply.send(Err(error())).is_err(),
        Command::Withdraw { reply, .. }
        | Command::Answer { reply, .. }
        | Command::AnswerApproval { reply, .. }
        | Command::RevokeRule { reply, .. } => reply.send(Err(error())).is_err(),
        Command::Interrupt { reply, .. } | Command::LookForMemories { reply } => {
            reply.send(Err(error())).is_err()
        }
        Command::Place { reply } => reply.send(Err(error())).is_err(),
        Command::FoldingView { reply } => reply.send(Err(error())).is_err(),
        Command::Compact { reply } => reply.send(Err(error())).is_err(),
        Command::Pins { reply, .. } => reply.send(Err(error())).is_err(),
        Command::RequestParts { reply } => reply.send(Err(error())).is_err(),
        Command::Resync { reply, .. } | Command::Delete { reply } | Command::Note { reply, .. } => {
            reply.send(Err(error())).is_err()
        }
        Command::Update { reply, .. } | Command::View { reply } => {
            reply.send(Err(error())).is_err()
        }
        Command::Attach { reply, .. } => reply.send(Err(error())).is_err(),
        Command::Detach => true,
    };
}
