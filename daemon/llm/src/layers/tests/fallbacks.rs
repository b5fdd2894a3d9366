//! Other models that answer in place of the first.

use std::sync::Arc;

use super::world::{Answer, Scripted, Step, ask, candidate, request};
use crate::LlmError;
use crate::layers::{Endpoint, EndpointLimits, FallbackPolicy, Stack};

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

#[tokio::test(start_paused = true)]
async fn the_last_error_is_told_when_no_model_can_answer() {
    let two = two(FallbackPolicy::default());
    two.first.script(vec![Step::Refuse(LlmError::Quota { message: "m".into() })]);
    two.other.script(vec![Step::Refuse(LlmError::NotFound { message: "m".into() })]);
    let answer = ask(&two.stack, request()).await;
    assert!(matches!(answer.error, Some(LlmError::NotFound { .. })), "{answer:?}");
}
