//! Running the tools that the model asked for, as the scheduler orders them.
//!
//! Every call gets exactly one result on every path. A call with effects is durable as started
//! before it runs, so that a restart never repeats it.

use std::sync::Arc;

use agentd_context::{Conversation, OUTCOME_UNKNOWN};
use agentd_domain::{
    Action, ErrorReport, EventBody, GoalAuthor, Notice, SessionRequest, TodoListChanged, ToolCall,
    ToolCallFinished, ToolCallStarted, ToolResult, ToolStatus,
};
use agentd_tools::{
    BatchCall, CallEnd, CallHost, Permit, PreparedCall, SchedulerLimits, ToolContext, TurnMemory,
    run_batch,
};
use async_trait::async_trait;

use super::failures::{Decision, End, Failures};
use super::loop_guard::{LoopGuard, Verdict};
use super::outputs::Outputs;
use super::people::TurnPeople;
use super::{Ended, Phase, TurnOutcome, TurnReport, TurnTask, cancelled};
use crate::goals::SessionGoals;
use crate::history::SessionHistory;
use crate::permission;
use crate::session::OpenCall;

/// Answers in a row with cut calls after which the turn ends (case TA-05).
const MAX_CUT_ANSWERS: u32 = 3;

const CUT: &str = "[not run: the output limit cut this call, so its arguments may be incomplete. Make a smaller \
     call, or write in several parts.]";

const NO_MORE_TOOLS: &str =
    "[not run: no tools could be called any more in this turn, and it was to be answered without]";

/// What a turn remembers of its calls from one answer to the next.
#[derive(Debug, Default)]
pub(super) struct Acts {
    guard: LoopGuard,
    memory: TurnMemory,
    failures: Failures,
}

impl Acts {
    /// Why the model has to answer without tools; none: it may call them.
    pub(super) const fn end(&self) -> Option<&End> {
        self.failures.end()
    }
}

impl TurnTask {
    /// Goes on with the calls of an answer after the daemon's stop. What only reads runs again;
    /// what had started and may have had effects does not.
    pub(super) async fn settle(
        &self,
        open_calls: Vec<OpenCall>,
        conversation: &mut Conversation,
        acts: &mut Acts,
    ) -> Result<(), Ended> {
        let calls = open_calls.into_iter().map(|open| {
            let had_effects = open.started.is_some_and(|effect| !effect.is_repeatable());
            let unknown =
                || ToolResult::new(ToolStatus::Interrupted, OUTCOME_UNKNOWN, "TOOL_INTERRUPTED");
            let mut call = batch_call(open);
            call.refused = if had_effects { Some(unknown()) } else { call.refused };
            call
        });
        self.run_calls(calls.collect(), conversation, acts).await
    }

    /// Runs the calls of an answer.
    pub(super) async fn act(
        &self,
        calls: Vec<OpenCall>,
        conversation: &mut Conversation,
        acts: &mut Acts,
    ) -> Result<(), Ended> {
        let cut_answers = acts.guard.note_answer(calls.iter().any(|call| call.cut));
        let calls = calls.into_iter().map(batch_call).collect();
        self.run_calls(calls, conversation, acts).await?;
        if cut_answers >= MAX_CUT_ANSWERS {
            return Err(failed(
                "OUTPUT_LIMIT",
                format!("the output limit cut the model's tool calls {cut_answers} times in a row"),
                "raise provider.max_output_tokens, or ask for smaller steps",
            ));
        }
        Ok(())
    }

    /// Answers the calls of a model that was asked to answer without, and ends the turn.
    pub(super) async fn refuse(
        &self,
        end: &End,
        calls: Vec<OpenCall>,
        conversation: &mut Conversation,
    ) -> Result<TurnOutcome, Ended> {
        let results = calls.iter().map(|open| {
            let result = ToolResult::new(ToolStatus::Skipped, NO_MORE_TOOLS, "TOOL_CALL_SKIPPED");
            ToolCallFinished::not_run(&open.call, result).into()
        });
        self.record(results.collect(), conversation).await?;
        Err(Ended(TurnOutcome::Failed { error: end.error(), last: Vec::new() }))
    }

    async fn run_calls(
        &self,
        calls: Vec<BatchCall>,
        conversation: &mut Conversation,
        acts: &mut Acts,
    ) -> Result<(), Ended> {
        let Acts { guard, memory, failures } = acts;
        let open = calls.len();
        let outputs = Outputs::of(self);
        let mut host = TurnHost { task: self, conversation, guard, failures, open, outputs };
        let _running = self.times.within(Phase::Tools);
        let limits = SchedulerLimits::default();
        run_batch(&mut host, &self.deps.tools, memory, calls, limits).await?;
        Ok(())
    }
}

fn batch_call(open: OpenCall) -> BatchCall {
    let refused = open.cut.then(|| ToolResult::fatal("TOOL_CALL_CUT", CUT));
    BatchCall { call: open.call, refused }
}

/// What the scheduler needs of a turn.
struct TurnHost<'a> {
    task: &'a TurnTask,
    conversation: &'a mut Conversation,
    guard: &'a mut LoopGuard,
    failures: &'a mut Failures,
    /// Calls without a result.
    open: usize,
    outputs: Outputs,
}

#[async_trait]
impl CallHost for TurnHost<'_> {
    type Stop = Ended;

    async fn context(&self, call: &ToolCall) -> ToolContext {
        let standing = self.task.standing.borrow().clone();
        let (deps, roots) = (&self.task.deps, &self.task.roots);
        let readable = permission::readable(deps, roots, &standing).await;
        let output = self.outputs.begin(call.call_id.clone());
        ToolContext {
            workspace: roots.workspace.clone(),
            further_roots: Arc::clone(&roots.further),
            session: self.task.session_id,
            clock: Arc::clone(&self.task.deps.clock),
            cancel: self.task.cancel.clone(),
            files: Arc::clone(&self.task.files),
            output,
            people: Arc::new(TurnPeople::of(self.task)),
            goals: Arc::new(SessionGoals {
                deps: Arc::clone(&self.task.deps),
                workspace: roots.workspace.clone(),
                session: self.task.session_id,
                by: GoalAuthor::Model { session_id: self.task.session_id },
            }),
            history: Arc::new(SessionHistory {
                deps: Arc::clone(&self.task.deps),
                asking: Some(self.task.session_id),
            }),
            readable,
        }
    }

    async fn permit(
        &self,
        call: &ToolCall,
        prepared: &PreparedCall,
        action: &Action,
    ) -> Result<Permit, Ended> {
        self.task.permit(call, prepared, action).await
    }

    async fn started(
        &self,
        call: &ToolCall,
        prepared: &PreparedCall,
        action: &Action,
    ) -> Result<(), Ended> {
        let effect = prepared.capabilities.effect;
        let started = ToolCallStarted {
            call_id: call.call_id.clone(),
            name: call.name.clone(),
            arguments_json: prepared.arguments.to_string(),
            effect,
            action: action.clone(),
        };
        if effect.is_repeatable() {
            let bodies = vec![started.into()];
            self.task.report(TurnReport::Record { bodies, done: None }).await?;
        } else {
            self.task.record_steps(vec![started.into()]).await?;
        }
        self.task.deps.crash_points.pass("engine.tool_started");
        Ok(())
    }

    async fn finished(&mut self, call: &ToolCall, end: CallEnd) -> Result<(), Ended> {
        let CallEnd { mut finished, request } = end;
        self.outputs.end(&call.call_id).await;
        if finished.metrics.attempts > 0 {
            self.task.deps.crash_points.pass("engine.tool_ran");
        }
        let changed: Option<EventBody> = match request {
            Some(SessionRequest::Todo(list)) => Some(TodoListChanged { list }.into()),
            Some(SessionRequest::Plan(command)) => {
                self.task.plan(command, &mut finished).await?.map(EventBody::from)
            }
            Some(SessionRequest::Memory(command)) => {
                self.task.remember(command, self.conversation, &mut finished).await;
                None
            }
            Some(SessionRequest::Output(request)) => {
                self.task.reread(request, &mut finished).await;
                None
            }
            None => None,
        };
        let verdict = self.guard.note(&call.name, &call.arguments_json, &finished.output);
        if let Verdict::Repeats(times) | Verdict::Stop(times) = verdict {
            finished.status = ToolStatus::Repeated;
            finished.output += &repeats_note(times);
        }
        if let Verdict::Stop(times) = verdict {
            self.failures.note_loop(&call.name, times);
        }
        let notice = self.charge(&mut finished);
        let mut steps: Vec<EventBody> = vec![finished.into()];
        steps.extend(changed);
        steps.extend(notice.map(EventBody::from));
        self.task.record(steps, self.conversation).await
    }

    fn check(&self) -> Result<(), Ended> {
        if self.task.cancel.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}

impl TurnHost<'_> {
    /// Charges a failure to the turn. After the answer's last call the model is told what follows, and
    /// so are people when that is the end of calling tools.
    fn charge(&mut self, finished: &mut ToolCallFinished) -> Option<Notice> {
        let limits = self.task.deps.config.borrow().failures;
        let tool = self.task.deps.tools.find(&finished.name);
        let is_barrier = tool.is_some_and(|tool| tool.spec().capabilities.is_barrier());
        self.failures.note(finished, is_barrier, limits);
        self.open = self.open.saturating_sub(1);
        if self.open > 0 {
            return None;
        }
        let decision = self.failures.decide(limits);
        finished.output += &self.failures.told(decision, limits);
        self.failures.end().filter(|_| decision == Decision::Answer).map(End::notice)
    }
}

fn repeats_note(times: u32) -> String {
    format!("\n[this call has given the same result {times} times; do something else or answer]")
}

fn failed(code: &str, message: String, hint: &str) -> Ended {
    Ended(TurnOutcome::Failed {
        error: ErrorReport {
            code: code.to_owned(),
            message,
            hint: hint.to_owned(),
            retryable: false,
        },
        last: Vec::new(),
    })
}
