//! The actor: the only owner and writer of a session.
//!
//! It waits for four things, in this order: the daemon's shutdown, commands, reports of the running
//! turn, and timers. Each is answered with pure decisions (`decide.rs`), which are committed to the
//! store, folded into the state and only then shown to the terminals.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentd_domain::{
    Author, Clock, ErrorReport, Event, EventBody, IdSource, InterruptReason, Seq, SessionId,
    TurnId, UsagePurpose, UsageRecorded,
};
use agentd_store::{AcceptedMessage, Batch, CommitError, CrashPoints, Store, Write};
use agentd_tools::Registry;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::decide::{self, Draft, NextStep};
use super::live::LiveItem;
use super::load;
use super::state::SessionState;
use super::subscriber::{Participant, Seat, StreamEnd, Subscriber};
use super::{Command, Gauges, Joined, Reply, SessionView, Submission, Submitted, TitleUsage};
use crate::config::EngineConfig;
use crate::error::CommandError;
use crate::model::ModelSource;
use crate::tasks::Tasks;
use crate::turn::{self, TurnOutcome, TurnReport, TurnTask};

/// Reports that may wait. A turn that is ahead of its actor by more waits; its provider does too.
const REPORTS: usize = 256;

/// How long an actor whose turn could not be closed waits before it tries again.
const STORE_RETRY: Duration = Duration::from_secs(5);

/// What every session needs.
#[derive(Debug)]
pub(crate) struct SessionDeps {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) models: Arc<dyn ModelSource>,
    pub(crate) tools: Registry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) config: watch::Receiver<EngineConfig>,
    pub(crate) crash_points: CrashPoints,
    pub(crate) tasks: Tasks,
}

impl SessionDeps {
    /// The configuration as it is now.
    pub(crate) fn config(&self) -> EngineConfig {
        self.config.borrow().clone()
    }
}

/// The task of a turn, and what is to happen when it ends.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) turn_id: TurnId,
    cancel: CancellationToken,
    /// Set once it is cancelled.
    pub(super) interrupt: Option<(InterruptReason, Option<Author>)>,
    /// Who waits for its end.
    pub(super) waiting: Vec<Reply<bool>>,
    /// When it is aborted if it does not stop by itself.
    abort_at: Option<Instant>,
}

/// Why an actor ends.
#[derive(Debug)]
enum Exit {
    Unloaded,
    /// The log may be ahead of the state: the next opening reads it anew.
    OutOfStep,
    Stopping,
    Deleted(Reply<()>),
}

/// See the page.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(super) id: SessionId,
    pub(super) deps: Arc<SessionDeps>,
    pub(super) state: SessionState,
    commands: mpsc::Receiver<Command>,
    own_commands: mpsc::WeakSender<Command>,
    reports: mpsc::Receiver<TurnReport>,
    report_tx: mpsc::Sender<TurnReport>,
    turns: JoinSet<TurnOutcome>,
    pub(super) running: Option<Running>,
    pub(super) live: Option<LiveItem>,
    subscribers: Vec<Arc<Subscriber>>,
    gauges: Arc<Gauges>,
    snapshot_seq: Seq,
    marked_unfinished: bool,
    pub(super) stopping: bool,
    /// A commit failed in a way that leaves open whether it was kept.
    out_of_step: bool,
    partial_due: Option<Instant>,
    pub(super) store_retry_at: Option<Instant>,
    idle_since: Instant,
}

impl Actor {
    pub(crate) fn new(
        id: SessionId,
        deps: Arc<SessionDeps>,
        commands: mpsc::Receiver<Command>,
        own_commands: mpsc::WeakSender<Command>,
        gauges: Arc<Gauges>,
    ) -> Self {
        let (report_tx, reports) = mpsc::channel(REPORTS);
        Self {
            id,
            deps,
            state: SessionState::new(id),
            commands,
            own_commands,
            reports,
            report_tx,
            turns: JoinSet::new(),
            running: None,
            live: None,
            subscribers: Vec::new(),
            gauges,
            snapshot_seq: Seq::ZERO,
            marked_unfinished: false,
            stopping: false,
            out_of_step: false,
            partial_due: None,
            store_retry_at: None,
            idle_since: Instant::now(),
        }
    }

    /// Loads the session and works until it is idle for long, deleted, or the daemon stops.
    /// `forget` takes the session out of the engine's map; after it nobody sends commands.
    pub(crate) async fn run(mut self, shutdown: CancellationToken, forget: impl FnOnce()) {
        if let Err(error) = self.load().await {
            if !matches!(error, CommandError::NoSession(_)) {
                tracing::error!(session_id = %self.id, %error, "a session could not be loaded");
            }
            forget();
            self.commands.close();
            while let Ok(command) = self.commands.try_recv() {
                refuse(command, || match &error {
                    CommandError::Read(error) => CommandError::Read(Arc::clone(error)),
                    _ => CommandError::NoSession(self.id),
                });
            }
            return;
        }
        let exit = self.work(shutdown).await;
        if matches!(exit, Exit::OutOfStep) {
            self.turns.shutdown().await;
        } else {
            self.write_snapshot_if(1).await;
        }
        forget();
        self.commands.close();
        match exit {
            // Commands that slipped in are dropped with their reply, which makes their senders
            // open the session again.
            Exit::Unloaded => {}
            Exit::OutOfStep => self.end_streams(StreamEnd::Failed),
            Exit::Stopping => {
                self.end_streams(StreamEnd::Stopping);
                while let Ok(command) = self.commands.try_recv() {
                    refuse(command, || CommandError::Stopping);
                }
            }
            Exit::Deleted(reply) => {
                self.end_streams(StreamEnd::Deleted);
                while let Ok(command) = self.commands.try_recv() {
                    refuse(command, || CommandError::Deleted(self.id));
                }
                let _client_left = reply.send(Ok(()));
            }
        }
        self.gauges.running.store(false, Ordering::Relaxed);
        self.gauges.attached.store(0, Ordering::Relaxed);
    }

    async fn load(&mut self) -> Result<(), CommandError> {
        let loaded = load::load(&*self.deps.store, self.id).await?;
        self.state = loaded.state;
        self.snapshot_seq = loaded.snapshot_seq;
        self.marked_unfinished = self.state.is_unfinished();
        let mut drafts = decide::found_after_stop(&self.state, loaded.partial);
        let found = self.preview(&drafts);
        drafts.extend(decide::resume_policy(
            &found,
            self.deps.config().auto_resume,
            self.deps.ids.question_id(self.deps.clock.now()),
        ));
        if !drafts.is_empty() {
            tracing::info!(session_id = %self.id, "found a turn that was running when the daemon stopped");
            self.record(drafts, vec![Write::ClearPartial(self.id)]).await?;
        }
        Ok(())
    }

    async fn work(&mut self, shutdown: CancellationToken) -> Exit {
        self.take_next_step();
        loop {
            let wake_at = self.next_wake();
            let mut timer = pin!(tokio::time::sleep_until(wake_at));
            tokio::select! {
                biased;
                () = shutdown.cancelled(), if !self.stopping => {
                    self.stopping = true;
                    self.cancel_turn(InterruptReason::NotResumed, None);
                }
                command = self.commands.recv() => {
                    // Without handles nobody can ask for anything any more.
                    let Some(command) = command else { return Exit::Unloaded };
                    if let Some(exit) = self.on_command(command).await {
                        return exit;
                    }
                }
                Some(report) = self.reports.recv() => self.on_report(report).await,
                Some(ended) = self.turns.join_next() => {
                    // The turn's own reports come before its end.
                    while let Ok(report) = self.reports.try_recv() {
                        self.on_report(report).await;
                    }
                    let outcome = ended.unwrap_or_else(|error| TurnOutcome::from_join_error(&error));
                    self.on_turn_end(outcome).await;
                }
                () = &mut timer => {
                    if self.on_timer().await {
                        return Exit::Unloaded;
                    }
                }
            }
            if self.out_of_step {
                return Exit::OutOfStep;
            }
            if self.stopping && self.running.is_none() {
                return Exit::Stopping;
            }
            self.take_next_step();
            let snapshot_every = self.deps.config.borrow().snapshot_every;
            self.write_snapshot_if(snapshot_every).await;
        }
    }

    async fn on_command(&mut self, command: Command) -> Option<Exit> {
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
            Command::Update { title, model, by, reply } => {
                let _left = reply.send(self.update(title.as_ref(), model, by).await);
            }
            Command::View { reply } => {
                let _left = reply.send(Ok(self.view()));
            }
            Command::Attach { author, reply } => {
                let joined = self.attach(author);
                let left = reply.send(Ok(joined)).is_err();
                if left {
                    self.drop_gone_subscribers();
                }
            }
            Command::Resync { subscriber, reply } => {
                self.restart(&subscriber);
                let _left = reply.send(Ok(self.state.record.last_seq));
            }
            Command::Detach => self.drop_gone_subscribers(),
            Command::TitleMade { title, usage } => self.title_made(title, usage).await,
            Command::Delete { reply } => match self.delete().await {
                Ok(()) => return Some(Exit::Deleted(reply)),
                Err(error) => {
                    let _left = reply.send(Err(error));
                }
            },
        }
        None
    }

    async fn submit(&mut self, submission: Submission) -> Result<Submitted, CommandError> {
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
        let drafts = decide::submit(&self.state, submission, item_id, limits)?;
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
    fn position(&self, item_id: agentd_domain::ItemId) -> usize {
        self.state.queue_in_order().position(|queued| queued.item_id == item_id).unwrap_or(0)
    }

    async fn interrupt(&mut self, turn_id: Option<TurnId>, by: Author, reply: Reply<bool>) {
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

    async fn update(
        &mut self,
        title: Option<&agentd_domain::Title>,
        model: Option<String>,
        by: Option<Author>,
    ) -> Result<SessionView, CommandError> {
        let mut drafts = Vec::new();
        if let Some(title) = title
            && (self.state.record.title != title.as_str()
                || self.state.record.title_source != Some(agentd_domain::TitleSource::Manual))
        {
            drafts.push(decide::renamed(title, agentd_domain::TitleSource::Manual, by.clone()));
        }
        if let Some(model) = model {
            drafts.extend(decide::change_model(&self.state, model, by)?);
        }
        self.record(drafts, Vec::new()).await?;
        Ok(self.view())
    }

    fn view(&self) -> SessionView {
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
        }
    }

    async fn title_made(&mut self, title: Option<agentd_domain::Title>, usage: Option<TitleUsage>) {
        let mut drafts = Vec::new();
        if let Some(TitleUsage { provider, model, usage, elapsed_ms }) = usage {
            drafts.push(Draft::plain(UsageRecorded {
                purpose: UsagePurpose::Title,
                provider,
                model,
                usage,
                first_byte_ms: 0,
                elapsed_ms,
            }));
        }
        if let Some(title) = title
            && self.state.wants_title(agentd_domain::TitleSource::Model)
        {
            drafts.push(decide::renamed(&title, agentd_domain::TitleSource::Model, None));
        }
        if let Err(error) = self.record(drafts, Vec::new()).await {
            tracing::warn!(session_id = %self.id, %error, "the title could not be stored");
        }
    }

    async fn delete(&mut self) -> Result<(), CommandError> {
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
        self.turns.shutdown().await;
        self.running = None;
        self.deps.store.commit(Batch::of(Write::DeleteSession(self.id))).await?;
        // Nothing may write to the log any more, a snapshot included.
        self.snapshot_seq = self.state.record.last_seq;
        Ok(())
    }

    async fn on_report(&mut self, report: TurnReport) {
        match report {
            TurnReport::Start { turn_id, provider, model, reply } => {
                let started = match decide::start_turn(&self.state, turn_id, &provider, &model) {
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
                    self.partial_due.get_or_insert_with(|| Instant::now() + interval);
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
            TurnReport::TakeSteering { reply } => {
                let steered = match decide::deliver_steering(&self.state) {
                    None => Ok(Vec::new()),
                    Some(draft) => {
                        let texts = self.steering_texts(&draft);
                        self.record(vec![draft], Vec::new()).await.map(|_seq| texts)
                    }
                };
                let _cancelled = reply.send(steered);
            }
        }
    }

    fn steering_texts(&self, draft: &Draft) -> Vec<Arc<str>> {
        let EventBody::MessagesDelivered(delivered) = &draft.body else { return Vec::new() };
        self.state
            .queue
            .iter()
            .filter(|queued| delivered.item_ids.contains(&queued.item_id))
            .map(|queued| Arc::clone(&queued.text))
            .collect()
    }

    /// Returns true when the session should be unloaded.
    async fn on_timer(&mut self) -> bool {
        let now = Instant::now();
        if self.partial_due.is_some_and(|due| due <= now) {
            self.partial_due = None;
            if let Some(live) = &self.live {
                let partial = live.to_partial();
                // Dropped when the store is busy: the next one has all of the text.
                self.deps
                    .store
                    .commit_later(Batch::of(Write::PutPartial { session_id: self.id, partial }));
            }
        }
        if let Some(running) = &mut self.running
            && running.abort_at.is_some_and(|at| at <= now)
        {
            running.abort_at = None;
            tracing::warn!(session_id = %self.id, turn_id = %running.turn_id, "a turn did not stop in time and was aborted");
            self.turns.abort_all();
        }
        if self.store_retry_at.is_some_and(|at| at <= now) {
            self.store_retry_at = None;
            self.close_stalled_turn().await;
        }
        self.drop_gone_subscribers();
        self.is_idle() && now >= self.idle_since + self.deps.config.borrow().idle_unload
    }

    fn is_idle(&self) -> bool {
        self.running.is_none() && self.subscribers.is_empty() && self.store_retry_at.is_none()
    }

    fn next_wake(&self) -> Instant {
        let idle_unload = self.deps.config.borrow().idle_unload;
        let idle = (self.is_idle()).then(|| self.idle_since + idle_unload);
        let abort = self.running.as_ref().and_then(|running| running.abort_at);
        [self.partial_due, abort, self.store_retry_at, idle]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or_else(|| Instant::now() + idle_unload)
    }

    fn take_next_step(&mut self) {
        if self.stopping || self.store_retry_at.is_some() {
            return;
        }
        match decide::next_step(&self.state, self.running.is_some()) {
            NextStep::Wait => {}
            NextStep::StartTurn => {
                let turn_id = self.deps.ids.turn_id(self.deps.clock.now());
                self.spawn_turn(turn_id, Vec::new(), 0);
            }
            NextStep::ContinueTurn => {
                if let Some(turn) = &self.state.turn {
                    let (turn_id, calls) = (turn.turn_id, turn.open_calls.clone());
                    let rounds = turn.rounds - turn.rounds_granted_at;
                    self.spawn_turn(turn_id, calls, rounds);
                }
            }
            NextStep::CancelTurn { by } => {
                self.cancel_turn(InterruptReason::NewMessage, Some(by));
            }
        }
    }

    fn spawn_turn(&mut self, turn_id: TurnId, open_calls: Vec<super::OpenCall>, rounds: u32) {
        let cancel = CancellationToken::new();
        let task = TurnTask {
            session_id: self.id,
            turn_id,
            workspace: self.state.record.workspace.clone().into(),
            model: self.state.record.model.clone(),
            context_from: self.state.context_from,
            resume: self.state.turn.is_some().then_some(open_calls),
            rounds,
            deps: Arc::clone(&self.deps),
            reports: self.report_tx.clone(),
            cancel: cancel.clone(),
        };
        let span = tracing::info_span!("turn", session_id = %self.id, %turn_id);
        self.turns.spawn(tracing::Instrument::instrument(turn::run(task), span));
        self.running =
            Some(Running { turn_id, cancel, interrupt: None, waiting: Vec::new(), abort_at: None });
        self.gauges.running.store(true, Ordering::Relaxed);
    }

    fn cancel_turn(&mut self, reason: InterruptReason, by: Option<Author>) {
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
        self.running.take()
    }

    /// Makes a title with the model, away from the session's own work.
    pub(super) fn make_title(&self) {
        crate::title::spawn(&self.deps, self.id, self.state.record.model.clone(), {
            let commands = self.own_commands.clone();
            move |title, usage| {
                if let Some(commands) = commands.upgrade() {
                    // A full mailbox or an unloaded session keeps the title it has.
                    let _kept = commands.try_send(Command::TitleMade { title, usage });
                }
            }
        });
    }

    pub(super) async fn record_of_turn(
        &mut self,
        bodies: Vec<EventBody>,
    ) -> Result<Seq, CommandError> {
        let turn_id = self.state.turn.as_ref().map(|turn| turn.turn_id);
        let drafts = bodies.into_iter().map(|body| Draft { turn_id, body }).collect();
        self.record(drafts, Vec::new()).await
    }

    async fn record_all(
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

    fn number(&self, drafts: &[Draft]) -> Vec<Event> {
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
        let events = self.number(&drafts);
        let mut next = self.state.clone();
        for event in &events {
            next.apply(event);
        }
        if events.iter().any(|event| SessionState::changes_index(&event.body)) {
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
        if !events.is_empty() {
            writes.insert(0, Write::Append { session_id: self.id, events: events.clone() });
        }
        if let Err(error) = self.deps.store.commit(Batch::from(writes)).await {
            self.out_of_step |= match error {
                CommitError::OutOfOrder { .. }
                | CommitError::Io(_)
                | CommitError::Corrupt { .. } => true,
                CommitError::DiskFull(_) | CommitError::Closed => false,
            };
            return Err(error.into());
        }
        self.marked_unfinished = unfinished;
        self.state = next;
        if closes_live {
            self.live = None;
            self.partial_due = None;
        }
        for event in events {
            let event = Arc::new(event);
            for subscriber in &self.subscribers {
                subscriber.push_event(&event);
            }
        }
        Ok(first)
    }

    fn closes_live(&self, body: &EventBody) -> bool {
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

    /// Closes a turn whose end could not be stored before.
    async fn close_stalled_turn(&mut self) {
        if self.running.is_some() || self.state.turn.is_none() {
            return;
        }
        let report = ErrorReport {
            code: "STORE_UNAVAILABLE".to_owned(),
            message: "the turn ended because its progress could not be stored".to_owned(),
            hint: "send the message again".to_owned(),
            retryable: true,
        };
        self.fail_turn(report, Vec::new()).await;
    }

    pub(super) fn retry_store_later(&mut self, error: &CommandError) {
        tracing::error!(session_id = %self.id, %error, "the end of a turn could not be stored");
        self.store_retry_at = Some(Instant::now() + STORE_RETRY);
    }

    async fn write_snapshot_if(&mut self, every: u64) {
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

    fn attach(&mut self, author: Author) -> Joined {
        self.drop_gone_subscribers();
        let participant = Participant { author, attached_at: self.deps.clock.now() };
        let subscriber = Arc::new(Subscriber::new(participant));
        self.subscribers.push(Arc::clone(&subscriber));
        self.restart(&subscriber);
        self.presence_changed();
        let participants = self.participants();
        Joined { seat: Seat(subscriber), head: self.state.record.last_seq, participants }
    }

    fn restart(&self, subscriber: &Subscriber) {
        subscriber
            .restart(self.live.as_ref().map(|live| (live.item_id, &*live.reasoning, &*live.text)));
    }

    fn participants(&self) -> Vec<Participant> {
        self.subscribers.iter().map(|subscriber| subscriber.participant.clone()).collect()
    }

    fn drop_gone_subscribers(&mut self) {
        let before = self.subscribers.len();
        self.subscribers.retain(|subscriber| !subscriber.is_gone());
        if self.subscribers.len() != before {
            self.idle_since = Instant::now();
            self.presence_changed();
        }
    }

    fn presence_changed(&self) {
        let participants = self.participants();
        self.gauges
            .attached
            .store(u32::try_from(participants.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        for subscriber in &self.subscribers {
            subscriber.push_presence(&participants);
        }
    }

    fn end_streams(&mut self, end: StreamEnd) {
        for subscriber in self.subscribers.drain(..) {
            subscriber.end(end);
        }
    }
}

impl Drop for Actor {
    /// After a panic the terminals must not wait for ever.
    fn drop(&mut self) {
        self.end_streams(StreamEnd::Failed);
    }
}

/// Answers a command with an error.
fn refuse(command: Command, error: impl FnOnce() -> CommandError) {
    // A client that has left does not mind.
    let _left = match command {
        Command::Submit { reply, .. } => reply.send(Err(error())).is_err(),
        Command::Withdraw { reply, .. } | Command::Answer { reply, .. } => {
            reply.send(Err(error())).is_err()
        }
        Command::Interrupt { reply, .. } => reply.send(Err(error())).is_err(),
        Command::Update { reply, .. } | Command::View { reply } => {
            reply.send(Err(error())).is_err()
        }
        Command::Attach { reply, .. } => reply.send(Err(error())).is_err(),
        Command::Resync { reply, .. } => reply.send(Err(error())).is_err(),
        Command::Delete { reply } => reply.send(Err(error())).is_err(),
        Command::Detach | Command::TitleMade { .. } => true,
    };
}
