//! What the meter is asked and told.

use std::sync::Arc;

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
        [(0, 0, Some("PROVIDER_EMPTY_ANSWER")), (5, 2, Some("PROVIDER_STREAM_CUT")), (5, 1, None)]
    );
    assert!(spent[1].usage.estimated && !spent[0].usage.estimated);
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
