use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentd_domain::{Capabilities, Clock, SessionId, TimestampMs, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{LiveOutput, Rank, Tool};

/// What a scripted call does, by its argument `does`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Succeed,
    Fail,
    FailOnce,
    Panic,
    /// Fails for a reason that may pass and does not.
    Stay,
}

const ALL_THAT_CALLS_DO: [Does; 5] =
    [Does::Succeed, Does::Fail, Does::FailOnce, Does::Panic, Does::Stay];

/// What happened, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Began(String),
    Ended(String),
    Committed(String, ToolStatus),
}

type Log = Arc<Mutex<Vec<Seen>>>;

#[derive(Debug)]
struct Scripted {
    spec: ToolSpec,
    log: Log,
    running: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn rank(&self) -> Rank {
        if self.spec.name.starts_with("hidden") { Rank::Second } else { Rank::First }
    }

    async fn run(&self, ctx: &ToolContext, arguments: Value, _planned: &Action) -> ToolResult {
        let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        let id = text("id");
        self.log.lock().unwrap().push(Seen::Began(id.clone()));
        let now = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_at_once.fetch_max(now, Ordering::Relaxed);
        let cancelled = tokio::select! {
            () = pass(arguments["ms"].as_u64().unwrap_or(1)) => false,
            () = ctx.cancel.cancelled() => true,
        };
        self.running.fetch_sub(1, Ordering::Relaxed);
        let before = self
            .log
            .lock()
            .unwrap()
            .iter()
            .filter(|seen| **seen == Seen::Ended(id.clone()))
            .count();
        self.log.lock().unwrap().push(Seen::Ended(id.clone()));
        if cancelled {
            return crate::run::interrupted();
        }
        match text("does").as_str() {
            "Fail" => ToolResult::fatal("SCRIPTED", id),
            "FailOnce" if before == 0 => ToolResult::retryable("SCRIPTED", id),
            "Panic" => panic!("scripted"),
            "Stay" => ToolResult::retryable("SCRIPTED", id),
            _ => ToolResult::success(id),
        }
    }
}

#[derive(Debug)]
struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(0)
    }
}

struct Host {
    log: Log,
    cancel: CancellationToken,
    refuse: Vec<String>,
    finished: Vec<ToolCallFinished>,
}

#[async_trait]
impl CallHost for Host {
    type Stop = &'static str;

    async fn context(&self, _call: &ToolCall) -> ToolContext {
        ToolContext {
            workspace: PathBuf::from("/"),
            session: SessionId::from_parts(1, 1),
            clock: Arc::new(NoClock),
            cancel: self.cancel.clone(),
            files: Arc::default(),
            output: LiveOutput::nobody(),
            people: Arc::new(crate::people::Nobody),
            goals: Arc::new(crate::goals::NoGoals),
            history: Arc::new(crate::history::NoHistory),
            readable: Arc::default(),
            further_roots: Arc::default(),
        }
    }

    async fn permit(
        &self,
        call: &ToolCall,
        _prepared: &PreparedCall,
        _action: &Action,
    ) -> Result<Permit, &'static str> {
        let is_refused = self.refuse.contains(&call.call_id.to_string());
        Ok(if is_refused {
            Permit::Refused(ToolResult::fatal("DENIED", "no"))
        } else {
            Permit::Granted
        })
    }

    async fn started(
        &self,
        _call: &ToolCall,
        _prepared: &PreparedCall,
        _action: &Action,
    ) -> Result<(), &'static str> {
        Ok(())
    }

    async fn finished(&mut self, call: &ToolCall, end: CallEnd) -> Result<(), &'static str> {
        let finished = end.finished;
        assert_eq!(call.call_id, finished.call_id);
        let id = call.call_id.to_string();
        self.log.lock().unwrap().push(Seen::Committed(id, finished.status));
        self.finished.push(finished);
        Ok(())
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.cancel.is_cancelled() { Err("cancelled") } else { Ok(()) }
    }
}

/// Lets milliseconds of the paused clock pass.
async fn pass(ms: u64) {
    tokio::time::sleep_until(Instant::now() + Duration::from_millis(ms)).await;
}

/// A registry of scripted tools and a host to run them for.
struct World {
    registry: Registry,
    memory: TurnMemory,
    host: Host,
    most_at_once: Arc<AtomicUsize>,
}

const TOOLS: [(&str, Capabilities); 7] = [
    ("hidden_read", Capabilities::WORKSPACE_READ),
    ("hidden_write", Capabilities::WORKSPACE_WRITE),
    ("pure", Capabilities { cacheable: false, ..Capabilities::PURE }),
    ("read", Capabilities::WORKSPACE_READ),
    ("serial", Capabilities { parallel_safe: false, cacheable: false, ..Capabilities::PURE }),
    ("write", Capabilities::WORKSPACE_WRITE),
    ("run", Capabilities::PROCESS),
];

impl World {
    fn new() -> Self {
        let log = Log::default();
        let (running, most_at_once) = (Arc::default(), Arc::default());
        let mut registry = Registry::new();
        for (name, capabilities) in TOOLS {
            let spec = ToolSpec {
                name: name.to_owned(),
                description: String::new(),
                parameters: json!({"type": "object", "properties": {
                    "id": {"type": "string"}, "does": {"type": "string"}, "ms": {"type": "integer"},
                }, "additionalProperties": false}),
                capabilities,
            };
            let tool = Scripted {
                spec,
                log: Arc::clone(&log),
                running: Arc::clone(&running),
                most_at_once: Arc::clone(&most_at_once),
            };
            registry.register(Arc::new(tool)).unwrap();
        }
        let host = Host {
            log,
            cancel: CancellationToken::new(),
            refuse: Vec::new(),
            finished: Vec::new(),
        };
        Self { registry, memory: TurnMemory::default(), host, most_at_once }
    }

    async fn run(&mut self, calls: Vec<BatchCall>) -> Result<BatchReport, &'static str> {
        let limits = SchedulerLimits::default();
        run_batch(&mut self.host, &self.registry, &mut self.memory, calls, limits).await
    }

    fn statuses(&self) -> Vec<(String, ToolStatus)> {
        let finished = self.host.finished.iter();
        finished.map(|finished| (finished.call_id.to_string(), finished.status)).collect()
    }

    fn runs(&self, id: &str) -> usize {
        let log = self.host.log.lock().unwrap();
        log.iter().filter(|seen| **seen == Seen::Began(id.to_owned())).count()
    }
}

fn call(call_id: &str, tool: &str, arguments: &Value) -> BatchCall {
    let call = ToolCall {
        call_id: call_id.parse().unwrap(),
        name: tool.to_owned(),
        arguments_json: arguments.to_string(),
    };
    BatchCall { call, refused: None }
}

/// A call whose argument `id` is its call id.
fn scripted(id: &str, tool: &str, does: Does) -> BatchCall {
    call(id, tool, &json!({"id": id, "does": format!("{does:?}")}))
}

#[tokio::test(start_paused = true)]
async fn calls_without_effects_run_together_and_are_committed_in_order() {
    let mut world = World::new();
    let slow = |id: &str, ms: u64| call(id, "pure", &json!({"id": id, "ms": ms}));
    let calls = vec![slow("a", 50), slow("b", 10), slow("c", 30), slow("d", 20), slow("e", 5)];
    let began = Instant::now();
    world.run(calls).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(50));
    assert_eq!(world.most_at_once.load(Ordering::Relaxed), 4);
    let order: Vec<_> = world.statuses().into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, ["a", "b", "c", "d", "e"]);
    assert_eq!(world.host.finished[0].metrics.parallel_width, 4);
    assert_eq!(world.host.finished[4].metrics.waited_ms, 10);
}

#[tokio::test(start_paused = true)]
async fn one_call_that_must_be_alone_makes_its_segment_run_in_turn() {
    let mut world = World::new();
    let calls = vec![
        scripted("a", "pure", Does::Succeed),
        scripted("b", "serial", Does::Fail),
        scripted("c", "pure", Does::Succeed),
    ];
    let report = world.run(calls).await.unwrap();
    assert_eq!(world.most_at_once.load(Ordering::Relaxed), 1);
    assert_eq!(report, BatchReport { answered: 3, failed: 1, skipped: 0 });
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_failure_across_a_barrier_is_answered_and_not_run() {
    let mut world = World::new();
    let calls = vec![
        scripted("a", "read", Does::Fail),
        scripted("b", "read", Does::Succeed),
        scripted("c", "write", Does::Succeed),
        scripted("d", "read", Does::Succeed),
    ];
    world.run(calls).await.unwrap();
    let statuses: Vec<_> = world.statuses().into_iter().map(|(_, status)| status).collect();
    let expect =
        [ToolStatus::FatalError, ToolStatus::Success, ToolStatus::Skipped, ToolStatus::Skipped];
    assert_eq!(statuses, expect);
    assert_eq!((world.runs("c"), world.runs("d")), (0, 0));
    assert_eq!(world.host.finished[2].error_code, "TOOL_CALL_SKIPPED");
}

#[tokio::test(start_paused = true)]
async fn more_calls_than_the_limit_are_answered_and_not_run() {
    let mut world = World::new();
    let ids: Vec<String> = (0..20).map(|n| format!("c{n}")).collect();
    let calls = ids.iter().map(|id| scripted(id, "pure", Does::Succeed)).collect();
    let report = world.run(calls).await.unwrap();
    assert_eq!(report, BatchReport { answered: 16, failed: 0, skipped: 4 });
    assert_eq!(world.statuses().len(), 20);
    assert_eq!(world.runs("c16"), 0);
}

#[tokio::test(start_paused = true)]
async fn w2_6_a_failing_call_is_tried_again_only_where_that_is_safe_and_once_for_equal_calls() {
    let mut world = World::new();
    let again = json!({"id": "x", "does": "FailOnce"});
    world.run(vec![call("a", "read", &again), call("b", "read", &again)]).await.unwrap();
    assert_eq!(world.runs("x"), 2);
    let metrics: Vec<_> =
        world.host.finished.iter().map(|f| (f.metrics.source, f.metrics.attempts)).collect();
    assert_eq!(metrics, [(ResultSource::Run, 2), (ResultSource::Shared, 0)]);
    let mut world = World::new();
    let calls = vec![scripted("w", "write", Does::FailOnce)];
    world.run(calls).await.unwrap();
    assert_eq!((world.runs("w"), world.statuses()[0].1), (1, ToolStatus::RetryableError));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_keeps_failing_waits_longer_each_time_and_is_tried_once() {
    let mut world = World::new();
    world.run(vec![scripted("a", "read", Does::Stay)]).await.unwrap();
    assert_eq!(world.runs("a"), 3);
    let mut waits = Vec::new();
    for id in ["b", "c", "d", "e", "f", "g"] {
        let before = Instant::now();
        world.run(vec![scripted(id, "read", Does::Stay)]).await.unwrap();
        waits.push(before.elapsed().as_secs());
        assert_eq!(world.runs(id), 1, "{id}");
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 16]);
    // Others do not wait for it, and once it works it is as before.
    let before = Instant::now();
    world.run(vec![scripted("h", "pure", Does::Succeed)]).await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(1));
    world.run(vec![scripted("i", "read", Does::Succeed)]).await.unwrap();
    let before = Instant::now();
    world.run(vec![scripted("j", "read", Does::FailOnce)]).await.unwrap();
    assert_eq!(world.runs("j"), 2);
    assert!(before.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_failing_tool_is_cancelled_at_once_and_has_not_begun() {
    let mut world = World::new();
    world.run(vec![scripted("a", "read", Does::Stay)]).await.unwrap();
    let (cancel, began) = (world.host.cancel.clone(), Instant::now());
    let (report, ()) = tokio::join!(world.run(vec![scripted("b", "read", Does::Succeed)]), async {
        pass(10).await;
        cancel.cancel();
    });
    assert_eq!(report, Err("cancelled"));
    assert_eq!((began.elapsed(), world.runs("b")), (Duration::from_millis(10), 0));
}

#[tokio::test(start_paused = true)]
async fn w0_17_a_read_after_a_write_is_read_again_and_a_write_is_never_remembered() {
    let mut world = World::new();
    let read = |id: &str| call(id, "read", &json!({"id": "r"}));
    let write = |id: &str| call(id, "write", &json!({"id": "w"}));
    world.run(vec![read("a"), write("b"), read("c"), write("d")]).await.unwrap();
    assert_eq!((world.runs("r"), world.runs("w")), (2, 2));
    world.run(vec![read("e"), read("f")]).await.unwrap();
    assert_eq!(world.runs("r"), 3, "the second write made the read before it out of date");
    let sources: Vec<_> = world.host.finished.iter().map(|f| f.metrics.source).collect();
    assert_eq!(sources[4..], [ResultSource::Run, ResultSource::Shared]);
    world.run(vec![read("g")]).await.unwrap();
    assert_eq!(world.host.finished[6].metrics.source, ResultSource::Cache);
}

#[tokio::test(start_paused = true)]
async fn arguments_are_equal_whatever_the_order_of_their_keys() {
    let mut world = World::new();
    let mut other = call("b", "read", &json!({}));
    other.call.arguments_json = r#"{"ms": 1, "id": "x"}"#.to_owned();
    world.run(vec![call("a", "read", &json!({"id": "x", "ms": 1})), other]).await.unwrap();
    assert_eq!(world.runs("x"), 1);
    let mut nested = call("c", "read", &json!({"id": "y"}));
    nested.call.arguments_json = r#"{"id": "y,"}"#.to_owned();
    world.run(vec![call("d", "read", &json!({"id": "y"})), nested]).await.unwrap();
    assert_eq!((world.runs("y"), world.runs("y,")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_not_run_is_a_failure_of_its_own() {
    let mut world = World::new();
    world.host.refuse = vec!["a".to_owned()];
    let calls = vec![scripted("a", "write", Does::Succeed), scripted("b", "run", Does::Succeed)];
    let report = world.run(calls).await.unwrap();
    assert_eq!(report, BatchReport { answered: 1, failed: 1, skipped: 1 });
    assert!(report.came_to_nothing());
    assert_eq!(world.host.finished[0].error_code, "DENIED");
    assert_eq!(world.host.finished[0].metrics.source, ResultSource::NotRun);
    assert_eq!((world.runs("a"), world.runs("b")), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_batch_commits_what_has_ended_and_leaves_the_rest_open() {
    let mut world = World::new();
    let cancel = world.host.cancel.clone();
    let calls = vec![
        call("a", "pure", &json!({"id": "a", "ms": 10})),
        call("b", "pure", &json!({"id": "b", "ms": 1000})),
        call("c", "write", &json!({"id": "c"})),
    ];
    let (report, ()) = tokio::join!(world.run(calls), async {
        pass(100).await;
        cancel.cancel();
    });
    assert_eq!(report, Err("cancelled"));
    let expect = [("a".to_owned(), ToolStatus::Success), ("b".to_owned(), ToolStatus::Interrupted)];
    assert_eq!(world.statuses(), expect);
    assert_eq!(world.runs("c"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_before_it_is_tried_gives_its_place_to_others() {
    let mut world = World::new();
    let failing = |ids: [&str; 4]| ids.map(|id| scripted(id, "read", Does::Stay));
    // Between its own tries, and for a tool that keeps failing.
    for ids in [["a", "b", "c", "d"], ["e", "f", "g", "h"]] {
        let well = call(&format!("well-{}", ids[0]), "pure", &json!({"id": "well", "ms": 5}));
        world.run(failing(ids).into_iter().chain([well]).collect()).await.unwrap();
        let finished = world.host.finished.last().unwrap();
        assert_eq!(finished.status, ToolStatus::Success);
        assert!(finished.metrics.waited_ms < 10, "{ids:?}: {:?}", finished.metrics);
    }
    assert_eq!(["a", "e"].map(|id| world.runs(id)), [3, 1]);
    assert_eq!(world.most_at_once.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn calls_that_run_in_turn_keep_their_order_also_when_one_waits() {
    let mut world = World::new();
    world.run(vec![scripted("a", "read", Does::Stay)]).await.unwrap();
    let calls = vec![scripted("b", "read", Does::Stay), scripted("c", "serial", Does::Succeed)];
    world.run(calls).await.unwrap();
    assert_eq!(world.host.finished[2].metrics.waited_ms / 1000, 1);
    let log = world.host.log.lock().unwrap();
    let at = |id: &str| log.iter().position(|seen| *seen == Seen::Began(id.to_owned()));
    assert!(at("b") < at("c"));
}

fn any_call() -> impl Strategy<Value = (usize, Does, u64)> {
    (0..TOOLS.len(), prop::sample::select(&ALL_THAT_CALLS_DO[..]), 1_u64..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the model asks for, whatever the calls do and whenever the turn is cancelled.
    #[test]
    fn order_barriers_and_one_result_hold_for_any_batch(
        batch in prop::collection::vec(any_call(), 0..24),
        cancel_after in prop::option::of(0_u64..120),
        unknown in prop::option::of(0_usize..24),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let mut world = World::new();
        let mut calls = Vec::new();
        for (index, (tool, does, ms)) in batch.iter().enumerate() {
            let id = format!("c{index}");
            let name = if unknown == Some(index) { "nothing" } else { TOOLS[*tool].0 };
            let does = format!("{does:?}");
            calls.push(call(&id, name, &json!({"id": id, "does": does, "ms": ms})));
        }
        let is_barrier = |id: &str| {
            let index: usize = id[1..].parse().unwrap();
            unknown != Some(index) && TOOLS[batch[index].0].1.is_barrier()
        };
        let cancel = world.host.cancel.clone();
        let report = runtime.block_on(async {
            let timer = async {
                if let Some(ms) = cancel_after {
                    pass(ms).await;
                    cancel.cancel();
                }
            };
            let (report, ()) = tokio::join!(world.run(calls), timer);
            report
        });
        let log = world.host.log.lock().unwrap().clone();
        let place = |wanted: &Seen| log.iter().position(|seen| seen == wanted);
        let committed: Vec<usize> = world
            .host
            .finished
            .iter()
            .map(|finished| finished.call_id.to_string()[1..].parse().unwrap())
            .collect();

        // Results come in order, one for each call.
        prop_assert!(committed.is_sorted_by(|a, b| a < b));
        if report.is_ok() {
            prop_assert_eq!(committed.len(), batch.len());
        }
        prop_assert!(world.most_at_once.load(Ordering::Relaxed) <= 4);

        let mut failed = false;
        for (index, _) in batch.iter().enumerate() {
            let id = format!("c{index}");
            let Some(began) = place(&Seen::Began(id.clone())) else { continue };
            // Nothing with effects is left without a result once it has begun.
            prop_assert!(!is_barrier(&id) || committed.contains(&index), "{} is lost", id);
            for earlier in 0..index {
                let earlier_id = format!("c{earlier}");
                let before = log.iter().position(
                    |seen| matches!(seen, Seen::Committed(id, _) if *id == earlier_id));
                if is_barrier(&id) || is_barrier(&earlier_id) {
                    // Across a barrier everything before is settled, and none of it failed.
                    prop_assert!(before.is_some_and(|before| before < began), "{earlier_id} {id}");
                    let status = world.statuses().iter().find(|(id, _)| *id == earlier_id).unwrap().1;
                    failed |= matches!(status, ToolStatus::FatalError | ToolStatus::RetryableError);
                    prop_assert!(!failed, "{} ran after {} had failed", id, earlier_id);
                }
            }
        }
    }
}

/// The same through `call_tool`.
fn through(mut call: BatchCall) -> BatchCall {
    let arguments: Value = serde_json::from_str(&call.call.arguments_json).unwrap();
    call.call.arguments_json = json!({"name": call.call.name, "arguments": arguments}).to_string();
    "call_tool".clone_into(&mut call.call.name);
    call
}

#[tokio::test(start_paused = true)]
async fn a_call_through_call_tool_is_run_as_the_real_tool_is() {
    let mut world = World::new();
    let read = |id: &str| call(id, "hidden_read", &json!({"id": "same"}));
    let calls = vec![
        through(read("a")),
        read("b"),
        through(scripted("c", "hidden_write", Does::Succeed)),
        through(read("d")),
        through(scripted("e", "hidden_write", Does::Fail)),
        scripted("f", "read", Does::Succeed),
    ];
    world.run(calls).await.unwrap();
    let seen: Vec<_> = world
        .host
        .finished
        .iter()
        .map(|finished| (finished.name.as_str(), finished.metrics.source, finished.status))
        .collect();
    assert_eq!(
        seen,
        [
            ("hidden_read", ResultSource::Run, ToolStatus::Success),
            ("hidden_read", ResultSource::Shared, ToolStatus::Success),
            // A barrier, after which what was read is out of date.
            ("hidden_write", ResultSource::Run, ToolStatus::Success),
            ("hidden_read", ResultSource::Run, ToolStatus::Success),
            ("hidden_write", ResultSource::Run, ToolStatus::FatalError),
            ("read", ResultSource::NotRun, ToolStatus::Skipped),
        ]
    );
}
