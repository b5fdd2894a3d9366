//! Running the calls of one answer (spec d.5 to d.7).
//!
//! The calls are cut into segments: calls without effects that stand together, and single calls with
//! effects. A segment is prepared in order, run, and committed in order; what it needs of the turn
//! and of people comes through a [`CallHost`]. Every call gets exactly one result, unless the host
//! says stop: then those that have one are committed and the others stay open.
//!
//! Reading order: `segments` (the order), `memory` (what a turn remembers), `attempt` (one call),
//! `back_off` (tools that keep failing), `pool` (how many calls run at the same time).

mod attempt;
mod back_off;
mod memory;
mod pool;
mod segments;

use std::collections::HashMap;

use agentd_domain::{
    Action, CallMetrics, ResultSource, SessionRequest, ToolCall, ToolCallFinished, ToolResult,
    ToolStatus,
};
use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::{PreparedCall, Registry, ToolContext};
use attempt::{Planned, Ran, attempt, plan};
use back_off::Tries;
use memory::Fingerprint;
pub use memory::TurnMemory;
use pool::Pool;
use segments::{Segment, segments};

/// Limits of the scheduler.
#[derive(Debug, Clone, Copy)]
pub struct SchedulerLimits {
    /// Calls of one answer that are run; the others are answered without (spec d.5: 16).
    pub batch: usize,
    /// Calls that run at the same time (spec d.5: 4).
    pub parallel: usize,
    /// How often a call is tried that fails for a passing reason (spec d.7: 3).
    pub attempts: u32,
}

impl Default for SchedulerLimits {
    fn default() -> Self {
        Self { batch: 16, parallel: 4, attempts: 3 }
    }
}

/// One call of an answer.
#[derive(Debug, Clone)]
pub struct BatchCall {
    /// What the model asked for.
    pub call: ToolCall,
    /// Why it is not run, whatever it is; none: nothing speaks against it.
    pub refused: Option<ToolResult>,
}

/// Whether a call may run.
#[derive(Debug)]
pub enum Permit {
    /// It may.
    Granted,
    /// It may not, and this is its result.
    Refused(ToolResult),
}

/// What the scheduler needs of the turn that it works for.
#[async_trait]
pub trait CallHost: Sync {
    /// Why the batch ends before its end.
    type Stop: Send;

    /// What the call may use.
    async fn context(&self, call: &ToolCall) -> ToolContext;

    /// Asks whether the call may do what it says. This may wait for people.
    async fn permit(
        &self,
        call: &ToolCall,
        prepared: &PreparedCall,
        action: &Action,
    ) -> Result<Permit, Self::Stop>;

    /// The call begins. Once this returns, a restart knows of every call with effects.
    async fn started(
        &self,
        call: &ToolCall,
        prepared: &PreparedCall,
        action: &Action,
    ) -> Result<(), Self::Stop>;

    /// The call has its result. Called in the order of the calls in the answer.
    async fn finished(&mut self, call: &ToolCall, end: CallEnd) -> Result<(), Self::Stop>;

    /// Tells whether the turn is cancelled; calls that have not begun then stay open.
    ///
    /// # Errors
    /// When it is.
    fn check(&self) -> Result<(), Self::Stop>;
}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct CallEnd {
    /// Its result.
    pub finished: ToolCallFinished,
    /// What it asks of its session; none: nothing.
    pub request: Option<SessionRequest>,
}

/// What came of the calls of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchReport {
    /// Calls that were run or answered from memory.
    pub answered: usize,
    /// Calls that failed.
    pub failed: usize,
    /// Calls that were left out.
    pub skipped: usize,
}

impl BatchReport {
    /// True when nothing came of any of them.
    pub fn came_to_nothing(&self) -> bool {
        self.answered > 0 && self.failed == self.answered
    }
}

/// Runs the calls of an answer.
///
/// # Errors
/// What made the host stop. Calls without a result stay open.
pub async fn run_batch<H: CallHost>(
    host: &mut H,
    registry: &Registry,
    memory: &mut TurnMemory,
    calls: Vec<BatchCall>,
    limits: SchedulerLimits,
) -> Result<BatchReport, H::Stop> {
    let batch = Batch { registry, limits, size: calls.len(), since: Instant::now() };
    let mut report = BatchReport::default();
    let mut calls = calls;
    let surplus = calls.split_off(calls.len().min(limits.batch));
    let prepared: Vec<Prepared> = calls.into_iter().map(|call| batch.prepare(call)).collect();
    let mut failed_before = false;
    for segment in segments(prepared) {
        host.check()?;
        if failed_before {
            for call in segment.into_calls() {
                report.skipped += 1;
                host.finished(&call.call, skipped(&call.call, SKIPPED_AFTER_FAILURE)).await?;
            }
            continue;
        }
        let failed = batch.run_segment(host, memory, segment, &mut report).await?;
        failed_before = failed;
    }
    for BatchCall { call, .. } in surplus {
        report.skipped += 1;
        host.finished(&call, skipped(&call, SKIPPED_SURPLUS)).await?;
    }
    Ok(report)
}

/// What the model reads about a call that was left out.
const SKIPPED_AFTER_FAILURE: &str = "[not run: a call before it failed, so it may no longer be what is wanted. Ask for it again if it is.]";
const SKIPPED_SURPLUS: &str =
    "[not run: too many calls in one answer. Ask for it again in the next one.]";

fn skipped(call: &ToolCall, why: &str) -> CallEnd {
    let result = ToolResult::new(ToolStatus::Skipped, why, "TOOL_CALL_SKIPPED");
    let mut finished = ToolCallFinished::not_run(call, result);
    finished.metrics.source = ResultSource::NotRun;
    CallEnd { finished, request: None }
}

/// A call that was looked up.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// With the real tool's name and arguments, when there is one.
    call: ToolCall,
    /// What to run, or the result if there is nothing to run.
    what: Result<PreparedCall, ToolResult>,
    /// It has effects, or would have had.
    is_barrier: bool,
}

struct Batch<'a> {
    registry: &'a Registry,
    limits: SchedulerLimits,
    size: usize,
    since: Instant,
}

impl Batch<'_> {
    fn prepare(&self, batch_call: BatchCall) -> Prepared {
        let BatchCall { call, refused } = batch_call;
        // What is not run, or does not exist, has no effects that others could build on.
        if let Some(result) = refused {
            return Prepared { call, what: Err(result), is_barrier: false };
        }
        let resolved = match self.registry.resolve(&call.name, &call.arguments_json) {
            Ok(resolved) => resolved,
            Err(result) => return Prepared { call, what: Err(result), is_barrier: false },
        };
        let (what, spec) = (resolved.prepare(), resolved.tool.spec());
        let is_barrier = spec.capabilities.is_barrier();
        // From here on it is a call of the real tool, whatever name the model used.
        let call = ToolCall {
            call_id: call.call_id.clone(),
            name: spec.name.clone(),
            arguments_json: resolved.arguments_json.into_owned(),
        };
        Prepared { call, what, is_barrier }
    }

    /// Runs a segment. True when one of its calls failed.
    async fn run_segment<H: CallHost>(
        &self,
        host: &mut H,
        memory: &mut TurnMemory,
        segment: Segment,
        report: &mut BatchReport,
    ) -> Result<bool, H::Stop> {
        let width = segment.width().min(self.limits.parallel.max(1));
        let calls = segment.into_calls();
        let planned = plan_all(&*host, &calls).await?;
        let plan: Vec<Way> = ways(&planned, memory, self.limits.attempts);
        let mut results: Vec<Option<Ran>> = calls.iter().map(|_| None).collect();
        let stopped = self.run_ways(&*host, &planned, &plan, width, &mut results).await;
        let mut failed = false;
        for (index, (call, way)) in calls.iter().zip(&plan).enumerate() {
            let (ran, source) = match way {
                Way::Refused(result) => (Some(Ran::not_run(result.clone())), ResultSource::NotRun),
                Way::Cached(result) => (Some(Ran::not_run(result.clone())), ResultSource::Cache),
                Way::Run { .. } => (results.get(index).cloned().flatten(), ResultSource::Run),
                Way::SameAs(first) => {
                    (results.get(*first).cloned().flatten(), ResultSource::Shared)
                }
            };
            // Without a result the host has said stop, and so the call stays open.
            let Some(ran) = ran else { continue };
            if let (Way::Run { fingerprint, .. }, true) = (way, ran.attempts > 0) {
                memory.note(fingerprint.as_ref(), call.what.as_ref().ok(), &ran.result);
                let place = planned.get(index).and_then(|planned| planned.as_ref().ok()?.place());
                if let Some(place) = place {
                    memory.back_off.note(place, &ran.result, Instant::now());
                }
            }
            let is_failure = matches!(
                ran.result.status,
                ToolStatus::FatalError | ToolStatus::RetryableError | ToolStatus::Interrupted
            );
            failed |= is_failure;
            report.answered += 1;
            report.failed += usize::from(is_failure);
            let end = self.end(&call.call, ran, source, width);
            host.finished(&call.call, end).await?;
        }
        stopped?;
        Ok(failed)
    }

    /// Runs what has to be run, `width` calls at a time, and fills in their results.
    async fn run_ways<H: CallHost>(
        &self,
        host: &H,
        planned: &[Result<Planned, ToolResult>],
        plan: &[Way],
        width: usize,
        results: &mut [Option<Ran>],
    ) -> Result<(), H::Stop> {
        let pool = Pool::new(width);
        // They ask for their places in this order.
        let mut running: FuturesUnordered<_> = planned
            .iter()
            .zip(plan)
            .zip(results)
            .filter_map(|((planned, way), result)| match (way, planned) {
                (Way::Run { tries, .. }, Ok(planned)) => {
                    let running = attempt(host, &pool, planned.clone(), *tries);
                    Some(async move { (result, running.await) })
                }
                _ => None,
            })
            .collect();
        let mut stop = None;
        while let Some((result, ran)) = running.next().await {
            match ran {
                Ok(ran) => *result = ran,
                // The others end soon, and what they did counts.
                Err(stopped) => stop = stop.or(Some(stopped)),
            }
            stop = stop.or_else(|| host.check().err());
            if stop.is_some() {
                pool.stop();
            }
        }
        stop.map_or(Ok(()), Err)
    }

    fn end(&self, call: &ToolCall, ran: Ran, source: ResultSource, width: usize) -> CallEnd {
        let Ran { mut result, output_bytes, elapsed, attempts, began } = ran;
        let waited = began.unwrap_or(self.since).saturating_duration_since(self.since);
        let millis =
            |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let name = call.name.clone();
        let request = result.request.take().map(|request| *request);
        let mut finished =
            ToolCallFinished::of(call.call_id.clone(), name, result, output_bytes, millis(elapsed));
        finished.metrics = CallMetrics {
            source: if attempts == 0 && source == ResultSource::Run {
                ResultSource::NotRun
            } else {
                source
            },
            attempts: if source == ResultSource::Run { attempts } else { 0 },
            waited_ms: millis(waited),
            batch_size: small(self.size),
            parallel_width: small(width),
        };
        CallEnd { finished, request }
    }
}

/// Looks at what the calls of a segment will do, all at once. They have no effects on one another.
async fn plan_all<H: CallHost>(
    host: &H,
    calls: &[Prepared],
) -> Result<Vec<Result<Planned, ToolResult>>, H::Stop> {
    let plans: Vec<_> = calls.iter().map(|call| plan(host, call)).collect();
    let planned = join_all(plans).await;
    // A look that the end of the turn cut off is no result of its call.
    host.check()?;
    Ok(planned)
}

/// How each call of a segment gets its result.
fn ways(planned: &[Result<Planned, ToolResult>], memory: &TurnMemory, attempts: u32) -> Vec<Way> {
    let mut first_of: HashMap<Fingerprint, usize> = HashMap::new();
    let way = |(index, planned): (usize, &Result<Planned, ToolResult>)| {
        let Planned { prepared, action, .. } = match planned {
            Err(result) => return Way::Refused(result.clone()),
            Ok(planned) => planned,
        };
        let tries = memory.back_off.tries(prepared, action, attempts);
        if !prepared.capabilities.cacheable {
            return Way::Run { fingerprint: None, tries };
        }
        let fingerprint = memory.fingerprint(prepared, action);
        if let Some(result) = memory.recall(&fingerprint) {
            return Way::Cached(result.clone());
        }
        if let Some(first) = first_of.get(&fingerprint) {
            return Way::SameAs(*first);
        }
        first_of.insert(fingerprint.clone(), index);
        Way::Run { fingerprint: Some(fingerprint), tries }
    };
    planned.iter().enumerate().map(way).collect()
}

/// How a call gets its result.
#[derive(Debug)]
enum Way {
    /// It has one already.
    Refused(ToolResult),
    /// An equal call of the turn gave one.
    Cached(ToolResult),
    /// An equal call of the segment, by its place, gives one.
    SameAs(usize),
    /// It is run. With a fingerprint its result is remembered.
    Run { fingerprint: Option<Fingerprint>, tries: Tries },
}

#[cfg(test)]
mod tests;
