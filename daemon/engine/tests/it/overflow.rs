//! Conversations that the provider refuses as too long.

use std::sync::Arc;

use agentd_domain::{EventBody, ToolEffect};
use agentd_llm::{LlmError, Message};

use crate::tools::{Behaviour, Probe};
use crate::world::{Step, Terminal, World, text};

fn too_long(limit_tokens: Option<u64>) -> Vec<Step> {
    let message = "too long".to_owned();
    vec![Step::Refuse(LlmError::ContextOverflow { message, limit_tokens })]
}

/// What users and tools said in each request, cut to a letter and its length.
fn sent(world: &World) -> Vec<Vec<(char, usize)>> {
    let short = |text: &str| (text.chars().next().unwrap(), text.len());
    let of_request = |messages: &[Message]| {
        let said = messages.iter().filter_map(|message| match message {
            Message::User { text, .. } => Some(short(text)),
            Message::Tool { output, .. } => Some(short(output)),
            _ => None,
        });
        said.collect()
    };
    let requests = world.provider.requests.lock().unwrap();
    // Those of turns: summaries are asked for between them.
    let is_of_turn = |messages: &[Message]| match messages.first() {
        Some(Message::System(text)) => text.starts_with("You are agentd"),
        _ => false,
    };
    let of_turns = requests.iter().filter(|request| is_of_turn(&request.messages));
    of_turns.map(|request| of_request(&request.messages)).collect()
}

async fn turns(world: &World, texts: &[String]) -> (agentd_engine::Engine, Terminal) {
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    for (number, text) in texts.iter().enumerate() {
        world.send(&engine, id, text).await;
        terminal
            .until(|seen| seen.count("turn_completed") + seen.count("turn_failed") > number)
            .await;
    }
    (engine, terminal)
}

fn letters(letters: &str) -> Vec<String> {
    letters.chars().map(|letter| letter.to_string().repeat(4000)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_is_folded_and_the_model_asked_again() {
    for limit in [Some(3_500), None] {
        let world = World::new();
        for _ in 0..3 {
            world.script(vec![text("ok")]);
        }
        world.script(too_long(limit));
        let (engine, terminal) = turns(&world, &letters("abcde")).await;
        assert_eq!(terminal.count("turn_failed"), 0);
        let sent = sent(&world);
        let all = |letters: &str| letters.chars().map(|it| (it, 4000)).collect::<Vec<_>>();
        assert_eq!(sent[3], all("abcd"), "{limit:?}");
        let ('[', _) = sent[4][0] else { panic!("no summary first: {:?}", sent[4]) };
        assert_eq!(sent[4][1..], all("d"), "{limit:?}: cut well below the limit");
        // The next turn goes on from there, here and after a restart.
        assert_eq!(sent[5][0], sent[4][0], "{limit:?}");
        assert_eq!(sent[5][1..], all("de"), "{limit:?}");
        let folded = terminal.events.iter().filter_map(|event| match &event.body {
            EventBody::ContextCompacted(compacted) => Some(compacted.folded_turns),
            _ => None,
        });
        assert_eq!(folded.collect::<Vec<_>>(), [3]);
        let learned = world.models.learned.lock().unwrap().clone();
        let expect = limit.map(|limit| (String::new(), "default".to_owned(), limit));
        assert_eq!(learned, Vec::from_iter(expect), "only what the provider names is known");
        drop(engine);
    }
}

#[tokio::test(start_paused = true)]
async fn co_01_tool_outputs_of_a_turn_that_is_too_long_are_shortened_in_requests_only() {
    let mut world = World::new();
    let long: &'static str = "x".repeat(100_000).leak();
    let short = "y";
    for (name, output) in [("long", long), ("short", short)] {
        let probe = Probe::new(name, ToolEffect::Pure, Behaviour::Say(output));
        world.tools.register(Arc::new(probe)).unwrap();
    }
    world.script(vec![Step::Call(vec![("long", "{}"), ("short", "{}")])]);
    world.script(too_long(Some(10_000)));
    let (_engine, terminal) = turns(&world, &letters("a")).await;
    assert_eq!(terminal.count("turn_completed"), 1);
    let sent = sent(&world);
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[1], [('a', 4000), ('x', 100_000), ('y', 1)]);
    assert_eq!((sent[2][0], sent[2][2]), (('a', 4000), ('y', 1)), "the short one stays");
    let shortened = sent[2][1].1;
    assert!((10_000..40_000).contains(&shortened), "{shortened}");
    let logged = terminal.events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallFinished(finished) => Some(finished.output.len()),
        _ => None,
    });
    assert_eq!(logged, Some(100_000));
    assert_eq!(terminal.count("context_trimmed"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_stays_too_long_is_asked_again_twice_at_most() {
    // Nothing can go.
    let world = World::new();
    world.script(too_long(None));
    let (_engine, terminal) = turns(&world, &letters("a")).await;
    assert_eq!(sent(&world).len(), 1);
    assert_eq!(failure(&terminal), "CONTEXT_OVERFLOW");

    // Something can always go.
    let mut world = World::new();
    let probe = Probe::new("long", ToolEffect::Pure, Behaviour::Say("x".repeat(100_000).leak()));
    world.tools.register(Arc::new(probe)).unwrap();
    world.script(vec![Step::Call(vec![("long", "{}")])]);
    for limit in [20_000, 10_000, 5_000] {
        world.script(too_long(Some(limit)));
    }
    let (_engine, terminal) = turns(&world, &letters("a")).await;
    assert_eq!(sent(&world).len(), 4);
    assert_eq!(failure(&terminal), "CONTEXT_OVERFLOW");

    // Older turns go, and that is all that can.
    let world = World::new();
    for _ in 0..6 {
        world.script(vec![text("ok")]);
    }
    for _ in 0..3 {
        world.script(too_long(Some(2_000)));
    }
    let (_engine, terminal) = turns(&world, &letters("abcdefg")).await;
    assert_eq!(failure(&terminal), "CONTEXT_OVERFLOW");
    let tail: Vec<usize> = sent(&world)[6..].iter().map(Vec::len).collect();
    assert_eq!(tail, [7, 2], "after the first cut only a summary and the newest turn are there");
}

fn failure(terminal: &Terminal) -> &str {
    let codes = terminal.events.iter().find_map(|event| match &event.body {
        EventBody::TurnFailed(failed) => Some(failed.error.code.as_str()),
        _ => None,
    });
    codes.expect("a failed turn")
}
