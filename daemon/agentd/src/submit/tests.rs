use std::sync::atomic::{AtomicUsize, Ordering};

use agentd_domain::{ItemId, Priority, Seq};
use agentd_llm::layers::TokioClock;
use futures_util::FutureExt as _;
use tonic::Code;
use tonic_types::StatusExt as _;

use super::*;

/// Whoever accepts in place of an engine.
#[derive(Debug, Default)]
struct Accepted {
    submissions: Mutex<Vec<Submission>>,
    /// Messages that are being accepted and never will be.
    stuck: AtomicUsize,
}

fn stack(config: &SubmitConfig) -> (SubmitService, Arc<Accepted>) {
    let accepted = Arc::new(Accepted::default());
    let accept: Accept = {
        let accepted = Arc::clone(&accepted);
        Arc::new(move |checked: Checked| {
            let accepted = Arc::clone(&accepted);
            async move {
                if checked.submission.text == "stuck" {
                    accepted.stuck.fetch_add(1, Ordering::Relaxed);
                    std::future::pending::<()>().await;
                }
                accepted.submissions.lock().unwrap().push(checked.submission);
                let item_id: ItemId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
                Ok(Submitted { item_id, seq: Seq(1), queue_position: 0, duplicate: false })
            }
            .boxed()
        })
    };
    (stack::layered(accept, config, TokioClock::new()), accepted)
}

fn message(client_id: &str, text: &str) -> Incoming {
    let request = v1::SubmitMessageRequest {
        session_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
        client_message_id: "m".to_owned(),
        text: text.to_owned(),
        author: Some(v1::Author { client_id: client_id.to_owned(), name: "ann".to_owned() }),
        ..v1::SubmitMessageRequest::default()
    };
    Incoming { request, patience: None }
}

/// The code that a message is refused with, and when to come back.
async fn refused(service: &SubmitService, incoming: Incoming) -> (Code, Option<Duration>) {
    let status = service.clone().oneshot(incoming).await.unwrap_err();
    let details = status.get_error_details();
    assert!(details.error_info().is_some_and(|info| !info.metadata["hint"].is_empty()));
    (status.code(), details.retry_info().and_then(|info| info.retry_delay))
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_too_fast_is_told_when_to_come_back_and_others_are_not() {
    let config =
        SubmitConfig { per_client_per_second: 2, per_client_burst: 3, ..SubmitConfig::default() };
    let (service, accepted) = stack(&config);
    for _message in 0..3 {
        service.clone().oneshot(message("a", "hi")).await.unwrap();
    }
    let half_a_second = Some(Duration::from_millis(500));
    assert_eq!(
        refused(&service, message("a", "hi")).await,
        (Code::ResourceExhausted, half_a_second)
    );
    service.clone().oneshot(message("b", "hi")).await.unwrap();
    tokio::time::advance(Duration::from_millis(500)).await;
    service.clone().oneshot(message("a", "hi")).await.unwrap();
    assert_eq!(accepted.submissions.lock().unwrap().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn messages_that_are_too_many_at_once_are_refused_at_once() {
    let config = SubmitConfig { in_flight: 2, ..SubmitConfig::default() };
    let (service, accepted) = stack(&config);
    let mut on_their_way: Vec<_> =
        (0..2).map(|_| Box::pin(service.clone().oneshot(message("a", "stuck")))).collect();
    for message in &mut on_their_way {
        assert!(message.as_mut().now_or_never().is_none());
    }
    assert_eq!(accepted.stuck.load(Ordering::Relaxed), 2);
    let (code, retry) = refused(&service, message("b", "hi")).await;
    assert_eq!(code, Code::ResourceExhausted);
    assert!(retry.is_some());
    on_their_way.pop();
    service.clone().oneshot(message("b", "hi")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_both_waits_counts() {
    let config = SubmitConfig { timeout_ms: 5_000, ..SubmitConfig::default() };
    let (service, _accepted) = stack(&config);
    let started = tokio::time::Instant::now();
    let impatient = Incoming { patience: Some(Duration::from_secs(1)), ..message("a", "stuck") };
    assert_eq!(refused(&service, impatient).await, (Code::DeadlineExceeded, None));
    assert_eq!(started.elapsed().as_secs(), 1);
    let patient = Incoming { patience: Some(Duration::from_secs(60)), ..message("a", "stuck") };
    assert_eq!(refused(&service, patient).await, (Code::DeadlineExceeded, None));
    assert_eq!(started.elapsed().as_secs(), 6);
}

#[tokio::test(start_paused = true)]
async fn only_messages_of_low_priority_go_stale_by_themselves() {
    let config = SubmitConfig { default_ttl_ms: 1_000, ..SubmitConfig::default() };
    let (service, accepted) = stack(&config);
    let rows = [
        (v1::Priority::Unspecified, 0),
        (v1::Priority::Low, 0),
        (v1::Priority::Low, 7_000),
        (v1::Priority::Critical, 9_000),
    ];
    for (priority, ttl_ms) in rows {
        let mut incoming = message("a", "hi");
        incoming.request.priority = priority.into();
        incoming.request.ttl_ms = ttl_ms;
        service.clone().oneshot(incoming).await.unwrap();
    }
    let submissions = accepted.submissions.lock().unwrap();
    let kept =
        submissions.iter().map(|message| (message.priority, message.ttl.map(|ttl| ttl.as_secs())));
    assert_eq!(
        kept.collect::<Vec<_>>(),
        [
            (Priority::Normal, None),
            (Priority::Low, Some(1)),
            (Priority::Low, Some(7)),
            (Priority::Critical, Some(9))
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_costs_nothing_of_the_clients_rate() {
    let config =
        SubmitConfig { per_client_per_second: 1, per_client_burst: 1, ..SubmitConfig::default() };
    let (service, _accepted) = stack(&config);
    for _message in 0..3 {
        let mut bad = message("a", "hi");
        bad.request.priority = 77;
        assert_eq!(refused(&service, bad).await, (Code::InvalidArgument, None));
    }
    service.clone().oneshot(message("a", "hi")).await.unwrap();
}
