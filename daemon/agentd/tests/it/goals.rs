//! Goals over the wire: they outlive sessions, and the daemon.

use agentd_proto::v1;
use agentd_proto::v1::goal_author::Who;
use agentd_testkit::{Daemon, Driver, Home, LlmServer, ProcessDaemon, Reply};
use serde_json::json;
use tonic::Code;

use crate::support::{check_error, results};

async fn daemon(llm: &LlmServer, home: Option<&Home>) -> ProcessDaemon {
    let builder = ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd")).llm(llm);
    match home {
        Some(home) => builder.home(home).start().await,
        None => builder.start().await,
    }
}

/// The output of a call of manage_goals, made through `call_tool` as by a model that has found it.
async fn call(llm: &LlmServer, driver: &mut Driver, arguments: serde_json::Value) -> String {
    let arguments = json!({"name": "manage_goals", "arguments": arguments}).to_string();
    llm.push(Reply::tool_call("call_tool", &arguments));
    llm.push(Reply::text("so"));
    driver.ask("go on").await;
    results(driver).pop().unwrap().output
}

#[tokio::test]
async fn a_goal_of_one_session_is_known_to_another_after_a_sigkill() {
    let llm = LlmServer::start().await;
    let first = daemon(&llm, None).await;
    let mut ann = first.driver("ann").await;
    let id = ann.session_id().to_owned();
    let add = json!({"action": "add", "content": "port it to \u{1b}[31mwasm", "priority": 1});
    let added = call(&llm, &mut ann, add).await;
    assert!(added.contains("is kept for later sessions in this workspace"), "{added}");
    let todo = json!({"items": [{"label": "a"}, {"label": "b", "status": "completed"}]});
    llm.push(Reply::tool_call("manage_todo_list", &todo.to_string()));
    llm.push(Reply::text("noted"));
    ann.ask("plan it").await;
    drop(ann);
    let home = first.kill().await;

    let second = daemon(&llm, Some(&home)).await;
    let mut bob = second.driver("bob").await;
    let listed = call(&llm, &mut bob, json!({"action": "list"})).await;
    assert!(listed.contains("port it to"), "{listed}");
    assert!(listed.contains(&format!("priority 1, set today by the model in session {id}")));
    let requests = llm.requests();
    let begin = requests[requests.len() - 2].body.to_string();
    assert!(begin.contains("1 goal is open here, which manage_goals lists"), "{begin}");
    assert!(!begin.contains("port it to"), "what goals say is told when it is asked for: {begin}");
    let checked = call(&llm, &mut bob, json!({"action": "check"})).await;
    assert!(checked.contains(&format!("- session {id} ")), "{checked}");
    assert!(checked.contains("1 item of its list"), "{checked}");

    let mut goals = bob.client().goal();
    let list = v1::ListGoalsRequest { workspace: String::new(), with_done: false };
    let goal = goals.list_goals(list.clone()).await.unwrap().into_inner().goals.pop().unwrap();
    assert_eq!(goal.by.as_ref().and_then(|by| by.who.clone()), Some(Who::SessionId(id)));
    let workspace = home.workspace().canonicalize().unwrap();
    assert_eq!(goal.workspace, workspace.to_str().unwrap());
    let done = call(&llm, &mut bob, json!({"action": "done", "id": goal.goal_id})).await;
    assert!(done.contains("No goal is open any more"), "{done}");
    drop(bob);
    let home = second.kill().await;

    let third = daemon(&llm, Some(&home)).await;
    let carl = third.driver("carl").await;
    let mut goals = carl.client().goal();
    assert_eq!(goals.list_goals(list).await.unwrap().into_inner().goals, []);
    let all = v1::ListGoalsRequest { workspace: goal.workspace.clone(), with_done: true };
    let kept = goals.list_goals(all).await.unwrap().into_inner().goals;
    assert_eq!(kept.len(), 1);
    assert!(kept[0].done_by.is_some() && kept[0].done_at_ms >= kept[0].at_ms, "{kept:?}");
    third.terminate().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_goal_is_told_with_its_field_and_what_to_do() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let ann = daemon.driver("ann").await;
    let mut goals = ann.client().goal();
    let author = Some(ann.author());
    let add = |content: &str, priority| v1::AddGoalRequest {
        content: content.to_owned(),
        priority,
        workspace: String::new(),
        author: author.clone(),
    };
    for (request, part) in [
        (add(" ", 0), "the content of the goal is empty"),
        (add(&"x".repeat(2001), 0), "has 2001 characters; at most 2000"),
        (add("x", 4), "4 is no priority of a goal; they go from 1 (first) to 3 (last)"),
        (v1::AddGoalRequest { workspace: "/nowhere".to_owned(), ..add("x", 0) }, "/nowhere"),
        (v1::AddGoalRequest { author: None, ..add("x", 0) }, "missing"),
    ] {
        let refused = goals.add_goal(request).await.unwrap_err();
        check_error(&refused, Code::InvalidArgument, part);
    }
    let finish = v1::FinishGoalRequest { goal_id: "01JZ".to_owned(), author: Some(ann.author()) };
    let unknown = goals.finish_goal(finish).await.unwrap_err();
    check_error(&unknown, Code::NotFound, "there is no goal 01JZ");
    let drop_it = v1::DropGoalRequest { goal_id: "01JZ".to_owned(), author: Some(ann.author()) };
    check_error(&goals.drop_goal(drop_it).await.unwrap_err(), Code::NotFound, "no goal 01JZ");

    let added = goals.add_goal(add("x", 0)).await.unwrap().into_inner();
    assert!(added.is_new);
    let goal = added.goal.unwrap();
    assert_eq!((goal.priority, goal.workspace.as_str()), (2, ""));
    let again = goals.add_goal(add("x", 3)).await.unwrap().into_inner();
    assert!(!again.is_new);
    assert_eq!(again.goal.unwrap(), v1::Goal { priority: 3, ..goal });
    daemon.stop().await;
}
