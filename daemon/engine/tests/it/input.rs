//! Messages that arrive while a turn runs.

use std::sync::Arc;

use agentd_domain::{Delivery, EventBody, ToolEffect, TurnStarted};
use agentd_engine::CommandError;
use agentd_llm::Message;

use crate::tools::{Behaviour, Probe};
use crate::world::{Gate, Step, Terminal, World, author, text};

/// The user messages of a request.
fn said(messages: &[Message]) -> Vec<&str> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn queued_messages_run_in_order_and_one_that_interrupts_runs_first() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("busy"), Step::Hang]);
    let first = world.send(&engine, id, "first").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "busy").await;
    let second = world.send(&engine, id, "second").await;
    let third = world.send(&engine, id, "third").await;
    let urgent = engine.submit(id, world.message("urgent", Delivery::Interrupt)).await.unwrap();
    terminal.until_kind("turn_completed", 3).await;
    let started: Vec<_> = terminal
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::TurnStarted(TurnStarted { item_ids, .. }) => Some(item_ids.clone()),
            _ => None,
        })
        .collect();
    let expect: Vec<_> =
        [first, urgent, second, third].iter().map(|sent| vec![sent.item_id]).collect();
    assert_eq!(started, expect);
    assert_eq!(terminal.count("turn_interrupted"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_steering_message_reaches_the_model_at_the_next_tool_boundary() {
    let mut world = World::new();
    let gate = Gate::new();
    let probe = Arc::new(Probe::new("probe", ToolEffect::Pure, Behaviour::Pass(gate.clone())));
    world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("probe", "{}")])]);
    world.send(&engine, id, "first").await;
    probe.started().await;
    world.send(&engine, id, "queued").await;
    engine.submit(id, world.message("steer", Delivery::Steer)).await.unwrap();
    gate.open();
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 2).await;
    let requests = world.provider.requests.lock().unwrap();
    let said: Vec<_> = requests.iter().map(|request| said(&request.messages)).collect();
    assert_eq!(said, [vec!["first"], vec!["first", "steer"], vec!["first", "steer", "queued"]]);
    // The steered message comes after the results of the calls before it.
    assert!(matches!(
        requests[1].messages[2..],
        [Message::Assistant { .. }, Message::Tool { .. }, Message::User { .. }]
    ));
    // What was sent before is sent again as it was.
    for pair in requests.windows(2) {
        assert_eq!(pair[1].messages[..pair[0].messages.len()], pair[0].messages);
    }
}

#[tokio::test(start_paused = true)]
async fn a_queued_message_can_be_taken_back_until_a_turn_uses_it() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let gate = Gate::new();
    world.script(vec![text("busy"), Step::Pass(gate.clone())]);
    let first = world.send(&engine, id, "first").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "busy").await;
    let second = world.send(&engine, id, "second").await;
    engine.withdraw(id, second.item_id, author("bob")).await.unwrap();
    for gone in [first, second] {
        let refused = engine.withdraw(id, gone.item_id, author("bob")).await;
        assert!(matches!(refused, Err(CommandError::NoQueuedMessage(_))), "{refused:?}");
    }
    gate.open();
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(engine.view(id).await.unwrap().queue, []);
    assert_eq!(world.provider.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_gets_the_first_answer_even_after_a_restart() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let submission = world.message("hello", Delivery::Queue);
    let first = engine.submit(id, submission.clone()).await.unwrap();
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    drop(terminal);
    world.crash(engine).await;
    let engine = world.engine();
    let again = engine.submit(id, submission).await.unwrap();
    assert_eq!((again.item_id, again.seq, again.duplicate), (first.item_id, first.seq, true));
    assert_eq!(engine.view(id).await.unwrap().record.turns, 1);
}
