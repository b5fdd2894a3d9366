//! One call: planned, permitted, started, run, and tried again where that is safe.

use std::time::Duration;

use agentd_domain::{Action, ToolCall, ToolResult};
use backon::{BackoffBuilder as _, ExponentialBuilder};
use tokio::time::Instant;
use tracing::Instrument as _;

use super::back_off::{Place, Tries};
use super::pool::{Held, Pool};
use super::{CallHost, Permit, Prepared};
use crate::run::{CallLimits, plan_call, run_call};
use crate::{PreparedCall, ToolContext};

/// Waits between attempts: 0.25 s, then twice as long each time, a random part of it more.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// What came of a call.
#[derive(Debug, Clone)]
pub(super) struct Ran {
    pub(super) result: ToolResult,
    pub(super) output_bytes: u64,
    pub(super) elapsed: Duration,
    /// How often it was tried; 0: it was not run.
    pub(super) attempts: u32,
    pub(super) began: Option<Instant>,
}

impl Ran {
    /// A call that was not run.
    pub(super) fn not_run(result: ToolResult) -> Self {
        let output_bytes = u64::try_from(result.output.len()).unwrap_or(u64::MAX);
        Self { result, output_bytes, elapsed: Duration::ZERO, attempts: 0, began: None }
    }
}

/// A call and what it will do.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) call: ToolCall,
    pub(super) prepared: PreparedCall,
    pub(super) action: Action,
    ctx: ToolContext,
}

impl Planned {
    /// What it fails together with, if it does.
    pub(super) fn place(&self) -> Option<Place> {
        Place::of(&self.prepared, &self.action)
    }
}

/// Looks at what a call will do.
///
/// # Errors
/// The result of the call, when there is nothing to run.
pub(super) async fn plan<H: CallHost>(host: &H, call: &Prepared) -> Result<Planned, ToolResult> {
    let prepared = call.what.clone()?;
    let ctx = host.context(&call.call).await;
    let action = plan_call(&prepared, &ctx, CallLimits::default()).await?;
    Ok(Planned { call: call.call.clone(), prepared, action, ctx })
}

/// Carries a call through to its result, in a place of the pool. None: the pool stopped before it began.
///
/// # Errors
/// What made the host stop.
pub(super) async fn attempt<H: CallHost>(
    host: &H,
    pool: &Pool,
    planned: Planned,
    tries: Tries,
) -> Result<Option<Ran>, H::Stop> {
    let Some(mut place) = pool.place().await else { return Ok(None) };
    host.check()?;
    let Planned { call, prepared, action, ctx } = planned;
    if let Some(not_before) = tries.not_before {
        let waited = pool.wait(place, not_before, &ctx.cancel).await;
        host.check()?;
        let Some(again) = waited else { return Ok(None) };
        place = again;
    }
    // Last, so that what was forbidden while it waited holds.
    if let Permit::Refused(result) = host.permit(&call, &prepared, &action).await? {
        return Ok(Some(Ran::not_run(result)));
    }
    host.started(&call, &prepared, &action).await?;
    let limits = CallLimits::of(&prepared);
    let span = tool_span(&call);
    let trying = repeat(&prepared, &action, &ctx, limits, (tries.limit, pool, place));
    let ran = trying.instrument(span.clone()).await;
    if !ran.result.error_code.is_empty() {
        span.record("error.type", ran.result.error_code.as_str());
    }
    Ok(Some(ran))
}

async fn repeat(
    prepared: &PreparedCall,
    action: &Action,
    ctx: &ToolContext,
    limits: CallLimits,
    (attempts_limit, pool, mut place): (u32, &Pool, Held<'_>),
) -> Ran {
    let began = Instant::now();
    let mut waits = ExponentialBuilder::default()
        .with_min_delay(FIRST_WAIT)
        .with_jitter()
        .without_max_times()
        .build();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let outcome = run_call(prepared.clone(), action, ctx, limits).await;
        let again = outcome.result.is_retryable()
            && prepared.capabilities.retry_same_args
            && attempts < attempts_limit;
        let ran = Ran {
            result: outcome.result,
            output_bytes: outcome.output_bytes,
            elapsed: began.elapsed(),
            attempts,
            began: Some(began),
        };
        if !again {
            return ran;
        }
        let until = Instant::now() + waits.next().unwrap_or(FIRST_WAIT);
        match pool.wait(place, until, &ctx.cancel).await {
            Some(again) => place = again,
            None => return ran,
        }
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
