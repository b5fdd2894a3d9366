//! What a crash leaves, and what the next start makes of it.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{
    AssistantMessage, CHOICE_CONTINUE, Completeness, Delivery, Event, EventBody, InterruptReason,
    SessionId, ToolCallFinished, ToolEffect, ToolStatus, TurnInterrupted,
};
use agentd_engine::{AutoResume, Engine};
use agentd_llm::Message;
use futures_util::FutureExt as _;

use crate::tools::{Behaviour, Probe};
use crate::world::{Gate, Step, Terminal, World, author, text};

/// A turn that was cut off in its answer after "one two ", with a message waiting.
async fn cut_off_in_an_answer(world: &World) -> SessionId {
    let engine = world.engine();
    let id = world.session(&engine).await;
    let gate = Gate::new();
    world.script(vec![
        Step::Reasoning("hm"),
        text("one "),
        text("two "),
        Step::Wait(Duration::from_millis(1500)),
        text("three"),
        Step::Pass(gate),
    ]);
    world.send(&engine, id, "count").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "one two three").await;
    drop(terminal);
    world.crash(engine).await;
    id
}

fn message(event: &Event) -> &AssistantMessage {
    match &event.body {
        EventBody::AssistantMessage(message) => message,
        other => panic!("{other:?} instead of an assistant message"),
    }
}

async fn restart(world: &World) -> Engine {
    let engine = world.engine();
    assert_eq!(engine.resume_unfinished().await.unwrap(), 1);
    engine
}

#[tokio::test(start_paused = true)]
async fn text_is_stored_every_second_and_kept_as_an_incomplete_message() {
    let world = World::new();
    let id = cut_off_in_an_answer(&world).await;
    let engine = restart(&world).await;
    engine.view(id).await.unwrap();
    let log = world.log(id).await;
    let found = log.iter().find(|event| event.body.kind() == "assistant_message").unwrap();
    let AssistantMessage { item_id, .. } = *message(found);
    // "three" came less than a second before the crash.
    assert_eq!(
        *message(found),
        AssistantMessage {
            native: None,
            item_id,
            reasoning: "hm".to_owned(),
            text: "one two ".to_owned(),
            tool_calls: Vec::new(),
            completeness: Completeness::Incomplete,
        }
    );
    assert_eq!(world.kinds(id).await[5..], ["turn_suspended", "question_asked"]);
}

#[tokio::test(start_paused = true)]
async fn text_is_stored_every_second_even_when_the_model_never_pauses() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Flood(10_000, Duration::from_millis(1))]);
    world.send(&engine, id, "flood").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    let stored: Vec<usize> =
        world.store.partials.lock().unwrap().iter().map(|partial| partial.text.len()).collect();
    assert!(stored.len() >= 7, "10 s of text were stored {} times: {stored:?}", stored.len());
}

#[tokio::test(start_paused = true)]
async fn with_ask_a_question_decides() {
    let world = World::new();
    let id = cut_off_in_an_answer(&world).await;
    let engine = restart(&world).await;
    let question = engine.view(id).await.unwrap().open_questions.remove(0);
    world.script(vec![text("one two three four")]);
    engine.answer(id, question.question_id, CHOICE_CONTINUE, author("bob")).await.unwrap();
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(
        terminal.kinds()[4..],
        [
            "assistant_message",
            "turn_suspended",
            "question_asked",
            "question_answered",
            "turn_resumed",
            "assistant_message",
            "usage_recorded",
            "turn_completed"
        ]
    );
    // The resumed request begins where the turn did: the broken text is void.
    let requests = world.provider.requests.lock().unwrap();
    assert_eq!(requests[1].messages[1..], [Message::user("count")]);
    assert_eq!(requests[0].messages, requests[1].messages);
}

#[tokio::test(start_paused = true)]
async fn with_always_the_turn_goes_on_by_itself() {
    let world = World::new();
    world.configure(|config| config.auto_resume = AutoResume::Always);
    let id = cut_off_in_an_answer(&world).await;
    let engine = restart(&world).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(
        terminal.kinds()[4..],
        [
            "assistant_message",
            "turn_suspended",
            "turn_resumed",
            "assistant_message",
            "usage_recorded",
            "turn_completed"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn with_never_the_turn_is_closed_and_the_next_message_knows_of_it() {
    let world = World::new();
    world.configure(|config| config.auto_resume = AutoResume::Never);
    let id = cut_off_in_an_answer(&world).await;
    let engine = restart(&world).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_interrupted", 1).await;
    assert!(matches!(
        terminal.events.last().unwrap().body,
        EventBody::TurnInterrupted(TurnInterrupted {
            reason: InterruptReason::NotResumed,
            by: None,
            ..
        })
    ));
    world.send(&engine, id, "and?").await;
    terminal.until_kind("turn_completed", 1).await;
    let requests = world.provider.requests.lock().unwrap();
    let [Message::User { .. }, Message::Assistant { text, .. }, Message::User { text: next, .. }] =
        &requests[1].messages[1..]
    else {
        panic!("{:?}", requests[1].messages)
    };
    assert_eq!(text, "one two \n\n[this answer was interrupted here]");
    assert_eq!(next, "and?");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_message_is_answered_after_the_next_start() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.before_model(Step::Hang);
    world.send(&engine, id, "hello").await;
    world.crash(engine).await;
    let engine = restart(&world).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    engine.view(id).await.unwrap();
    assert_eq!(world.engine().resume_unfinished().await.unwrap(), 0);
}

/// Crashes while a tool of this effect runs; returns how often it ran in all and the result.
async fn crash_in_a_tool(effect: ToolEffect) -> (usize, ToolCallFinished) {
    let mut world = World::new();
    world.configure(|config| config.auto_resume = AutoResume::Always);
    let gate = Gate::new();
    let probe = Arc::new(Probe::new("probe", effect, Behaviour::Pass(gate.clone())));
    world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("probe", "{}")])]);
    world.send(&engine, id, "go").await;
    probe.started().await;
    world.crash(engine).await;

    gate.open();
    let engine = restart(&world).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(terminal.count("tool_call_finished"), 1);
    let finished = terminal.events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallFinished(finished) => Some(finished.clone()),
        _ => None,
    });
    (probe.runs(), finished.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_call_with_effects_is_never_repeated_after_a_crash() {
    for effect in [ToolEffect::WorkspaceWrite, ToolEffect::Process, ToolEffect::Exclusive] {
        let (runs, finished) = crash_in_a_tool(effect).await;
        assert_eq!((runs, finished.status), (1, ToolStatus::Interrupted), "{effect:?}");
        assert!(finished.output.contains("outcome is unknown"), "{}", finished.output);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_only_reads_runs_again_after_a_crash() {
    for effect in [ToolEffect::Pure, ToolEffect::WorkspaceRead, ToolEffect::NetworkRead] {
        let (runs, finished) = crash_in_a_tool(effect).await;
        assert_eq!((runs, finished.status), (2, ToolStatus::Success), "{effect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_that_was_acknowledged_while_stopping_holds() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("half"), Step::Hang]);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "half").await;
    let mut interrupt = std::pin::pin!(engine.interrupt(id, None, author("ann")));
    assert!(interrupt.as_mut().now_or_never().is_none());
    // Commands are answered in order: the interrupt is under way.
    engine.view(id).await.unwrap();
    let (interrupted, ()) = tokio::join!(interrupt, engine.stop());
    assert!(interrupted.unwrap());
    assert_eq!(world.kinds(id).await.last().unwrap(), "turn_interrupted");
    assert_eq!(world.engine().resume_unfinished().await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_turn_makes_way_for_a_message_after_a_restart() {
    let world = World::new();
    let id = cut_off_in_an_answer(&world).await;
    let engine = restart(&world).await;
    let submission = world.message("never mind", Delivery::Queue);
    engine.submit(id, submission).await.unwrap();
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(
        terminal.kinds()[6..],
        [
            "question_asked",
            "question_answered",
            "turn_interrupted",
            "message_accepted",
            "turn_started",
            "assistant_message",
            "usage_recorded",
            "turn_completed"
        ]
    );
}
