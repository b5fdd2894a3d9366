//! More attempts at one model.

use std::time::Duration;

use futures_util::StreamExt as _;

use super::world::{Step, request, settle, world};
use crate::layers::EndpointLimits;
use crate::{LlmError, Provider as _, StreamPart};

fn limited(seconds: u64) -> LlmError {
    let retry_after = Some(Duration::from_secs(seconds));
    LlmError::RateLimited { message: "slow down".to_owned(), retry_after }
}

#[tokio::test(start_paused = true)]
async fn ps_10_an_answer_that_breaks_off_begins_anew_and_says_so_first() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Text("AB"), Step::Fail(LlmError::Cut)]);
    world.model.script(vec![Step::Refuse(LlmError::Empty)]);
    world.model.script(vec![Step::Text("ABCD")]);
    let mut parts = world.stack.stream(request()).await.expect("an answer");
    assert_eq!(parts.next().await.expect("a part").expect("text"), StreamPart::Text("AB".into()));
    let restarted = parts.next().await.expect("a part").expect("a restart");
    let StreamPart::Restarted(restart) = restarted else { panic!("{restarted:?}") };
    assert_eq!((restart.attempt, restart.error.code.as_str()), (2, "PROVIDER_STREAM_CUT"));
    // It is told before the wait for the next attempt, not after it.
    assert_eq!(world.model.times_asked(), 1);
    assert_eq!(parts.next().await.expect("a part").expect("text"), StreamPart::Text("ABCD".into()));
    assert!(matches!(parts.next().await, Some(Ok(StreamPart::Finished(_)))));
    assert!(parts.next().await.is_none());
    assert_eq!(world.model.times_asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn ps_05_attempts_are_bounded_and_the_last_error_is_told() {
    let world = world(&EndpointLimits::default(), 3);
    for _attempt in 0..5 {
        world.model.script(vec![Step::Text("half"), Step::Fail(LlmError::Cut)]);
    }
    let answer = world.ask().await;
    assert!(matches!(answer.error, Some(LlmError::Cut)), "{answer:?}");
    assert_eq!(answer.restarts.iter().map(|(attempt, ..)| *attempt).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(answer.text, "half");
    assert_eq!(world.model.times_asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn waits_grow_and_are_jittered() {
    let world = world(&EndpointLimits::default(), 4);
    for _attempt in 0..3 {
        world.model.script(vec![Step::Refuse(LlmError::Empty)]);
    }
    assert_eq!(world.ask().await.text, "ok");
    let waits: Vec<u128> = world.model.waits().iter().map(Duration::as_millis).collect();
    for (wait, base) in waits.iter().zip([500, 1000, 2000]) {
        assert!((base..=2 * base).contains(wait), "{waits:?}");
    }
    assert_eq!(waits.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn no_wait_is_longer_than_allowed_with_its_jitter_too() {
    let world = world(&EndpointLimits::default(), 20);
    for _attempt in 0..19 {
        world.model.script(vec![Step::Refuse(LlmError::Empty)]);
    }
    assert_eq!(world.ask().await.text, "ok");
    let waits = world.model.waits();
    assert_eq!(waits.len(), 19);
    // The timer counts whole milliseconds.
    let longest = Duration::from_secs(30) + Duration::from_millis(1);
    assert!(waits.iter().all(|wait| *wait <= longest), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_provider_asks_for_is_kept() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Refuse(limited(20))]);
    world.model.script(vec![Step::Text("half"), Step::Fail(limited(10))]);
    assert_eq!(world.ask().await.text, "ok");
    let waits: Vec<u64> = world.model.waits().iter().map(Duration::as_secs).collect();
    assert_eq!(waits, [20, 10]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_fails_at_once_and_says_so() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Refuse(limited(31))]);
    let error = world.ask().await.error.expect("an error").to_string();
    assert!(error.contains("it asks to wait 31 s; provider.retry_max_ms allows 30 s"), "{error}");
    assert_eq!(world.model.times_asked(), 1);
    // The pause is the endpoint's: nobody else asks it either.
    let error = world.ask().await.error.expect("an error").to_string();
    assert!(error.contains("31 s"), "{error}");
    assert_eq!(world.model.times_asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_will_fail_again_is_not_tried_again() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Refuse(LlmError::Invalid { status: 400, message: "no".into() })]);
    let answer = world.ask().await;
    assert!(matches!(answer.error, Some(LlmError::Invalid { .. })), "{answer:?}");
    assert_eq!(world.model.times_asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn leaving_ends_the_wait_between_attempts() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Refuse(limited(20))]);
    let asking = tokio::time::timeout(Duration::from_secs(1), world.stack.stream(request()));
    assert!(asking.await.is_err());
    settle().await;
    let state = world.endpoint.state();
    assert_eq!((state.requests, state.waiting), (0, 0));
    tokio::time::advance(Duration::from_secs(60)).await;
    settle().await;
    assert_eq!(world.model.times_asked(), 1);
}
