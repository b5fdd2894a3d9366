//! The door to all sessions: opens them on demand and sends commands to their actors.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_domain::{
    ApprovalRequested, Author, Clock, Effort, Event, IdSource, ItemId, PermissionMode, QuestionId,
    Seq, SessionCreated, SessionId, SessionRecord, Title, TurnId, WorkMode,
};
use agentd_memory::Memories;
use agentd_store::{
    Batch, CommitError, CrashPoints, Page, PageLimit, SessionCursor, SessionPage, Store, Write,
};
use agentd_tools::{Registry, UndoCopies};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::by_hand::Hands;
use crate::calibrations::Calibrations;
use crate::config::{AutoResume, EngineConfig};
use crate::error::CommandError;
use crate::goals::GoalBook;
use crate::history::History;
use crate::model::ModelSource;
use crate::roots;
use crate::rules::RuleBook;
use crate::session::{
    Actor, ApprovalAnswer, Command, Draft, Ended, Gauges, MAILBOX, Reply, SessionDeps,
    SessionHandle, SessionState, SessionUpdate, SessionView, Submission, Submitted,
    check_model_name,
};
use crate::slots::{SlotCounts, TurnSlots};
use crate::slow_turns::{SlowTurnTally, SlowTurns};
use crate::tasks::Tasks;
use crate::usage::Spending;
use crate::watch::Watchers;

/// Pause before a session whose actor broke is opened again.
const REOPEN_PAUSE: Duration = Duration::from_secs(10);

/// How often a command is sent again when the session's actor has just ended.
const REOPEN_ATTEMPTS: usize = 5;

/// What the engine is made of.
#[derive(Debug)]
pub struct EngineDeps {
    /// Where logs are.
    pub store: Arc<dyn Store>,
    /// Which model answers.
    pub models: Arc<dyn ModelSource>,
    /// What models may call.
    pub tools: Registry,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Randomness of ids.
    pub ids: Arc<dyn IdSource>,
    /// Limits and policies.
    pub config: watch::Receiver<EngineConfig>,
    /// Points at which tests kill the process.
    pub crash_points: CrashPoints,
    /// What holds from one session to the next.
    pub memories: Memories,
    /// Where copies of what changes replace are kept; none: in memory while a session is loaded.
    pub undo: Option<Arc<UndoCopies>>,
}

/// All sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    deps: Arc<SessionDeps>,
    live: Mutex<HashMap<SessionId, SessionHandle>>,
    /// Sessions that are being copied into: one at a time may, and nobody else may make them.
    copying: Mutex<HashSet<SessionId>>,
    /// Calls of tools that people make.
    hands: Hands,
    /// Whoever brings order into memories holds its one permit.
    consolidating: Semaphore,
    shutdown: CancellationToken,
}

/// Counts for `status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Sessions with an actor.
    pub live_sessions: usize,
    /// Turns that have a place to run.
    pub running_turns: usize,
    /// Turns that wait for one.
    pub waiting_turns: usize,
    /// Most turns that run at once.
    pub running_turns_limit: usize,
    /// Messages that wait for their turn, in live sessions.
    pub queued_messages: u64,
    /// Attached terminals.
    pub attached_clients: u64,
    /// Requests whose beginning was not the one before them, without a reason: faults.
    pub prefix_breaks: u64,
}

/// A session to be made.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The id; none: the engine makes one.
    pub session_id: Option<SessionId>,
    /// Manual title.
    pub title: Option<Title>,
    /// Absolute path of an existing directory.
    pub workspace: String,
    /// Model name; empty means the default.
    pub model: String,
    /// Effort; none means the model's default.
    pub effort: Option<Effort>,
    /// How much the agent may do without asking; none means the default.
    pub permission_mode: Option<PermissionMode>,
    /// What it works on.
    pub work_mode: WorkMode,
    /// Absolute paths of further existing directories, none in another.
    pub further_roots: Vec<String>,
}

/// A call that waits until somebody says whether it may run.
#[derive(Debug, Clone)]
pub struct OpenApproval {
    /// Its session.
    pub session: SessionRecord,
    /// What it asks.
    pub request: ApprovalRequested,
}

impl Engine {
    /// Makes an engine. Call [`Self::resume_unfinished`] before anybody else uses it.
    pub fn new(deps: EngineDeps) -> Self {
        let EngineDeps { store, models, tools, clock, ids, config, crash_points, memories, undo } =
            deps;
        let tasks = Tasks::new();
        let slots = TurnSlots::new(config.clone());
        let spending = Arc::new(Spending::new(Arc::clone(&clock), config.clone()));
        let deps = Arc::new(SessionDeps {
            store,
            models,
            tools,
            clock,
            ids,
            config,
            crash_points,
            memories,
            undo,
            tasks,
            slots,
            spending,
            slow_turns: SlowTurnTally::default(),
            rules: RuleBook::default(),
            goals: GoalBook::default(),
            history: History::default(),
            calibrations: Calibrations::default(),
            watchers: Watchers::default(),
        });
        let inner = Inner {
            deps,
            live: Mutex::default(),
            copying: Mutex::default(),
            hands: Hands::default(),
            consolidating: Semaphore::new(1),
            shutdown: CancellationToken::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Opens the sessions whose turns were running or whose messages were waiting when the daemon
    /// stopped. Their actors apply the resume policy.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn resume_unfinished(&self) -> Result<usize, CommandError> {
        self.open_unfinished(None).await
    }

    /// The same after a stop whose only purpose was that another program takes over: turns that it
    /// cut go on by themselves, whatever the policy says. A turn that was cut too often asks all the
    /// same.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn resume_after_handover(&self) -> Result<usize, CommandError> {
        self.open_unfinished(Some(AutoResume::Always)).await
    }

    async fn open_unfinished(&self, policy: Option<AutoResume>) -> Result<usize, CommandError> {
        let unfinished = self.deps().store.unfinished().await?;
        let count = unfinished.len();
        for id in unfinished {
            match self.deps().store.session(id).await {
                Ok(Some(_record)) => {
                    self.open_with(id, policy);
                }
                Ok(None) => {
                    // A copy that was being made when the daemon stopped: nobody was told of it.
                    let writes = vec![Write::DeleteSession(id), Write::ClearUnfinished(id)];
                    self.deps().store.commit(Batch::from(writes)).await?;
                }
                // The others must not wait for this one.
                Err(error) => {
                    tracing::error!(session_id = %id, %error, "an unfinished session is not readable");
                }
            }
        }
        Ok(count)
    }

    /// Creates a session. With an id that exists, the existing session is returned.
    ///
    /// # Errors
    /// When workspace or model are not acceptable, or the store fails.
    pub async fn create(&self, new: NewSession) -> Result<SessionView, CommandError> {
        let deps = self.deps();
        if self.inner.shutdown.is_cancelled() {
            return Err(CommandError::Stopping);
        }
        let id = match new.session_id {
            Some(id) if deps.store.session(id).await?.is_some() => return self.view(id).await,
            Some(id) => id,
            None => deps.ids.session_id(deps.clock.now()),
        };
        let _reserved = self.reserve(id)?;
        check_model_name(&new.model)?;
        check_workspace(&new.workspace).await?;
        let further_roots = roots::check(&new.workspace, &new.further_roots, &deps.tools).await?;
        let created = SessionCreated {
            workspace: new.workspace,
            title: new.title.map(|title| title.as_str().to_owned()).unwrap_or_default(),
            model: new.model,
            origin: None,
            effort: new.effort,
            permission_mode: new
                .permission_mode
                .unwrap_or_else(|| deps.config.borrow().permission_mode),
            work_mode: new.work_mode,
            further_roots,
        };
        let draft = Draft::plain(created);
        let event =
            Event { seq: Seq(1), at: deps.clock.now(), turn_id: draft.turn_id, body: draft.body };
        let mut state = SessionState::new(id);
        state.apply(&event);
        let writes = vec![
            Write::Append { session_id: id, events: vec![event] },
            Write::PutSession(state.record),
        ];
        match deps.store.commit(Batch::from(writes)).await {
            // Two clients made the same session at the same moment: the first one's is it.
            Ok(()) | Err(CommitError::OutOfOrder { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        deps.watchers.changed(id);
        self.view(id).await
    }

    /// Accepts a message.
    ///
    /// # Errors
    /// See [`CommandError`].
    ///
    /// # Cancel safety
    /// As for all commands: once sent it is carried out even when the future is dropped.
    pub async fn submit(
        &self,
        id: SessionId,
        submission: Submission,
    ) -> Result<Submitted, CommandError> {
        self.ask(id, |reply| Command::Submit { submission: submission.clone(), reply }).await
    }

    /// Takes back a queued message. Returns the position of the event.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn withdraw(
        &self,
        id: SessionId,
        item_id: ItemId,
        by: Author,
    ) -> Result<Seq, CommandError> {
        self.ask(id, |reply| Command::Withdraw { item_id, by: by.clone(), reply }).await
    }

    /// Cancels the running or suspended turn and waits for its end. False: there was none.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn interrupt(
        &self,
        id: SessionId,
        turn_id: Option<TurnId>,
        by: Author,
    ) -> Result<bool, CommandError> {
        self.ask(id, |reply| Command::Interrupt { turn_id, by: by.clone(), reply }).await
    }

    /// Answers an open question. Returns the position of the event.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn answer(
        &self,
        id: SessionId,
        question_id: QuestionId,
        choice: &str,
        by: Author,
    ) -> Result<Seq, CommandError> {
        self.ask(id, |reply| Command::Answer {
            question_id,
            choice: choice.to_owned(),
            by: by.clone(),
            reply,
        })
        .await
    }

    /// Answers an approval. Returns the position of the event.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn answer_approval(
        &self,
        id: SessionId,
        answer: ApprovalAnswer,
    ) -> Result<Seq, CommandError> {
        self.ask(id, |reply| Command::AnswerApproval { answer: answer.clone(), reply }).await
    }

    /// Takes a rule of a session back.
    pub(crate) async fn revoke_rule(
        &self,
        id: SessionId,
        rule_id: &str,
        by: &Author,
    ) -> Result<(), CommandError> {
        let command =
            |reply| Command::RevokeRule { rule_id: rule_id.to_owned(), by: by.clone(), reply };
        self.ask(id, command).await.map(drop)
    }

    /// What waits for people in all sessions, the oldest first.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn open_approvals(&self) -> Result<Vec<OpenApproval>, CommandError> {
        // A turn that waits is a turn that runs, so its session is live.
        let waiting: Vec<SessionHandle> =
            self.live().values().filter(|handle| handle.approvals() > 0).cloned().collect();
        let mut found = Vec::new();
        for handle in waiting {
            match self.view(handle.id()).await {
                Ok(view) => found.extend(
                    view.open_approvals
                        .into_iter()
                        .map(|request| OpenApproval { session: view.record.clone(), request }),
                ),
                Err(CommandError::NoSession(_) | CommandError::Deleted(_)) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by_key(|open| open.request.approval_id);
        Ok(found)
    }

    /// Changes title, model, effort or modes.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn update(
        &self,
        id: SessionId,
        update: SessionUpdate,
        by: Option<Author>,
    ) -> Result<SessionView, CommandError> {
        self.ask(id, |reply| Command::Update { update: update.clone(), by: by.clone(), reply })
            .await
    }

    /// One session with its queue, questions and terminals.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn view(&self, id: SessionId) -> Result<SessionView, CommandError> {
        self.ask(id, |reply| Command::View { reply }).await
    }

    /// Cancels a running turn and removes the session with its log.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn delete(&self, id: SessionId) -> Result<(), CommandError> {
        self.ask(id, |reply| Command::Delete { reply }).await
    }

    /// A page of the session index. Live sessions are as they are now.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(
        &self,
        from: Option<SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage, CommandError> {
        let mut page = self.deps().store.sessions(from, limit).await?;
        let live = self.live();
        for record in &mut page.sessions {
            if let Some(now) = live.get(&record.session_id).and_then(SessionHandle::record) {
                *record = SessionRecord::clone(&now);
            }
        }
        Ok(page)
    }

    /// The turns that took long since the start.
    pub fn slow_turns(&self) -> SlowTurns {
        self.deps().slow_turns.so_far()
    }

    /// Terminals attached to a session, without opening it.
    pub fn attached(&self, id: SessionId) -> u32 {
        self.live().get(&id).map_or(0, SessionHandle::attached)
    }

    /// A page of a session's log.
    ///
    /// # Errors
    /// When there is no such session or the store cannot be read.
    pub async fn events(
        &self,
        id: SessionId,
        from: Seq,
        limit: PageLimit,
    ) -> Result<Page, CommandError> {
        if self.deps().store.session(id).await?.is_none() {
            return Err(CommandError::NoSession(id));
        }
        Ok(self.deps().store.events(id, from.max(Seq(1)), limit).await?)
    }

    /// Moves a terminal's read cursor; it never goes back.
    ///
    /// # Errors
    /// When there is no such session or the store fails.
    pub async fn set_cursor(
        &self,
        id: SessionId,
        client_id: &str,
        seq: Seq,
    ) -> Result<Seq, CommandError> {
        let store = &self.deps().store;
        if store.session(id).await?.is_none() {
            return Err(CommandError::NoSession(id));
        }
        let seq = seq.min(self.head(id).await?);
        store
            .commit(Batch::of(Write::PutCursor {
                session_id: id,
                client_id: client_id.to_owned(),
                seq,
            }))
            .await?;
        self.deps().watchers.changed(id);
        Ok(store.cursor(id, client_id).await?.unwrap_or(seq))
    }

    /// The newest event of a log; zero when there is none.
    pub(crate) async fn head(&self, id: SessionId) -> Result<Seq, CommandError> {
        let page = self.deps().store.events_before(id, Seq(u64::MAX), ONE).await?;
        Ok(page.events.last().map_or(Seq::ZERO, |event| event.seq))
    }

    /// The tasks of the engine: what must outlive the request that asked for it runs here.
    pub fn tasks(&self) -> &Tasks {
        &self.deps().tasks
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.deps().store
    }

    /// Counts for `status`.
    pub fn stats(&self) -> EngineStats {
        let SlotCounts { taken, waiting, limit } = self.deps().slots.counts();
        let live = self.live();
        EngineStats {
            live_sessions: live.len(),
            running_turns: taken,
            waiting_turns: waiting,
            running_turns_limit: limit,
            queued_messages: live.values().map(|handle| u64::from(handle.queued())).sum(),
            attached_clients: live.values().map(|handle| u64::from(handle.attached())).sum(),
            prefix_breaks: self.deps().spending.prefix_breaks(),
        }
    }

    /// Stops all sessions: running turns end at a safe point, streams end, everything is durable.
    /// The caller sets the deadline.
    pub async fn stop(&self) {
        self.inner.shutdown.cancel();
        self.deps().tasks.stop().await;
        self.deps().tools.end_session(None).await;
    }

    /// What models and people may call.
    pub fn tools(&self) -> &Registry {
        &self.deps().tools
    }

    pub(crate) fn hands(&self) -> &Hands {
        &self.inner.hands
    }

    pub(crate) fn consolidating(&self) -> &Semaphore {
        &self.inner.consolidating
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.inner.shutdown
    }

    pub(crate) fn deps(&self) -> &Arc<SessionDeps> {
        &self.inner.deps
    }

    /// Sends a command, opening the session if need be.
    pub(crate) async fn ask<T>(
        &self,
        id: SessionId,
        command: impl Fn(Reply<T>) -> Command,
    ) -> Result<T, CommandError> {
        for _attempt in 0..REOPEN_ATTEMPTS {
            if self.inner.shutdown.is_cancelled() {
                return Err(CommandError::Stopping);
            }
            let handle = self.open(id);
            if let Some(answer) = handle.ask(&command).await? {
                return Ok(answer);
            }
            // The actor has ended between look-up and answer; it is out of the map by then, or is
            // about to be.
            tokio::task::yield_now().await;
        }
        Err(CommandError::MailboxFull)
    }

    /// The handle of a session, whose actor is started if it is not live.
    pub(crate) fn open(&self, id: SessionId) -> SessionHandle {
        self.open_with(id, None)
    }

    /// The same with a policy for a turn that is found open, instead of the configured one.
    fn open_with(&self, id: SessionId, policy: Option<AutoResume>) -> SessionHandle {
        match self.live().entry(id) {
            Entry::Occupied(live) => live.get().clone(),
            Entry::Vacant(place) => {
                let (tx, rx) = mpsc::channel(MAILBOX);
                let gauges = Arc::new(Gauges::default());
                let actor =
                    Actor::new(id, Arc::clone(&self.inner.deps), rx, Arc::clone(&gauges), policy);
                let inner = Arc::downgrade(&self.inner);
                let forget = Forget { id, inner: inner.clone() };
                let reopen = Reopen { id, inner, wanted: true };
                let shutdown = self.inner.shutdown.clone();
                self.inner.deps.tasks.spawn("session", async move {
                    // Dropped on a panic too, so that the session can be opened again.
                    let forget = forget;
                    let mut reopen = reopen;
                    reopen.wanted = actor.run(shutdown, || drop(forget)).await == Ended::OutOfStep;
                });
                place.insert(SessionHandle::new(id, tx, gauges)).clone()
            }
        }
    }

    /// Keeps everybody else from making this session until the result is dropped.
    pub(crate) fn reserve(&self, id: SessionId) -> Result<Reserved, CommandError> {
        if self.inner.copying().insert(id) {
            Ok(Reserved { id, inner: Arc::clone(&self.inner) })
        } else {
            Err(CommandError::BeingMade(id))
        }
    }

    /// The handle of a session that is live.
    pub(crate) fn live_handle(&self, id: SessionId) -> Option<SessionHandle> {
        self.live().get(&id).cloned()
    }

    fn live(&self) -> MutexGuard<'_, HashMap<SessionId, SessionHandle>> {
        self.inner.live()
    }
}

impl Inner {
    fn copying(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        // Nothing that can panic runs under this lock.
        self.copying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self) -> MutexGuard<'_, HashMap<SessionId, SessionHandle>> {
        // Nothing that can panic runs under this lock.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that only its holder may make.
#[derive(Debug)]
pub(crate) struct Reserved {
    id: SessionId,
    inner: Arc<Inner>,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.inner.copying().remove(&self.id);
    }
}

/// Opens a session again after a pause when its actor broke, so that its queue and its open turn do
/// not stand still until somebody looks.
#[derive(Debug)]
struct Reopen {
    id: SessionId,
    inner: std::sync::Weak<Inner>,
    wanted: bool,
}

impl Drop for Reopen {
    fn drop(&mut self) {
        let Some(inner) = self.inner.upgrade().filter(|_| self.wanted) else { return };
        let id = self.id;
        let tasks = inner.deps.tasks.clone();
        tasks.spawn("reopen", async move {
            tokio::select! {
                () = inner.shutdown.cancelled() => {}
                () = tokio::time::sleep(REOPEN_PAUSE) => {
                    tracing::info!(session_id = %id, "opening the session again");
                    Engine { inner }.open(id);
                }
            }
        });
    }
}

/// Takes a session out of the map of live ones when its actor ends, however it ends.
#[derive(Debug)]
struct Forget {
    id: SessionId,
    inner: std::sync::Weak<Inner>,
}

impl Drop for Forget {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            inner.live().remove(&self.id);
            // The store has the last word on it now.
            inner.deps.watchers.changed(self.id);
        }
    }
}

/// One event of a log.
const ONE: PageLimit = PageLimit { events: 1, bytes: 1 };

/// Checks that a workspace is the absolute path of a directory.
pub(crate) async fn check_workspace(path: &str) -> Result<(), CommandError> {
    let fail = |problem: &str| CommandError::Workspace {
        path: agentd_domain::cut_line(path, 200),
        problem: problem.to_owned(),
    };
    if !Path::new(path).is_absolute() {
        return Err(fail("is not an absolute path"));
    }
    if path.chars().any(char::is_control) {
        return Err(fail("holds a control character"));
    }
    match tokio::fs::metadata(path).await {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(fail("is not a directory")),
        Err(error) => Err(fail(&format!("cannot be used: {error}"))),
    }
}
