//! One call, kept within limits.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use agentd_domain::{Action, ToolResult, ToolStatus, cut_head_tail, cut_line};
use tokio::time::Instant;

use crate::{PreparedCall, ToolContext};

/// Longest message of a panic that the model is shown, in characters.
const MAX_PANIC: usize = 200;

/// What one call may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Longest run.
    pub timeout: Duration,
    /// Longest output in bytes; what is longer keeps its head and its tail.
    pub output_bytes: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), output_bytes: 128 * 1024 }
    }
}

impl CallLimits {
    /// The limits of a call: the usual ones, with the time that its tool asks for.
    pub fn of(call: &PreparedCall) -> Self {
        let usual = Self::default();
        let timeout = call.tool.timeout(&call.arguments).unwrap_or(usual.timeout);
        Self { timeout, ..usual }
    }
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    /// The result, within the limits.
    pub result: ToolResult,
    /// Length of the output in bytes before it was cut.
    pub output_bytes: u64,
    /// How long it ran.
    pub elapsed: Duration,
}

/// Looks at what a call will do, within its timeout. A panic becomes a result, as in [`run_call`].
///
/// # Errors
/// The result of the call, when it is clear already that it cannot be carried out.
pub async fn plan_call(
    call: &PreparedCall,
    ctx: &ToolContext,
    limits: CallLimits,
) -> Result<Action, ToolResult> {
    let planning = caught(|| call.tool.plan(ctx, &call.arguments));
    tokio::select! {
        biased;
        planned = planning => planned.unwrap_or_else(Err),
        () = ctx.cancel.cancelled() => Err(skipped()),
        () = tokio::time::sleep(limits.timeout) => Err(timed_out(limits.timeout)),
    }
}

/// Runs a call, held to what was `planned`, to its end, its timeout or the cancellation of `ctx`, whichever comes first. A panic
/// of the tool becomes the result `TOOL_PANICKED`, a timeout the retryable `TOOL_TIMEOUT`; a
/// cancelled call is `Interrupted`, and one cancelled before it began is `Skipped`.
///
/// # Cancel safety
/// Dropping the future drops the call; its blocking work sees its token cancelled and ends soon
/// after. Whether a call with side effects had them is then unknown.
pub async fn run_call(
    call: PreparedCall,
    planned: &Action,
    ctx: &ToolContext,
    limits: CallLimits,
) -> CallOutcome {
    let started = Instant::now();
    let mut result = if ctx.cancel.is_cancelled() {
        skipped()
    } else {
        // A token of its own, so that work on other threads ends with this call.
        let call_ctx = ToolContext { cancel: ctx.cancel.child_token(), ..ctx.clone() };
        let _stop = call_ctx.cancel.clone().drop_guard();
        tokio::select! {
            biased;
            result = run_caught(call, planned, &call_ctx) => result,
            () = ctx.cancel.cancelled() => interrupted(),
            () = tokio::time::sleep_until(started + limits.timeout) => timed_out(limits.timeout),
        }
    };
    let output_bytes = u64::try_from(result.output.len()).unwrap_or(u64::MAX);
    if result.output.len() > limits.output_bytes {
        result.output = cut_head_tail(&result.output, limits.output_bytes);
    }
    CallOutcome { result, output_bytes, elapsed: started.elapsed() }
}

async fn run_caught(call: PreparedCall, planned: &Action, ctx: &ToolContext) -> ToolResult {
    let PreparedCall { tool, capabilities: _, arguments } = call;
    caught(|| tool.run(ctx, arguments, planned)).await.unwrap_or_else(|result| result)
}

/// Does the work of a tool and makes a result of its panic.
async fn caught<'a, T>(
    begin: impl FnOnce() -> Pin<Box<dyn Future<Output = T> + Send + 'a>>,
) -> Result<T, ToolResult> {
    // The call itself may panic too, before there is a future.
    let mut running =
        catch_unwind(AssertUnwindSafe(begin)).map_err(|payload| panicked(payload.as_ref()))?;
    poll_fn(|task| {
        // After a panic the future is not polled again; it is only dropped.
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(task))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
            Err(payload) => Poll::Ready(Err(panicked(payload.as_ref()))),
        }
    })
    .await
}

fn panicked(payload: &(dyn std::any::Any + Send)) -> ToolResult {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    ToolResult::fatal(
        "TOOL_PANICKED",
        format!("The tool failed by a fault of its own: {}", cut_line(message, MAX_PANIC)),
    )
}

fn timed_out(timeout: Duration) -> ToolResult {
    ToolResult::retryable(
        "TOOL_TIMEOUT",
        format!("The tool did not end within {} s and was stopped.", timeout.as_secs_f32()),
    )
}

/// The result of a call that was cut off.
pub(crate) fn interrupted() -> ToolResult {
    ToolResult::new(
        ToolStatus::Interrupted,
        "The call was interrupted before it ended.",
        "TOOL_INTERRUPTED",
    )
}

fn skipped() -> ToolResult {
    ToolResult::new(
        ToolStatus::Skipped,
        "The call was not run: the turn had been interrupted.",
        "TOOL_INTERRUPTED",
    )
}
