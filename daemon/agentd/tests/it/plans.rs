//! A plan over the wire: proven by real programs, through a SIGKILL.

use std::fs;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Driver, Home, LlmServer, ProcessDaemon, Reply};
use serde_json::json;

use crate::support::{check_gap_free, results};

async fn daemon(llm: &LlmServer, home: Option<&Home>) -> ProcessDaemon {
    let builder = ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd"))
        .llm(llm)
        .set("permission.mode", "full")
        .set("sandbox.backend", "none")
        .set("session.auto_resume", "never");
    match home {
        Some(home) => builder.home(home).start().await,
        None => builder.start().await,
    }
}

/// Through `call_tool`, as a model that has found the tool does.
fn plan(arguments: &serde_json::Value) -> (&'static str, String) {
    ("call_tool", json!({"name": "manage_plan", "arguments": arguments}).to_string())
}

fn calls(calls: &[(&'static str, String)]) -> Reply {
    let calls: Vec<(&str, &str)> =
        calls.iter().map(|(name, arguments)| (*name, arguments.as_str())).collect();
    Reply::tool_calls(&calls)
}

fn check() -> (&'static str, String) {
    ("run_command", json!({"command": "sh check.sh"}).to_string())
}

fn statuses(plan: &v1::Plan) -> Vec<v1::PlanStepStatus> {
    plan.steps.iter().map(v1::PlanStep::status).collect()
}

async fn plan_of(driver: &Driver) -> v1::Plan {
    driver.session().await.plan.unwrap()
}

#[tokio::test]
async fn a_plan_survives_a_sigkill_and_goes_on_until_real_programs_have_proven_it() {
    let llm = LlmServer::start().await;
    let first = daemon(&llm, None).await;
    let mut ann = first.driver("ann").await;
    let id = ann.session_id().to_owned();
    let steps = json!([
        {"id": "write", "objective": "write check.sh",
         "verify": {"tool": "run_command", "text": "sh check.sh"}},
        {"id": "tell", "objective": "write notes", "needs": ["write"],
         "verify": {"tool": "write_file", "text": "notes.md"}},
    ]);
    let (begin, done) =
        (json!({"action": "begin", "step": "write"}), json!({"action": "done", "step": "write"}));
    llm.push(calls(&[
        plan(&json!({"action": "create", "goal": "a check", "steps": steps})),
        plan(&begin),
    ]));
    llm.push(calls(&[check()]));
    llm.push(calls(&[plan(&done)]));
    llm.push(Reply::sse().text_delta("so").stall());
    ann.submit("make a check").await;
    ann.wait_live_text("so").await;
    // There is no check.sh yet, whatever the model says.
    let refused = results(&ann).pop().unwrap();
    assert_eq!(
        (refused.name.as_str(), refused.error_code.as_str()),
        ("manage_plan", "PLAN_STEP_NOT_PROVEN")
    );
    let running = [v1::PlanStepStatus::Running, v1::PlanStepStatus::Pending];
    assert_eq!(statuses(&plan_of(&ann).await), running);
    drop(ann);
    let home = first.kill().await;

    let second = daemon(&llm, Some(&home)).await;
    let mut ann = second.attach("ann", &id).await;
    let mut bob = second.attach("bob", &id).await;
    // The first turn is closed.
    ann.wait_turn_end().await;
    bob.wait_turn_end().await;
    let found = plan_of(&ann).await;
    assert_eq!(statuses(&found)[0], v1::PlanStepStatus::Interrupted);
    assert_eq!(found.steps[1].waits_for, ["write"]);
    fs::write(home.workspace().join("check.sh"), "echo 'test result: ok. 2 passed; 0 failed;'\n")
        .unwrap();
    llm.push(calls(&[plan(&begin), check(), plan(&done)]));
    llm.push(Reply::text("half of it is done"));
    assert_eq!(ann.ask("go on").await, "half of it is done");
    let request = llm.requests().pop().unwrap().body.to_string();
    assert!(
        request.contains("the plan 'a check' of an earlier turn has 2 of 2 steps left"),
        "{request}"
    );
    assert!(request.contains("- write (interrupted"), "{request}");

    let plan = plan_of(&ann).await;
    assert_eq!(statuses(&plan), [v1::PlanStepStatus::Done, v1::PlanStepStatus::Pending]);
    let proof = plan.steps[0].proof.clone().unwrap();
    assert_eq!(proof.summary, "exit code 0, 2 tests passed, 0 failed");
    bob.wait_turn_end().await;
    for driver in [&ann, &bob] {
        let seen = driver.bodies().filter_map(|body| match body {
            Body::PlanChanged(changed) => changed.plan.clone(),
            _ => None,
        });
        assert_eq!(seen.last(), Some(plan.clone()));
        let is_proof = |call: &v1::ToolCallFinished| call.call_id == proof.call_id;
        assert!(results(driver).iter().any(is_proof), "the proof is a call that everybody saw");
    }
    check_gap_free(&ann.log().await);
    second.terminate().await;
}
