//! Terminals that come, lag, leave and come back.

use std::sync::Arc;

use agentd_domain::{EventBody, Seq};
use agentd_engine::{AttachPosition, AttachmentItem, CommandError, SessionUpdate, StreamEnd};
use futures_util::FutureExt as _;

use crate::world::{Gate, Step, Terminal, World, author, pass_seconds, text};

#[tokio::test(start_paused = true)]
async fn a_terminal_that_attaches_in_mid_stream_gets_the_text_so_far_then_the_rest() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let gate = Gate::new();
    world.script(vec![
        Step::Reasoning("because"),
        text("日本"),
        Step::Pass(gate.clone()),
        text("😀!"),
        Step::Pass(gate.clone()),
    ]);
    world.send(&engine, id, "hello").await;
    let mut first = Terminal::attach(&engine, id, "ann").await;
    first.until(|seen| seen.live == "日本").await;
    let mut second = Terminal::attach(&engine, id, "bob").await;
    second.until(|seen| seen.live == "日本" && seen.reasoning == "because").await;
    gate.open();
    for terminal in [&mut first, &mut second] {
        terminal.until(|seen| seen.live == "日本😀!").await;
    }
    gate.open();
    for terminal in [&mut first, &mut second] {
        terminal.until_kind("turn_completed", 1).await;
    }
    assert_eq!(first.events, second.events);
    first.until(|seen| seen.names == ["ann", "bob"]).await;
    drop(second);
    first.until(|seen| seen.names == ["ann"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_lags_reads_the_log_and_misses_nothing() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut slow = Terminal::attach(&engine, id, "ann").await;
    slow.until(|seen| !seen.names.is_empty()).await;
    let mut fast = Terminal::attach(&engine, id, "bob").await;
    let gate = Gate::new();
    for _turn in 0..2 {
        world.script(vec![Step::Text("x".repeat(700_000)), Step::Text("y".repeat(700_000))]);
    }
    world.script(vec![
        Step::Text("é".repeat(900_000)),
        Step::Pass(gate.clone()),
        text("the end"),
        Step::Pass(gate.clone()),
    ]);
    for _turn in 0..3 {
        world.send(&engine, id, "hello").await;
    }
    fast.until_kind("turn_completed", 2).await;
    fast.until(|seen| seen.live.len() == 1_800_000).await;
    let third = Terminal::attach(&engine, id, "eve").await;
    // Only now does the slow one read on.
    slow.until(|seen| seen.live.len() == 1_800_000).await;
    assert!(slow.lags > 0);
    slow.until(|seen| seen.names == ["ann", "bob", "eve"]).await;
    gate.open();
    slow.until(|seen| seen.live.ends_with("the end")).await;
    gate.open();
    slow.until_kind("turn_completed", 3).await;
    fast.until_kind("turn_completed", 3).await;
    assert_eq!(slow.events, fast.events);
    drop(third);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_loses_nothing_even_in_a_lag() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| !seen.names.is_empty()).await;
    world.script(vec![Step::Text("x".repeat(2_000_000))]);
    world.send(&engine, id, "hello").await;
    let mut other = Terminal::attach(&engine, id, "bob").await;
    other.until_kind("turn_completed", 1).await;
    // The wait is dropped after its question was asked and before the answer was there.
    assert!(terminal.attachment.next().now_or_never().is_none());
    engine.view(id).await.unwrap();
    world.send(&engine, id, "again").await;
    terminal.until_kind("turn_completed", 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_vanishes_on_its_way_in_is_not_counted() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let attach = engine.attach(id, author("ghost"), AttachPosition::OnlyNew);
    assert!(attach.now_or_never().is_none());
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.names == ["ann"]).await;
    drop(terminal);
    pass_seconds(1300).await;
    assert_eq!(engine.stats().live_sessions, 0);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_comes_back_to_where_it_was_and_reads_what_it_missed() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "one").await;
    terminal.until_kind("turn_completed", 1).await;
    let seen = terminal.events.last().unwrap().seq;
    drop(terminal);
    engine.set_cursor(id, "ann", seen).await.unwrap();
    assert_eq!(engine.set_cursor(id, "ann", Seq(1)).await.unwrap(), seen, "it never goes back");
    assert_eq!(engine.set_cursor(id, "bob", Seq(9999)).await.unwrap(), seen, "nor past the end");
    world.script(vec![text("the second answer")]);
    world.send(&engine, id, "two").await;
    let mut other = Terminal::attach(&engine, id, "bob").await;
    other.until_kind("turn_completed", 2).await;

    let back = Terminal::attach_at(&engine, id, "ann", AttachPosition::Cursor).await;
    assert_eq!(back.attachment.from, seen.next());
    assert_eq!(
        back.attachment.digest,
        "1 message, 1 turn (from ann); last answer: the second answer"
    );
}

#[tokio::test(start_paused = true)]
async fn the_newest_turns_begin_with_their_message() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    for turn in 1..=3 {
        world.send(&engine, id, "hello").await;
        terminal.until_kind("turn_completed", turn).await;
    }
    let accepted: Vec<Seq> = terminal
        .events
        .iter()
        .filter(|event| matches!(event.body, EventBody::MessageAccepted(_)))
        .map(|event| event.seq)
        .collect();
    let head = terminal.events.last().unwrap().seq;
    for (turns, expect) in
        [(0, head.next()), (1, accepted[2]), (2, accepted[1]), (3, accepted[0]), (4, Seq(1))]
    {
        let position = AttachPosition::LastTurns(turns);
        let attachment = engine.attach(id, author("bob"), position).await.unwrap();
        assert_eq!(attachment.from, expect, "{turns} turns");
    }
}

#[tokio::test(start_paused = true)]
async fn terminals_of_a_session_whose_actor_broke_are_told() {
    let world = World::new();
    let engine = world.engine_that_breaks_at("engine.accepted");
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    let submission = world.message("hello", agentd_domain::Delivery::Queue);
    // The answer comes from the next actor: what was accepted is known.
    let answered = engine.submit(id, submission).await.unwrap();
    assert!(answered.duplicate);
    assert_eq!(terminal.until_end().await, StreamEnd::Failed);
    let mut again = Terminal::attach(&engine, id, "ann").await;
    again.until_kind("turn_completed", 1).await;
    let _keeps = Arc::new(again);
}

#[tokio::test(start_paused = true)]
async fn a_session_takes_only_so_many_terminals_and_others_when_some_leave() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut seats = Vec::new();
    for n in 0..100 {
        let attached = engine.attach(id, author(&format!("t{n}")), AttachPosition::OnlyNew).await;
        seats.push(attached.unwrap());
    }
    let refused = engine.attach(id, author("late"), AttachPosition::OnlyNew).await;
    assert!(matches!(refused, Err(CommandError::TooManyTerminals { limit: 100 })), "{refused:?}");
    seats.pop();
    engine.attach(id, author("late"), AttachPosition::OnlyNew).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn sd_07_a_terminal_that_never_reads_does_not_stop_the_writer() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut silent = engine.attach(id, author("silent"), AttachPosition::OnlyNew).await.unwrap();
    for n in 0..1_500 {
        let title = format!("title {n}").parse().unwrap();
        engine
            .update(id, SessionUpdate { title: Some(title), ..SessionUpdate::default() }, None)
            .await
            .unwrap();
    }
    let head = engine.view(id).await.unwrap().record.last_seq;
    assert_eq!(head, Seq(1_501));
    // It reads at last: the log has what its queue could not hold.
    let mut next = silent.from;
    let mut lagged = false;
    while next <= head {
        match silent.next().await.unwrap() {
            AttachmentItem::Events(events) => {
                for event in events {
                    assert_eq!(event.seq, next);
                    next = next.next();
                }
            }
            AttachmentItem::Lagged(_) => lagged = true,
            AttachmentItem::CaughtUp(_) | AttachmentItem::Presence(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(lagged);
}
