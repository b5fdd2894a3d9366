//! Planning: what the session is given to keep.

use agentd_domain::{
    NewStep, PlanCommand, SessionRequest, TodoList, TodoStatus, ToolResult, ToolStatus,
    Verification,
};
use serde_json::json;

use crate::harness::{Place, assert_refused};

fn list_of(result: &ToolResult) -> TodoList {
    match result.request.as_deref() {
        Some(SessionRequest::Todo(list)) => list.clone(),
        other => panic!("{other:?} instead of a list"),
    }
}

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
    let list = list_of(&result);
    let statuses: Vec<_> = list.items.iter().map(|item| item.status).collect();
    let expect =
        [TodoStatus::Completed, TodoStatus::Running, TodoStatus::Pending, TodoStatus::Pending];
    assert_eq!((list.title.as_str(), statuses.as_slice()), ("fix", expect.as_slice()));
    let cleared = place.call("todo", json!({"items": []})).await;
    assert_eq!(list_of(&cleared).items, []);
}

#[tokio::test]
async fn a_step_without_a_name_is_refused() {
    let place = Place::new();
    let result = place.call("manage_todo_list", json!({"items": [{"label": " \n"}]})).await;
    assert_refused(&result, "TOOL_ARGUMENT_VALIDATION_FAILED");
    assert_eq!(result.request, None);
    let status = json!({"items": [{"label": "x", "status": "soon"}]});
    assert_refused(
        &place.call("manage_todo_list", status).await,
        "TOOL_ARGUMENT_VALIDATION_FAILED",
    );
}

#[tokio::test]
async fn what_is_asked_of_the_plan_is_given_to_the_session() {
    let place = Place::new();
    let steps = json!([
        {"id": "a", "objective": "x", "verify": {"tool": "check_project", "text": "test"}},
        {"id": "b", "objective": "y", "needs": ["a"], "verify": {"tool": "write_file"}},
    ]);
    let asked = json!({"action": "create", "goal": "g", "steps": steps});
    let result = place.call("manage_plan", asked).await;
    assert_eq!(result.status, ToolStatus::Success);
    let step = |id: &str, objective: &str, needs: &[&str], tool: &str, text: &str| NewStep {
        id: id.to_owned(),
        objective: objective.to_owned(),
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        verify: Verification { tool: tool.to_owned(), text: text.to_owned() },
    };
    let expect = PlanCommand::Create {
        goal: "g".to_owned(),
        steps: vec![
            step("a", "x", &[], "check_project", "test"),
            step("b", "y", &["a"], "write_file", ""),
        ],
    };
    assert_eq!(result.request.as_deref(), Some(&SessionRequest::Plan(expect)));
    let done = place.call("manage_plan", json!({"action": "done", "step": "a"})).await;
    let expect = PlanCommand::Done { step: "a".to_owned() };
    assert_eq!(done.request.as_deref(), Some(&SessionRequest::Plan(expect)));
}

#[tokio::test]
async fn a_plan_action_without_what_it_takes_is_refused_and_says_which() {
    let place = Place::new();
    let check = async |arguments, field: &str| {
        let result = place.call("manage_plan", arguments).await;
        assert_refused(&result, "TOOL_ARGUMENT_VALIDATION_FAILED");
        assert!(result.output.contains(field), "{result:?}");
        assert_eq!(result.request, None);
    };
    check(json!({"action": "begin"}), "step: it is missing").await;
    check(json!({"action": "create", "goal": "g"}), "steps: they are missing").await;
    check(json!({"action": "fail", "step": "a"}), "why: it is missing").await;
    check(json!({"action": "run"}), "action").await;
}
