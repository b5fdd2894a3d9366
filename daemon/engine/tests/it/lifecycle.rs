//! Loading, unloading, snapshots, titles, removal.

use std::time::Duration;

use agentd_domain::{Delivery, Seq, SessionStatus, TitleSource};
use agentd_engine::{CommandError, EngineStats, SessionUpdate, StreamEnd, TitlePolicy};

use crate::world::{Terminal, World, author, pass_seconds, text};

#[tokio::test(start_paused = true)]
async fn an_idle_session_is_unloaded_and_opens_again() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;

    // A terminal keeps it loaded.
    pass_seconds(3600).await;
    assert_eq!(engine.stats().live_sessions, 1);
    drop(terminal);
    pass_seconds(599).await;
    assert_eq!(engine.stats().live_sessions, 1);
    pass_seconds(2).await;
    let nothing = EngineStats { running_turns_limit: 16, ..EngineStats::default() };
    assert_eq!(engine.stats(), nothing);

    let view = engine.view(id).await.unwrap();
    assert_eq!(view.record.title, "hello");
    assert_eq!((view.record.turns, view.record.status), (1, SessionStatus::Idle));
    assert_eq!(engine.stats().live_sessions, 1);
}

#[tokio::test(start_paused = true)]
async fn a_shorter_time_to_unload_holds_for_sessions_that_are_idle_already() {
    let world = World::new();
    let engine = world.engine();
    world.session(&engine).await;
    pass_seconds(60).await;
    assert_eq!(engine.stats().live_sessions, 1);
    world.configure(|config| config.idle_unload = Duration::from_secs(90));
    pass_seconds(20).await;
    assert_eq!(engine.stats().live_sessions, 1);
    pass_seconds(20).await;
    assert_eq!(engine.stats().live_sessions, 0);
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_is_written_after_so_many_events_and_read_instead_of_them() {
    let world = World::new();
    world.configure(|config| config.snapshot_every = 10);
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    for turn in 1..=3 {
        world.send(&engine, id, "hello").await;
        terminal.until_kind("turn_completed", turn).await;
    }
    let before = engine.view(id).await.unwrap().record;
    drop(terminal);
    let snapshots = world.store.snapshots.lock().unwrap().clone();
    let [snapshot] = &snapshots[..] else { panic!("{} snapshots", snapshots.len()) };
    assert!(snapshot.seq.0 >= 10, "{:?}", snapshot.seq);
    world.crash(engine).await;

    let newest = world.store.snapshots.lock().unwrap().last().unwrap().seq;
    world.store.reads.lock().unwrap().clear();
    let engine = world.engine();
    assert_eq!(engine.view(id).await.unwrap().record, before);
    assert_eq!(*world.store.reads.lock().unwrap(), [newest.next()]);
}

#[tokio::test(start_paused = true)]
async fn the_cheap_model_makes_a_title_and_a_manual_one_is_kept() {
    let world = World::new();
    world.configure(|config| config.titles = TitlePolicy::Model);
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![text("Use sled.")]);
    world.script(vec![text("\n\"Choosing a store\"\nbecause ...")]);
    world.send(&engine, id, "Which store?").await;
    terminal.until_kind("session_renamed", 2).await;
    let record = engine.view(id).await.unwrap().record;
    assert_eq!(record.title, "Choosing a store");
    assert_eq!(record.title_source, Some(TitleSource::Model));
    assert_eq!(world.provider.requests.lock().unwrap()[1].model, "cheap");

    engine
        .update(
            id,
            SessionUpdate { title: Some("Mine".parse().unwrap()), ..SessionUpdate::default() },
            Some(author("ann")),
        )
        .await
        .unwrap();
    world.send(&engine, id, "And now?").await;
    terminal.until_kind("turn_completed", 2).await;
    assert_eq!(engine.view(id).await.unwrap().record.title, "Mine");
    // Two answers and one title.
    assert_eq!(world.provider.requests.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_session_ends_its_streams_and_is_gone() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("half"), crate::world::Step::Hang]);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "half").await;
    engine.delete(id).await.unwrap();
    assert_eq!(terminal.until_end().await, StreamEnd::Deleted);
    assert!(matches!(engine.view(id).await, Err(CommandError::NoSession(_))));
    assert_eq!(world.log(id).await, []);
}

#[tokio::test(start_paused = true)]
async fn stopping_suspends_the_turn_ends_streams_and_refuses_commands() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("half"), crate::world::Step::Hang]);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "half").await;
    engine.stop().await;
    assert_eq!(terminal.until_end().await, StreamEnd::Stopping);
    assert_eq!(
        terminal.kinds()[3..],
        ["turn_started", "assistant_message", "usage_recorded", "turn_suspended"]
    );
    let refused = engine.submit(id, world.message("late", Delivery::Queue)).await;
    assert!(matches!(refused, Err(CommandError::Stopping)), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_reads_only_what_is_new_and_sends_what_a_fresh_reader_would() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    for turn in 1..=3 {
        world.send(&engine, id, "hello").await;
        terminal.until_kind("turn_completed", turn).await;
    }
    let seen = engine.view(id).await.unwrap().record.last_seq;
    world.store.reads.lock().unwrap().clear();
    world.send(&engine, id, "once more").await;
    terminal.until_kind("turn_completed", 4).await;
    let reads = world.store.reads.lock().unwrap().clone();
    assert!(reads.len() == 1 && reads[0].0 > 2, "{reads:?} after {seen}");

    // The same question to a session that was just loaded, whose turn reads the whole log.
    drop(terminal);
    world.crash(engine).await;
    let engine = world.engine();
    world.store.reads.lock().unwrap().clear();
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "once more").await;
    terminal.until_kind("turn_completed", 5).await;
    let requests: Vec<_> = world
        .provider
        .requests
        .lock()
        .unwrap()
        .iter()
        .map(|request| request.messages.clone())
        .collect();
    let [.., kept, fresh] = &requests[..] else { panic!("{} requests", requests.len()) };
    assert_eq!(fresh[..kept.len()], kept[..], "what was sent stays the beginning");
    let reads = world.store.reads.lock().unwrap().clone();
    assert!(reads.contains(&Seq(1)), "{reads:?}");
}
