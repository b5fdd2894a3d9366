//! Other models that answer in place of the first.

use std::sync::Arc;

use super::world::{Answer, Scripted, Step, ask, candidate, request};
use crate::layers::{Endpoint, EndpointLimits, FallbackPolicy, Stack};
use crate::{LlmError, Message, ModelInfo, Request};

struct Two {
    first: Arc<Scripted>,
    other: Arc<Scripted>,
    stack: Stack,
}

fn two(policy: FallbackPolicy) -> Two {
    let (first, other) = (Arc::new(Scripted::default()), Arc::new(Scripted::default()));
    let endpoint = || Arc::new(Endpoint::new("http://scripted", &EndpointLimits::default()));
    let stack = Stack::new(
        candidate("main", &first, &endpoint(), 2),
        vec![candidate("spare", &other, &endpoint(), 2)],
        policy,
    );
    Two { first, other, stack }
}

/// Has the first model fail like this on every attempt.
async fn after(error: fn() -> LlmError, policy: FallbackPolicy) -> (Answer, usize) {
    let two = two(policy);
    for _attempt in 0..2 {
        two.first.script(vec![Step::Refuse(error())]);
    }
    (ask(&two.stack, request()).await, two.other.times_asked())
}

#[tokio::test(start_paused = true)]
async fn the_error_says_whether_another_model_is_asked() {
    let text = || "m".to_owned();
    let moves_on: [fn() -> LlmError; 5] = [
        || LlmError::Cut,
        || LlmError::Server { status: 529, message: "overloaded".into(), retry_after: None },
        || LlmError::Quota { message: "m".into() },
        || LlmError::NotFound { message: "m".into() },
        || LlmError::RateLimited { message: "m".into(), retry_after: None },
    ];
    for error in moves_on {
        let (answer, asked) = after(error, FallbackPolicy::default()).await;
        assert_eq!((answer.text.as_str(), asked), ("ok", 1), "{:?}", error());
        let (_attempt, model, code) = answer.restarts.last().expect("it is told");
        assert_eq!((model.as_str(), code.as_str()), ("spare", error().code()));
    }
    let stays: [fn() -> LlmError; 3] = [
        || LlmError::Invalid { status: 400, message: "m".into() },
        || LlmError::Auth { status: 401, message: "m".into() },
        || LlmError::ContextOverflow { message: "m".into(), limit_tokens: None },
    ];
    for error in stays {
        let (answer, asked) = after(error, FallbackPolicy::default()).await;
        let code = answer.error.map(|error| error.code());
        assert_eq!((code, asked), (Some(error().code()), 0), "{}", text());
    }
    let (answer, _asked) = after(stays[0], FallbackPolicy { after_refusal: true }).await;
    assert_eq!(answer.text, "ok");
}

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_over_all_models() {
    let two = two(FallbackPolicy::default());
    two.first.script(vec![Step::Text("a"), Step::Fail(LlmError::Cut)]);
    two.first.script(vec![Step::Text("b"), Step::Fail(LlmError::Cut)]);
    two.other.script(vec![Step::Text("c"), Step::Fail(LlmError::Cut)]);
    let answer = ask(&two.stack, request()).await;
    assert_eq!(answer.text, "ok");
    let restarts: Vec<_> =
        answer.restarts.iter().map(|(attempt, model, _)| (*attempt, model.as_str())).collect();
    assert_eq!(restarts, [(2, "main"), (3, "spare"), (4, "spare")]);
    let asked = two.other.asked.lock().expect("times");
    assert!(asked.iter().all(|(_, model)| model == "spare"), "{asked:?}");
}

fn too_long() -> Vec<Step> {
    let limit_tokens = Some(8_192);
    vec![Step::Refuse(LlmError::ContextOverflow { message: "too long".into(), limit_tokens })]
}

#[tokio::test(start_paused = true)]
async fn a_fallback_s_overflow_is_never_told_to_the_caller() {
    // Before the answer begins, and in its middle.
    let main_fails = [
        || vec![Step::Refuse(LlmError::Quota { message: "m".into() })],
        || vec![Step::Text("half"), Step::Fail(LlmError::Quota { message: "m".into() })],
    ];
    for main_fails in main_fails {
        let two = two(FallbackPolicy::default());
        two.first.script(main_fails());
        two.other.script(too_long());
        let answer = ask(&two.stack, request()).await;
        assert!(matches!(answer.error, Some(LlmError::Quota { .. })), "{answer:?}");
        assert_eq!(two.other.times_asked(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_fallback_s_overflow_the_next_one_is_asked() {
    let models: Vec<_> = (0..3).map(|_| Arc::new(Scripted::default())).collect();
    let endpoint = Arc::new(Endpoint::new("http://scripted", &EndpointLimits::default()));
    let mut candidates = ["main", "small", "large"]
        .into_iter()
        .zip(&models)
        .map(|(name, model)| candidate(name, model, &endpoint, 1));
    let stack = Stack::new(
        candidates.next().expect("main"),
        candidates.collect(),
        FallbackPolicy::default(),
    );
    models[0].script(vec![Step::Refuse(LlmError::Cut)]);
    models[1].script(too_long());
    let answer = ask(&stack, request()).await;
    assert_eq!(answer.text, "ok");
    let (_attempt, model, code) = answer.restarts.last().expect("it is told");
    assert_eq!((model.as_str(), code.as_str()), ("large", "CONTEXT_OVERFLOW"));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_whose_window_is_clearly_too_small_is_not_asked() {
    let ask_with_window = async |context_tokens: u64| {
        let (first, other) = (Arc::new(Scripted::default()), Arc::new(Scripted::default()));
        let endpoint = Arc::new(Endpoint::new("http://scripted", &EndpointLimits::default()));
        let mut spare = candidate("spare", &other, &endpoint, 1);
        spare.info = Arc::new(ModelInfo { context_tokens, ..ModelInfo::default() });
        let main = candidate("main", &first, &endpoint, 1);
        let stack = Stack::new(main, vec![spare], FallbackPolicy::default());
        first.script(vec![Step::Refuse(LlmError::Cut)]);
        let long = Request { messages: vec![Message::user("abcd".repeat(10_000))], ..request() };
        let answer = ask(&stack, long).await;
        (answer.error.map(|error| error.code()), other.times_asked())
    };
    assert_eq!(ask_with_window(6_000).await, (Some("PROVIDER_STREAM_CUT"), 0));
    // Estimates are rough: what may fit is asked.
    assert_eq!(ask_with_window(9_500).await, (None, 1));
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_told_when_no_model_can_answer() {
    let two = two(FallbackPolicy::default());
    two.first.script(vec![Step::Refuse(LlmError::Quota { message: "m".into() })]);
    two.other.script(vec![Step::Refuse(LlmError::NotFound { message: "m".into() })]);
    let answer = ask(&two.stack, request()).await;
    assert!(matches!(answer.error, Some(LlmError::NotFound { .. })), "{answer:?}");
}
