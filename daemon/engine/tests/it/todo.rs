//! What a session has set out to do.

use agentd_domain::{EventBody, TodoStatus};
use agentd_llm::Message;

use crate::world::{Step, Terminal, World};

const TWO_STEPS: &str =
    r#"{"title":"fix","items":[{"label":"look","status":"completed"},{"label":"edit"}]}"#;
const DONE: &str =
    r#"{"items":[{"label":"look","status":"completed"},{"label":"edit","status":"completed"}]}"#;

/// What the last request says the user said.
fn said_by_the_user(world: &World) -> Vec<String> {
    let requests = world.provider.requests.lock().unwrap();
    let said = requests.last().unwrap().messages.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    said.collect()
}

#[tokio::test(start_paused = true)]
async fn a_todo_list_is_shown_to_all_survives_a_restart_and_is_brought_up_again() {
    let mut world = World::new();
    world.tools = agentd_tools::Registry::builtin();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![Step::Call(vec![("manage_todo_list", TWO_STEPS)])]);
    world.send(&engine, id, "begin").await;
    terminal.until_kind("turn_completed", 1).await;
    let kinds = terminal.kinds();
    let at = |kind: &str| kinds.iter().position(|seen| seen == kind).unwrap();
    assert_eq!(at("todo_list_changed"), at("tool_call_finished") + 1);

    engine.stop().await;
    let engine = world.engine();
    let todo = engine.view(id).await.unwrap().todo;
    let statuses: Vec<_> = todo.items.iter().map(|item| item.status).collect();
    assert_eq!(statuses, [TodoStatus::Completed, TodoStatus::Pending]);
    assert_eq!((todo.title.as_str(), todo.revision), ("fix", 1));

    // The next turn is told what is left; a turn after the last step is not.
    world.script(vec![Step::Call(vec![("manage_todo_list", DONE)])]);
    world.send(&engine, id, "go on").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 2).await;
    let said = said_by_the_user(&world);
    assert_eq!(said[..2], ["begin", "go on"]);
    let note = said.last().unwrap();
    assert!(note.contains("1 of 2 steps left"), "{note}");
    assert!(note.contains("- edit") && !note.contains("- look"), "{note}");
    assert_eq!(engine.view(id).await.unwrap().todo.revision, 2);

    world.send(&engine, id, "thanks").await;
    terminal.until_kind("turn_completed", 3).await;
    let now = said_by_the_user(&world);
    assert_eq!(now.last().map(String::as_str), Some("thanks"));
    assert_eq!(now[..said.len()], said, "what was said before stays as it was");
    let reminders = terminal.events.iter().filter(|event| {
        matches!(&event.body, EventBody::TurnStarted(started) if !started.reminder.is_empty())
    });
    assert_eq!(reminders.count(), 1);
}
