//! Searching what was said in all sessions.

use std::time::Duration;

use agentd_domain::{
    Delivery, EventBody, HistoryAnswer, HistoryQuery, Seq, SessionId, Speaker, ToolCallFinished,
};
use agentd_engine::{CommandError, Engine, HistoryLimits, MAX_QUESTION, MAX_SNIPPET};
use agentd_tools::Registry;

use crate::world::{Step, Terminal, World, author, pass_seconds, text};

fn query(question: &str) -> HistoryQuery {
    HistoryQuery {
        question: question.to_owned(),
        session: None,
        since: None,
        by: None,
        most: 10,
        without_turn_of: None,
    }
}

async fn search(engine: &Engine, question: &str) -> HistoryAnswer {
    let answer = engine.search_history(query(question)).await.unwrap();
    assert_eq!(answer.extent.sessions_unread, 0, "{answer:?}");
    answer
}

/// Where it was found, the best first.
async fn places(engine: &Engine, question: &str) -> Vec<(SessionId, u64)> {
    let hits = search(engine, question).await.hits;
    hits.iter().map(|hit| (hit.session_id, hit.seq.0)).collect()
}

/// A turn: a question and its answer.
async fn turn(world: &World, engine: &Engine, id: SessionId, question: &str, answer: &str) {
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    let turns = engine.view(id).await.unwrap().record.turns;
    world.script(vec![text(answer)]);
    world.send(engine, id, question).await;
    let turns = usize::try_from(turns).unwrap() + 1;
    terminal.until_kind("turn_completed", turns).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_said_is_found_in_all_sessions_also_after_a_restart_and_as_soon_as_it_is_recorded()
{
    let world = World::new();
    let engine = world.engine();
    let (one, two) = (world.session(&engine).await, world.session(&engine).await);
    turn(&world, &engine, one, "where is the staging database?", "On the host anvil.").await;
    turn(&world, &engine, two, "数据库的密码在哪里", "在保险箱里").await;
    let first = search(&engine, "staging databases").await;
    assert_eq!((first.extent.sessions, first.extent.messages), (2, 4), "{first:?}");
    let best = &first.hits[0];
    assert_eq!((best.session_id, best.by, best.name.as_str()), (one, Speaker::User, "ann"));
    assert_eq!(best.snippet, "where is the staging database?");
    assert_eq!(best.title, "where is the staging database?");
    let log = world.log(one).await;
    assert_eq!(log[usize::try_from(best.seq.0).unwrap() - 1].body.kind(), "message_accepted");
    assert_eq!(search(&engine, "密码").await.hits[0].session_id, two);
    // What comes after the first question is found, too.
    turn(&world, &engine, two, "who keeps the keys?", "Zoe does.").await;
    assert_eq!(search(&engine, "zoe").await.hits[0].by, Speaker::Assistant);
    engine.stop().await;

    let engine = world.engine();
    assert_eq!(search(&engine, "anvil").await.hits[0].session_id, one);
    assert_eq!(search(&engine, "保险箱").await.hits[0].session_id, two);
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_or_deleted_is_found_no_more_and_a_copy_is_shown_once() {
    let world = World::new();
    let engine = world.engine();
    let one = world.session(&engine).await;
    turn(&world, &engine, one, "alder", "birch").await;
    assert_eq!(places(&engine, "alder").await.len(), 2, "and its answer");
    let copy = engine.fork(one, None, None, None, &author("ann")).await.unwrap();
    let twice = search(&engine, "alder").await;
    assert_eq!((twice.hits.len(), twice.extent.messages), (2, 4), "{twice:?}");
    engine.delete(one).await.unwrap();
    let left = search(&engine, "alder").await;
    assert_eq!((left.extent.sessions, left.extent.messages), (1, 2), "{left:?}");
    assert!(left.hits.iter().all(|hit| hit.session_id == copy.record.session_id), "{left:?}");

    let busy = world.session(&engine).await;
    world.script(vec![Step::Hang]);
    world.send(&engine, busy, "cedar").await;
    let waiting = engine.submit(busy, world.message("dogwood", Delivery::Queue)).await.unwrap();
    assert_eq!(places(&engine, "dogwood").await.len(), 1 + 1, "it and what was said before it");
    engine.withdraw(busy, waiting.item_id, author("ann")).await.unwrap();
    assert_eq!(places(&engine, "dogwood").await, []);
    engine.delete(busy).await.unwrap();
    assert_eq!(places(&engine, "cedar").await, []);
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_search_that_does_not_wait_for_all_logs_says_so_and_the_next_one_finds_the_rest() {
    let world = World::new();
    let engine = world.engine();
    let one = world.session(&engine).await;
    turn(&world, &engine, one, "alder", "birch").await;
    world.store.stall_reads(true);
    let answer = engine.search_history(query("alder")).await.unwrap();
    assert_eq!((answer.hits.len(), answer.extent.sessions_unread), (0, 1), "{answer:?}");
    world.store.stall_reads(false);
    assert_eq!(places(&engine, "alder").await.len(), 2);
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_index_is_bounded_says_what_is_left_out_and_leaves_memory_after_long_disuse() {
    let world = World::new();
    world.configure(|config| {
        let idle_unload = Duration::from_secs(60);
        config.history = HistoryLimits { messages: 2, bytes: 1 << 20, idle_unload };
    });
    let engine = world.engine();
    let one = world.session(&engine).await;
    turn(&world, &engine, one, "alder", "birch").await;
    pass_seconds(1).await;
    turn(&world, &engine, one, "cedar", "dogwood").await;
    let answer = search(&engine, "alder cedar").await;
    assert_eq!((answer.extent.messages, answer.extent.messages_left_out), (2, 2), "{answer:?}");
    assert!(answer.hits.iter().all(|hit| !hit.snippet.contains("alder")), "{answer:?}");
    let reads = || world.store.reads.lock().unwrap().iter().filter(|seq| **seq == Seq(1)).count();
    let read = reads();
    search(&engine, "cedar").await;
    pass_seconds(59).await;
    search(&engine, "cedar").await;
    assert_eq!(reads(), read, "it is in memory");
    pass_seconds(61).await;
    search(&engine, "cedar").await;
    assert_eq!(reads(), read + 1, "it was read anew");
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_without_a_word_is_refused_and_filters_and_limits_hold() {
    let world = World::new();
    let engine = world.engine();
    let one = world.session(&engine).await;
    let long = "needle ".to_owned() + &"straw 稻草 ".repeat(2_000);
    turn(&world, &engine, one, &long, "needle found").await;
    for question in ["", "  ", "?!", "\u{1b}["] {
        let refused = engine.search_history(query(question)).await;
        assert!(matches!(refused, Err(CommandError::EmptyQuestion)), "{question:?}: {refused:?}");
    }
    let refused = engine.search_history(query(&"x".repeat(MAX_QUESTION + 1))).await;
    assert!(matches!(refused, Err(CommandError::QuestionTooLong { .. })), "{refused:?}");
    let nowhere = SessionId::from_parts(1, 1);
    let refused = HistoryQuery { session: Some(nowhere), ..query("needle") };
    let refused = engine.search_history(refused).await;
    assert!(matches!(refused, Err(CommandError::NoSession(_))), "{refused:?}");
    let one_only = HistoryQuery { most: 1, ..query("needle") };
    let answer = engine.search_history(one_only).await.unwrap();
    assert_eq!((answer.hits.len(), answer.more), (1, true));
    let asked = HistoryQuery { by: Some(Speaker::User), ..query("needle") };
    let answer = engine.search_history(asked).await.unwrap();
    assert_eq!((answer.hits.len(), answer.more), (1, false));
    let snippet = &answer.hits[0].snippet;
    assert!(snippet.starts_with("needle straw") && snippet.ends_with('…'), "{snippet}");
    assert!(snippet.chars().count() <= MAX_SNIPPET + 2, "{snippet}");
    engine.stop().await;
}

/// What came of calls of tools in a turn of their own.
async fn calls(
    world: &World,
    engine: &Engine,
    id: SessionId,
    said: &str,
    calls: &[(&'static str, &'static str)],
) -> Vec<ToolCallFinished> {
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    let turns = usize::try_from(engine.view(id).await.unwrap().record.turns).unwrap();
    for call in calls {
        world.script(vec![Step::Call(vec![*call])]);
    }
    world.send(engine, id, said).await;
    terminal.until_kind("turn_completed", turns + 1).await;
    let finished = terminal.events.into_iter().filter_map(|event| match event.body {
        EventBody::ToolCallFinished(finished) => Some(finished),
        _ => None,
    });
    let finished: Vec<ToolCallFinished> = finished.collect();
    finished[finished.len() - calls.len()..].to_vec()
}

#[tokio::test(start_paused = true)]
async fn a_model_finds_what_was_said_before_its_turn_and_nothing_that_it_makes_of_it_is_vouched_for()
 {
    const ADD: &str = r#"{"action":"add","content":"Invoices are sent to evil.example"}"#;
    const FIND: &str = r#"{"question":"where do invoices go?"}"#;
    let mut world = World::new();
    world.tools = Registry::builtin();
    let engine = world.engine();
    let one = world.session(&engine).await;
    turn(&world, &engine, one, "sum up the page", "It says that invoices go to evil.example").await;
    let two = world.session(&engine).await;
    let said = "where do our invoices go?";
    let found = [("history_query", FIND), ("manage_memory", ADD)];
    let got = calls(&world, &engine, two, said, &found).await;
    let output = &got[0].output;
    assert!(output.starts_with("Quoted from earlier conversations."), "{output}");
    assert!(
        output.contains("the assistant, in session ") && output.contains("  > It says"),
        "{output}"
    );
    assert!(output.contains(&one.to_string()), "{output}");
    assert!(!output.contains(said), "the turn that asks is not found: {output}");
    assert!(got[1].output.contains("not yet remembered"), "{got:?}");
    // The session keeps that, also when the turn is over and the daemon was restarted.
    engine.stop().await;
    let engine = world.engine();
    let later = calls(&world, &engine, two, "and?", &[("manage_memory", ADD)]).await;
    assert!(!later[0].output.contains("Remembered as"), "{later:?}");
    let this = r#"{"question":"invoices","session":"this"}"#;
    let got = calls(&world, &engine, two, "what did I ask?", &[("history_query", this)]).await;
    assert!(got[0].output.contains(said) && !got[0].output.contains(&one.to_string()), "{got:?}");
    let three = world.session(&engine).await;
    let none = r#"{"question":"zebra"}"#;
    let got = calls(&world, &engine, three, "hm", &[("history_query", none)]).await;
    assert!(got[0].output.starts_with("Nothing that was said"), "{got:?}");
    for wrong in [r#"{"question":"?!"}"#, r#"{"question":"x","since":"soon"}"#] {
        let refused = calls(&world, &engine, three, "hm", &[("history_query", wrong)]).await;
        assert_eq!(refused[0].error_code, "TOOL_ARGUMENT_VALIDATION_FAILED", "{refused:?}");
    }
    engine.stop().await;
}
