//! Planning: what the session is given to keep.

use agentd_domain::{TodoStatus, ToolStatus};
use serde_json::json;

use crate::harness::{Place, assert_refused};

#[tokio::test]
async fn a_list_is_checked_and_given_to_the_session() {
    let place = Place::new();
    let items = json!([
        {"label": "look", "status": "completed"},
        {"label": "edit", "status": "running"},
        {"label": "test", "status": "running"},
        {"label": "say so"},
    ]);
    let result = place.call("manage_todo_list", json!({"title": "fix", "items": items})).await;
    assert_eq!(result.status, ToolStatus::Success);
    assert!(result.output.starts_with("1 of 4 steps are completed. One step"), "{result:?}");
    let list = result.todo.expect("a list");
    let statuses: Vec<_> = list.items.iter().map(|item| item.status).collect();
    let expect =
        [TodoStatus::Completed, TodoStatus::Running, TodoStatus::Pending, TodoStatus::Pending];
    assert_eq!((list.title.as_str(), statuses.as_slice()), ("fix", expect.as_slice()));
    let cleared = place.call("todo", json!({"items": []})).await;
    assert_eq!(cleared.todo.expect("a list").items, []);
}

#[tokio::test]
async fn a_step_without_a_name_is_refused() {
    let place = Place::new();
    let result = place.call("manage_todo_list", json!({"items": [{"label": " \n"}]})).await;
    assert_refused(&result, "TOOL_ARGUMENT_VALIDATION_FAILED");
    assert_eq!(result.todo, None);
    let status = json!({"items": [{"label": "x", "status": "soon"}]});
    assert_refused(
        &place.call("manage_todo_list", status).await,
        "TOOL_ARGUMENT_VALIDATION_FAILED",
    );
}
