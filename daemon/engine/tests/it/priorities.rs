//! Which message runs first, in a session and over all of them, and which are too late.

use std::time::Duration;

use agentd_domain::{
    Delivery, EventBody, InterruptReason, ItemId, Priority, SessionId, ToolEffect, TurnStarted,
};
use agentd_engine::{Engine, Submitted};

use crate::tools::{Behaviour, Probe};
use crate::world::{Gate, Step, Terminal, World, author, pass_seconds, text};

async fn send(
    world: &World,
    engine: &Engine,
    id: SessionId,
    priority: Priority,
    ttl: Option<u64>,
) -> Submitted {
    let mut submission = world.message("hello", Delivery::Queue);
    submission.priority = priority;
    submission.ttl = ttl.map(Duration::from_secs);
    engine.submit(id, submission).await.unwrap()
}

/// The messages that turns answered, in order.
async fn answered(world: &World, id: SessionId) -> Vec<ItemId> {
    let log = world.log(id).await;
    let started = log.iter().filter_map(|event| match &event.body {
        EventBody::TurnStarted(TurnStarted { item_ids, .. }) => Some(item_ids.clone()),
        _ => None,
    });
    started.flatten().collect()
}

/// A session whose turn runs until the gate is opened.
async fn busy(world: &World, engine: &Engine) -> (SessionId, Terminal, Gate) {
    let gate = Gate::new();
    let id = world.session(engine).await;
    world.script(vec![text("busy"), Step::Pass(gate.clone())]);
    world.send(engine, id, "first").await;
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    terminal.until(|seen| seen.live == "busy").await;
    (id, terminal, gate)
}

#[tokio::test(start_paused = true)]
async fn the_more_important_message_runs_first_and_the_queue_shows_it() {
    let world = World::new();
    let engine = world.engine();
    let (id, mut terminal, gate) = busy(&world, &engine).await;
    let low = send(&world, &engine, id, Priority::Low, None).await;
    let normal = send(&world, &engine, id, Priority::Normal, None).await;
    let critical = send(&world, &engine, id, Priority::Critical, None).await;
    let second = send(&world, &engine, id, Priority::Normal, None).await;
    let positions = [&low, &normal, &critical, &second].map(|sent| sent.queue_position);
    assert_eq!(positions, [1, 1, 1, 3], "as they stood when they came, the running turn included");
    let expect = [&critical, &normal, &second, &low].map(|sent| sent.item_id);
    let view = engine.view(id).await.unwrap();
    assert_eq!(view.queue.iter().map(|queued| queued.item_id).collect::<Vec<_>>(), expect);
    assert_eq!(engine.stats().queued_messages, 4);
    gate.open();
    terminal.until_kind("turn_completed", 5).await;
    assert_eq!(answered(&world, id).await[1..], expect);
    assert_eq!(engine.stats().queued_messages, 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_interrupts_runs_before_the_most_important() {
    let world = World::new();
    let engine = world.engine();
    let (id, mut terminal, _gate) = busy(&world, &engine).await;
    let critical = send(&world, &engine, id, Priority::Critical, None).await;
    let interrupt = engine.submit(id, world.message("stop", Delivery::Interrupt)).await.unwrap();
    terminal.until_kind("turn_completed", 2).await;
    assert_eq!(answered(&world, id).await[1..], [interrupt.item_id, critical.item_id]);
}

#[tokio::test(start_paused = true)]
async fn a_message_whose_time_is_over_never_starts_a_turn() {
    let world = World::new();
    let engine = world.engine();
    let (id, mut terminal, gate) = busy(&world, &engine).await;
    let stale = send(&world, &engine, id, Priority::Normal, Some(10)).await;
    let fresh = send(&world, &engine, id, Priority::Low, Some(1_000)).await;
    // The timer does it: nobody sends anything.
    terminal.until_kind("message_expired", 1).await;
    let expired = terminal.events.last().unwrap();
    assert!(
        matches!(&expired.body, EventBody::MessageExpired(gone) if gone.item_id == stale.item_id)
    );
    let accepted = terminal.events.iter().find(|event| event.seq == stale.seq).unwrap();
    assert_eq!(expired.at.since(accepted.at), 10_000);
    assert_eq!(engine.view(id).await.unwrap().queue.len(), 1);
    gate.open();
    terminal.until_kind("turn_completed", 2).await;
    assert_eq!(answered(&world, id).await[1..], [fresh.item_id]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_steers_is_not_delivered_late() {
    let mut world = World::new();
    let gate = Gate::new();
    let behaviour = Behaviour::Pass(gate.clone());
    let probe = std::sync::Arc::new(Probe::new("probe", ToolEffect::Pure, behaviour));
    world.tools.register(std::sync::Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("probe", "{}")])]);
    world.send(&engine, id, "first").await;
    probe.started().await;
    let mut steering = world.message("steer", Delivery::Steer);
    steering.ttl = Some(Duration::from_secs(5));
    engine.submit(id, steering).await.unwrap();
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("message_expired", 1).await;
    gate.open();
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(terminal.count("messages_delivered"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_expires_while_the_daemon_is_away() {
    let world = World::new();
    let engine = world.engine();
    let (id, terminal, _gate) = busy(&world, &engine).await;
    send(&world, &engine, id, Priority::Normal, Some(60)).await;
    drop(terminal);
    world.crash(engine).await;
    pass_seconds(61).await;
    let engine = world.engine();
    assert_eq!(engine.resume_unfinished().await.unwrap(), 1);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("message_expired", 1).await;
    assert_eq!(answered(&world, id).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_message_expires_in_a_session_that_was_unloaded() {
    let world = World::new();
    world.configure(|config| config.rounds_limit = 1);
    let engine = world.engine();
    let id = world.session(&engine).await;
    let gate = Gate::new();
    // A call to a tool that is not there ends the round; the next one is beyond the limit.
    world.script(vec![Step::Pass(gate.clone()), Step::Call(vec![("nothing", "{}")])]);
    world.send(&engine, id, "first").await;
    send(&world, &engine, id, Priority::Normal, Some(1_000)).await;
    gate.open();
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("question_asked", 1).await;
    drop(terminal);
    pass_seconds(700).await;
    assert_eq!(engine.stats().live_sessions, 0, "nobody needs it in memory");
    pass_seconds(700).await;
    let view = engine.view(id).await.unwrap();
    assert_eq!(view.queue.len(), 0);
    assert_eq!(world.kinds(id).await.last().unwrap(), "message_expired");
}

#[tokio::test(start_paused = true)]
async fn turns_wait_for_a_place_by_importance_over_all_sessions() {
    let world = World::new();
    world.configure(|config| config.running_turns_limit = 1);
    let engine = world.engine();
    let (_first, mut terminal, gate) = busy(&world, &engine).await;
    let mut sessions = Vec::new();
    for priority in [Priority::Low, Priority::Normal, Priority::Normal, Priority::Urgent] {
        let id = world.session(&engine).await;
        send(&world, &engine, id, priority, None).await;
        sessions.push((id, Terminal::attach(&engine, id, "bob").await));
        pass_seconds(1).await;
    }
    let stats = engine.stats();
    assert_eq!((stats.running_turns, stats.waiting_turns, stats.running_turns_limit), (1, 4, 1));
    // The one of low priority gets a message that is critical: it goes first now.
    let critical = send(&world, &engine, sessions[0].0, Priority::Critical, None).await;
    gate.open();
    terminal.until_kind("turn_completed", 1).await;
    for (number, (_id, terminal)) in sessions.iter_mut().enumerate() {
        terminal.until_kind("turn_completed", if number == 0 { 2 } else { 1 }).await;
    }
    assert_eq!(answered(&world, sessions[0].0).await[0], critical.item_id);
    let asked: Vec<String> = {
        let requests = world.provider.requests.lock().unwrap();
        requests.iter().map(|request| request.cache_key.clone().unwrap()).collect()
    };
    let expect = [0, 3, 1, 2, 0].map(|number: usize| sessions[number].0.to_string());
    assert_eq!(asked[1..], expect, "one after the other, the most important first");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_waits_for_a_place_can_be_cancelled_and_can_expire() {
    let world = World::new();
    world.configure(|config| config.running_turns_limit = 1);
    let engine = world.engine();
    let (_first, mut first, gate) = busy(&world, &engine).await;
    let cancelled = world.session(&engine).await;
    send(&world, &engine, cancelled, Priority::Normal, None).await;
    let late = world.session(&engine).await;
    send(&world, &engine, late, Priority::Normal, Some(5)).await;
    assert_eq!(engine.stats().waiting_turns, 2);
    assert!(engine.interrupt(cancelled, None, author("ann")).await.unwrap());
    assert_eq!(engine.stats().waiting_turns, 1);
    let mut terminal = Terminal::attach(&engine, late, "ann").await;
    terminal.until_kind("message_expired", 1).await;
    gate.open();
    first.until_kind("turn_completed", 1).await;
    pass_seconds(1).await;
    let stats = engine.stats();
    assert_eq!((stats.running_turns, stats.waiting_turns), (0, 0));
    assert_eq!(answered(&world, late).await, []);
    let log = world.log(cancelled).await;
    let EventBody::TurnInterrupted(end) = &log.last().unwrap().body else { panic!("{log:?}") };
    assert_eq!(end.reason, InterruptReason::User);
    assert_eq!(world.provider.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_stands_still_gives_its_place_to_the_next() {
    let world = World::new();
    world.configure(|config| {
        config.running_turns_limit = 1;
        config.rounds_limit = 1;
    });
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("nothing", "{}")])]);
    world.send(&engine, id, "first").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("question_asked", 1).await;
    let other = world.session(&engine).await;
    world.send(&engine, other, "second").await;
    let mut terminal = Terminal::attach(&engine, other, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(engine.stats().running_turns, 0);
}
