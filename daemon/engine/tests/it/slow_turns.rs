//! Turns that take long are told, with where the time went.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::ToolEffect;
use agentd_engine::{SlowTurn, SlowTurns, TurnParts};
use agentd_llm::LlmError;

use crate::store::Commits;
use crate::tools::{Behaviour, Probe};
use crate::world::{Gate, Step, Terminal, World, author, pass_seconds, text};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_slow_turn_is_told_with_where_its_time_went() {
    let mut world = World::new();
    world.configure(|config| {
        config.running_turns_limit = 1;
        config.slow_turn = 20 * SECOND;
    });
    let tool = Gate::new();
    let probe = Arc::new(Probe::new("probe", ToolEffect::Process, Behaviour::Pass(tool.clone())));
    world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let first = world.session(&engine).await;
    let gate = Gate::new();
    world.script(vec![text("busy"), Step::Pass(gate.clone())]);
    world.send(&engine, first, "first").await;
    let mut busy = Terminal::attach(&engine, first, "ann").await;
    busy.until(|seen| seen.live == "busy").await;
    // It waits for its place.
    let id = world.session(&engine).await;
    // The first attempt fails after a while, the second one answers.
    let down = LlmError::Server { status: 503, message: "down".to_owned(), retry_after: None };
    world.script(vec![Step::Wait(2 * SECOND), Step::Fail(down)]);
    world.script(vec![
        Step::Wait(3 * SECOND),
        text("let me see"),
        Step::Wait(5 * SECOND),
        Step::Call(vec![("probe", "{}")]),
    ]);
    world.script(vec![Step::Wait(4 * SECOND), text("done")]);
    world.send(&engine, id, "second").await;
    pass_seconds(7).await;
    gate.open();
    probe.started().await;
    pass_seconds(11).await;
    world.store.set_commits(Commits::Stall);
    tool.open();
    pass_seconds(6).await;
    world.store.set_commits(Commits::Work);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    let SlowTurns { count, slowest } = engine.slow_turns();
    assert_eq!(count, 1, "the other one took 7 s: {slowest:?}");
    let SlowTurn { session_id, turn_id, rounds, attempts, total, parts } = slowest.unwrap();
    assert_eq!((session_id, Some(turn_id)), (id, terminal.events.last().unwrap().turn_id));
    assert_eq!((rounds, attempts), (2, 3));
    let TurnParts { place, first_byte, streaming, retry, tools, approval, store, other } = parts;
    let seconds = [place, first_byte, streaming, tools, approval, store].map(|part| part.as_secs());
    assert_eq!(seconds, [7, 2 + 3 + 4, 5, 11, 0, 6], "{parts:?}");
    // With jitter, so not to the millisecond.
    assert!(retry > Duration::ZERO && retry < 2 * SECOND, "{retry:?}");
    assert_eq!(place + first_byte + streaming + retry + tools + approval + store + other, total);
    assert_eq!(parts.longest().0, "tools");
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_slow_only_beyond_the_limit_and_none_without_one() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    let mut turns = 0;
    for (limit, takes, slow) in [(60, 59, 0), (60, 61, 1), (0, 100_000, 1), (1, 2, 2)] {
        world.configure(|config| config.slow_turn = limit * SECOND);
        world.script(vec![text("a"), Step::Wait(takes * SECOND)]);
        world.send(&engine, id, "go").await;
        turns += 1;
        terminal.until_kind("turn_completed", turns).await;
        assert_eq!(engine.slow_turns().count, slow, "{takes} s of {limit} s");
    }
    assert_eq!(engine.slow_turns().slowest.unwrap().total, 61 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_interrupted_counts_and_one_that_never_began_does_not() {
    let world = World::new();
    world.configure(|config| {
        config.running_turns_limit = 1;
        config.slow_turn = SECOND;
    });
    let engine = world.engine();
    let (id, waits) = (world.session(&engine).await, world.session(&engine).await);
    world.script(vec![text("a"), Step::Hang]);
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "a").await;
    let queued = world.send(&engine, waits, "go").await;
    pass_seconds(9).await;
    engine.withdraw(waits, queued.item_id, author("ann")).await.unwrap();
    assert!(engine.interrupt(id, None, author("ann")).await.unwrap());
    terminal.until_kind("turn_interrupted", 1).await;
    let SlowTurns { count, slowest } = engine.slow_turns();
    let slowest = slowest.unwrap();
    assert_eq!((count, slowest.session_id, slowest.parts.streaming), (1, id, 9 * SECOND));
}
