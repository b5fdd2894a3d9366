//! Running the tools that the model asked for, one after the other.
//!
//! Every call gets exactly one result on every path. A call with effects is durable as started
//! before it runs, so that a restart never repeats it.

use std::sync::Arc;

use agentd_domain::{
    Action, ErrorReport, EventBody, ToolCall, ToolCallFinished, ToolCallStarted, ToolResult,
    ToolStatus,
};
use agentd_tools::{CallLimits, LiveOutput, PreparedCall, ToolContext, plan_call, run_call};
use tracing::Instrument as _;

use super::loop_guard::{LoopGuard, Verdict};
use super::{Conversation, Ended, Phase, TurnOutcome, TurnReport, TurnTask, cancelled};
use crate::session::{OUTCOME_UNKNOWN, OpenCall, closed_call};

/// Answers in a row with cut calls after which the turn ends (case TA-05).
const MAX_CUT_ANSWERS: u32 = 3;

const CUT: &str = "[not run: the output limit cut this call, so its arguments may be incomplete. Make a smaller \
     call, or write in several parts.]";

impl TurnTask {
    /// Goes on with the calls of an answer after the daemon's stop. What only reads runs again;
    /// what had started and may have had effects does not.
    pub(super) async fn settle(
        &self,
        open_calls: Vec<OpenCall>,
        conversation: &mut Conversation,
        guard: &mut LoopGuard,
    ) -> Result<(), Ended> {
        for open in open_calls {
            if open.started.is_some_and(|effect| !effect.is_repeatable()) {
                let closed = closed_call(&open, ToolStatus::Interrupted, OUTCOME_UNKNOWN);
                self.record(vec![closed.into()], conversation).await?;
            } else {
                self.run_one(open, conversation, guard).await?;
            }
        }
        Ok(())
    }

    /// Runs the calls of an answer.
    pub(super) async fn act(
        &self,
        calls: Vec<OpenCall>,
        conversation: &mut Conversation,
        guard: &mut LoopGuard,
    ) -> Result<(), Ended> {
        let cut_answers = guard.note_answer(calls.iter().any(|call| call.cut));
        for call in calls {
            self.run_one(call, conversation, guard).await?;
        }
        if cut_answers >= MAX_CUT_ANSWERS {
            return Err(failed(
                "OUTPUT_LIMIT",
                format!("the output limit cut the model's tool calls {cut_answers} times in a row"),
                "raise provider.max_output_tokens, or ask for smaller steps",
            ));
        }
        Ok(())
    }

    async fn run_one(
        &self,
        open: OpenCall,
        conversation: &mut Conversation,
        guard: &mut LoopGuard,
    ) -> Result<(), Ended> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let call = &open.call;
        let mut finished = match self.prepare(&open).await {
            Err(result) => ToolCallFinished::not_run(call, result),
            Ok((prepared, ctx, action)) => self.run_planned(call, prepared, &ctx, action).await?,
        };
        let verdict = guard.note(&call.name, &call.arguments_json, &finished.output);
        if let Verdict::Repeats(times) | Verdict::Stop(times) = verdict {
            finished.status = ToolStatus::Repeated;
            finished.output += &repeats_note(times);
        }
        self.record(vec![EventBody::from(finished)], conversation).await?;
        if let Verdict::Stop(times) = verdict {
            return Err(failed(
                "TOOL_LOOP",
                format!(
                    "the model called '{}' {times} times with the same arguments and result",
                    agentd_domain::cut_line(&call.name, 64)
                ),
                "say what to do differently, or use another model",
            ));
        }
        Ok(())
    }

    /// Checks the arguments and looks at what the call will do.
    async fn prepare(
        &self,
        open: &OpenCall,
    ) -> Result<(PreparedCall, ToolContext, Action), ToolResult> {
        if open.cut {
            return Err(ToolResult::fatal("TOOL_CALL_CUT", CUT));
        }
        let prepared = self.deps.tools.prepare(&open.call.name, &open.call.arguments_json)?;
        let ctx = ToolContext {
            workspace: self.workspace.clone(),
            clock: Arc::clone(&self.deps.clock),
            cancel: self.cancel.clone(),
            output: LiveOutput::nobody(),
        };
        let action = plan_call(&prepared, &ctx, CallLimits::default()).await?;
        Ok((prepared, ctx, action))
    }

    async fn run_planned(
        &self,
        call: &ToolCall,
        prepared: PreparedCall,
        ctx: &ToolContext,
        action: Action,
    ) -> Result<ToolCallFinished, Ended> {
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
            self.report(TurnReport::Record { bodies, done: None }).await?;
        } else {
            self.record_steps(vec![started.into()]).await?;
        }
        self.deps.crash_points.pass("engine.tool_started");
        let running = self.times.within(Phase::Tools);
        let span = tool_span(call);
        let outcome =
            run_call(prepared, &action, ctx, CallLimits::default()).instrument(span.clone()).await;
        if !outcome.result.error_code.is_empty() {
            span.record("error.type", outcome.result.error_code.as_str());
        }
        drop(running);
        self.deps.crash_points.pass("engine.tool_ran");
        Ok(ToolCallFinished::of(
            call.call_id.clone(),
            call.name.clone(),
            outcome.result,
            outcome.output_bytes,
            u64::try_from(outcome.elapsed.as_millis()).unwrap_or(u64::MAX),
        ))
    }
}

/// One span for each call, with the attribute names of OpenTelemetry's conventions for generative AI.
/// Arguments and output are left out: they are the user's.
fn tool_span(call: &ToolCall) -> tracing::Span {
    tracing::info_span!(
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        gen_ai.tool.call.id = %call.call_id,
        error.type = tracing::field::Empty,
    )
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
