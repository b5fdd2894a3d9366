//! Older turns are folded into a summary: within a turn without a model, after it with one.

use std::sync::atomic::Ordering;

use agentd_domain::{
    CompactionReason, ContextCompacted, EventBody, Seq, SessionId, SummaryMethod, SummarySection,
};
use agentd_engine::{CommandError, Compaction, Engine};
use agentd_llm::{Message, Request, estimate_message_tokens, estimate_tokens};
use agentd_tools::Registry;

use crate::world::{Gate, Step, Terminal, World, pass_seconds, text};

/// Says something and waits for the answer.
async fn turn(world: &World, engine: &Engine, id: SessionId, said: &str) {
    let over = |kind: &String| kind == "turn_completed" || kind == "turn_failed";
    let ended = world.kinds(id).await.into_iter().filter(over).count();
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    world.send(engine, id, said).await;
    let over = |seen: &Terminal| seen.count("turn_completed") + seen.count("turn_failed") > ended;
    terminal.until(over).await;
    assert_eq!(terminal.count("turn_failed"), 0, "{said}");
}

/// A message that is worth folding.
fn long(number: usize) -> String {
    format!("message {number}: {}", "and what was said about it. ".repeat(20))
}

/// What users and the summary said in a request.
fn said(request: &Request) -> Vec<String> {
    let texts = request.messages.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

fn is_for_summary(request: &Request) -> bool {
    matches!(request.messages.first(), Some(Message::System(text)) if text.contains("keep the record"))
}

/// The requests of turns, and those for summaries.
fn requests(world: &World) -> (Vec<Request>, Vec<Request>) {
    let requests = world.provider.requests.lock().unwrap().clone();
    requests.into_iter().partition(|request| !is_for_summary(request))
}

async fn foldings(world: &World, id: SessionId) -> Vec<(Seq, ContextCompacted)> {
    let log = world.log(id).await;
    let found = log.into_iter().filter_map(|event| match event.body {
        EventBody::ContextCompacted(compacted) => Some((event.seq, compacted)),
        _ => None,
    });
    found.collect()
}

/// Waits until the session was folded so often.
async fn until_folded(engine: &Engine, id: SessionId, times: usize) {
    let mut terminal = Terminal::attach(engine, id, "bob").await;
    terminal.until_kind("context_compacted", times).await;
}

fn window(world: &World, tokens: u64) {
    world.models.context_tokens.store(tokens, Ordering::Relaxed);
}

const SUMMARY: &str = r#"Here it is:
```json
{"lines": [
  {"section": "decisions", "text": "The parser is written by hand", "from": ["T1", "T2"]},
  {"section": "open_tasks", "text": "Write its tests", "from": ["t3"]},
  {"section": "done", "text": "A line from nowhere", "from": ["T99"]}
]}
```"#;

#[tokio::test(start_paused = true)]
async fn after_a_turn_too_many_a_model_writes_the_summary_and_requests_go_on_from_it() {
    let world = World::new();
    window(&world, 8_000);
    let engine = world.engine();
    let id = world.session(&engine).await;
    for number in 1..=10 {
        turn(&world, &engine, id, &format!("message {number}")).await;
    }
    assert_eq!(requests(&world).1.len(), 0, "ten turns are told whole");
    world.script(vec![text("eleven")]);
    world.script(vec![text(SUMMARY)]);
    turn(&world, &engine, id, "message 11").await;
    until_folded(&engine, id, 1).await;

    let (_seq, folded) = foldings(&world, id).await.remove(0);
    assert_eq!((folded.method, folded.reason), (SummaryMethod::Model, CompactionReason::Turns));
    assert_eq!((folded.folded_turns, folded.model.as_str()), (6, "cheap"));
    assert!(folded.tokens_after > 0 && folded.tokens_before > 0);
    let texts: Vec<&str> = folded.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["The parser is written by hand", "Write its tests"], "none from nowhere");
    // A line leads back to what was said.
    let log = world.log(id).await;
    let at = |seq: Seq| log.iter().find(|event| event.seq == seq).unwrap();
    let first = &folded.lines[1].from[0];
    assert!(matches!(&at(first.first).body,
        EventBody::MessageAccepted(accepted) if accepted.text == "message 3"));
    assert_eq!(at(first.last).body.kind(), "turn_completed");

    // What the model was shown is labelled, and none of it is a request for tools.
    let asked = requests(&world).1.remove(0);
    assert!(said(&asked)[0].contains("[T6]\nuser: message 6"), "{:?}", said(&asked));
    assert!(!said(&asked)[0].contains("message 7"));
    assert!(asked.tools.is_empty());

    turn(&world, &engine, id, "message 12").await;
    let after = said(requests(&world).0.last().unwrap());
    assert!(after[0].contains("Decisions:\n- The parser is written by hand"), "{after:?}");
    let rest: Vec<&str> = after[1..].iter().map(String::as_str).collect();
    let whole = ["message 7", "message 8", "message 9", "message 10", "message 11", "message 12"];
    assert!(rest.iter().filter(|said| !said.starts_with("[Earlier turns")).eq(whole.iter()));
    // Read anew it is the same.
    let before = requests(&world).0.last().unwrap().messages.clone();
    engine.stop().await;
    let engine = world.engine();
    turn(&world, &engine, id, "message 13").await;
    let again = requests(&world).0.last().unwrap().messages.clone();
    assert_eq!(again[..before.len()], before);
    assert_eq!(world.log(id).await[..log.len()], log, "the log keeps all of it");
}

#[tokio::test(start_paused = true)]
async fn co_01_answers_of_no_use_cost_two_requests_and_the_history_goes_on() {
    let too_long = format!(
        r#"{{"lines": [{{"section": "done", "text": "x", "from": ["T1"]}}, {}]}}"#,
        (0..150)
            .map(|n| format!(r#"{{"text": "{n} {}", "from": ["T1"]}}"#, "word ".repeat(60)))
            .collect::<Vec<_>>()
            .join(",")
    );
    let of_no_use = [r#"{"lines": []}"#, "", too_long.as_str(), r#"{"lines": [{"text": "x"}]}"#];
    for answer in of_no_use {
        let world = World::new();
        window(&world, 8_000);
        let engine = world.engine();
        let id = world.session(&engine).await;
        for number in 1..=10 {
            turn(&world, &engine, id, &long(number)).await;
        }
        for number in 11..=40 {
            world.script(vec![text("ok")]);
            world.script(vec![text(answer)]);
            turn(&world, &engine, id, &long(number)).await;
            pass_seconds(1).await;
            // What was not asked for is not there for the next turn either.
            while let Some(script) = world.provider.take_script() {
                drop(script);
            }
        }
        let (of_turns, of_summaries) = requests(&world);
        assert!((2..=4).contains(&of_summaries.len()), "{}: {answer:.60}", of_summaries.len());
        let folded = foldings(&world, id).await;
        assert!(folded.len() >= 4, "{}", folded.len());
        assert!(folded.iter().all(|(_, folded)| folded.method == SummaryMethod::Extract));
        let lines = &folded.last().unwrap().1.lines;
        assert!(lines.iter().all(|line| line.section == SummarySection::Turns));
        assert!(!lines.is_empty() && folded.last().unwrap().1.untold_turns > 0);
        assert!(of_turns.len() == 40, "no turn was asked twice");
    }
}

#[tokio::test(start_paused = true)]
async fn co_01_when_folding_does_not_free_enough_it_stops_and_the_largest_parts_are_named() {
    let mut world = World::new();
    world.tools = Registry::builtin();
    // Descriptions of tools take most of it.
    window(&world, 5_000);
    let engine = world.engine();
    let id = world.session(&engine).await;
    for number in 1..=12 {
        turn(&world, &engine, id, &format!("continue {number} {}", "x".repeat(7_500))).await;
        pass_seconds(1).await;
    }
    let (of_turns, of_summaries) = requests(&world);
    assert_eq!(of_turns.len(), 12);
    assert!(of_summaries.len() <= 2, "{}", of_summaries.len());
    let notices: Vec<String> = world
        .log(id)
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Notice(notice) => Some(notice.text),
            _ => None,
        })
        .filter(|text| text.contains("does not free enough"))
        .collect();
    assert_eq!(notices.len(), 1, "said once: {notices:?}");
    assert!(notices[0].contains(", tools "), "{notices:?}");
    let context = engine.context(id).await.unwrap();
    assert!(context.report.stopped.contains(", tools "), "{:?}", context.report);
}

#[tokio::test(start_paused = true)]
async fn folding_on_demand_keeps_the_newest_turn_and_says_when_there_is_nothing_to_do() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    turn(&world, &engine, id, "the only one").await;
    let Compaction::Nothing { why } = engine.compact(id).await.unwrap() else { panic!() };
    assert!(why.contains("newest turn"), "{why}");

    turn(&world, &engine, id, &long(2)).await;
    let gate = Gate::new();
    world.script(vec![Step::Pass(gate.clone()), text("third")]);
    world.send(&engine, id, "a third one").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_started", 3).await;
    assert!(matches!(engine.compact(id).await, Err(CommandError::TurnOpen(_))));
    gate.open();
    terminal.until_kind("turn_completed", 3).await;

    world.script(vec![text(
        r#"{"lines": [{"section": "done", "text": "Two turns", "from": ["T1", "T2"]}]}"#,
    )]);
    let Compaction::Done(folded) = engine.compact(id).await.unwrap() else { panic!() };
    assert_eq!((folded.folded_turns, folded.method), (2, SummaryMethod::Model));
    assert_eq!(folded.reason, CompactionReason::Asked);
    let context = engine.context(id).await.unwrap();
    assert_eq!(context.summary.unwrap().1, *folded);
    assert_eq!(context.report.turns, 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_rewrites_what_a_turn_had_to_fold_by_itself() {
    let world = World::new();
    window(&world, 17_000);
    let engine = world.engine();
    let id = world.session(&engine).await;
    for number in 1..=11 {
        turn(&world, &engine, id, &format!("plan {number} {}", "y".repeat(4_000))).await;
    }
    // The next does not fit any more.
    world.script(vec![text("ok")]);
    let lines: Vec<String> = (1..=9)
        .map(|n| format!(r#"{{"section": "done", "text": "Plan {n} was made", "from": ["T{n}"]}}"#))
        .collect();
    world.script(vec![text(&format!(r#"{{"lines": [{}]}}"#, lines.join(",")))]);
    turn(&world, &engine, id, &format!("plan 12 {}", "y".repeat(10_000))).await;
    until_folded(&engine, id, 2).await;
    let folded = foldings(&world, id).await;
    let (by_itself, by_model) = (&folded[0].1, &folded[1].1);
    assert_eq!(
        (by_itself.method, by_itself.reason),
        (SummaryMethod::Extract, CompactionReason::Window)
    );
    assert_eq!(
        (by_model.method, by_model.reason),
        (SummaryMethod::Model, CompactionReason::Rewritten)
    );
    assert_eq!(by_model.folded_turns, 0);
    assert_eq!(by_model.first_kept_seq, by_itself.first_kept_seq);
    // It was shown the turns themselves, not the lines made of them.
    let asked = said(&requests(&world).1[0]).remove(0);
    assert!(asked.contains("[T1]\nuser: plan 1 yyy"), "{asked:.300}");
    assert!(!asked.contains("[L1]"), "{asked:.300}");
}

#[tokio::test(start_paused = true)]
async fn what_bears_on_a_message_is_recalled_once_word_by_word() {
    let world = World::new();
    window(&world, 8_000);
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("Its stripes are painted with titanium white.")]);
    turn(&world, &engine, id, "How is the zebra model painted?").await;
    for number in 1..=12 {
        turn(
            &world,
            &engine,
            id,
            &format!("errand {number}: {}", "go there and back again. ".repeat(20)),
        )
        .await;
        pass_seconds(1).await;
    }
    let before = world.kinds(id).await.iter().filter(|kind| *kind == "turns_recalled").count();
    turn(&world, &engine, id, "Which paint did the zebra model have?").await;
    let asked = said(requests(&world).0.last().unwrap());
    let recalled = asked.iter().filter(|said| said.contains("titanium white"));
    let recalled: Vec<&String> =
        recalled.filter(|said| said.starts_with("[Earlier turns")).collect();
    assert_eq!(recalled.len(), 1, "{asked:?}");
    let told = requests(&world).0.last().unwrap().messages.clone();
    turn(&world, &engine, id, "And the stripes of the zebra?").await;
    let next = requests(&world).0.last().unwrap().messages.clone();
    assert_eq!(next[..told.len()], told, "it stays where it was told");
    let after = world.kinds(id).await.iter().filter(|kind| *kind == "turns_recalled").count();
    assert_eq!(after, before + 1, "once");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_rested_for_a_month_begins_with_its_summary_and_last_turn() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    for number in 1..=5 {
        let long = "what was said of it ".repeat(40);
        turn(&world, &engine, id, &format!("message {number}: {long}")).await;
    }
    pass_seconds(31 * 24 * 3_600).await;
    turn(&world, &engine, id, "I am back").await;
    let folded = foldings(&world, id).await;
    assert_eq!(folded[0].1.reason, CompactionReason::Rested);
    assert_eq!(folded[0].1.folded_turns, 4);
    let asked = said(requests(&world).0.last().unwrap());
    assert!(asked[0].starts_with("[Summary of the earlier turns"), "{:.200}", asked[0]);
    assert!(asked[1].starts_with("message 5"), "{:.200}", asked[1]);
}

#[tokio::test(start_paused = true)]
async fn short_turns_are_not_left_out_after_a_rest_because_no_summary_is_shorter() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    for number in 1..=5 {
        turn(&world, &engine, id, &format!("message {number}")).await;
    }
    pass_seconds(31 * 24 * 3_600).await;
    turn(&world, &engine, id, "I am back").await;
    let asked = said(requests(&world).0.last().unwrap());
    assert_eq!(asked[0], "message 1", "{asked:?}");
}

/// Tokens of a request, by the estimate that the room was measured with.
fn tokens(request: &Request) -> u64 {
    let messages: u64 = request.messages.iter().map(estimate_message_tokens).sum();
    let tools = request.tools.iter().map(|tool| {
        estimate_tokens(&tool.name)
            + estimate_tokens(&tool.description)
            + estimate_tokens(&tool.parameters.to_string())
    });
    messages + tools.sum::<u64>()
}

#[tokio::test(start_paused = true)]
async fn a_long_session_fits_a_small_window_all_the_time() {
    const TURNS: usize = 400;
    let mut world = World::new();
    world.tools = Registry::builtin();
    window(&world, 8_192);
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    for number in 0..TURNS {
        if number % 10 == 3 {
            world.script(vec![Step::Call(vec![("calculate", r#"{"expression":"6*7"}"#)])]);
        }
        let said = format!(
            "step {number}: {}",
            "look at what comes next and say so. ".repeat(number % 40)
        );
        world.send(&engine, id, &said).await;
        terminal.until(|seen| seen.count("turn_completed") + seen.count("turn_failed") > 0).await;
        assert_eq!(terminal.count("turn_failed"), 0);
        terminal.events.clear();
    }
    let (of_turns, of_summaries) = requests(&world);
    let largest = of_turns.iter().map(tokens).max().unwrap();
    assert!(largest <= 8_192, "{largest}");
    let messages = of_turns.iter().map(|request| request.messages.len()).max().unwrap();
    assert!(messages < 60, "what a request holds is bounded: {messages}");
    // A model that never writes a summary is asked a few times in twenty turns.
    assert!(of_summaries.len() <= TURNS / 8, "{}", of_summaries.len());
}
