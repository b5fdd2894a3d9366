//! Tools over the wire: lists, calls by hand, and what was changed.

use std::path::Path;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_proto::v1::run_tool_response::Step;
use agentd_proto::v1::{list_changes_request, run_tool_request};
use agentd_shared::Client;
use agentd_testkit::{AppendLine, Daemon, Driver, Home, LlmServer, ProcessDaemon, Reply};
use serde_json::{Value, json};
use tonic::Code;

use crate::support::results;

fn call(driver: &Driver, tool: &str, arguments: &Value) -> v1::RunToolRequest {
    v1::RunToolRequest {
        place: Some(run_tool_request::Place::SessionId(driver.session_id().to_owned())),
        tool: tool.to_owned(),
        arguments_json: arguments.to_string(),
        approved_fingerprint: String::new(),
        author: Some(driver.author()),
    }
}

/// All steps of a call.
async fn steps(client: &Client, request: v1::RunToolRequest) -> Vec<Step> {
    let mut stream = client.tool().run_tool(request).await.unwrap().into_inner();
    let mut steps = Vec::new();
    while let Some(step) = stream.message().await.unwrap() {
        steps.extend(step.step);
    }
    steps
}

fn planned(steps: &[Step]) -> &v1::PlannedCall {
    match steps.first() {
        Some(Step::Planned(planned)) => planned,
        other => panic!("not planned: {other:?}"),
    }
}

fn finished(steps: &[Step]) -> &v1::ToolCallFinished {
    match steps.last() {
        Some(Step::Finished(finished)) => finished,
        other => panic!("not finished: {other:?}"),
    }
}

/// Approves what is planned where that is asked for, and gives the result.
async fn approved(driver: &Driver, tool: &str, arguments: &Value) -> v1::ToolCallFinished {
    let request = call(driver, tool, arguments);
    let looked = steps(driver.client(), request.clone()).await;
    if planned(&looked).permission() == v1::CallPermission::Allow {
        return finished(&looked).clone();
    }
    let approved_fingerprint = planned(&looked).fingerprint.clone();
    let request = v1::RunToolRequest { approved_fingerprint, ..request };
    finished(&steps(driver.client(), request).await).clone()
}

async fn changes(driver: &Driver) -> v1::ListChangesResponse {
    let place = list_changes_request::Place::SessionId(driver.session_id().to_owned());
    let request = v1::ListChangesRequest { place: Some(place) };
    driver.client().tool().list_changes(request).await.unwrap().into_inner()
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn tools_are_listed_and_described_with_what_is_missing() {
    let daemon = Daemon::builder().start().await;
    let mut tools = daemon.client().await.tool();
    let listed = tools.list_tools(v1::ListToolsRequest {}).await.unwrap().into_inner().tools;
    assert!(listed.is_sorted_by_key(|tool| &tool.name));
    let named = |name: &str| listed.iter().find(|tool| tool.name == name).unwrap();
    let read = named("read_file");
    assert_eq!(read.capabilities.unwrap().effect(), v1::ToolEffect::WorkspaceRead);
    assert!(read.parameters_json.contains("\"path\""), "{read:?}");
    assert_eq!(read.missing, "");
    // Daemons inside a test run no programs.
    assert!(!named("run_command").missing.is_empty());
    let mut get = async |name: &str| {
        let request = v1::GetToolRequest { name: name.to_owned() };
        tools.get_tool(request).await.map(|tool| tool.into_inner().tool.unwrap())
    };
    assert_eq!(get("read_file").await.unwrap(), *read);
    assert_eq!(get(&read.aliases[0]).await.unwrap(), *read);
    let unknown = get("browse_moon").await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
    assert!(unknown.message().contains("browse_moon"));
    daemon.stop().await;
}

#[tokio::test]
async fn a_call_by_hand_runs_when_that_very_plan_is_approved() {
    let daemon = Daemon::builder().set("permission.mode", "ask").start().await;
    let mut ann = daemon.driver("ann").await;
    let file = daemon.workspace().join("a.txt");
    let make = json!({"path": "a.txt", "content": "one\n"});
    let looked = steps(ann.client(), call(&ann, "write_file", &make)).await;
    assert_eq!(looked.len(), 1, "{looked:?}");
    let plan = planned(&looked);
    assert_eq!(plan.permission(), v1::CallPermission::Ask);
    assert!(!plan.because.is_empty());
    assert!(plan.action.as_ref().unwrap().summary.contains("a.txt"));
    let other = json!({"path": "a.txt", "content": "two\n"});
    let sneaky = v1::RunToolRequest {
        approved_fingerprint: plan.fingerprint.clone(),
        ..call(&ann, "write_file", &other)
    };
    assert_eq!(steps(ann.client(), sneaky).await.len(), 1, "another plan was approved");
    assert!(!file.exists());
    let made = approved(&ann, "write_file", &make).await;
    assert_eq!(made.status(), v1::ToolStatus::Success, "{made:?}");
    assert_eq!(read(&file), "one\n");
    // The others of the session are told.
    let told = ann.wait_for("a notice", |body| matches!(body, Body::Notice(_))).await;
    let Some(Body::Notice(notice)) = told.body else { panic!() };
    assert!(notice.text.starts_with("ann has done by hand: write a.txt"), "{}", notice.text);

    // What only computes is not asked for, and what cannot be planned is a result.
    let sum = steps(ann.client(), call(&ann, "calculator", &json!({"expression": "6*7"}))).await;
    assert_eq!(planned(&sum).permission(), v1::CallPermission::Allow);
    assert_eq!(finished(&sum).output, "42");
    let unknown = steps(ann.client(), call(&ann, "calculater", &json!({}))).await;
    assert_eq!(finished(&unknown).error_code, "UNKNOWN_TOOL");
    let todo = json!({"title": "t", "items": [{"label": "x", "status": "pending"}]});
    let todo = steps(ann.client(), call(&ann, "manage_todo_list", &todo)).await;
    assert_eq!(finished(&todo).error_code, "NOT_BY_HAND", "{todo:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn a_call_by_hand_is_denied_where_a_models_would_be() {
    let daemon = Daemon::builder().set("permission.mode", "plan").start().await;
    let ann = daemon.driver("ann").await;
    let make = call(&ann, "write_file", &json!({"path": "a.txt", "content": "one\n"}));
    let looked = steps(ann.client(), make.clone()).await;
    assert_eq!(planned(&looked).permission(), v1::CallPermission::Deny);
    let approved_fingerprint = planned(&looked).fingerprint.clone();
    let insisted = v1::RunToolRequest { approved_fingerprint, ..make.clone() };
    assert_eq!(steps(ann.client(), insisted).await.len(), 1);
    // The same in a directory without a session.
    let workspace = daemon.workspace().to_str().unwrap().to_owned();
    let place = Some(run_tool_request::Place::Workspace(workspace));
    let elsewhere = v1::RunToolRequest { place, ..make.clone() };
    assert_eq!(
        planned(&steps(ann.client(), elsewhere).await).permission(),
        v1::CallPermission::Deny
    );
    assert!(!daemon.workspace().join("a.txt").exists());
    let mut tools = ann.client().tool();
    for place in [None, Some(run_tool_request::Place::Workspace("relative".into()))] {
        let nowhere = v1::RunToolRequest { place, ..make.clone() };
        assert_eq!(tools.run_tool(nowhere).await.unwrap_err().code(), Code::InvalidArgument);
    }
    daemon.stop().await;
}

#[tokio::test]
async fn a_call_by_hand_ends_when_its_caller_leaves() {
    let daemon =
        Daemon::builder().set("permission.mode", "full").tool(AppendLine::new()).start().await;
    let mut ann = daemon.driver("ann").await;
    let waits = call(&ann, "append_line", &json!({"line": "A", "then_wait": true}));
    let mut stream = ann.client().tool().run_tool(waits).await.unwrap().into_inner();
    let first = stream.message().await.unwrap().unwrap();
    assert!(matches!(first.step, Some(Step::Planned(_))));
    drop(stream);
    ann.wait_for("its end", |body| matches!(body, Body::Notice(_))).await;
    daemon.stop().await;
}

#[tokio::test]
async fn what_a_person_has_read_the_model_has_not() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("permission.mode", "full").start().await;
    let mut ann = daemon.driver("ann").await;
    std::fs::write(daemon.workspace().join("a.txt"), "one\n").unwrap();
    let looked = steps(ann.client(), call(&ann, "read_file", &json!({"path": "a.txt"}))).await;
    assert_eq!(finished(&looked).status(), v1::ToolStatus::Success);
    let edit = json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]});
    llm.push(Reply::tool_call("edit_file", &edit.to_string()));
    llm.push(Reply::text("done"));
    ann.ask("edit").await;
    assert_eq!(results(&ann)[0].error_code, "NOT_READ", "{:?}", results(&ann));
    let edited = approved(&ann, "edit_file", &edit).await;
    assert_eq!(edited.status(), v1::ToolStatus::Success, "{edited:?}");
    daemon.stop().await;
}

/// Has the model make a change.
async fn change(llm: &LlmServer, driver: &mut Driver, tool: &str, arguments: &Value) {
    llm.push(Reply::tool_call(tool, &arguments.to_string()));
    llm.push(Reply::text("done"));
    driver.ask("change it").await;
    let result = results(driver).pop().unwrap();
    assert_eq!(result.status(), v1::ToolStatus::Success, "{result:?}");
}

fn agentd(home: &Home, llm: &LlmServer) -> agentd_testkit::ProcessDaemonBuilder {
    ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd"))
        .home(home)
        .llm(llm)
        .set("permission.mode", "full")
}

#[tokio::test]
async fn a_change_is_shown_and_taken_back_after_a_sigkill() {
    let llm = LlmServer::start().await;
    let home = Home::new();
    let file = home.workspace().join("a.txt");
    std::fs::write(&file, "one\n").unwrap();
    let daemon = agentd(&home, &llm).start().await;
    let mut ann = daemon.driver("ann").await;
    change(&llm, &mut ann, "read_file", &json!({"path": "a.txt"})).await;
    let edit = json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]});
    change(&llm, &mut ann, "edit_file", &edit).await;
    change(&llm, &mut ann, "write_file", &json!({"path": "b.txt", "content": "new\n"})).await;
    let session_id = ann.session_id().to_owned();
    drop(ann);
    daemon.kill().await;

    let daemon = agentd(&home, &llm).start().await;
    let mut ann = daemon.attach("ann", &session_id).await;
    let told = changes(&ann).await;
    let diffs: Vec<&str> = told.files.iter().map(|file| file.diff.as_str()).collect();
    assert_eq!(
        diffs,
        [
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n",
            "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+new\n"
        ]
    );
    assert_eq!(told.changes.iter().map(|change| change.number).collect::<Vec<_>>(), [1, 2]);
    let undone = approved(&ann, "undo_edit", &json!({"change": 1})).await;
    assert_eq!(undone.status(), v1::ToolStatus::Success, "{undone:?}");
    assert!(undone.diff.contains("-two\n+one\n"), "{undone:?}");
    assert_eq!(read(&file), "one\n");
    std::fs::write(home.workspace().join("b.txt"), "mine\n").unwrap();
    let refused = steps(ann.client(), call(&ann, "undo_edit", &json!({}))).await;
    assert_eq!(finished(&refused).error_code, "STALE_FILE", "{refused:?}");
    assert!(changes(&ann).await.files[0].changed_by_others);

    // What the model knew of the file is no longer so: it has to look again.
    llm.push(Reply::tool_call("edit_file", &edit.to_string()));
    llm.push(Reply::text("done"));
    ann.submit("again").await;
    ann.wait_for(
        "a refusal",
        |body| matches!(body, Body::ToolCallFinished(call) if call.error_code == "NOT_READ"),
    )
    .await;

    // With the session go its copies.
    let copies = home.paths().undo_dir().join("contents");
    assert_ne!(std::fs::read_dir(&copies).unwrap().count(), 0);
    let request = v1::DeleteSessionRequest { session_id };
    ann.client().session().delete_session(request).await.unwrap();
    assert_eq!(std::fs::read_dir(&copies).unwrap().count(), 0);
    daemon.terminate().await;
}
