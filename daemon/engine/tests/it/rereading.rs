//! Outputs of earlier calls, read again from the log.

use agentd_domain::{EventBody, SessionId, ToolCallFinished, ToolStatus};
use agentd_engine::Engine;
use agentd_tools::Registry;

use crate::world::{Step, Terminal, World};

fn world() -> World {
    let mut world = World::new();
    world.tools = Registry::builtin();
    world
}

/// What came of a call in a turn of its own.
async fn call(
    world: &World,
    engine: &Engine,
    id: SessionId,
    (name, arguments): (&'static str, String),
) -> ToolCallFinished {
    let arguments: &'static str = Box::leak(arguments.into_boxed_str());
    world.script(vec![Step::Call(vec![(name, arguments)])]);
    let ended = world.kinds(id).await.iter().filter(|kind| *kind == "turn_completed").count();
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    world.send(engine, id, "go").await;
    terminal.until_kind("turn_completed", ended + 1).await;
    let finished = world.log(id).await.into_iter().rev().find_map(|event| match event.body {
        EventBody::ToolCallFinished(finished) => Some(finished),
        _ => None,
    });
    finished.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_output_of_an_earlier_call_is_read_again_by_its_id() {
    let world = world();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let count = ("text_length", r#"{"text":"forty-two"}"#.to_owned());
    let earlier = call(&world, &engine, id, count).await;
    let ask = |rest: &str| format!(r#"{{"call_id":"{}"{rest}}}"#, earlier.call_id);
    // By its name, although no request describes it, and through call_tool.
    let again = call(&world, &engine, id, ("recall_output", ask(""))).await;
    assert_eq!((again.status, again.name.as_str()), (ToolStatus::Success, "recall_output"));
    assert!(again.output.starts_with("[output of text_length, characters 0 to "), "{again:?}");
    assert!(again.output.ends_with(&earlier.output), "{again:?}");
    let through =
        format!(r#"{{"name":"recall_output","arguments":{}}}"#, ask(r#","pattern":"Words""#));
    let lines = call(&world, &engine, id, ("call_tool", through)).await;
    assert!(lines.output.starts_with("[output of text_length: 1 of "), "{lines:?} of {earlier:?}");

    // Also after a restart, which has nothing but the log.
    engine.stop().await;
    let engine = world.engine();
    let again = call(&world, &engine, id, ("recall_output", ask(r#","offset":1000"#))).await;
    assert_eq!(again.status, ToolStatus::Empty, "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn outputs_of_other_sessions_are_out_of_reach_and_not_told_of() {
    let world = world();
    let engine = world.engine();
    let (mine, other) = (world.session(&engine).await, world.session(&engine).await);
    let count = ("text_length", r#"{"text":"forty-two"}"#.to_owned());
    let theirs = call(&world, &engine, other, count).await;
    let ask = format!(r#"{{"call_id":"{}"}}"#, theirs.call_id);
    let refused = call(&world, &engine, mine, ("recall_output", ask)).await;
    assert_eq!(refused.error_code, "NOT_FOUND", "{refused:?}");
    assert!(refused.output.starts_with("[call_id: no call "), "{refused:?}");
    assert!(!refused.output.contains("characters"), "{refused:?}");
    let wrong = r#"{"call_id":"x","pattern":"a","offset":1}"#.to_owned();
    let refused = call(&world, &engine, mine, ("recall_output", wrong)).await;
    assert!(refused.output.contains("pattern: give it alone"), "{refused:?}");
}
