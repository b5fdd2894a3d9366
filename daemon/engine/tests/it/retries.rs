//! Attempts at a model request.

use std::time::Duration;

use agentd_domain::{AttemptRestarted, EventBody, Notice, TurnFailed, UsageRecorded};
use agentd_llm::LlmError;

use crate::world::{Step, Terminal, World, text};

fn limited(retry_after: Option<Duration>) -> LlmError {
    LlmError::RateLimited { message: "slow down".to_owned(), retry_after }
}

/// Runs one turn over the scripts; returns what it ended with and the waits between attempts.
async fn attempts(scripts: Vec<Vec<Step>>) -> (Terminal, Vec<Duration>) {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    for script in scripts {
        world.script(script);
    }
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.count("turn_completed") + seen.count("turn_failed") > 0).await;
    let asked_at = world.provider.asked_at.lock().unwrap();
    let waits =
        asked_at.iter().zip(asked_at.iter().skip(1)).map(|(one, next)| *next - *one).collect();
    (terminal, waits)
}

fn failure_code(terminal: &Terminal) -> &str {
    match &terminal.events.last().unwrap().body {
        EventBody::TurnFailed(TurnFailed { error, .. }) => &error.code,
        other => panic!("{other:?} instead of a failure"),
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_wait_longer_each_time_and_end() {
    let refuse = || vec![Step::Refuse(limited(None))];
    let (terminal, waits) = attempts(vec![refuse(), refuse(), refuse(), vec![text("late")]]).await;
    assert_eq!(failure_code(&terminal), "PROVIDER_RATE_LIMITED");
    assert_eq!(waits.len(), 2, "{waits:?}");
    // Half a second, then a second, each with jitter of up to half a second.
    assert!((500..=1000).contains(&waits[0].as_millis()), "{waits:?}");
    assert!((1000..=2000).contains(&waits[1].as_millis()), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn the_provider_may_ask_for_a_longer_wait() {
    let wanted = Duration::from_secs(20);
    let (terminal, waits) = attempts(vec![vec![Step::Refuse(limited(Some(wanted)))]]).await;
    assert_eq!(terminal.count("turn_completed"), 1);
    assert_eq!(waits.len(), 1);
    assert!((20..22).contains(&waits[0].as_secs()), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_longer_than_the_limit_fails_at_once() {
    let wanted = Duration::from_secs(31);
    let (terminal, waits) = attempts(vec![vec![Step::Refuse(limited(Some(wanted)))]]).await;
    assert_eq!(failure_code(&terminal), "PROVIDER_RATE_LIMITED");
    assert!(waits.is_empty(), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn what_will_fail_again_is_not_tried_again() {
    let error = LlmError::Invalid { status: 400, message: "no".to_owned() };
    let (terminal, waits) = attempts(vec![vec![Step::Refuse(error)]]).await;
    assert_eq!(failure_code(&terminal), "PROVIDER_REFUSED_REQUEST");
    assert!(waits.is_empty(), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn text_of_an_attempt_that_broke_off_is_void() {
    let cut = vec![text("half an ans"), Step::Fail(LlmError::Cut)];
    let (terminal, _waits) = attempts(vec![cut, vec![text("the answer")]]).await;
    assert_eq!(
        terminal.kinds()[3..],
        [
            "turn_started",
            "attempt_restarted",
            "usage_recorded",
            "assistant_message",
            "usage_recorded",
            "turn_completed"
        ]
    );
    let EventBody::AttemptRestarted(AttemptRestarted { attempt, discarded_item_id, error }) =
        &terminal.events[4].body
    else {
        panic!("{:?}", terminal.events[4])
    };
    assert_eq!((*attempt, error.code.as_str()), (2, "PROVIDER_STREAM_CUT"));
    let EventBody::AssistantMessage(answer) = &terminal.events[6].body else {
        panic!("{:?}", terminal.events[6])
    };
    assert_eq!(answer.text, "the answer");
    assert_ne!(answer.item_id, *discarded_item_id);
}

#[tokio::test(start_paused = true)]
async fn text_of_the_last_attempt_is_kept() {
    let cut = || vec![text("half an ans"), Step::Fail(LlmError::Cut)];
    let (terminal, _waits) = attempts(vec![cut(), cut(), cut()]).await;
    assert_eq!(failure_code(&terminal), "PROVIDER_STREAM_CUT");
    let kept: Vec<_> = terminal
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::AssistantMessage(message) => Some(message.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(kept, ["half an ans"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_answers_in_place_of_another_is_named() {
    let world = World::with_fallbacks(&["spare"]);
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Refuse(LlmError::Quota { message: "no credit".to_owned() })]);
    world.script(vec![text("half"), Step::Fail(LlmError::Cut)]);
    world.script(vec![text("the answer")]);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(
        terminal.kinds()[3..],
        [
            "turn_started",
            "notice",
            "attempt_restarted",
            "usage_recorded",
            "assistant_message",
            "usage_recorded",
            "turn_completed"
        ]
    );
    let EventBody::Notice(Notice { text, .. }) = &terminal.events[4].body else { panic!() };
    assert!(text.contains("no credit") && text.contains("spare is asked instead"), "{text}");
    let EventBody::AttemptRestarted(restarted) = &terminal.events[5].body else { panic!() };
    assert_eq!(restarted.attempt, 3, "attempts of both models count");
    for event in &terminal.events {
        if let EventBody::UsageRecorded(UsageRecorded { model, .. }) = &event.body {
            assert_eq!(model, "spare", "usage is of the model that answered");
        }
    }
}
