//! Places and rates of an endpoint.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use super::world::{Step, request, settle, world};
use crate::layers::EndpointLimits;
use crate::{LlmError, Provider as _};

fn places(max_concurrent: usize, max_waiting: u32) -> EndpointLimits {
    EndpointLimits { max_concurrent, max_waiting, ..EndpointLimits::default() }
}

#[tokio::test(start_paused = true)]
async fn a_place_is_taken_until_the_stream_is_dropped() {
    let world = world(&places(1, 10), 1);
    world.model.script(vec![Step::Text("a"), Step::Hang]);
    let mut first = world.stack.stream(request()).await.expect("an answer");
    assert!(matches!(first.next().await, Some(Ok(_))));
    let mut second = Box::pin(world.stack.stream(request()));
    assert!(tokio::time::timeout(Duration::from_secs(5), &mut second).await.is_err());
    let state = world.endpoint.state();
    assert_eq!((state.requests, state.waiting), (1, 1));
    drop(first);
    assert_eq!(world.model.open(), 0);
    assert!(second.await.is_ok());
    assert_eq!(world.model.times_asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_place_is_free_again_when_the_answer_is_whole() {
    let world = world(&places(1, 0), 1);
    for _request in 0..3 {
        assert_eq!(world.ask().await.text, "ok");
    }
    assert_eq!(world.endpoint.state().requests, 0);
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_go_in_order() {
    let world = world(&places(1, 10), 1);
    world.model.script(vec![Step::Hang]);
    let first = world.stack.stream(request()).await.expect("an answer");
    let mut waiting = Vec::new();
    for name in ["b", "c", "d"] {
        let request = crate::Request { model: name.to_owned(), ..request() };
        let mut asking = Box::pin(super::world::ask(&world.stack, request));
        assert!((&mut asking).now_or_never().is_none());
        waiting.push(asking);
    }
    drop(first);
    // Polled from the back: the order is the line's, not the poller's.
    waiting.reverse();
    join_all(waiting).await;
    let asked = world.model.asked.lock().expect("times");
    let models: Vec<&str> = asked.iter().map(|(_, model)| model.as_str()).collect();
    assert_eq!(models, ["main", "b", "c", "d"]);
}

#[tokio::test(start_paused = true)]
async fn fifty_who_wait_can_all_leave_at_once() {
    let world = world(&places(1, 50), 1);
    world.model.script(vec![Step::Hang]);
    let first = world.stack.stream(request()).await.expect("an answer");
    let mut waiting: FuturesUnordered<_> =
        (0..50).map(|_| Box::pin(world.stack.stream(request()))).collect();
    assert!(waiting.next().now_or_never().is_none());
    settle().await;
    assert_eq!(world.endpoint.state().waiting, 50);
    // One more is one too many.
    let refused = world.stack.stream(request()).await.map(|_| ()).expect_err("busy");
    assert!(matches!(refused, LlmError::Busy { .. }), "{refused:?}");
    drop(waiting);
    assert_eq!(world.endpoint.state().waiting, 0);
    drop(first);
    assert_eq!(world.ask().await.text, "ok");
    assert_eq!(world.model.times_asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_place_for_ever() {
    let limits = EndpointLimits { longest_wait: Duration::from_secs(60), ..places(1, 10) };
    let world = world(&limits, 3);
    world.model.script(vec![Step::Hang]);
    let _first = world.stack.stream(request()).await.expect("an answer");
    let error = world.ask().await.error.expect("busy");
    assert!(matches!(error, LlmError::Busy { .. }), "{error:?}");
    assert!(error.to_string().contains("60 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn so_many_requests_a_minute_go_out() {
    let limits = EndpointLimits { requests_per_minute: 3, ..EndpointLimits::default() };
    let world = world(&limits, 1);
    for _request in 0..5 {
        assert_eq!(world.ask().await.text, "ok");
    }
    let waits: Vec<u64> = world.model.waits().iter().map(Duration::as_secs).collect();
    assert_eq!(waits, [0, 0, 20, 20]);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_one_request_is_told_of_holds_for_all() {
    let world = world(&EndpointLimits::default(), 1);
    let pause = Some(Duration::from_secs(7));
    let error = LlmError::RateLimited { message: "slow down".into(), retry_after: pause };
    world.model.script(vec![Step::Refuse(error)]);
    assert!(world.ask().await.error.is_some());
    assert_eq!(world.ask().await.text, "ok");
    assert_eq!(world.ask().await.text, "ok");
    let waits: Vec<u64> = world.model.waits().iter().map(Duration::as_secs).collect();
    assert_eq!(waits, [7, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_line_behind_the_rate_is_left_by_dropping() {
    let limits = EndpointLimits { requests_per_minute: 1, ..EndpointLimits::default() };
    let world = world(&limits, 1);
    assert_eq!(world.ask().await.text, "ok");
    let waiting: Vec<_> = (0..10)
        .map(|_| tokio::time::timeout(Duration::from_secs(1), world.stack.stream(request())))
        .collect();
    assert!(join_all(waiting).await.iter().all(Result::is_err));
    assert_eq!(world.endpoint.state().waiting, 0);
    // Those who left used nothing up.
    assert_eq!(world.ask().await.text, "ok");
    assert_eq!(world.model.waits().iter().map(Duration::as_secs).collect::<Vec<_>>(), [60]);
}
