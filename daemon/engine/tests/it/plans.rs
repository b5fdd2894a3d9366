//! The plan of a session.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use agentd_domain::{
    Action, Capabilities, Event, EventBody, Plan, PlanStep, SessionId, StepStatus,
    ToolCallFinished, ToolEffect, ToolResult, ToolSpec, ToolStatus,
};
use agentd_engine::{AutoResume, Engine, SessionView};
use agentd_llm::Message;
use agentd_tools::{Registry, Tool, ToolContext};
use async_trait::async_trait;

use crate::copies::export;
use crate::world::{Step, Terminal, World, author, text};

/// A program that ends as a test says.
#[derive(Debug)]
struct Program {
    spec: ToolSpec,
    ends: Mutex<VecDeque<ToolResult>>,
}

#[async_trait]
impl Tool for Program {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        _ctx: &ToolContext,
        _arguments: serde_json::Value,
        _planned: &Action,
    ) -> ToolResult {
        let end = self.ends.lock().unwrap().pop_front();
        end.unwrap_or_else(|| ran(0, "well"))
    }
}

fn program(name: &str, effect: ToolEffect, ends: Vec<ToolResult>) -> Arc<Program> {
    let spec = ToolSpec {
        name: name.to_owned(),
        description: "Runs.".to_owned(),
        parameters: serde_json::json!({"type": "object", "properties": {"command": {"type": "string"}}}),
        capabilities: Capabilities::of(effect),
    };
    Arc::new(Program { spec, ends: Mutex::new(ends.into()) })
}

fn ran(code: i32, output: &str) -> ToolResult {
    let (status, error) = match code {
        0 => (ToolStatus::Success, ""),
        _ => (ToolStatus::Partial, "COMMAND_NONZERO_EXIT"),
    };
    ToolResult { exit_code: Some(code), ..ToolResult::new(status, output, error) }
}

/// A world with the tools, a program `run` that ends like this, and a tool `write` that changes a file.
fn world(ends: Vec<ToolResult>) -> World {
    let mut world = World::new();
    world.tools = Registry::builtin();
    world.tools.register(program("run", ToolEffect::Process, ends)).unwrap();
    let written = ToolResult::success("written").with_diff("--- a\n+++ a\n");
    world.tools.register(program("write", ToolEffect::WorkspaceWrite, vec![written])).unwrap();
    world
}

const CREATE: (&str, &str) = (
    "manage_plan",
    r#"{"action":"create","goal":"mend it","steps":[
        {"id":"look","objective":"find the fault","verify":{"tool":"run","text":"make test"}},
        {"id":"mend","objective":"mend the fault","needs":["look"],"verify":{"tool":"write"}}]}"#,
);
const BEGIN: (&str, &str) = ("manage_plan", r#"{"action":"begin","step":"look"}"#);
const DONE: (&str, &str) = ("manage_plan", r#"{"action":"done","step":"look"}"#);
const CHECK: (&str, &str) = ("run", r#"{"command":"make  test"}"#);

fn call(calls: &[(&'static str, &'static str)]) -> Vec<Step> {
    vec![Step::Call(calls.to_vec())]
}

fn results(events: &[Event]) -> Vec<&ToolCallFinished> {
    let finished = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallFinished(finished) => Some(finished),
        _ => None,
    });
    finished.collect()
}

fn plans(events: &[Event]) -> Vec<&Plan> {
    let changed = events.iter().filter_map(|event| match &event.body {
        EventBody::PlanChanged(changed) => Some(&changed.plan),
        _ => None,
    });
    changed.collect()
}

fn statuses(view: &SessionView) -> Vec<StepStatus> {
    view.plan.steps.iter().map(|step| step.status).collect()
}

/// What the last request says the user said last.
fn said_last(world: &World) -> String {
    let requests = world.provider.requests.lock().unwrap();
    let said = requests.last().unwrap().messages.iter().rev().find_map(|message| match message {
        Message::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    said.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_step_is_done_only_when_a_real_call_has_proven_it_and_all_terminals_see_it() {
    let world = world(vec![
        ran(2, "error"),
        ran(0, "test result: ok. 0 passed; 0 failed; 0 ignored"),
        ran(0, "test result: ok. 3 passed; 0 failed; 0 ignored"),
        ran(0, "test result: ok. 4 passed; 0 failed; 0 ignored"),
    ]);
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let mut bob = Terminal::attach(&engine, id, "bob").await;
    // The program before the step begins, the model's word, a failure, no tests, and files that were
    // changed afterwards: none of it counts.
    world.script(call(&[CREATE, BEGIN, DONE]));
    world.script(call(&[CHECK]));
    world.script(call(&[DONE]));
    world.script(call(&[CHECK, DONE]));
    world.script(call(&[CHECK, ("write", "{}"), DONE]));
    world.script(call(&[CHECK, DONE]));
    world.send(&engine, id, "go").await;
    for terminal in [&mut ann, &mut bob] {
        terminal.until_kind("turn_completed", 1).await;
    }
    let asked: Vec<_> = results(&ann.events)
        .into_iter()
        .filter(|finished| finished.name == "manage_plan")
        .map(|finished| (finished.error_code.as_str(), finished.output.as_str()))
        .collect();
    assert_eq!(asked[0].0, "", "{asked:?}");
    let reasons = [
        "no such call was run since it began",
        "COMMAND_NONZERO_EXIT, exit code 2",
        "exit code 0, 0 tests passed, 0 failed",
        "files may have been changed after it",
    ];
    for ((code, output), reason) in asked[2..].iter().zip(reasons) {
        assert_eq!(*code, "PLAN_STEP_NOT_PROVEN", "{output}");
        assert!(output.contains(reason), "{reason}: {output}");
    }
    assert!(asked[6].1.contains("1 of 2 steps done"), "{asked:?}");
    assert!(asked[6].1.ends_with("Ready to begin: mend."), "{asked:?}");

    let plan = engine.view(id).await.unwrap().plan;
    let proof = plan.steps[0].proof.as_ref().unwrap();
    assert_eq!(proof.summary, "exit code 0, 4 tests passed, 0 failed");
    let calls = results(&ann.events);
    let proven = calls.iter().find(|call| call.call_id == proof.call_id).unwrap();
    assert!(proven.output.contains("4 passed"), "the proof is a call of the log");
    for terminal in [&ann, &bob] {
        let seen = plans(&terminal.events);
        assert_eq!(seen.iter().map(|plan| plan.revision).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(*seen[2], plan);
        let kinds = terminal.kinds();
        let at = kinds.iter().position(|kind| kind == "plan_changed").unwrap();
        assert_eq!(kinds[at - 1], "tool_call_finished");
    }
}

/// A session whose daemon was killed while a step was being done.
async fn killed_in_a_step(world: &World) -> (Engine, SessionId) {
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(call(&[CREATE, BEGIN]));
    world.script(vec![Step::Hang]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("plan_changed", 2).await;
    assert_eq!(statuses(&engine.view(id).await.unwrap())[0], StepStatus::Running);
    drop(terminal);
    world.crash(engine).await;
    let engine = world.engine();
    assert_eq!(engine.resume_unfinished().await.unwrap(), 1);
    (engine, id)
}

#[tokio::test(start_paused = true)]
async fn a_step_that_a_kill_cut_off_is_interrupted_and_the_next_turn_is_told() {
    let world = world(Vec::new());
    world.configure(|config| config.auto_resume = AutoResume::Never);
    let (engine, id) = killed_in_a_step(&world).await;
    let view = engine.view(id).await.unwrap();
    assert_eq!(statuses(&view), [StepStatus::Interrupted, StepStatus::Pending]);
    let kinds = world.kinds(id).await;
    let at = kinds.iter().rposition(|kind| kind == "plan_changed").unwrap();
    assert_eq!(kinds[at..], ["plan_changed", "turn_suspended", "turn_interrupted"]);

    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.script(call(&[BEGIN, CHECK]));
    world.script(call(&[DONE, ("manage_plan", r#"{"action":"begin","step":"mend"}"#)]));
    world.script(call(&[("write", "{}"), ("manage_plan", r#"{"action":"done","step":"mend"}"#)]));
    world.send(&engine, id, "go on").await;
    terminal.until_kind("turn_completed", 1).await;
    let note = said_last(&world);
    assert!(note.contains("the plan 'mend it' of an earlier turn has 2 of 2 steps left"), "{note}");
    assert!(note.contains("- look (interrupted: see how far it is"), "{note}");
    assert!(note.contains("- mend (waits for look): mend the fault"), "{note}");
    assert_eq!(statuses(&engine.view(id).await.unwrap()), [StepStatus::Done, StepStatus::Done]);

    // Nothing is left to be reminded of.
    world.send(&engine, id, "thanks").await;
    terminal.until_kind("turn_completed", 2).await;
    assert_eq!(said_last(&world), "thanks");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_goes_on_after_a_kill_can_prove_its_step() {
    let world = world(Vec::new());
    world.configure(|config| config.auto_resume = AutoResume::Always);
    world.script(call(&[CREATE, BEGIN]));
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Hang]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("plan_changed", 2).await;
    drop(terminal);
    world.crash(engine).await;
    world.script(call(&[CHECK, DONE]));
    let engine = world.engine();
    assert_eq!(engine.resume_unfinished().await.unwrap(), 1);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(statuses(&engine.view(id).await.unwrap()), [StepStatus::Done, StepStatus::Pending]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_answers_in_the_middle_of_a_step_leaves_it_interrupted() {
    let world = world(Vec::new());
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(call(&[CREATE, BEGIN, CHECK]));
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_completed", 1).await;
    let kinds = terminal.kinds();
    assert_eq!(kinds[kinds.len() - 2..], ["plan_changed", "turn_completed"]);
    // What proved something in an earlier turn proves nothing in this one.
    world.script(call(&[DONE]));
    world.send(&engine, id, "go on").await;
    terminal.until_kind("turn_completed", 2).await;
    let last = results(&terminal.events).pop().unwrap();
    assert_eq!(last.error_code, "PLAN_STEP_NOT_PROVEN", "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_ends_a_waiting_turn_has_its_place_behind_the_interrupted_step() {
    let world = world(Vec::new());
    world.configure(|config| config.rounds_limit = 1);
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(call(&[CREATE, BEGIN]));
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("question_asked", 1).await;
    assert_eq!(statuses(&engine.view(id).await.unwrap())[0], StepStatus::Running);
    let submitted = world.send(&engine, id, "something else").await;
    terminal.until_kind("message_accepted", 2).await;
    let log = world.log(id).await;
    let accepted = log.iter().find(|event| event.seq == submitted.seq).unwrap();
    assert_eq!(accepted.body.kind(), "message_accepted");
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(statuses(&engine.view(id).await.unwrap())[0], StepStatus::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn a_replan_replaces_what_is_left_and_what_cannot_prove_anything_is_refused() {
    let world = world(Vec::new());
    let engine = world.engine();
    let id = world.session(&engine).await;
    let with = |verify: &str| {
        format!(
            r#"{{"action":"replan","why":"there are two faults","steps":[
                {{"id":"both","objective":"mend both","needs":["look"],"verify":{verify}}}]}}"#
        )
    };
    let leak = |text: String| -> &'static str { text.leak() };
    world.script(call(&[CREATE, BEGIN, CHECK]));
    world.script(call(&[DONE]));
    world.script(call(&[("manage_plan", leak(with(r#"{"tool":"time"}"#)))]));
    world.script(call(&[("manage_plan", leak(with(r#"{"tool":"nothing"}"#)))]));
    world.script(call(&[("manage_plan", leak(with(r#"{"tool":"run"}"#)))]));
    world.script(call(&[("manage_plan", leak(with(r#"{"tool":"write"}"#)))]));
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_completed", 1).await;
    let told: Vec<_> =
        results(&terminal.events).iter().map(|finished| finished.output.clone()).collect();
    assert!(told[4].contains("time, which proves nothing of the world"), "{told:?}");
    assert!(told[5].contains("'nothing', which is no tool"), "{told:?}");
    assert!(told[6].contains("verify.text of 'both' is missing"), "{told:?}");
    let plan = engine.view(id).await.unwrap().plan;
    let steps: Vec<_> =
        plan.steps.iter().map(|PlanStep { id, status, .. }| (id.as_str(), *status)).collect();
    assert_eq!(steps, [("look", StepStatus::Done), ("both", StepStatus::Pending)]);
    assert_eq!(plan.replans, 1);
}

#[tokio::test(start_paused = true)]
async fn a_plan_goes_along_with_copies_and_exports() {
    let world = world(Vec::new());
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(call(&[CREATE, BEGIN, CHECK]));
    world.script(call(&[DONE]));
    world.script(vec![text("more tomorrow")]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_completed", 1).await;
    let plan = engine.view(id).await.unwrap().plan;
    assert_eq!((plan.done(), plan.left().count()), (1, 1));

    let mut next = export(&engine, id).await.into_iter();
    let imported = SessionId::from_parts(1, 2);
    engine.import(imported, || Ok(next.next()), "/", &author("bob")).await.unwrap();
    assert_eq!(engine.view(imported).await.unwrap().plan, plan);
    let fork = engine.fork(id, None, None, None, &author("bob")).await.unwrap();
    assert_eq!(fork.plan, plan);
    // A copy of the middle of a step is at rest too.
    let begun = world.log(id).await.into_iter().find(|event| {
        matches!(&event.body, EventBody::PlanChanged(changed) if changed.plan.running().is_some())
    });
    let at = begun.unwrap().seq;
    let fork = engine.fork(id, None, Some(at), None, &author("bob")).await.unwrap();
    assert_eq!(statuses(&fork), [StepStatus::Interrupted, StepStatus::Pending]);
}
