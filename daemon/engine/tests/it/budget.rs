//! What requests use: summed once, whatever happens, and limited before they leave.

use std::time::Duration;

use agentd_domain::{Day, Delivery, EventBody, SessionId, TurnFailed, UsageSum};
use agentd_engine::{
    Budget, BudgetScope, Engine, EngineConfig, Limit, TitlePolicy, UsageGrouping, UsageQuery,
};

use crate::world::{Gate, Step, Terminal, World, author, text};

/// What an answer sets aside while it is written, as no model here has a limit of its own.
const ANSWER: u64 = 4_096;

fn tokens(tokens: u64) -> Limit {
    Limit { tokens, nano_usd: 0 }
}

fn limit(world: &World, budget: Budget) {
    world.configure(|config| config.budget = budget);
}

fn query(group_by: UsageGrouping) -> UsageQuery {
    UsageQuery { group_by, from: Day(0), to: Day(u32::MAX), session_id: None }
}

/// The sums of the ledger.
async fn ledger(engine: &Engine) -> UsageSum {
    engine.usage(&query(UsageGrouping::Day)).await.unwrap().total
}

/// The sums of a session's log.
async fn log(world: &World, id: SessionId) -> UsageSum {
    let mut sum = UsageSum::default();
    for event in world.log(id).await {
        if let EventBody::UsageRecorded(recorded) = &event.body {
            sum.add(&recorded.usage, &recorded.cost);
        }
    }
    sum
}

/// Sends a message, waits for the turn's end, and gives the code of its failure.
async fn turn(world: &World, engine: &Engine, id: SessionId) -> Option<String> {
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    let ends = |seen: &Terminal| seen.count("turn_completed") + seen.count("turn_failed");
    let before = world.kinds(id).await;
    let before = before.iter().filter(|kind| ["turn_completed", "turn_failed"].contains(&&***kind));
    let before = before.count();
    world.send(engine, id, "hello").await;
    terminal.until(|seen| ends(seen) > before).await;
    terminal.events.iter().rev().find_map(|event| match &event.body {
        EventBody::TurnFailed(TurnFailed { error, .. }) => Some(Some(error.code.clone())),
        EventBody::TurnCompleted(_) => Some(None),
        _ => None,
    })?
}

fn requests(world: &World) -> usize {
    world.provider.requests.lock().unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn a_runaway_turn_stops_at_the_limit_before_the_request() {
    let world = World::new();
    let max = ANSWER + 3_000;
    limit(&world, Budget { turn: tokens(max), ..Budget::default() });
    let engine = world.engine();
    let id = world.session(&engine).await;
    // It never ends by itself, and no two rounds are alike.
    for arguments in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"] {
        let said = Step::Text("thinking about it ".repeat(20));
        world.script(vec![said, Step::Call(vec![("no_such_tool", arguments)])]);
    }
    assert_eq!(turn(&world, &engine, id).await.as_deref(), Some("BUDGET_EXCEEDED"));
    let made = requests(&world);
    assert!((2..14).contains(&made), "{made} requests");
    let used = log(&world, id).await;
    assert_eq!(used.requests, made as u64, "each request is recorded");
    assert!(used.tokens() <= max, "{} of {max} tokens", used.tokens());
    let Some(EventBody::TurnFailed(failed)) = world.log(id).await.pop().map(|event| event.body)
    else {
        panic!("no failure")
    };
    assert!(failed.error.message.contains("budget.turn_tokens allows"), "{:?}", failed.error);
    assert_eq!(failed.error.hint, "raise the limit under [budget], then `agentctl reload`");

    // The next turn begins anew, and a raised limit counts at once.
    assert_eq!(turn(&world, &engine, id).await.as_deref(), Some("BUDGET_EXCEEDED"));
    limit(&world, Budget::default());
    assert_eq!(turn(&world, &engine, id).await, None);
}

#[tokio::test(start_paused = true)]
async fn sessions_at_once_stay_below_the_limit_of_the_day_together() {
    let world = World::new();
    let max = 3 * ANSWER;
    limit(&world, Budget { day: tokens(max), ..Budget::default() });
    let engine = world.engine();
    let gate = Gate::new();
    let mut sessions = Vec::new();
    for _ in 0..8 {
        world.script(vec![text("a"), Step::Pass(gate.clone())]);
        sessions.push(world.session(&engine).await);
    }
    let mut terminals = Vec::new();
    for id in &sessions {
        terminals.push(Terminal::attach(&engine, *id, "ann").await);
        world.send(&engine, *id, "hello").await;
    }
    // Two answers are being written; the others were not asked for.
    let mut refused = 0;
    for terminal in &mut terminals {
        terminal.until(|seen| seen.count("turn_failed") == 1 || !seen.live.is_empty()).await;
        refused += terminal.count("turn_failed");
    }
    assert_eq!((requests(&world), refused), (2, 6));
    for _ in 0..2 {
        gate.open();
    }
    for terminal in &mut terminals {
        terminal.until(|seen| seen.count("turn_failed") + seen.count("turn_completed") == 1).await;
    }
    assert!(ledger(&engine).await.tokens() <= max);
    // What was set aside and not used is there again.
    gate.open();
    assert_eq!(turn(&world, &engine, sessions[7]).await, None);
}

#[tokio::test(start_paused = true)]
async fn every_request_is_counted_once_whatever_breaks() {
    for point in [
        "engine.accepted",
        "engine.turn_started",
        "engine.calls_recorded",
        "engine.tool_ran",
        "engine.turn_ended",
        "engine.before_snapshot",
    ] {
        let world = World::new();
        world.configure(|config| config.auto_resume = agentd_engine::AutoResume::Always);
        let engine = world.engine_that_breaks_at(point);
        let id = world.session(&engine).await;
        world.script(vec![text("one"), Step::Call(vec![("no_such_tool", "1")])]);
        let _broken = engine.submit(id, world.message("hello", Delivery::Queue)).await;
        tokio::task::yield_now().await;
        crate::world::pass_seconds(60).await;
        world.crash(engine).await;

        let engine = world.engine();
        engine.resume_unfinished().await.unwrap();
        assert_eq!(turn(&world, &engine, id).await, None, "{point}");
        let (ledger, log) = (ledger(&engine).await, log(&world, id).await);
        assert!(log.requests > 0, "{point}");
        assert_eq!(ledger, log, "{point}");
        let view = engine.view(id).await.unwrap();
        assert_eq!(view.record.usage_sum(), log, "{point}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_day_goes_on_after_a_restart() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    assert_eq!(turn(&world, &engine, id).await, None);
    let used = ledger(&engine).await;
    world.crash(engine).await;
    limit(&world, Budget { day: tokens(used.tokens()), ..Budget::default() });

    let engine = world.engine();
    assert_eq!(turn(&world, &engine, id).await.as_deref(), Some("BUDGET_EXCEEDED"));
    assert_eq!(requests(&world), 1);
    let day = engine.budgets().await.unwrap()[2];
    assert_eq!((day.scope, day.used.tokens), (BudgetScope::Day, used.tokens()));
    // Another day.
    crate::world::pass_seconds(24 * 3600).await;
    limit(&world, Budget { day: tokens(100 * ANSWER), ..Budget::default() });
    assert_eq!(turn(&world, &engine, id).await, None);
    let by_day = engine.usage(&query(UsageGrouping::Day)).await.unwrap();
    assert_eq!(by_day.rows.len(), 2, "{by_day:?}");
    assert_eq!(by_day.rows[0].key, "2023-11-14");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_session_leaves_the_sums_of_the_day() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    assert_eq!(turn(&world, &engine, id).await, None);
    let used = ledger(&engine).await;
    // A copy repeats events, not requests.
    let copy = engine.fork(id, None, None, None, &author("ann")).await.unwrap().record;
    assert_eq!(copy.usage_sum(), used);
    assert_eq!(ledger(&engine).await, used);
    world.script(vec![text("half"), Step::Hang]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "hello").await;
    terminal.until(|seen| !seen.live.is_empty()).await;
    engine.delete(id).await.unwrap();
    let after = ledger(&engine).await;
    assert_eq!(after.requests, used.requests + 1, "the request that was cut off counts");
    let by_session = engine.usage(&query(UsageGrouping::Session)).await.unwrap();
    let keys: Vec<_> = by_session.rows.iter().map(|row| row.key.clone()).collect();
    assert_eq!(keys, [copy.session_id.to_string()]);
}

#[tokio::test(start_paused = true)]
async fn background_work_is_left_out_when_its_limit_is_used_up() {
    let world = World::new();
    world.configure(|config| {
        config.titles = TitlePolicy::Model;
        config.budget = Budget { background_day: tokens(1), ..Budget::default() };
    });
    let engine = world.engine();
    let id = world.session(&engine).await;
    assert_eq!(turn(&world, &engine, id).await, None);
    crate::world::pass_seconds(60).await;
    assert_eq!(requests(&world), 1, "no title was asked for");
    assert_eq!(engine.view(id).await.unwrap().record.title, "hello");

    world.configure(|config| config.budget = EngineConfig::default().budget);
    world.script(vec![text("ok")]);
    world.script(vec![text("A title")]);
    assert_eq!(turn(&world, &engine, id).await, None);
    crate::world::pass_seconds(60).await;
    assert_eq!(engine.view(id).await.unwrap().record.title, "A title");
    let by_purpose = engine.usage(&query(UsageGrouping::Purpose)).await.unwrap();
    let rows: Vec<_> =
        by_purpose.rows.iter().map(|row| (row.key.as_str(), row.sum.requests)).collect();
    assert_eq!(rows, [("title", 1), ("turn", 2)]);
}

#[tokio::test(start_paused = true)]
async fn what_a_title_uses_is_recorded_before_its_session_goes() {
    // The session could be unloaded long before the title is there.
    let world = World::new();
    world.configure(|config| {
        config.titles = TitlePolicy::Model;
        config.idle_unload = Duration::from_secs(1);
    });
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("ok")]);
    world.script(vec![Step::Wait(Duration::from_secs(5)), text("A title")]);
    assert_eq!(turn(&world, &engine, id).await, None);
    crate::world::pass_seconds(20).await;
    assert_eq!(log(&world, id).await.requests, 2);
    assert_eq!(ledger(&engine).await, log(&world, id).await);
    assert_eq!(engine.view(id).await.unwrap().record.title, "A title");

    // The daemon stops in the middle of one.
    let id = world.session(&engine).await;
    world.script(vec![text("ok")]);
    world.script(vec![text("A ti"), Step::Hang]);
    assert_eq!(turn(&world, &engine, id).await, None);
    crate::world::pass_seconds(2).await;
    assert_eq!(requests(&world), 4);
    engine.stop().await;
    assert_eq!(log(&world, id).await.requests, 2);
}

#[tokio::test(start_paused = true)]
async fn a_notice_says_when_four_fifths_are_used() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    assert_eq!(turn(&world, &engine, id).await, None);
    let used = log(&world, id).await.tokens();
    limit(&world, Budget { session: tokens(used + ANSWER + 600), ..Budget::default() });
    world.script(vec![Step::Text("word ".repeat(3_276))]);
    assert_eq!(turn(&world, &engine, id).await, None);
    let log = world.log(id).await;
    let at = log.iter().position(|event| event.body.kind() == "notice").expect("a notice");
    assert_eq!(log[at - 1].body.kind(), "usage_recorded");
    let EventBody::Notice(notice) = &log[at].body else { unreachable!() };
    assert!(notice.text.contains("(budget.session_tokens)"), "{}", notice.text);
}

#[tokio::test(start_paused = true)]
async fn events_say_what_each_request_cost() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    assert_eq!(turn(&world, &engine, id).await, None);
    let sum = log(&world, id).await;
    assert_eq!(sum.cost.nano_usd, sum.tokens() * 10_000);
    assert_eq!(sum.cost.estimated_nano_usd, sum.cost.nano_usd, "nothing was counted for us");
    assert_eq!((sum.exact.tokens(), sum.estimated.tokens()), (0, sum.tokens()));
    let by_model = engine.usage(&query(UsageGrouping::Model)).await.unwrap();
    assert_eq!(by_model.rows[0].key, "default");
    let one = UsageQuery { session_id: Some(id), ..query(UsageGrouping::Model) };
    assert_eq!(engine.usage(&one).await.unwrap(), by_model);
    let nobody = UsageQuery { session_id: Some(SessionId::from_parts(1, 1)), ..one };
    assert!(engine.usage(&nobody).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn requests_of_ordinary_sessions_begin_as_the_ones_before() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("one"), Step::Call(vec![("no_such_tool", "1"), ("other", "{}")])]);
    world.script(vec![
        text("half"),
        Step::Fail(agentd_llm::LlmError::Protocol { detail: "x".to_owned() }),
    ]);
    assert!(turn(&world, &engine, id).await.is_some());
    world.script(vec![text("half"), Step::Hang]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "again").await;
    terminal.until(|seen| !seen.live.is_empty()).await;
    engine.interrupt(id, None, author("ann")).await.unwrap();
    assert_eq!(turn(&world, &engine, id).await, None);
    assert_eq!(turn(&world, &engine, id).await, None);
    assert_eq!(requests(&world), 5);
    assert_eq!(engine.stats().prefix_breaks, 0);
}
