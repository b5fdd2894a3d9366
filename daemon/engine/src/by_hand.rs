//! Calls of tools that a person makes, without a model.
//!
//! They go the way of any other call: planned, permitted by modes and rules, run in the same sandbox
//! and held to the plan. What would be asked for runs when the caller names the fingerprint of the
//! very plan that was shown to him. What a person has read by hand the model has not: each has a
//! ledger of its own, and they share the changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentd_domain::{
    Action, Author, GoalAuthor, SessionId, ToolEffect, ToolResult, ToolStatus, cut_line,
};
use agentd_tools::{
    CallLimits, FileChange, FileChanges, FileLedger, LiveOutput, NetDiff, Nobody, Permission,
    PreparedCall, ToolContext, plan_call, run_call,
};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use crate::engine::{Engine, check_workspace};
use crate::error::CommandError;
use crate::goals::SessionGoals;
use crate::history::SessionHistory;
use crate::roots::Roots;
use crate::session::{Command, Standing};
use crate::{permission, rules};

/// Calls by hand that run at once in the whole daemon.
const MAX_RUNNING: usize = 8;

/// Places whose ledgers are kept; the one that was used longest ago goes first.
const MAX_PLACES: usize = 64;

/// How long a caller who does not read may hold a call that has ended.
const FAREWELL: Duration = Duration::from_secs(5);

/// Steps that wait for whoever looks at them.
const STEPS: usize = 16;

/// Where a call by hand works.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HandPlace {
    /// In a session's workspace, by its modes and rules.
    Session(SessionId),
    /// In a directory, by what holds for new sessions.
    Workspace(String),
}

/// A call by hand.
#[derive(Debug, Clone)]
pub struct HandCall {
    /// Where it works.
    pub place: HandPlace,
    /// Name of the tool.
    pub tool: String,
    /// Arguments as JSON text.
    pub arguments_json: String,
    /// Fingerprint of the plan that its caller approves.
    pub approved: Option<String>,
    /// Who makes it.
    pub by: Author,
}

/// One step of a call by hand.
#[derive(Debug)]
pub enum HandStep {
    /// What it will do. The last step when it does not run.
    Planned(HandPlan),
    /// What it shows while it runs.
    Output(String),
    /// Its result, the last step.
    Finished(Box<HandResult>),
}

/// What has come of a call by hand.
#[derive(Debug)]
pub struct HandResult {
    /// Name of the tool.
    pub tool: String,
    /// The result.
    pub result: ToolResult,
    /// Bytes of its output before it was cut.
    pub output_bytes: u64,
    /// Milliseconds that it ran.
    pub elapsed_ms: u64,
    /// False when it was refused before it ran.
    pub was_run: bool,
}

/// What a call by hand will do.
#[derive(Debug)]
pub struct HandPlan {
    /// Name of the tool that will run.
    pub tool: String,
    /// Converted arguments as JSON text.
    pub arguments_json: String,
    /// What the tool may do.
    pub effect: ToolEffect,
    /// What the call will do.
    pub action: Action,
    /// Whether it may.
    pub permission: Permission,
    /// Names this plan.
    pub fingerprint: String,
}

/// What has been changed in a place.
#[derive(Debug)]
pub struct PlaceChanges {
    /// Changes that may be taken back, the oldest first.
    pub changes: Vec<FileChange>,
    /// What they come to, by path.
    pub files: Vec<NetDiff>,
}

/// What a call in a session works with.
#[derive(Debug)]
pub(crate) struct SessionPlace {
    pub(crate) roots: Roots,
    pub(crate) changes: Arc<FileChanges>,
    pub(crate) standing: Standing,
}

/// What calls by hand share.
#[derive(Debug)]
pub(crate) struct Hands {
    running: Arc<Semaphore>,
    seats: Mutex<HashMap<HandPlace, Seat>>,
}

/// What is known of a place from one call to the next.
#[derive(Debug, Clone)]
struct Seat {
    /// What was read by hand.
    files: Arc<FileLedger>,
    /// Whose is what calls leave running: the session, or a name of our own where there is none.
    session: SessionId,
    /// When it was last taken: higher is later.
    taken: u64,
}

impl Default for Hands {
    fn default() -> Self {
        Self { running: Arc::new(Semaphore::new(MAX_RUNNING)), seats: Mutex::default() }
    }
}

impl Hands {
    /// The seat of a place, if it still adds to these changes, else a new one; and whose place had to
    /// go for it.
    fn take(
        &self,
        place: &HandPlace,
        changes: Option<&Arc<FileChanges>>,
        make: impl FnOnce() -> Seat,
    ) -> (Seat, Option<SessionId>) {
        // Nothing that can panic runs under this lock.
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let now = seats.values().map(|seat| seat.taken).max().unwrap_or_default() + 1;
        if let Some(known) = seats.get_mut(place)
            && changes.is_none_or(|changes| Arc::ptr_eq(changes, known.files.changes()))
        {
            known.taken = now;
            return (known.clone(), None);
        }
        let mut gone = None;
        if seats.len() >= MAX_PLACES && !seats.contains_key(place) {
            let unused = seats.iter().filter(|(_, seat)| Arc::strong_count(&seat.files) == 1);
            let oldest = unused.min_by_key(|(_, seat)| seat.taken).map(|(place, _)| place.clone());
            if let Some(oldest) = oldest {
                let seat = seats.remove(&oldest);
                let is_workspace = matches!(oldest, HandPlace::Workspace(_));
                gone = seat.filter(|_| is_workspace).map(|seat| seat.session);
            }
        }
        let seat = Seat { taken: now, ..make() };
        seats.insert(place.clone(), seat.clone());
        (seat, gone)
    }
}

/// Everything that a call needs of its place.
struct Found {
    roots: Roots,
    standing: Standing,
    seat: Seat,
}

impl Engine {
    /// Begins a call. Its steps come through the result; when that is dropped the call is cancelled.
    ///
    /// # Errors
    /// When there is no such place, or too many calls run already.
    pub async fn run_by_hand(
        &self,
        call: HandCall,
    ) -> Result<mpsc::Receiver<HandStep>, CommandError> {
        let found = self.find_place(&call.place).await?;
        let running = Arc::clone(&self.hands().running);
        let taken = running
            .try_acquire_owned()
            .map_err(|_full| CommandError::TooManyByHand { limit: MAX_RUNNING })?;
        let (steps, received) = mpsc::channel(STEPS);
        let engine = self.clone();
        self.tasks().spawn("tool-by-hand", async move {
            let _taken = taken;
            engine.carry_out(call, found, &steps).await;
        });
        Ok(received)
    }

    /// What a session, or calls by hand in a directory, have changed of files.
    ///
    /// # Errors
    /// When there is no such place, or it cannot be read.
    pub async fn changes(&self, place: &HandPlace) -> Result<PlaceChanges, CommandError> {
        // Whoever only looks takes no seat: one that is running something would have to go for it.
        let (roots, changes) = match place {
            HandPlace::Session(id) => {
                let place = self.ask(*id, |reply| Command::Place { reply }).await?;
                (place.roots, place.changes)
            }
            HandPlace::Workspace(path) => {
                check_workspace(path).await?;
                let root = rules::root_of(Path::new(path)).await;
                let seats = self.hands().seats.lock().unwrap_or_else(PoisonError::into_inner);
                let seat = seats.get(&HandPlace::Workspace(root.clone()));
                let known = seat.map(|seat| Arc::clone(seat.files.changes()));
                let changes = known.unwrap_or_else(|| self.deps().changes_of(&root));
                (Roots::only(PathBuf::from(root)), changes)
            }
        };
        let tools = self.deps().tools.clone();
        let look = move || -> Result<PlaceChanges, String> {
            let listed = changes.list().map_err(|error| error.to_string())?;
            let files = tools
                .net_diffs(&roots.workspace, &roots.further, &changes)
                .map_err(|refusal| refusal.output)?;
            let changes = listed;
            Ok(PlaceChanges { changes, files })
        };
        let looked = tokio::task::spawn_blocking(look).await;
        looked
            .unwrap_or_else(|error| Err(error.to_string()))
            .map_err(|problem| CommandError::Changes { problem: cut_line(&problem, 500) })
    }

    async fn find_place(&self, place: &HandPlace) -> Result<Found, CommandError> {
        let deps = self.deps();
        let (roots, standing, (seat, gone)) = match place {
            HandPlace::Session(id) => {
                let SessionPlace { roots, changes, standing } =
                    self.ask(*id, |reply| Command::Place { reply }).await?;
                let files = || Arc::new(FileLedger::of(Arc::clone(&changes)));
                let make = || Seat { files: files(), session: *id, taken: 0 };
                (roots, standing, self.hands().take(place, Some(&changes), make))
            }
            HandPlace::Workspace(path) => {
                check_workspace(path).await?;
                // However it is written, it is one place.
                let root = rules::root_of(Path::new(path)).await;
                let place = HandPlace::Workspace(root.clone());
                let mode = deps.config.borrow().permission_mode;
                let standing = Standing { mode, ..Standing::default() };
                let make = || Seat {
                    files: Arc::new(FileLedger::of(deps.changes_of(&root))),
                    session: deps.ids.session_id(deps.clock.now()),
                    taken: 0,
                };
                let taken = self.hands().take(&place, None, make);
                (Roots::only(PathBuf::from(root)), standing, taken)
            }
        };
        if let Some(session) = gone {
            let tools = deps.tools.clone();
            self.tasks().spawn("hands-leave", async move {
                tools.end_session(Some(session)).await;
            });
        }
        Ok(Found { roots, standing, seat })
    }

    async fn carry_out(&self, call: HandCall, found: Found, steps: &mpsc::Sender<HandStep>) {
        let Found { roots, standing, seat: Seat { files, session, .. } } = found;
        let arguments =
            if call.arguments_json.trim().is_empty() { "{}" } else { &call.arguments_json };
        let prepared = match self.deps().tools.prepare(&call.tool, arguments) {
            Ok(prepared) => prepared,
            Err(refused) => return refuse(steps, &call.tool, refused).await,
        };
        let tool = prepared.tool.spec().name.clone();
        let effect = prepared.capabilities.effect;
        let (output, shown) = LiveOutput::channel();
        let readable = permission::readable(self.deps(), &roots, &standing).await;
        let ctx = ToolContext {
            workspace: roots.workspace.clone(),
            further_roots: Arc::clone(&roots.further),
            session,
            clock: Arc::clone(&self.deps().clock),
            cancel: self.shutdown().child_token(),
            files,
            output,
            // Whoever calls by hand is asked nothing: he gives the arguments.
            people: Arc::new(Nobody),
            goals: Arc::new(SessionGoals {
                deps: Arc::clone(self.deps()),
                workspace: roots.workspace.clone(),
                session,
                by: GoalAuthor::Person { author: call.by.clone() },
            }),
            history: Arc::new(SessionHistory { deps: Arc::clone(self.deps()), asking: None }),
            readable,
        };
        let limits = CallLimits::of(&prepared);
        let action = tokio::select! {
            planned = plan_call(&prepared, &ctx, CallLimits::default()) => match planned {
                Ok(action) => action,
                Err(refused) => return refuse(steps, &tool, refused).await,
            },
            () = steps.closed() => return,
        };
        let permission =
            permission::decide(self.deps(), &roots, &standing, &prepared, &action).await;
        let plan = HandPlan {
            tool: tool.clone(),
            arguments_json: prepared.arguments.to_string(),
            effect,
            fingerprint: prepared.fingerprint(&action),
            action,
            permission,
        };
        let may_run = match &plan.permission {
            Permission::Allow => true,
            Permission::Ask { .. } => call.approved.as_deref() == Some(plan.fingerprint.as_str()),
            Permission::Deny { .. } => false,
        };
        let action = plan.action.clone();
        if steps.send(HandStep::Planned(plan)).await.is_err() || !may_run {
            return;
        }
        tracing::info!(tool, by = %call.by.name, action = action.summary, "a tool runs by hand");
        let finished = run(prepared, &action, &ctx, limits, shown, steps).await;
        if let HandPlace::Session(id) = call.place
            && !effect.is_repeatable()
        {
            // Whoever else looks at the session should know what has happened to its files.
            let what = if action.summary.is_empty() { &tool } else { &action.summary };
            let did = match finished.result.status {
                ToolStatus::Success | ToolStatus::Partial => "has done by hand",
                _ => "has tried by hand",
            };
            let text = format!("{} {did}: {what}", call.by.name);
            let text = cut_line(&text, 500);
            if let Err(error) =
                self.ask(id, |reply| Command::Note { text: text.clone(), reply }).await
            {
                tracing::warn!(session_id = %id, %error, "a call by hand could not be told");
            }
        }
        farewell(steps, finished).await;
    }
}

/// Runs a call and passes on what it shows. It is cancelled when nobody looks any more.
async fn run(
    prepared: PreparedCall,
    action: &Action,
    ctx: &ToolContext,
    limits: CallLimits,
    mut shown: mpsc::Receiver<String>,
    steps: &mpsc::Sender<HandStep>,
) -> HandResult {
    let tool = prepared.tool.spec().name.clone();
    let outcome = {
        let mut running = pin!(run_call(prepared, action, ctx, limits));
        // Beside the call: a caller who does not read must not stop its clock.
        let mut passing = pin!(pass_on(&mut shown, steps));
        let mut is_passing = true;
        loop {
            tokio::select! {
                biased;
                () = steps.closed(), if !ctx.cancel.is_cancelled() => ctx.cancel.cancel(),
                () = &mut passing, if is_passing => is_passing = false,
                outcome = &mut running => break outcome,
            }
        }
    };
    let rest = async {
        while let Ok(text) = shown.try_recv() {
            let _caller_left = steps.send(HandStep::Output(text)).await;
        }
    };
    let _caller_does_not_read = timeout(FAREWELL, rest).await;
    let result = if outcome.result.request.is_some() {
        ToolResult::fatal(
            "NOT_BY_HAND",
            "Only a model in a session can set out to do something; nothing was changed.",
        )
    } else {
        outcome.result
    };
    let elapsed_ms = u64::try_from(outcome.elapsed.as_millis()).unwrap_or(u64::MAX);
    HandResult { tool, result, output_bytes: outcome.output_bytes, elapsed_ms, was_run: true }
}

/// Passes on what a call shows, until it or its caller is gone. Dropped, it has lost nothing.
async fn pass_on(shown: &mut mpsc::Receiver<String>, steps: &mpsc::Sender<HandStep>) {
    while let Ok(room) = steps.reserve().await {
        let Some(text) = shown.recv().await else { return };
        room.send(HandStep::Output(text));
    }
}

/// Tells the result to a caller who may have left, or may not read.
async fn farewell(steps: &mpsc::Sender<HandStep>, finished: HandResult) {
    let told = steps.send(HandStep::Finished(Box::new(finished)));
    let _caller_left = timeout(FAREWELL, told).await;
}

async fn refuse(steps: &mpsc::Sender<HandStep>, tool: &str, result: ToolResult) {
    let tool = cut_line(tool, 64);
    let output_bytes = u64::try_from(result.output.len()).unwrap_or(u64::MAX);
    let refused = HandResult { tool, result, output_bytes, elapsed_ms: 0, was_run: false };
    farewell(steps, refused).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(id: u128) -> Seat {
        let files = Arc::new(FileLedger::of(Arc::new(FileChanges::default())));
        Seat { files, session: SessionId::from_parts(1, id), taken: 0 }
    }

    #[test]
    fn a_new_place_takes_the_seat_that_was_used_longest_ago_and_no_other() {
        let hands = Hands::default();
        let place = |id: u128| HandPlace::Workspace(format!("/{id}"));
        let first = hands.take(&place(0), None, || seat(0)).0;
        for id in 1..64 {
            assert_eq!(hands.take(&place(id), None, || seat(id)).1, None);
        }
        // The first is in use, and the second has just been looked at again.
        hands.take(&place(1), None, || seat(99));
        assert_eq!(hands.take(&place(64), None, || seat(64)).1, Some(SessionId::from_parts(1, 2)));
        assert_eq!(hands.seats.lock().unwrap().len(), MAX_PLACES);
        let again = hands.take(&place(0), None, || seat(99)).0;
        assert!(Arc::ptr_eq(&again.files, &first.files));
    }
}
