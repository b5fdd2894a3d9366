use proptest::prelude::*;

use super::*;
use crate::{CallId, ResultSource, ToolCallFinished, ToolEffect, ToolResult, ToolStatus};

fn new(id: &str, needs: &[&str]) -> NewStep {
    NewStep {
        id: id.to_owned(),
        objective: format!("do {id}"),
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        verify: Verification { tool: "run_command".to_owned(), text: "make".to_owned() },
    }
}

fn create(steps: Vec<NewStep>) -> Result<Plan, PlanError> {
    Plan::default().apply(PlanCommand::Create { goal: "goal".to_owned(), steps }, None)
}

fn begin(plan: &Plan, step: &str) -> Result<Plan, PlanError> {
    plan.apply(PlanCommand::Begin { step: step.to_owned() }, None)
}

fn ran(status: ToolStatus, exit_code: Option<i32>) -> ToolCallFinished {
    let call_id: CallId = "c1".parse().unwrap();
    let result = ToolResult { exit_code, ..ToolResult::new(status, "", "") };
    ToolCallFinished::of(call_id, "run_command".to_owned(), result, 0, 1)
}

fn trial(plan: &Plan, finished: &ToolCallFinished, tests: Option<TestCounts>) -> Option<Trial> {
    let step = plan.current().unwrap();
    Trial::of(step, finished, r#"{"command":"make  all"}"#, Some(ToolEffect::Process), tests)
}

fn done(plan: &Plan, step: &str, trial: Option<&Trial>) -> Result<Plan, PlanError> {
    plan.apply(PlanCommand::Done { step: step.to_owned() }, trial)
}

#[test]
fn steps_come_in_the_order_of_what_they_need_one_at_a_time() {
    let plan = create(vec![new("b", &["a"]), new("a", &[]), new("c", &["a", "b"])]).unwrap();
    let ready = |plan: &Plan| plan.ready().map(|step| step.id.clone()).collect::<Vec<_>>();
    assert_eq!(ready(&plan), ["a"]);
    let early = begin(&plan, "c").unwrap_err();
    assert_eq!(early.to_string(), "step 'c' waits for a, b");
    let plan = begin(&plan, "a").unwrap();
    assert!(matches!(begin(&plan, "b"), Err(PlanError::OtherRuns { .. })));
    let passed = trial(&plan, &ran(ToolStatus::Success, Some(0)), None);
    let plan = done(&plan, "a", passed.as_ref()).unwrap();
    assert_eq!(ready(&plan), ["b"]);
    assert_eq!((plan.done(), plan.left().count(), plan.revision), (1, 2, 3));
}

#[test]
fn a_step_is_done_only_when_a_call_has_proven_it() {
    let plan = begin(&create(vec![new("a", &[])]).unwrap(), "a").unwrap();
    let said = done(&plan, "a", None).unwrap_err();
    assert!(said.to_string().contains("no such call was run since it began"), "{said}");
    let counts = |passed, failed| Some(TestCounts { passed, failed });
    let unproven = [
        (ran(ToolStatus::Partial, Some(1)), None),
        (ran(ToolStatus::Success, None), None),
        (ran(ToolStatus::Success, Some(0)), counts(0, 0)),
        (ran(ToolStatus::Success, Some(0)), counts(3, 1)),
    ];
    for (finished, tests) in unproven {
        let trial = trial(&plan, &finished, tests).unwrap();
        assert!(!trial.passed, "{trial:?}");
        assert!(done(&plan, "a", Some(&trial)).is_err());
    }
    let passed = trial(&plan, &ran(ToolStatus::Success, Some(0)), counts(3, 0)).unwrap();
    let after = done(&plan, "a", Some(&passed)).unwrap();
    let proof = after.step("a").unwrap().proof.as_ref().unwrap();
    assert_eq!(proof.summary, "exit code 0, 3 tests passed, 0 failed");
    // What was said of files that have changed since says nothing.
    let mut stale = passed.clone();
    stale.files_changed();
    assert!(done(&plan, "a", Some(&stale)).is_err());
    // Nor does the proof of another step.
    let other = Trial { step: "b".to_owned(), ..passed };
    assert!(done(&plan, "a", Some(&other)).is_err());
}

#[test]
fn only_the_call_that_is_meant_and_was_run_counts() {
    let plan = begin(&create(vec![new("a", &[])]).unwrap(), "a").unwrap();
    let step = plan.current().unwrap();
    let of = |finished: &ToolCallFinished, arguments: &str| {
        Trial::of(step, finished, arguments, Some(ToolEffect::Process), None).is_some()
    };
    let mut finished = ran(ToolStatus::Success, Some(0));
    assert!(of(&finished, r#"{"name":"run_command","arguments":{"argv":["make","x"]}}"#));
    assert!(!of(&finished, r#"{"command":"true"}"#));
    assert!(!of(&finished, "make"), "what is no JSON says nothing");
    finished.metrics.source = ResultSource::NotRun;
    assert!(!of(&finished, r#"{"command":"make"}"#));
    finished.metrics.source = ResultSource::Cache;
    assert!(!of(&finished, r#"{"command":"make"}"#));
}

#[test]
fn words_of_a_list_count_as_one_line() {
    let verify = Verification { tool: "t".to_owned(), text: "cargo test".to_owned() };
    assert!(verify.fits("t", r#"{"argv":["cargo","test","-p","x"]}"#));
    assert!(!verify.fits("t", r#"{"argv":["cargo","build"],"note":"test"}"#));
    assert!(!verify.fits("u", r#"{"argv":["cargo","test"]}"#));
}

#[test]
fn steps_that_make_no_plan_are_refused_with_the_reason() {
    let check = |steps: Vec<NewStep>, expect: &str| {
        assert_eq!(create(steps).unwrap_err().to_string(), expect);
    };
    check(vec![], "steps: a plan has at least one");
    check(
        (0..7).map(|n| new(&format!("s{n}"), &[])).collect(),
        "steps: 7 are too many; at most 6 can be left to do, so make them larger",
    );
    check(vec![new("a b", &[])], "steps[0].id: it takes 1 to 32 of A-Z, a-z, 0-9, _ and -");
    check(
        vec![new("a", &[]), new("a", &[])],
        "steps: 'a' is there twice; give each step an id of its own",
    );
    check(vec![new("a", &["b"])], "steps: 'a' needs 'b', which is no step of the plan");
    check(vec![new("a", &["a"])], "steps: a wait for each other; leave out what they need");
    check(
        vec![new("a", &["b"]), new("b", &["a"]), new("c", &[]), new("d", &["c"])],
        "steps: a, b wait for each other; leave out what they need",
    );
    let blank = NewStep { objective: " \n".to_owned(), ..new("a", &[]) };
    check(vec![blank], "steps: objective of 'a' is blank");
}

#[test]
fn a_replan_keeps_what_is_done_and_is_bounded() {
    let plan = begin(&create(vec![new("a", &[]), new("b", &["a"])]).unwrap(), "a").unwrap();
    let passed = trial(&plan, &ran(ToolStatus::Success, Some(0)), None);
    let mut plan = done(&plan, "a", passed.as_ref()).unwrap();
    let first = plan.step("a").cloned();
    let replan = |plan: &Plan, steps| {
        plan.apply(PlanCommand::Replan { why: "it does not work".to_owned(), steps }, None)
    };
    // A step that is done keeps its name.
    assert!(matches!(
        replan(&plan, vec![new("a", &[])]),
        Err(PlanError::Steps(StepsError::Twice { .. }))
    ));
    for number in 1..=Plan::MAX_REPLANS {
        plan = replan(&plan, vec![new("b", &["a"]), new("c", &["b"])]).unwrap();
        assert_eq!((plan.replans, plan.step("a")), (number, first.as_ref()));
    }
    let refused = replan(&plan, vec![new("d", &[])]).unwrap_err();
    assert_eq!(refused, PlanError::TooManyReplans { max: 5 });
    // Neither does a new plan get around it while this one is not given up.
    let again = PlanCommand::Create { goal: "g".to_owned(), steps: vec![new("x", &[])] };
    assert!(matches!(plan.apply(again, None), Err(PlanError::Unfinished { left: 2, .. })));
    assert_eq!(plan.apply(PlanCommand::Drop, None).unwrap().steps, []);
}

#[test]
fn w0_26_a_step_that_failed_leaves_the_plan_unfinished_and_what_needs_it_waiting() {
    let plan = begin(&create(vec![new("a", &[]), new("b", &["a"])]).unwrap(), "a").unwrap();
    let fail = PlanCommand::Fail { step: "a".to_owned(), why: "no\nmake".to_owned() };
    let plan = plan.apply(fail, None).unwrap();
    assert_eq!(plan.step("a").unwrap().note, "no make");
    assert_eq!(plan.left().count(), 2);
    assert!(matches!(begin(&plan, "b"), Err(PlanError::NotReady { .. })));
    assert!(begin(&plan, "a").is_ok());
}

#[test]
fn a_step_whose_turn_ended_is_interrupted_and_can_be_proven_or_begun_again() {
    let plan = begin(&create(vec![new("a", &[])]).unwrap(), "a").unwrap();
    let plan = plan.interrupted().unwrap();
    assert_eq!(plan.step("a").unwrap().status, StepStatus::Interrupted);
    assert_eq!(plan.interrupted(), None);
    let passed = trial(&plan, &ran(ToolStatus::Success, Some(0)), None);
    assert!(done(&plan, "a", passed.as_ref()).is_ok());
    assert!(begin(&plan, "a").is_ok());
}

/// A command on steps with names that collide, are missing, and depend on each other at random.
fn any_command() -> impl Strategy<Value = (PlanCommand, bool)> {
    let id = || prop::sample::select(&["a", "b", "c", "d", "e", "f", "g"][..]);
    let step = (id(), prop::collection::vec(id(), 0..3)).prop_map(|(id, needs)| new(id, &needs));
    let steps = prop::collection::vec(step, 0..8).boxed();
    let text = prop::sample::select(&["", "why"][..]);
    let command = prop_oneof![
        1 => (text.clone(), steps.clone()).prop_map(|(goal, steps)| PlanCommand::Create {
            goal: goal.to_owned(),
            steps,
        }),
        4 => id().prop_map(|step| PlanCommand::Begin { step: step.to_owned() }),
        4 => id().prop_map(|step| PlanCommand::Done { step: step.to_owned() }),
        1 => (id(), text.clone()).prop_map(|(step, why)| PlanCommand::Fail {
            step: step.to_owned(),
            why: why.to_owned(),
        }),
        1 => (text, steps).prop_map(|(why, steps)| PlanCommand::Replan {
            why: why.to_owned(),
            steps,
        }),
        1 => Just(PlanCommand::Show),
    ];
    (command, any::<bool>())
}

proptest! {
    /// Whatever is asked for in whatever order, a plan is one that can be carried out, and what is
    /// done was proven and stays.
    #[test]
    fn any_commands_leave_a_plan_that_holds(
        first in prop::collection::vec(0_usize..6, 1..=6),
        commands in prop::collection::vec((any_command(), any::<bool>()), 0..60),
    ) {
        const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
        // Each step may need an earlier one: a plan to begin with.
        let steps = first.iter().enumerate().map(|(index, need)| {
            let needs: Vec<&str> = IDS.iter().take(index).skip(*need).copied().collect();
            new(IDS[index], &needs)
        });
        let mut plan = create(steps.collect()).unwrap();
        for ((command, proven), interrupt) in commands {
            let before = plan.clone();
            let trial = plan.current().and_then(|_| {
                trial(&plan, &ran(ToolStatus::Success, Some(i32::from(!proven))), None)
            });
            let is_new = matches!(command, PlanCommand::Create { .. });
            if let Ok(after) = plan.apply(command.clone(), trial.as_ref()) {
                let shown = command == PlanCommand::Show;
                prop_assert_eq!(after.revision, before.revision + u64::from(!shown));
                let newly_done = after.done().saturating_sub(before.done());
                prop_assert!(is_new || newly_done == 0 || (newly_done == 1 && proven));
                plan = after;
            }
            if interrupt {
                plan = plan.interrupted().unwrap_or(plan);
                prop_assert!(plan.running().is_none());
            }
            let ids: std::collections::HashSet<_> = plan.steps.iter().map(|step| &step.id).collect();
            prop_assert_eq!(ids.len(), plan.steps.len());
            prop_assert_eq!(graph::circle(&plan.steps), Vec::<String>::new());
            prop_assert!(plan.left().count() <= Plan::MAX_OPEN_STEPS);
            prop_assert!(plan.replans <= Plan::MAX_REPLANS);
            let running = plan.steps.iter().filter(|step| step.status == StepStatus::Running);
            prop_assert!(running.count() <= 1);
            for step in &plan.steps {
                let is_done = step.status == StepStatus::Done;
                prop_assert_eq!(is_done, step.proof.is_some());
                let has_begun = is_done || step.status == StepStatus::Running;
                prop_assert!(!has_begun || plan.waits_for(step).next().is_none());
            }
            if !is_new {
                for step in before.steps.iter().filter(|step| step.proof.is_some()) {
                    prop_assert_eq!(plan.step(&step.id), Some(step));
                }
            }
            let left = plan.left().count();
            prop_assert!(left == 0 || plan.running().is_some() || plan.ready().next().is_some());
            let json = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan.clone());
        }
    }
}
