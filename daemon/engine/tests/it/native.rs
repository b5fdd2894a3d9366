//! Answers in their provider's own form: kept as they came, or not at all.

use std::sync::Arc;

use agentd_domain::{EventBody, NativeBlocks, SessionId};
use agentd_engine::{Engine, SessionUpdate};
use agentd_llm::{AssembledCall, Completion, Finish, Message};

use crate::copies::export;
use crate::world::{Step, Terminal, World, author, text};

const THINKING: &str =
    r#"{"type":"thinking","thinking":"key sk-live-0123456789","signature":"s=="}"#;
const USE: &str = r#"{"type":"tool_use","id":"toolu_1","name":"time","input":{}}"#;

fn native(blocks: &[&str]) -> NativeBlocks {
    NativeBlocks {
        api: "anthropic".to_owned(),
        model: "m".to_owned(),
        blocks: blocks.iter().map(|&block| block.to_owned()).collect(),
    }
}

fn end(native: NativeBlocks, finish: Finish, calls: &[&str]) -> Step {
    let call = |name: &&str| AssembledCall {
        name: (*name).to_owned(),
        arguments_json: "{}".to_owned(),
        is_whole: true,
    };
    let tool_calls = calls.iter().map(call).collect();
    Step::End(Completion { finish, tool_calls, usage: None, native: Some(native) })
}

/// The native blocks in the last request.
fn sent(world: &World) -> Vec<Arc<NativeBlocks>> {
    let requests = world.provider.requests.lock().unwrap();
    let messages = requests.last().unwrap().messages.iter();
    messages
        .filter_map(|message| match message {
            Message::Assistant { native, .. } => native.clone(),
            _ => None,
        })
        .collect()
}

/// Sends a message and waits for the end of its turn.
async fn turn(world: &World, engine: &Engine, id: SessionId) {
    let before = world.kinds(id).await.iter().filter(|kind| *kind == "turn_completed").count();
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    world.send(engine, id, "go").await;
    terminal.until_kind("turn_completed", before + 1).await;
}

#[tokio::test(start_paused = true)]
async fn ps_13_native_blocks_go_back_as_they_came_after_restart_fork_and_import() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let first = native(&[THINKING, USE]);
    let second = native(&[r#"{"type":"text","text":"done\u00e9"}"#]);
    world.script(vec![end(first.clone(), Finish::Done, &["time"])]);
    world.script(vec![text("doneé"), end(second.clone(), Finish::Done, &[])]);
    turn(&world, &engine, id).await;
    assert_eq!(sent(&world), [Arc::new(first.clone())], "inside the turn");
    let both = [Arc::new(first), Arc::new(second)];
    // Another model answers: the conversation keeps the blocks for the way back.
    let other = SessionUpdate { model: Some("other".to_owned()), ..SessionUpdate::default() };
    engine.update(id, other, None).await.unwrap();
    turn(&world, &engine, id).await;
    assert_eq!(sent(&world), both, "from memory");
    world.crash(engine).await;
    let engine = world.engine();
    turn(&world, &engine, id).await;
    assert_eq!(sent(&world), both, "after a restart");
    let fork = engine.fork(id, None, None, None, &author("ann")).await.unwrap();
    turn(&world, &engine, fork.record.session_id).await;
    assert_eq!(sent(&world), both, "in a fork");
    let mut lines = export(&engine, id).await.into_iter();
    let copy = SessionId::from_parts(1, 77);
    engine.import(copy, || Ok(lines.next()), "/", &author("bob")).await.unwrap();
    turn(&world, &engine, copy).await;
    assert_eq!(sent(&world), both, "in an import");
}

#[tokio::test(start_paused = true)]
async fn ps_13_native_blocks_of_a_cut_answer_and_large_ones_are_dropped_whole() {
    let large = format!(r#"{{"type":"redacted_thinking","data":"{}"}}"#, "x".repeat(1024 * 1024));
    for (blocks, finish) in
        [(native(&[THINKING]), Finish::OutputLimit), (native(&[THINKING, &large]), Finish::Done)]
    {
        let world = World::new();
        let engine = world.engine();
        let id = world.session(&engine).await;
        world.script(vec![text("said"), end(blocks, finish, &[])]);
        turn(&world, &engine, id).await;
        let log = world.log(id).await;
        let said = log.iter().find_map(|event| match &event.body {
            EventBody::AssistantMessage(message) => Some(message),
            _ => None,
        });
        let said = said.unwrap();
        assert_eq!((said.text.as_str(), &said.native), ("said", &None));
    }
}
