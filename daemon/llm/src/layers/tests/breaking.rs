//! The circuit of an endpoint.

use std::time::Duration;

use super::world::{Step, World, request, world};
use crate::layers::{Circuit, EndpointLimits};
use crate::{LlmError, Provider as _};

fn down() -> Vec<Step> {
    let error = LlmError::Server { status: 503, message: "down".into(), retry_after: None };
    vec![Step::Refuse(error)]
}

fn three_failures() -> EndpointLimits {
    EndpointLimits {
        breaker_failures: 3,
        breaker_pause: Duration::from_secs(10),
        ..EndpointLimits::default()
    }
}

async fn opened() -> World {
    let world = world(&three_failures(), 1);
    for _request in 0..3 {
        assert_eq!(world.endpoint.state().circuit, Circuit::Closed);
        world.model.script(down());
        assert!(world.ask().await.error.is_some());
    }
    assert_eq!(world.endpoint.state().circuit, Circuit::Open);
    world
}

#[tokio::test(start_paused = true)]
async fn it_opens_after_failures_in_a_row_and_says_when_to_come_back() {
    let world = opened().await;
    tokio::time::advance(Duration::from_secs(4)).await;
    let error = world.ask().await.error.expect("refused");
    let LlmError::CircuitOpen { retry_after, .. } = error else { panic!("{error:?}") };
    assert_eq!(retry_after, Duration::from_secs(6));
    assert_eq!(world.model.times_asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn however_often_a_request_is_tried_it_fails_once() {
    let world = world(&three_failures(), 5);
    for request in 0..3 {
        assert_eq!(world.endpoint.state().circuit, Circuit::Closed, "{request}");
        for _attempt in 0..5 {
            world.model.script(down());
        }
        assert!(world.ask().await.error.is_some());
    }
    assert_eq!(world.endpoint.state().circuit, Circuit::Open);
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_a_sign_of_life() {
    let world = world(&three_failures(), 1);
    for _request in 0..5 {
        world.model.script(vec![Step::Refuse(LlmError::Empty)]);
        assert!(world.ask().await.error.is_some());
    }
    assert_eq!(world.endpoint.state().circuit, Circuit::Closed);
}

#[tokio::test(start_paused = true)]
async fn our_own_pause_does_not_close_it() {
    let world = world(&three_failures(), 1);
    for retry_after in [None, None, Some(Duration::from_secs(600))] {
        let error = LlmError::Server { status: 503, message: "down".into(), retry_after };
        world.model.script(vec![Step::Refuse(error)]);
        assert!(world.ask().await.error.is_some());
    }
    tokio::time::advance(Duration::from_secs(10)).await;
    let error = world.ask().await.error.expect("the pause is too long");
    assert!(matches!(error, LlmError::RateLimited { .. }), "{error:?}");
    assert_eq!(world.model.times_asked(), 3, "it was not asked");
    assert_eq!(world.endpoint.state().circuit, Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn one_request_tries_after_the_pause_and_closes_it() {
    let world = opened().await;
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(world.endpoint.state().circuit, Circuit::HalfOpen);
    world.model.script(vec![Step::Hang]);
    let probe = world.stack.stream(request()).await.expect("it may try");
    let error = world.ask().await.error.expect("one tries, no more");
    assert!(matches!(error, LlmError::CircuitOpen { .. }), "{error:?}");
    // It leaves without having learnt anything: the next one tries.
    drop(probe);
    assert_eq!(world.endpoint.state().circuit, Circuit::HalfOpen);
    assert_eq!(world.ask().await.text, "ok");
    assert_eq!(world.endpoint.state().circuit, Circuit::Closed);
}

#[tokio::test(start_paused = true)]
async fn it_opens_again_when_the_one_that_tries_fails() {
    let world = opened().await;
    tokio::time::advance(Duration::from_secs(10)).await;
    world.model.script(down());
    assert!(world.ask().await.error.is_some());
    assert_eq!(world.endpoint.state().circuit, Circuit::Open);
}

#[tokio::test(start_paused = true)]
async fn it_opens_when_half_of_the_last_twenty_fail() {
    let limits = EndpointLimits { breaker_failures: 100, ..three_failures() };
    let world = world(&limits, 1);
    for _pair in 0..9 {
        world.model.script(down());
        assert!(world.ask().await.error.is_some());
        assert!(world.ask().await.error.is_none());
    }
    assert!(world.ask().await.error.is_none());
    assert_eq!(world.endpoint.state().circuit, Circuit::Closed);
    world.model.script(down());
    assert!(world.ask().await.error.is_some());
    assert_eq!(world.endpoint.state().circuit, Circuit::Open);
}

#[tokio::test(start_paused = true)]
async fn being_told_off_is_a_sign_of_life() {
    let world = world(&three_failures(), 1);
    for _request in 0..5 {
        let error = LlmError::RateLimited { message: "slow down".into(), retry_after: None };
        world.model.script(vec![Step::Refuse(error)]);
        assert!(world.ask().await.error.is_some());
    }
    assert_eq!(world.endpoint.state().circuit, Circuit::Closed);
}

#[tokio::test(start_paused = true)]
async fn the_cause_is_told_rather_than_the_open_circuit() {
    let limits = EndpointLimits { breaker_failures: 1, ..three_failures() };
    let world = world(&limits, 10);
    for _attempt in 0..10 {
        world.model.script(down());
    }
    let error = world.ask().await.error.expect("down");
    assert!(matches!(error, LlmError::Server { status: 503, .. }), "{error:?}");
    assert_eq!(world.model.times_asked(), 1);
}
