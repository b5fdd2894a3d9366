//! What users pin in a session, and what a line of its summary was made from.

use agentd_domain::{
    CompactionReason, ContextCompacted, ErrorKind, Event, EventBody, Seq, SeqRange, SessionId,
    SummaryLine, SummaryMethod, SummarySection,
};
use agentd_engine::{CommandError, Engine, ExpandError, PinError};
use agentd_store::{Batch, Store as _, Write};

use crate::world::{Step, Terminal, World, author, text};

#[tokio::test(start_paused = true)]
async fn what_is_pinned_is_shown_to_all_and_survives_a_restart() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "eve").await;
    let pin = |text: &str| engine.pin(id, text.to_owned(), author("ann"));
    assert_eq!(pin("keep to\ntabs").await.unwrap(), ["keep to tabs"]);
    assert_eq!(pin("no new crates").await.unwrap(), ["keep to tabs", "no new crates"]);
    // Twice is as once: no event says it again.
    assert_eq!(pin(" keep to tabs").await.unwrap().len(), 2);
    let empty = pin(" ").await.unwrap_err();
    assert_eq!((empty.kind(), empty.field()), (ErrorKind::Invalid, Some("text")));
    terminal.until_kind("pins_changed", 2).await;

    engine.stop().await;
    let engine = world.engine();
    assert_eq!(engine.unpin(id, 1, author("eve")).await.unwrap(), ["no new crates"]);
    let gone = engine.unpin(id, 2, author("eve")).await.unwrap_err();
    assert!(matches!(gone, CommandError::Pin(PinError::None { number: 2, pins: 1 })), "{gone}");
    let changes: Vec<Vec<String>> = world
        .log(id)
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::PinsChanged(changed) => Some(changed.pins),
            _ => None,
        })
        .collect();
    assert_eq!(changes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1]);
}

/// Appends a summary to the log, as folding does, and starts an engine over it.
async fn folded(world: &World, engine: Engine, id: SessionId, lines: Vec<SummaryLine>) -> Engine {
    engine.stop().await;
    let last = world.log(id).await.pop().unwrap();
    let compacted = ContextCompacted {
        first_kept_seq: last.seq,
        recall_from_seq: Seq(1),
        folded_turns: 2,
        tokens_before: 100,
        tokens_after: 10,
        reason: CompactionReason::Asked,
        method: SummaryMethod::Extract,
        model: String::new(),
        prompt: "extract-1".to_owned(),
        pins: Vec::new(),
        lines,
        untold_turns: 0,
    };
    let event = Event { seq: last.seq.next(), at: last.at, turn_id: None, body: compacted.into() };
    let append = Write::Append { session_id: id, events: vec![event] };
    world.store.commit(Batch::of(append)).await.unwrap();
    world.engine()
}

fn line(text: &str, from: Vec<SeqRange>) -> SummaryLine {
    SummaryLine { section: SummarySection::Done, text: text.to_owned(), from }
}

/// The whole of each turn of a log, from the message that it answers on.
fn turns(log: &[Event]) -> Vec<SeqRange> {
    let at = |kind: &str| {
        let found = log.iter().filter(|event| event.body.kind() == kind);
        found.map(|event| event.seq).collect::<Vec<_>>()
    };
    let (first, last) = (at("message_accepted"), at("turn_completed"));
    first.into_iter().zip(last).map(|(first, last)| SeqRange { first, last }).collect()
}

#[tokio::test(start_paused = true)]
async fn a_line_of_the_summary_leads_to_what_the_log_has() {
    let mut world = World::new();
    world.tools = agentd_tools::Registry::builtin();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    let refused = engine.expand(id, 1).await.unwrap_err();
    assert!(matches!(refused, CommandError::Expand(ExpandError::NoSummary(_))), "{refused}");
    assert_eq!(refused.kind(), ErrorKind::Precondition);

    world.script(vec![Step::Call(vec![("text_length", r#"{"text":"forty-two"}"#)])]);
    world.script(vec![text("it is 42")]);
    world.send(&engine, id, "how much?").await;
    terminal.until_kind("turn_completed", 1).await;
    world.script(vec![text("another")]);
    world.send(&engine, id, &"long ".repeat(2_000)).await;
    terminal.until_kind("turn_completed", 2).await;

    let turns = turns(&world.log(id).await);
    let lines = vec![line("counted", vec![turns[0]]), line("all", vec![turns[1], turns[0]])];
    let engine = folded(&world, engine, id, lines).await;
    let first = engine.expand(id, 1).await.unwrap();
    assert_eq!((first.line.text.as_str(), first.truncated), ("counted", false));
    let said: Vec<(&str, &str)> =
        first.messages.iter().map(|said| (said.who.as_str(), said.text.as_str())).collect();
    assert_eq!(said[0], ("user", "how much?"));
    assert_eq!(said[1], ("assistant", "[calls text_length]"));
    assert_eq!((said[2].0, said[2].1.contains('9')), ("text_length", true));
    assert_eq!(said[3..], [("assistant", "it is 42")]);

    let all = engine.expand(id, 2).await.unwrap();
    assert_eq!(all.messages.len(), 6);
    assert!(all.messages.is_sorted_by_key(|said| said.seq), "the oldest first");
    assert!(all.messages[4].text.contains("characters left out"), "{}", all.messages[4].text);
    for wrong in [0, 3] {
        let refused = engine.expand(id, wrong).await.unwrap_err();
        assert_eq!((refused.kind(), refused.field()), (ErrorKind::NotFound, Some("line")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_stands_for_very_much_is_shown_in_part_and_says_so() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    for turn in 1..=101 {
        world.send(&engine, id, "again").await;
        terminal.until_kind("turn_completed", turn).await;
    }
    let all = SeqRange { first: Seq(1), last: Seq(u64::MAX) };
    let engine = folded(&world, engine, id, vec![line("all of it", vec![all])]).await;
    let expanded = engine.expand(id, 1).await.unwrap();
    assert_eq!((expanded.messages.len(), expanded.truncated), (200, true));
}
