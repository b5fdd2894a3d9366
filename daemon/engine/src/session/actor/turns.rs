//! Starting, hearing and cancelling turns.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agentd_domain::{Author, EventBody, InterruptReason, Priority, Seq, TurnId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use tracing::field::Empty;

use super::{Actor, Running};
use crate::goals;
use crate::roots::Roots;
use crate::session::OpenCall;
use crate::session::decide::{self, Draft, NextStep};
use crate::session::live::LiveItem;
use crate::session::plans;
use crate::slots::SlotRequest;
use crate::turn::{self, Times, TurnReport, TurnTask};
use crate::usage::Used;

impl Actor {
    pub(super) fn take_next_step(&mut self) {
        if self.stopping || self.store_retry_at.is_some() {
            return;
        }
        self.keep_place_in_line();
        match decide::next_step(&self.state, self.running.is_some()) {
            NextStep::Wait => {}
            NextStep::StartTurn => {
                let turn_id = self.deps.ids.turn_id(self.deps.clock.now());
                self.spawn_turn(turn_id, Vec::new(), 0);
            }
            NextStep::ContinueTurn => {
                if let Some(turn) = &self.state.turn {
                    let (turn_id, calls) = (turn.turn_id, turn.open_calls.clone());
                    let rounds = turn.rounds.saturating_sub(turn.rounds_granted_at);
                    self.spawn_turn(turn_id, calls, rounds);
                }
            }
            NextStep::CancelTurn { by } => {
                self.cancel_turn(InterruptReason::NewMessage, Some(by));
            }
        }
    }

    /// A turn that waits for a place waits with the priority of the message that it will answer.
    fn keep_place_in_line(&self) {
        if let (Some(running), None, Some(next)) =
            (&self.running, &self.state.turn, self.state.next_message())
        {
            self.deps.slots.move_to(running.ticket, next.priority);
        }
    }

    /// Stands in line for a place: as the message does that is next, or as the turn that goes on.
    fn request_slot(&self) -> SlotRequest {
        let turn = self.state.turn.as_ref().map(|turn| (turn.priority, turn.active_since));
        let next = self.state.next_message().map(|next| (next.priority, next.accepted_at));
        let (priority, since) =
            turn.or(next).unwrap_or_else(|| (Priority::Normal, self.deps.clock.now()));
        self.deps.slots.request(priority, since)
    }

    pub(super) fn spawn_turn(&mut self, turn_id: TurnId, open_calls: Vec<OpenCall>, rounds: u32) {
        let cancel = CancellationToken::new();
        let slot = self.request_slot();
        let ticket = slot.ticket();
        let used = self.state.turn.as_ref().map(|turn| Used::of(&turn.usage, &turn.cost));
        self.account.begin_turn(used.unwrap_or_default());
        let task = TurnTask {
            account: Arc::clone(&self.account),
            session_id: self.id,
            turn_id,
            roots: Roots::of(&self.state.record),
            model: self.state.record.model.clone(),
            effort: self.state.record.effort,
            read_from: match self.state.recall_from {
                Seq::ZERO => self.state.context_from,
                from => from.min(self.state.context_from),
            },
            pins: self.state.pins.clone(),
            outside_text: self.state.outside_text,
            project_sha256: self.state.project_sha256.clone(),
            project: None,
            kept: self.kept.take(),
            resume: self.state.turn.is_some().then_some(open_calls),
            rounds,
            deps: Arc::clone(&self.deps),
            reports: self.report_tx.clone(),
            cancel: cancel.clone(),
            times: Times::start(self.state.turn.is_some()),
            files: Arc::clone(&self.files),
            standing: self.standing.subscribe(),
        };
        // The root of its trace: the task around it lasts as long as the session is live.
        let span = tracing::info_span!(
            parent: None, "turn", session_id = %self.id, %turn_id, error.type = Empty,
        );
        self.turns.spawn(turn::run(task, slot).instrument(span));
        self.running = Some(Running {
            turn_id,
            cancel,
            ticket,
            interrupt: None,
            waiting: Vec::new(),
            abort_at: None,
        });
        self.gauges.running.store(true, Ordering::Relaxed);
    }

    pub(super) async fn on_report(&mut self, report: TurnReport) {
        match report {
            TurnReport::Start { turn_id, provider, model, effort, reply } => {
                // It may have waited for its place, and for its model.
                if let Err(error) = self.expire_messages().await {
                    let _cancelled = reply.send(Err(error));
                    return;
                }
                // What is told is not told again, so only a turn that begins asks for it.
                let news = match self.state.next_message() {
                    Some(_) => {
                        let mut news = self.deps.tools.session_notes(self.id);
                        // Only a session that begins: it has not been told before.
                        if self.state.record.turns == 0 {
                            let workspace = &self.state.record.workspace;
                            news.extend(goals::note(&self.deps, workspace).await);
                        }
                        news
                    }
                    None => Vec::new(),
                };
                let started = match decide::start_turn(
                    &self.state,
                    turn_id,
                    &provider,
                    &model,
                    effort,
                    &news,
                ) {
                    None => Ok(None),
                    Some(draft) => {
                        let recorded = self.record(vec![draft], Vec::new()).await;
                        recorded.map(|_seq| Some(self.state.record.last_seq))
                    }
                };
                let _cancelled = reply.send(started);
            }
            TurnReport::Delta { item_id, channel, text } => {
                if self.live.as_ref().is_none_or(|live| live.item_id != item_id) {
                    self.live = Some(LiveItem::new(item_id));
                }
                if let Some(live) = &mut self.live {
                    let delta = live.extend(channel, text);
                    for subscriber in &self.subscribers {
                        subscriber.push_delta(&delta);
                    }
                    let interval = self.deps.config.borrow().partial_interval;
                    let now = Instant::now();
                    self.partial_due.get_or_insert_with(|| now + interval);
                    // A model that is always ahead of us must not keep the timer from its turn.
                    self.store_partial_if_due(now);
                }
            }
            TurnReport::Output { call_id, text } => {
                let is_open = self.state.turn.as_ref().is_some_and(|turn| {
                    turn.open_calls.iter().any(|open| open.call.call_id == call_id)
                });
                // What comes after the result is too late to be shown.
                if is_open {
                    let delta = self.outputs.extend(call_id, text);
                    for subscriber in &self.subscribers {
                        subscriber.push_delta(&delta);
                    }
                }
            }
            TurnReport::Record { bodies, done } => {
                let recorded = self.record_of_turn(bodies).await;
                if let Err(error) = &recorded {
                    tracing::error!(session_id = %self.id, %error, "a turn could not be recorded");
                }
                if let Some(done) = done {
                    let _cancelled = done.send(recorded.map(|_seq| ()));
                }
            }
            TurnReport::Plan { command, reply } => {
                let _cancelled = reply.send(plans::answer(&self.state, command));
            }
            TurnReport::Ask { ask, reply } => self.ask(ask, reply).await,
            TurnReport::Question { question, reply } => self.question(question, reply).await,
            TurnReport::Announce { announcement, reply } => {
                self.announce(announcement, reply).await;
            }
            TurnReport::Keep(kept) => self.kept = Some(kept),
            TurnReport::FoldAfter(reason) => self.fold_after(reason),
            TurnReport::TakeSteering { reply } => {
                let expired = self.expire_messages().await;
                let steered = match (expired, decide::deliver_steering(&self.state)) {
                    (Err(error), _) => Err(error),
                    (Ok(()), None) => Ok(Vec::new()),
                    (Ok(()), Some(draft)) => {
                        let texts = self.steering_texts(&draft);
                        self.record(vec![draft], Vec::new()).await.map(|_seq| texts)
                    }
                };
                let _cancelled = reply.send(steered);
            }
        }
    }

    pub(super) fn steering_texts(&self, draft: &Draft) -> Vec<Arc<str>> {
        let EventBody::MessagesDelivered(delivered) = &draft.body else { return Vec::new() };
        self.state
            .queue
            .iter()
            .filter(|queued| delivered.item_ids.contains(&queued.item_id))
            .map(|queued| Arc::clone(&queued.text))
            .collect()
    }

    pub(super) fn cancel_turn(&mut self, reason: InterruptReason, by: Option<Author>) {
        let Some(running) = &mut self.running else { return };
        if running.interrupt.is_none() {
            running.interrupt = Some((reason, by));
            running.cancel.cancel();
            running.abort_at = Some(Instant::now() + self.deps.config.borrow().turn_grace);
        }
    }

    /// Ends the bookkeeping of a turn's task.
    pub(super) fn turn_is_over(&mut self) -> Option<Running> {
        self.gauges.running.store(false, Ordering::Relaxed);
        self.idle_since = Instant::now();
        self.partial_due = None;
        self.asked.clear();
        self.questioned = None;
        self.running.take()
    }
}
