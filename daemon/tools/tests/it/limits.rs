//! Calls that take too long, say too much, panic or are cancelled.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, ToolResult, ToolSpec, ToolStatus};
use agentd_tools::{CallLimits, CallOutcome, Registry, Tool, ToolContext, run_call};
use async_trait::async_trait;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::harness::context;

/// What the odd tool does.
#[derive(Debug, Clone, Copy)]
enum Does {
    Wait,
    Panic,
    PanicLater,
    PanicOnThread,
    Say(&'static str, usize),
    CancelThenAnswer,
}

#[derive(Debug)]
struct Odd {
    spec: ToolSpec,
    does: Does,
}

#[async_trait]
impl Tool for Odd {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        ctx: &ToolContext,
        _arguments: serde_json::Value,
        _planned: &Action,
    ) -> ToolResult {
        match self.does {
            Does::Wait => std::future::pending().await,
            Does::Panic => panic!("at once"),
            Does::PanicLater => {
                tokio::task::yield_now().await;
                panic!("later: {}", "世".repeat(1_000))
            }
            Does::PanicOnThread => {
                let joined = tokio::task::spawn_blocking(|| panic!("on a thread")).await;
                std::panic::resume_unwind(joined.expect_err("it panics").into_panic())
            }
            Does::Say(what, times) => ToolResult::success(what.repeat(times)),
            Does::CancelThenAnswer => {
                ctx.cancel.cancel();
                ToolResult::success("done")
            }
        }
    }
}

async fn run(does: Does, ctx: &ToolContext, limits: CallLimits) -> CallOutcome {
    let spec = ToolSpec {
        name: "odd".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
        capabilities: Capabilities::EXCLUSIVE,
    };
    let mut registry = Registry::new();
    registry.register(Arc::new(Odd { spec, does })).expect("one tool");
    let call = registry.prepare("odd", "").expect("no arguments");
    assert_eq!(call.capabilities, Capabilities::EXCLUSIVE);
    run_call(call, &Action::default(), ctx, limits).await
}

#[tokio::test]
async fn en_01_a_panic_in_a_tool_becomes_an_error_result() {
    for (does, message) in [
        (Does::Panic, "at once"),
        (Does::PanicLater, "later: 世世"),
        (Does::PanicOnThread, "on a thread"),
    ] {
        let outcome = run(does, &context("/".as_ref()), CallLimits::default()).await;
        assert_eq!(outcome.result.status, ToolStatus::FatalError);
        assert_eq!(outcome.result.error_code, "TOOL_PANICKED");
        assert!(outcome.result.output.contains(message), "{outcome:?}");
        assert!(outcome.result.output.chars().count() < 300, "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_stopped_and_may_be_tried_again() {
    let outcome = run(Does::Wait, &context("/".as_ref()), CallLimits::default()).await;
    assert_eq!(outcome.elapsed.as_secs(), 30);
    assert_eq!(outcome.result.status, ToolStatus::RetryableError);
    assert_eq!(outcome.result.error_code, "TOOL_TIMEOUT");
    assert!(outcome.result.output.contains("30 s"), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_interrupted() {
    let ctx = context("/".as_ref());
    let cancel = ctx.cancel.clone();
    let limits = CallLimits::default();
    let (outcome, ()) = tokio::join!(run(Does::Wait, &ctx, limits), async { cancel.cancel() });
    assert_eq!(outcome.result.status, ToolStatus::Interrupted);
    assert_eq!(outcome.elapsed, Duration::ZERO);
}

#[tokio::test]
async fn a_call_cancelled_before_it_began_is_not_run() {
    let ctx = context("/".as_ref());
    ctx.cancel.cancel();
    let outcome = run(Does::Panic, &ctx, CallLimits::default()).await;
    assert_eq!(outcome.result.status, ToolStatus::Skipped);
}

#[tokio::test]
async fn a_tool_cannot_cancel_its_turn() {
    let ctx = context("/".as_ref());
    let outcome = run(Does::CancelThenAnswer, &ctx, CallLimits::default()).await;
    assert_eq!(outcome.result, ToolResult::success("done"));
    assert!(!ctx.cancel.is_cancelled());
}

#[tokio::test]
async fn en_01_long_output_keeps_head_and_tail_on_character_boundaries() {
    for what in ["a世", "😀", "e\u{301}", "👨‍👩‍👧‍👦"] {
        let times = 200_000 / what.len();
        let outcome =
            run(Does::Say(what, times), &context("/".as_ref()), CallLimits::default()).await;
        assert_eq!(outcome.output_bytes, u64::try_from(what.len() * times).expect("small"));
        assert!(outcome.result.output.len() < 128 * 1024 + 64);
        assert!(outcome.result.output.contains("bytes left out"));
    }
    let outcome = run(Does::Say("x", 10), &context("/".as_ref()), CallLimits::default()).await;
    assert_eq!((outcome.result.output.as_str(), outcome.output_bytes), ("xxxxxxxxxx", 10));
}

#[tokio::test]
async fn w4_9_a_costly_expression_ends_when_its_turn_is_cancelled() {
    let ctx = ToolContext { cancel: CancellationToken::new(), ..context("/".as_ref()) };
    let call = Registry::builtin()
        .prepare("calculator", r#"{"expression":"2^(10^10)"}"#)
        .expect("an expression");
    let cancel = ctx.cancel.clone();
    let planned = Action::default();
    let (outcome, ()) =
        tokio::join!(run_call(call, &planned, &ctx, CallLimits::default()), async {
            cancel.cancel();
        });
    assert_eq!(outcome.result.status, ToolStatus::Interrupted);
}
