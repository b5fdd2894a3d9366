//! What a session has set out to do: its plan and its list, as lines.

use agentd_proto::v1;

use super::Role;
use super::notes::DETAIL_WIDTH;
use crate::text::one_line;

/// Columns for why a step failed, or for what proved it.
const REASON_WIDTH: usize = 60;

/// The plan, a line for each step.
pub fn plan(plan: &v1::Plan) -> String {
    joined(&plan_lines(plan))
}

/// The same, with what each line is. All are inert.
pub fn plan_lines(plan: &v1::Plan) -> Vec<(Role, String)> {
    let v1::Plan { goal, steps, replans, replans_limit, revision: _ } = plan;
    if steps.is_empty() {
        return vec![(Role::Dim, "◆ there is no plan".to_owned())];
    }
    let is_done = |step: &&v1::PlanStep| step.status() == v1::PlanStepStatus::Done;
    let done = steps.iter().filter(is_done).count();
    let anew = match replans {
        0 => String::new(),
        replans => format!(", planned anew {replans} of {replans_limit} times"),
    };
    let heading =
        format!("◆ plan: {}: {done} of {} done{anew}", one_line(goal, DETAIL_WIDTH), steps.len());
    std::iter::once((Role::Heading, heading)).chain(steps.iter().map(step)).collect()
}

fn joined(lines: &[(Role, String)]) -> String {
    lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
}

fn step(step: &v1::PlanStep) -> (Role, String) {
    let proof = step.proof.clone().unwrap_or_default();
    let verify = step.verify.clone().unwrap_or_default();
    let wanted = match verify.text.as_str() {
        "" => verify.tool.clone(),
        text => format!("{} {text}", verify.tool),
    };
    let (role, mark, more) = match step.status() {
        v1::PlanStepStatus::Done => (Role::Good, '✓', format!("{}: {}", proof.tool, proof.summary)),
        v1::PlanStepStatus::Running => (Role::Accent, '▸', format!("to be proven by {wanted}")),
        v1::PlanStepStatus::Failed => (Role::Error, '✗', step.note.clone()),
        v1::PlanStepStatus::Interrupted => (Role::Warn, '‖', "interrupted".to_owned()),
        v1::PlanStepStatus::Pending | v1::PlanStepStatus::Unspecified
            if step.waits_for.is_empty() =>
        {
            (Role::Plain, '·', String::new())
        }
        v1::PlanStepStatus::Pending | v1::PlanStepStatus::Unspecified => {
            (Role::Plain, '·', format!("after {}", step.waits_for.join(", ")))
        }
    };
    let more = match one_line(&more, REASON_WIDTH) {
        more if more.is_empty() => more,
        more => format!(" ({more})"),
    };
    let (id, objective) = (one_line(&step.id, 32), one_line(&step.objective, DETAIL_WIDTH));
    (role, format!("  {mark} {id}: {objective}{more}"))
}

/// What the session has set out to do, a line for each step.
pub fn todo(list: &v1::TodoList) -> String {
    joined(&todo_lines(list))
}

/// The same, with what each line is. All are inert.
pub fn todo_lines(list: &v1::TodoList) -> Vec<(Role, String)> {
    if list.items.is_empty() {
        return vec![(Role::Dim, "◆ nothing is left on the list".to_owned())];
    }
    let completed =
        list.items.iter().filter(|item| item.status() == v1::TodoStatus::Completed).count();
    let title = one_line(&list.title, DETAIL_WIDTH);
    let title = if title.is_empty() { "to do" } else { &title };
    let heading = format!("◆ {title}: {completed} of {} done", list.items.len());
    let step = |item: &v1::TodoItem| {
        let (role, mark) = match item.status() {
            v1::TodoStatus::Completed => (Role::Dim, '✓'),
            v1::TodoStatus::Running => (Role::Accent, '▸'),
            v1::TodoStatus::Pending | v1::TodoStatus::Unspecified => (Role::Plain, '·'),
        };
        (role, format!("  {mark} {}", one_line(&item.label, DETAIL_WIDTH)))
    };
    std::iter::once((Role::Heading, heading)).chain(list.items.iter().map(step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step_of(id: &str, status: v1::PlanStepStatus) -> v1::PlanStep {
        v1::PlanStep {
            id: id.into(),
            objective: format!("do\n{id}"),
            verify: Some(v1::PlanVerification { tool: "run_command".into(), text: "make".into() }),
            status: status.into(),
            ..Default::default()
        }
    }

    #[test]
    fn a_plan_is_shown_whole_with_what_proved_its_steps() {
        let proof = v1::PlanProof {
            call_id: "c1".into(),
            tool: "run_command".into(),
            summary: "exit code 0, 3 tests passed, 0 failed".into(),
        };
        let shown = plan(&v1::Plan {
            goal: "fix\u{1b}[2J".into(),
            steps: vec![
                v1::PlanStep { proof: Some(proof), ..step_of("a", v1::PlanStepStatus::Done) },
                step_of("b", v1::PlanStepStatus::Running),
                v1::PlanStep {
                    note: "no\nmake".into(),
                    ..step_of("c", v1::PlanStepStatus::Failed)
                },
                step_of("d", v1::PlanStepStatus::Interrupted),
                step_of("e", v1::PlanStepStatus::Pending),
                v1::PlanStep {
                    waits_for: vec!["b".into(), "e".into()],
                    ..step_of("f", v1::PlanStepStatus::Pending)
                },
            ],
            replans: 2,
            replans_limit: 5,
            revision: 9,
        });
        let expect = "\
◆ plan: fix\\u{1b}[2J: 1 of 6 done, planned anew 2 of 5 times
  ✓ a: do a (run_command: exit code 0, 3 tests passed, 0 failed)
  ▸ b: do b (to be proven by run_command make)
  ✗ c: do c (no make)
  ‖ d: do d (interrupted)
  · e: do e
  · f: do f (after b, e)";
        assert_eq!(shown, expect);
        assert_eq!(plan(&v1::Plan::default()), "◆ there is no plan");
    }

    #[test]
    fn a_todo_list_is_shown_whole() {
        let item = |label: &str, status: v1::TodoStatus| v1::TodoItem {
            label: label.into(),
            status: status.into(),
        };
        let list = v1::TodoList {
            title: "fix\u{1b}[2J".into(),
            items: vec![
                item("look", v1::TodoStatus::Completed),
                item("edit\nall", v1::TodoStatus::Running),
                item("test", v1::TodoStatus::Pending),
            ],
            revision: 3,
        };
        let expect = "◆ fix\\u{1b}[2J: 1 of 3 done\n  ✓ look\n  ▸ edit all\n  · test";
        assert_eq!(todo(&list), expect);
        assert_eq!(todo(&v1::TodoList::default()), "◆ nothing is left on the list");
    }
}
