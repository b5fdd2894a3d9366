//! What the meter is asked and told.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;

use super::world::{Notebook, Step, ask, request, world};
use crate::layers::EndpointLimits;
use crate::{LlmError, Provider as _, Request};

fn metered(notebook: &Arc<Notebook>) -> Request {
    Request { meter: Some(Arc::<Notebook>::clone(notebook)), ..request() }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_admitted_and_recorded_once() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Refuse(LlmError::Empty)]);
    world.model.script(vec![Step::Text("abcdefgh"), Step::Fail(LlmError::Cut)]);
    world.model.script(vec![Step::Text("abcd")]);
    let notebook = Arc::new(Notebook::default());
    assert_eq!(ask(&world.stack, metered(&notebook)).await.text, "abcd");
    let admitted = notebook.admitted.lock().expect("attempts");
    assert_eq!(admitted.len(), 3);
    // One token of text and four for the message's frame.
    assert!(admitted.iter().all(|attempt| attempt.prompt_tokens == 5), "{admitted:?}");
    let spent = notebook.spent.lock().expect("attempts");
    let told: Vec<_> = spent
        .iter()
        .map(|spent| (spent.usage.prompt_tokens, spent.usage.completion_tokens, spent.error_code))
        .collect();
    assert_eq!(
        told,
        [(5, 0, Some("PROVIDER_EMPTY_ANSWER")), (5, 2, Some("PROVIDER_STREAM_CUT")), (5, 1, None)]
    );
    assert!(spent.iter().all(|spent| spent.usage.estimated));
}

#[tokio::test(start_paused = true)]
async fn what_left_and_came_to_nothing_used_its_prompt() {
    let prompt_used = async |step: Step| {
        let world = world(&EndpointLimits::default(), 1);
        world.model.script(vec![step]);
        let notebook = Arc::new(Notebook::default());
        let patience = Duration::from_secs(60);
        let asked = ask(&world.stack, metered(&notebook));
        // Whoever waits longer interrupts.
        let _answer = tokio::time::timeout(patience, asked).await;
        let spent = notebook.spent.lock().expect("attempts");
        assert_eq!(spent.len(), 1);
        let usage = spent[0].usage;
        assert_eq!(usage.estimated, usage.prompt_tokens > 0);
        (usage.prompt_tokens, usage.completion_tokens)
    };
    let text = || "m".to_owned();
    let after = Duration::from_secs(60);
    assert_eq!(prompt_used(Step::Hang).await, (5, 0), "interrupted");
    for paid in [LlmError::FirstByteTimeout { base_url: text(), after }, LlmError::Cut] {
        assert_eq!(prompt_used(Step::Refuse(paid)).await, (5, 0));
    }
    assert_eq!(prompt_used(Step::Fail(LlmError::Cut)).await, (5, 0));
    for refused in [
        LlmError::Connect { base_url: text(), detail: text() },
        LlmError::Server { status: 503, message: text(), retry_after: None },
        LlmError::RateLimited { message: text(), retry_after: None },
        LlmError::Auth { status: 401, message: text() },
    ] {
        assert_eq!(prompt_used(Step::Refuse(refused)).await, (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn what_waited_for_a_place_and_never_left_used_nothing() {
    let limits = EndpointLimits { max_concurrent: 1, ..EndpointLimits::default() };
    let world = world(&limits, 1);
    world.model.script(vec![Step::Hang]);
    let _first = world.stack.stream(request()).await.expect("an answer");
    let notebook = Arc::new(Notebook::default());
    let waiting = ask(&world.stack, metered(&notebook));
    assert!(tokio::time::timeout(Duration::from_secs(1), waiting).await.is_err());
    let spent = notebook.spent.lock().expect("attempts");
    assert_eq!((spent.len(), spent[0].usage.tokens()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_reads_to_its_end_is_recorded() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Text("abcdefgh"), Step::Hang]);
    let notebook = Arc::new(Notebook::default());
    let mut parts = world.stack.stream(metered(&notebook)).await.expect("an answer");
    assert!(matches!(parts.next().await, Some(Ok(_))));
    assert_eq!(notebook.spent.lock().expect("attempts").len(), 0);
    drop(parts);
    let spent = notebook.spent.lock().expect("attempts");
    assert_eq!(spent.len(), 1);
    assert_eq!((spent[0].usage.completion_tokens, spent[0].error_code), (2, None));
}

#[tokio::test(start_paused = true)]
async fn what_the_meter_does_not_admit_never_leaves() {
    let world = world(&EndpointLimits::default(), 3);
    world.model.script(vec![Step::Text("half"), Step::Fail(LlmError::Cut)]);
    let notebook = Arc::new(Notebook { limit: Some(1), ..Notebook::default() });
    let answer = ask(&world.stack, metered(&notebook)).await;
    assert!(matches!(answer.error, Some(LlmError::Budget { .. })), "{answer:?}");
    assert_eq!(world.model.times_asked(), 1);
    assert_eq!(notebook.spent.lock().expect("attempts").len(), 1);
}
