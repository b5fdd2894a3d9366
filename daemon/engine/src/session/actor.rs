//! The actor: the only owner and writer of a session.
//!
//! It waits for four things, in this order: the daemon's shutdown, commands, reports of the running
//! turn, and timers. Each is answered with pure decisions (`decide.rs`), which are committed to the
//! store, folded into the state and only then shown to the terminals.

mod approvals;
mod background;
mod commands;
mod folding;
mod outcome;
mod people;
mod record;
mod terminals;
mod turns;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentd_context::KeptConversation;
use agentd_domain::{
    ApprovalId, Author, Clock, IdSource, InterruptReason, MemoriesExtracted, QuestionId, Seq,
    SessionId, Title, TurnId,
};
use agentd_memory::Memories;
use agentd_store::{CrashPoints, Store, Write};
use agentd_tools::{Answer, FileChanges, FileLedger, Registry, UndoCopies};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::commands::refuse;
pub use self::folding::Compaction;
use self::folding::FoldingState;
use self::folding::Outcome as FoldingOutcome;
use super::approvals::Standing;
use super::live::{LiveItem, LiveOutputs};
use super::state::SessionState;
use super::subscriber::{StreamEnd, Subscriber};
use super::{Command, Gauges, Reply, decide, load};
use crate::calibrations::Calibrations;
use crate::config::{AutoResume, EngineConfig};
use crate::error::CommandError;
use crate::goals::GoalBook;
use crate::history::History;
use crate::model::ModelSource;
use crate::rules::RuleBook;
use crate::slots::{Ticket, TurnSlots};
use crate::slow_turns::SlowTurnTally;
use crate::tasks::Tasks;
use crate::turn::{TurnOutcome, TurnReport, Verdict};
use crate::usage::{Account, Spending};
use crate::watch::Watchers;

/// Reports that may wait. A turn that is ahead of its actor by more waits; its provider does too.
const REPORTS: usize = 256;

/// How long an actor whose turn could not be closed waits before it tries again.
const STORE_RETRY: Duration = Duration::from_secs(5);

/// A message that expires is looked at again after this time at the latest.
const EXPIRY_LOOK: Duration = Duration::from_secs(60);

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
    pub(crate) memories: Memories,
    /// Where copies of what changes replace are kept.
    pub(crate) undo: Option<Arc<UndoCopies>>,
    pub(crate) tasks: Tasks,
    /// Places for turns.
    pub(crate) slots: TurnSlots,
    pub(crate) spending: Arc<Spending>,
    pub(crate) slow_turns: SlowTurnTally,
    /// Rules of users and workspaces.
    pub(crate) rules: RuleBook,
    /// Goals of users and workspaces.
    pub(crate) goals: GoalBook,
    /// What was said, to be searched.
    pub(crate) history: History,
    /// What servers count beside what is counted here.
    pub(crate) calibrations: Calibrations,
    /// Who looks at all sessions.
    pub(crate) watchers: Watchers,
}

impl SessionDeps {
    /// The changes of files that an owner has made.
    pub(crate) fn changes_of(&self, owner: &str) -> Arc<FileChanges> {
        Arc::new(match &self.undo {
            Some(undo) => FileChanges::kept_in(Arc::clone(undo), owner.to_owned()),
            None => FileChanges::default(),
        })
    }

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
    /// Its request for a place.
    ticket: Ticket,
    /// Set once it is cancelled.
    pub(super) interrupt: Option<(InterruptReason, Option<Author>)>,
    /// Who waits for its end.
    pub(super) waiting: Vec<Reply<bool>>,
    /// When it is aborted if it does not stop by itself.
    abort_at: Option<Instant>,
}

/// What has come of work that no user waited for.
#[derive(Debug)]
pub(super) enum Made {
    Title(Option<Title>),
    Memories(Option<MemoriesExtracted>),
    /// Older turns are folded, or are not.
    Folded(Box<FoldingOutcome>),
    /// It broke off.
    Nothing,
}

/// How an actor's task has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing is left to do for now.
    AtRest,
    /// The session has to be opened again for its work to go on.
    OutOfStep,
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
    reports: mpsc::Receiver<TurnReport>,
    report_tx: mpsc::Sender<TurnReport>,
    turns: JoinSet<TurnOutcome>,
    /// Work that no user waits for. It ends before the actor does, so that what it used is recorded.
    background: JoinSet<Made>,
    /// When the session is looked through for memories.
    extract_at: Option<Instant>,
    /// Who waits until it is.
    looking: Option<Reply<bool>>,
    /// The last look came to nothing: the next one waits until the session rests.
    look_failed: bool,
    folding: FoldingState,
    pub(super) running: Option<Running>,
    pub(super) live: Option<LiveItem>,
    pub(super) outputs: LiveOutputs,
    /// What the session's requests have used.
    pub(super) account: Arc<Account>,
    /// What the last turn read of the log, so that the next one reads only what is new.
    kept: Option<KeptConversation>,
    /// What the session has read of which file.
    files: Arc<FileLedger>,
    subscribers: Vec<Arc<Subscriber>>,
    /// Calls of the turn that wait for people.
    asked: HashMap<ApprovalId, oneshot::Sender<Verdict>>,
    /// The call of the turn that has asked the users something.
    questioned: Option<(QuestionId, oneshot::Sender<Answer>)>,
    /// What calls may do, for the turn.
    standing: watch::Sender<Standing>,
    gauges: Arc<Gauges>,
    /// What becomes of a turn that is found open; none: what is configured.
    resume: Option<AutoResume>,
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
        gauges: Arc<Gauges>,
        resume: Option<AutoResume>,
    ) -> Self {
        let (report_tx, reports) = mpsc::channel(REPORTS);
        let account = Arc::new(Account::new(Arc::clone(&deps.spending)));
        let files = Arc::new(FileLedger::of(deps.changes_of(&id.to_string())));
        Self {
            id,
            deps,
            state: SessionState::new(id),
            commands,
            reports,
            report_tx,
            turns: JoinSet::new(),
            background: JoinSet::new(),
            extract_at: None,
            looking: None,
            look_failed: false,
            folding: FoldingState::default(),
            running: None,
            live: None,
            outputs: LiveOutputs::default(),
            account,
            kept: None,
            files,
            subscribers: Vec::new(),
            asked: HashMap::new(),
            questioned: None,
            standing: watch::Sender::new(Standing::default()),
            gauges,
            resume,
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
    pub(crate) async fn run(mut self, shutdown: CancellationToken, forget: impl FnOnce()) -> Ended {
        if let Err(error) = self.load().await {
            if !matches!(error, CommandError::NoSession(_)) {
                tracing::error!(session_id = %self.id, %error, "a session could not be loaded");
            }
            forget();
            self.commands.close();
            while let Ok(command) = self.commands.try_recv() {
                match (command, &error) {
                    // What cannot be read can still be removed.
                    (Command::Delete { reply }, CommandError::Read(_)) => {
                        let _left = reply.send(self.delete().await);
                    }
                    (command, error) => refuse(command, || load::same_error(error, self.id)),
                }
            }
            // What is damaged stays so; a disk may have room again.
            return match error {
                CommandError::Commit(_) => Ended::OutOfStep,
                _ => Ended::AtRest,
            };
        }
        let exit = self.work(shutdown).await;
        self.background.shutdown().await;
        let ended = if matches!(exit, Exit::OutOfStep) {
            self.turns.shutdown().await;
            Ended::OutOfStep
        } else {
            if !matches!(exit, Exit::Deleted(_)) {
                self.record_left_over().await;
            }
            self.write_snapshot_if(1).await;
            Ended::AtRest
        };
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
        self.gauges.approvals.store(0, Ordering::Relaxed);
        self.gauges.queued.store(0, Ordering::Relaxed);
        ended
    }

    async fn load(&mut self) -> Result<(), CommandError> {
        self.deps.spending.load(&*self.deps.store).await?;
        let loaded = load::load(&*self.deps.store, self.id).await?;
        self.state = loaded.state;
        self.account.open(&self.state.record);
        self.standing.send_replace(Standing::of(&self.state));
        self.snapshot_seq = loaded.snapshot_seq;
        self.marked_unfinished = self.state.is_unfinished();
        let mut drafts = decide::found_after_stop(&self.state, loaded.partial);
        let found = self.preview(&drafts);
        drafts.extend(decide::resume_policy(
            &found,
            self.resume.unwrap_or(self.deps.config().auto_resume),
            self.deps.ids.question_id(self.deps.clock.now()),
        ));
        if !drafts.is_empty() {
            tracing::info!(session_id = %self.id, "found a turn that was running when the daemon stopped");
            self.record(drafts, vec![Write::ClearPartial(self.id)]).await?;
        }
        self.count_queue();
        self.show_record();
        self.rest_before_looking();
        Ok(())
    }

    async fn work(&mut self, shutdown: CancellationToken) -> Exit {
        // What cannot be stored is logged there, and tried again later.
        let _tried_later = self.expire_messages().await;
        self.take_next_step();
        let mut config = self.deps.config.clone();
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
                Some(made) = self.background.join_next() => {
                    // What was used is recorded also when nothing came of it.
                    self.on_made(made.unwrap_or(Made::Nothing)).await;
                }
                // When to wake depends on it.
                Ok(()) = config.changed() => {}
                () = &mut timer => {
                    if self.on_timer().await {
                        return Exit::Unloaded;
                    }
                }
            }
            if self.store_retry_at.is_none() {
                let _tried_later = self.expire_messages().await;
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

    /// Returns true when the session should be unloaded.
    pub(super) async fn on_timer(&mut self) -> bool {
        let now = Instant::now();
        self.store_partial_if_due(now);
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
        if self.extract_at.is_some_and(|at| at <= now) {
            self.look_for_memories();
        }
        self.is_idle() && now >= self.idle_since + self.deps.config.borrow().idle_unload
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none()
            && self.background.is_empty()
            && self.extract_at.is_none()
            && self.subscribers.is_empty()
            && self.store_retry_at.is_none()
    }

    pub(super) fn next_wake(&self) -> Instant {
        let idle_unload = self.deps.config.borrow().idle_unload;
        let idle = (self.is_idle()).then(|| self.idle_since + idle_unload);
        let abort = self.running.as_ref().and_then(|running| running.abort_at);
        // While the store takes nothing, nothing can be said to have expired.
        let expiry = self.state.next_expiry().filter(|_| self.store_retry_at.is_none());
        let expiry = expiry.map(|at| {
            let left = Duration::from_millis(at.since(self.deps.clock.now()));
            // The time of day may be set meanwhile.
            Instant::now() + left.min(EXPIRY_LOOK)
        });
        [self.partial_due, self.extract_at, abort, self.store_retry_at, idle, expiry]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or_else(|| Instant::now() + idle_unload)
    }
}

impl Drop for Actor {
    /// After a panic the terminals must not wait for ever.
    fn drop(&mut self) {
        self.end_streams(StreamEnd::Failed);
    }
}
