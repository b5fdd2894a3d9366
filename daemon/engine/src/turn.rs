//! A turn: from a user message to the answer.
//!
//! The stages, in order: wait for a place, find the model, start, build the context, then rounds of ask and act until
//! the model answers or a budget ends. A turn is a child task of its session. It writes nothing: it
//! reports to the actor, which makes each step durable before the next one begins.

mod act;
mod ask;
mod failures;
mod fit;
mod gate;
mod loop_guard;
mod outputs;
mod overflow;
mod people;
mod plans;
mod project;
mod prompt;
mod recall;
mod remember;
mod reread;
mod times;

use std::sync::Arc;

use agentd_context::{Conversation, KeptConversation};
use agentd_domain::{
    CallId, CompactionReason, Effort, EffortChoice, ErrorReport, EventBody, ItemId, Plan,
    PlanCommand, PlanError, Seq, SessionId, TurnEnd, TurnId,
};
use agentd_llm::LlmError;
use agentd_tools::{Announcement, Answer, FileLedger, Question};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::model::{ModelQuery, ResolvedModel, Role};
use crate::room::Room;
use crate::roots::Roots;
use crate::session::{Ask, OpenCall, SessionDeps, Standing, TextChannel};
use crate::slots::SlotRequest;
use crate::usage::Account;
use ask::Offer;

pub use failures::FailureLimits;
pub(crate) use gate::Verdict;
pub(crate) use project::{ProjectDocument, project_document};
pub(crate) use prompt::system_prompt;
pub(crate) use times::Times;
use times::{Phase, ReportWhenSlow};

/// What a turn tells its actor.
#[derive(Debug)]
pub(crate) enum TurnReport {
    /// It is ready to start. The answer is the seq of TurnStarted, or none when the queue is empty.
    Start {
        turn_id: TurnId,
        provider: String,
        model: String,
        effort: Option<EffortChoice>,
        reply: oneshot::Sender<Result<Option<Seq>, CommandError>>,
    },
    /// More text.
    Delta { item_id: ItemId, channel: TextChannel, text: String },
    /// A running call shows something.
    Output { call_id: CallId, text: String },
    /// Steps to record. `done` is answered when they are durable.
    Record { bodies: Vec<EventBody>, done: Option<oneshot::Sender<Result<(), CommandError>>> },
    /// The conversation before this turn's own steps, for the next turn.
    Keep(KeptConversation),
    /// Older turns are to be folded once the turn is over.
    FoldAfter(CompactionReason),
    /// A call asks something of the plan. The answer is the plan that follows; nothing is recorded yet.
    Plan { command: PlanCommand, reply: oneshot::Sender<Result<Plan, PlanError>> },
    /// A call has to be asked for.
    Ask { ask: Ask, reply: oneshot::Sender<Verdict> },
    /// A call asks the users something.
    Question { question: Question, reply: oneshot::Sender<Answer> },
    /// A call tells them something.
    Announce { announcement: Announcement, reply: oneshot::Sender<Option<usize>> },
    /// A tool boundary: which steering messages are there?
    TakeSteering { reply: oneshot::Sender<Result<Vec<Arc<str>>, CommandError>> },
}

/// How a turn's task ended. `last` holds steps that are recorded together with the end.
#[derive(Debug)]
pub(crate) enum TurnOutcome {
    /// The message it was to answer is gone.
    NothingToDo,
    /// The model answered.
    Completed { end: TurnEnd, last: Vec<EventBody>, offline: bool },
    /// The rounds limit was reached.
    RoundsUsedUp,
    /// It was cancelled.
    Cancelled { last: Vec<EventBody> },
    /// It failed.
    Failed { error: ErrorReport, last: Vec<EventBody> },
    /// A step could not be made durable.
    StoreFailed,
}

impl TurnOutcome {
    /// What a task that did not return has come to.
    pub(crate) fn from_join_error(error: &tokio::task::JoinError) -> Self {
        if error.is_cancelled() {
            return Self::Cancelled { last: Vec::new() };
        }
        tracing::error!(%error, "a turn panicked");
        Self::Failed {
            error: ErrorReport {
                code: "INTERNAL".to_owned(),
                message: "the turn broke off because of a fault in agentd".to_owned(),
                hint: "the log has the details; please report it".to_owned(),
                retryable: false,
            },
            last: Vec::new(),
        }
    }

    fn from_llm_error(error: &LlmError) -> Self {
        Self::Failed { error: error.report(), last: Vec::new() }
    }
}

/// Everything that a turn needs to know.
#[derive(Debug)]
pub(crate) struct TurnTask {
    pub(crate) session_id: SessionId,
    pub(crate) turn_id: TurnId,
    pub(crate) roots: Roots,
    pub(crate) model: String,
    pub(crate) effort: Option<Effort>,
    /// The first event that the conversation is made from.
    pub(crate) read_from: Seq,
    /// What users have pinned.
    pub(crate) pins: Vec<String>,
    /// Text from elsewhere came into the session before this turn.
    pub(crate) outside_text: bool,
    /// What the session's requests hold of the workspace's document, as its hash.
    pub(crate) project_sha256: String,
    /// The document that this turn's requests hold.
    pub(crate) project: Option<ProjectDocument>,
    /// What the turn before has read already.
    pub(crate) kept: Option<KeptConversation>,
    /// The calls without results when this turn goes on after a stop; none for a new turn.
    pub(crate) resume: Option<Vec<OpenCall>>,
    /// Rounds that count against the limit already.
    pub(crate) rounds: u32,
    pub(crate) deps: Arc<SessionDeps>,
    pub(crate) account: Arc<Account>,
    pub(crate) reports: mpsc::Sender<TurnReport>,
    pub(crate) cancel: CancellationToken,
    pub(crate) times: Arc<Times>,
    /// What the session has read of which file.
    pub(crate) files: Arc<FileLedger>,
    /// What its calls may do. It may change at any time.
    pub(crate) standing: watch::Receiver<Standing>,
}

/// Why a turn ends before its stages are through.
#[derive(Debug)]
struct Ended(TurnOutcome);

/// Runs the turn once there is a place for it, and gives the place back when its task ends.
pub(crate) async fn run(task: TurnTask, slot: SlotRequest) -> TurnOutcome {
    let _report = ReportWhenSlow::of(&task);
    let _slot = tokio::select! {
        biased;
        () = task.cancel.cancelled() => return cancelled().0,
        slot = slot.granted() => slot,
    };
    task.times.enter(Phase::Other);
    let (Ok(outcome) | Err(Ended(outcome))) = stages(task).await;
    if let TurnOutcome::Failed { error, .. } = &outcome {
        tracing::Span::current().record("error.type", error.code.as_str());
    }
    outcome
}

async fn stages(mut task: TurnTask) -> Result<TurnOutcome, Ended> {
    let model = task.find_model().await?;
    let resume = task.resume.take();
    let is_new = resume.is_none();
    if is_new {
        task.start(&model).await?;
    }
    task.read_project_document(model.context_tokens).await?;
    let mut room = task.room(&model).await;
    let mut conversation = task.build_context(&room).await?;
    if is_new {
        task.fold_if_rested(&room.policy, &mut conversation).await?;
        task.recall(&model, &mut conversation).await?;
        task.recall_turns(&room.policy, &mut conversation).await?;
    }
    let mut rounds = task.rounds;
    let mut acts = act::Acts::default();
    if let Some(open_calls) = resume {
        task.settle(open_calls, &mut conversation, &mut acts).await?;
    }
    let limit = task.deps.config.borrow().rounds_limit;
    loop {
        let offer = if acts.end().is_some() { Offer::Nothing } else { Offer::Tools };
        // What is left is one answer without tools.
        if rounds >= limit && offer == Offer::Tools {
            return Ok(TurnOutcome::RoundsUsedUp);
        }
        task.steer(&mut conversation).await?;
        let answer = task.ask_within_window(&model, &mut room, &mut conversation, offer).await?;
        rounds += 1;
        task.times.round();
        if answer.calls.is_empty() {
            task.note_answer(&conversation, answer.text());
            task.fold_after(&model, &room, &conversation).await?;
            return Ok(TurnOutcome::Completed {
                end: answer.end,
                last: answer.events(),
                offline: model.is_offline(),
            });
        }
        let calls = answer.open_calls();
        task.record(answer.events(), &mut conversation).await?;
        task.deps.crash_points.pass("engine.calls_recorded");
        if let Some(end) = acts.end() {
            return task.refuse(end, calls, &mut conversation).await;
        }
        task.act(calls, &mut conversation, &mut acts).await?;
    }
}

impl TurnTask {
    async fn find_model(&self) -> Result<ResolvedModel, Ended> {
        let query = ModelQuery { role: Role::Main, model: self.model.clone(), effort: self.effort };
        let resolved = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(cancelled()),
            resolved = self.deps.models.resolve(&query) => resolved,
        };
        match resolved {
            Ok(model) => Ok(model),
            Err(error) if self.resume.is_some() => Err(Ended(TurnOutcome::from_llm_error(&error))),
            Err(error) => {
                // The turn must exist to fail where everybody sees it.
                self.start_with("none", &self.model, None).await?;
                Err(Ended(TurnOutcome::from_llm_error(&error)))
            }
        }
    }

    async fn start(&self, model: &ResolvedModel) -> Result<(), Ended> {
        self.start_with(model.provider.kind(), &model.model, model.effort).await
    }

    async fn start_with(
        &self,
        provider: &str,
        model: &str,
        effort: Option<EffortChoice>,
    ) -> Result<(), Ended> {
        let _store = self.times.within(Phase::Store);
        let (reply, started) = oneshot::channel();
        self.report(TurnReport::Start {
            turn_id: self.turn_id,
            provider: provider.to_owned(),
            model: model.to_owned(),
            effort,
            reply,
        })
        .await?;
        match started.await {
            Ok(Ok(Some(_seq))) => {
                self.times.is_in_log();
                self.deps.crash_points.pass("engine.turn_started");
                Ok(())
            }
            Ok(Ok(None)) => Err(Ended(TurnOutcome::NothingToDo)),
            Ok(Err(_logged)) => Err(Ended(TurnOutcome::StoreFailed)),
            Err(_actor_gone) => Err(cancelled()),
        }
    }

    /// Reads the conversation from the log.
    async fn build_context(&mut self, room: &Room) -> Result<Conversation, Ended> {
        let (mut conversation, mut last, from) = match self.kept.take() {
            Some(KeptConversation { conversation, last }) => (conversation, last, last.next()),
            None => (Conversation::default(), Seq::ZERO, self.read_from),
        };
        let reading = self.times.within(Phase::Store);
        let read =
            crate::session::for_each_event(&*self.deps.store, self.session_id, from, |event| {
                conversation.apply(event);
                last = event.seq;
            });
        let read = read.await;
        drop(reading);
        if let Err(error) = read {
            tracing::error!(%error, "the conversation could not be read");
            return Err(Ended(TurnOutcome::Failed {
                error: ErrorReport {
                    code: "SESSION_UNREADABLE".to_owned(),
                    message: error.to_string(),
                    hint: error.hint().to_owned(),
                    retryable: false,
                },
                last: Vec::new(),
            }));
        }
        conversation.pins_otherwise(self.pins.clone());
        conversation.count_by(room.counter);
        let kept = KeptConversation { conversation: conversation.clone(), last };
        if kept.is_small() {
            self.report(TurnReport::Keep(kept)).await?;
        }
        Ok(conversation)
    }

    /// Hands steering messages to the model.
    async fn steer(&self, conversation: &mut Conversation) -> Result<(), Ended> {
        let _store = self.times.within(Phase::Store);
        let (reply, steering) = oneshot::channel();
        self.report(TurnReport::TakeSteering { reply }).await?;
        match steering.await {
            Ok(Ok(texts)) => {
                for text in texts {
                    conversation.push_user(&text);
                }
                Ok(())
            }
            Ok(Err(_logged)) => Err(Ended(TurnOutcome::StoreFailed)),
            Err(_actor_gone) => Err(cancelled()),
        }
    }

    /// Records steps and adds them to the conversation.
    async fn record(
        &self,
        bodies: Vec<EventBody>,
        conversation: &mut Conversation,
    ) -> Result<(), Ended> {
        for body in &bodies {
            conversation.apply_step(self.turn_id, body);
        }
        self.record_steps(bodies).await
    }

    /// Records steps and waits until they are durable.
    async fn record_steps(&self, bodies: Vec<EventBody>) -> Result<(), Ended> {
        let _store = self.times.within(Phase::Store);
        let (done, recorded) = oneshot::channel();
        self.report(TurnReport::Record { bodies, done: Some(done) }).await?;
        match recorded.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_logged)) => Err(Ended(TurnOutcome::StoreFailed)),
            Err(_actor_gone) => Err(cancelled()),
        }
    }

    async fn report(&self, report: TurnReport) -> Result<(), Ended> {
        self.reports.send(report).await.map_err(|_actor_gone| cancelled())
    }
}

fn cancelled() -> Ended {
    Ended(TurnOutcome::Cancelled { last: Vec::new() })
}

#[cfg(test)]
mod tests;
