//! Full disks, panics, stuck turns and overload.

use agentd_domain::{
    AssistantMessage, Completeness, Delivery, ErrorReport, EventBody, InterruptReason, TurnFailed,
};
use agentd_engine::CommandError;
use agentd_llm::LlmError;
use agentd_store::CommitError;

use crate::store::Commits;
use crate::world::{Gate, Step, Terminal, World, author, pass_seconds, text};

fn failure(terminal: &Terminal) -> ErrorReport {
    match &terminal.events.last().unwrap().body {
        EventBody::TurnFailed(TurnFailed { error, .. }) => error.clone(),
        other => panic!("{other:?} instead of a failure"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_stored_is_refused_and_may_be_sent_again() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let submission = world.message("hello", Delivery::Queue);
    world.store.set_commits(Commits::DiskFull);
    let refused = engine.submit(id, submission.clone()).await;
    assert!(matches!(refused, Err(CommandError::Commit(CommitError::DiskFull(_)))), "{refused:?}");
    assert_eq!(engine.view(id).await.unwrap().queue, []);
    assert_eq!(world.kinds(id).await, ["session_created"]);

    world.store.set_commits(Commits::Work);
    let first = engine.submit(id, submission.clone()).await.unwrap();
    assert!(!first.duplicate);
    let again = engine.submit(id, submission).await.unwrap();
    assert_eq!((again.item_id, again.seq, again.duplicate), (first.item_id, first.seq, true));
}

#[tokio::test(start_paused = true)]
async fn a_turn_on_a_full_disk_fails_once_there_is_room_and_keeps_its_text() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let gate = Gate::new();
    world.script(vec![text("the answer"), Step::Pass(gate.clone())]);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "the answer").await;
    world.store.set_commits(Commits::DiskFull);
    gate.open();
    pass_seconds(60).await;
    let refused = *world.store.refused.lock().unwrap();
    assert!((2..=20).contains(&refused), "{refused} commits in a minute");
    let submitted = engine.submit(id, world.message("still there?", Delivery::Queue)).await;
    assert!(matches!(submitted, Err(CommandError::Commit(_))), "{submitted:?}");

    world.store.set_commits(Commits::Work);
    terminal.until_kind("turn_failed", 1).await;
    assert_eq!(failure(&terminal).code, "STORE_UNAVAILABLE");
    let kept = terminal.events.iter().find_map(|event| match &event.body {
        EventBody::AssistantMessage(message) => Some(message.clone()),
        _ => None,
    });
    assert!(matches!(
        kept,
        Some(AssistantMessage { text, completeness: Completeness::Incomplete, .. })
            if text == "the answer"
    ));
    world.send(&engine, id, "still there?").await;
    terminal.until_kind("turn_completed", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_whose_start_cannot_be_stored_waits_instead_of_spinning() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.store.set_commits(Commits::FailOn("turn_started"));
    world.send(&engine, id, "hello").await;
    pass_seconds(60).await;
    let refused = *world.store.refused.lock().unwrap();
    assert!((2..=20).contains(&refused), "{refused} commits in a minute");
    world.store.set_commits(Commits::Work);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_provider_fails_the_turn_and_the_session_goes_on() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("half"), Step::Panic]);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_failed", 1).await;
    assert_eq!(failure(&terminal).code, "INTERNAL");
    assert_eq!(terminal.count("assistant_message"), 1);
    world.send(&engine, id, "again").await;
    terminal.until_kind("turn_completed", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_turn_began_fails_it_where_everybody_sees_it() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.before_model(Step::Panic);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_failed", 1).await;
    assert_eq!(failure(&terminal).code, "INTERNAL");
    assert_eq!(terminal.kinds()[3..], ["turn_started", "turn_failed"]);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cannot_be_used_fails_the_turn_with_its_reason() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.before_model(Step::Fail(LlmError::Auth { status: 401, message: "no".to_owned() }));
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_failed", 1).await;
    assert_eq!(failure(&terminal).code, "PROVIDER_AUTH");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_stop_is_aborted_after_the_grace_time() {
    let world = World::new();
    // Reading one stops at once.
    world.configure(|config| config.project_documents = Vec::new().into());
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| !seen.events.is_empty()).await;
    world.store.stall_reads(true);
    world.send(&engine, id, "hello").await;
    terminal.until_kind("turn_started", 1).await;
    let asked = tokio::time::Instant::now();
    assert!(engine.interrupt(id, None, author("ann")).await.unwrap());
    assert_eq!(asked.elapsed().as_secs(), 2);
    terminal.until_kind("turn_interrupted", 1).await;
    world.store.stall_reads(false);
    world.send(&engine, id, "again").await;
    terminal.until_kind("turn_completed", 1).await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_before_the_turn_began_ends_it_for_good() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.before_model(Step::Hang);
    world.send(&engine, id, "hello").await;
    assert!(engine.interrupt(id, None, author("ann")).await.unwrap());
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_interrupted", 1).await;
    assert!(matches!(
        &terminal.events.last().unwrap().body,
        EventBody::TurnInterrupted(interrupted)
            if interrupted.reason == InterruptReason::User
                && interrupted.by == Some(author("ann"))
    ));
    assert_eq!(world.provider.requests.lock().unwrap().len(), 0);
    assert!(!engine.interrupt(id, None, author("ann")).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_session_with_too_many_commands_says_so() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.store.set_commits(Commits::Stall);
    // One is being carried out, 64 wait.
    let mut waiting = tokio::task::JoinSet::new();
    for _command in 0..65 {
        let (engine, submission) = (engine.clone(), world.message("hello", Delivery::Queue));
        waiting.spawn(async move { engine.submit(id, submission).await });
        tokio::task::yield_now().await;
    }
    let refused = engine.submit(id, world.message("one more", Delivery::Queue)).await;
    assert!(matches!(refused, Err(CommandError::MailboxFull)), "{refused:?}");
    world.store.set_commits(Commits::Work);
    while let Some(answer) = waiting.join_next().await {
        answer.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn the_queue_has_a_limit() {
    let world = World::new();
    world.configure(|config| config.queue_limit = 2);
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("busy"), Step::Hang]);
    world.send(&engine, id, "first").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "busy").await;
    assert_eq!(world.send(&engine, id, "second").await.queue_position, 1);
    assert_eq!(world.send(&engine, id, "third").await.queue_position, 2);
    let refused = engine.submit(id, world.message("fourth", Delivery::Queue)).await;
    assert!(matches!(refused, Err(CommandError::QueueFull { limit: 2 })), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_brought_to_rest_is_not_called_missing() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![text("half"), Step::Hang]);
    world.send(&engine, id, "hello").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until(|seen| seen.live == "half").await;
    drop(terminal);
    world.crash(engine).await;

    let engine = world.engine();
    world.store.set_commits(Commits::DiskFull);
    let (first, second) = tokio::join!(engine.view(id), engine.view(id));
    for view in [first, second] {
        assert!(
            matches!(view, Err(CommandError::Commit(CommitError::DiskFull(_)))),
            "{:?}",
            view.map(|view| view.record)
        );
    }
    world.store.set_commits(Commits::Work);
    assert_eq!(engine.view(id).await.unwrap().open_questions.len(), 1);
}
