//! What calls ask of the session's plan (spec h.5). The session decides; the call's result says what
//! came of it.

use agentd_domain::{
    NewStep, Plan, PlanChanged, PlanCommand, PlanError, PlanStep, StepStatus, ToolCallFinished,
    ToolEffect, ToolStatus, Verification, cut_line,
};
use tokio::sync::oneshot;

use super::{Ended, TurnReport, TurnTask, cancelled};

/// Characters of an objective that the model reads again.
const SHOWN: usize = 160;

impl TurnTask {
    /// Carries out what a call asks; the plan that it leads to, if that is another.
    pub(super) async fn plan(
        &self,
        mut command: PlanCommand,
        finished: &mut ToolCallFinished,
    ) -> Result<Option<PlanChanged>, Ended> {
        if let PlanCommand::Create { steps, .. } | PlanCommand::Replan { steps, .. } = &mut command
            && let Err(problem) = self.check_proofs(steps)
        {
            refuse(finished, "TOOL_ARGUMENT_VALIDATION_FAILED", &problem);
            return Ok(None);
        }
        let is_look = command == PlanCommand::Show;
        let (reply, answer) = oneshot::channel();
        self.report(TurnReport::Plan { command, reply }).await?;
        match answer.await.map_err(|_actor_gone| cancelled())? {
            Ok(plan) => {
                finished.output = told(&plan);
                Ok((!is_look).then_some(PlanChanged { plan }))
            }
            Err(error) => {
                refuse(finished, code(&error), &format!("{error}."));
                Ok(None)
            }
        }
    }

    /// Sees to it that what is to prove steps can prove something.
    fn check_proofs(&self, steps: &mut [NewStep]) -> Result<(), String> {
        for NewStep { id, verify: Verification { tool, text }, .. } in steps {
            let known = self.deps.tools.find(tool);
            let Some(spec) = known.map(|tool| tool.spec()) else {
                return Err(format!(
                    "steps: verify.tool of '{}' is '{}', which is no tool. find_tools finds them.",
                    cut_line(id, 32),
                    cut_line(tool, 64)
                ));
            };
            match spec.capabilities.effect {
                ToolEffect::Pure => {
                    return Err(format!(
                        "steps: verify.tool of '{}' is {}, which proves nothing of the world. Take one \
                         that runs, reads, writes or fetches something.",
                        cut_line(id, 32),
                        spec.name
                    ));
                }
                ToolEffect::Process if text.trim().is_empty() => {
                    return Err(format!(
                        "steps: verify.text of '{}' is missing. Say what {} has to run, such as 'cargo \
                         test', or 'test' for check_project.",
                        cut_line(id, 32),
                        spec.name
                    ));
                }
                _ => tool.clone_from(&spec.name),
            }
        }
        Ok(())
    }
}

fn code(error: &PlanError) -> &'static str {
    match error {
        PlanError::Unproven { .. } => "PLAN_STEP_NOT_PROVEN",
        PlanError::Blank { .. } | PlanError::Steps(_) | PlanError::NoStep { .. } => {
            "TOOL_ARGUMENT_VALIDATION_FAILED"
        }
        PlanError::NoPlan
        | PlanError::Unfinished { .. }
        | PlanError::IsDone
        | PlanError::StepIsDone { .. }
        | PlanError::NotReady { .. }
        | PlanError::OtherRuns { .. }
        | PlanError::NotBegun { .. }
        | PlanError::TooManyReplans { .. } => "PLAN_REFUSED",
    }
}

fn refuse(finished: &mut ToolCallFinished, code: &str, problem: &str) {
    finished.status = ToolStatus::FatalError;
    code.clone_into(&mut finished.error_code);
    finished.output = format!("[the plan stays as it is: {problem}]");
}

/// What the model reads of a plan.
fn told(plan: &Plan) -> String {
    if plan.steps.is_empty() {
        return "The plan is dropped.".to_owned();
    }
    let mut lines = vec![format!(
        "Plan '{}': {} of {} steps done, planned anew {} of {} times.",
        plan.goal,
        plan.done(),
        plan.steps.len(),
        plan.replans,
        Plan::MAX_REPLANS
    )];
    lines.extend(plan.steps.iter().map(|step| line(plan, step)));
    let ready: Vec<&str> = plan.ready().map(|step| step.id.as_str()).collect();
    lines.push(match (plan.running(), ready.as_slice()) {
        (Some(step), _) => format!("'{}' is being done.", step.id),
        (None, []) => "All steps are done.".to_owned(),
        (None, ready) => format!("Ready to begin: {}.", ready.join(", ")),
    });
    lines.join("\n")
}

fn line(plan: &Plan, step: &PlanStep) -> String {
    let PlanStep { id, objective, verify, status, note, proof, .. } = step;
    let state = match (status, proof) {
        (StepStatus::Done, Some(proof)) => format!("done, {}: {}", proof.tool, proof.summary),
        (StepStatus::Done, None) => "done".to_owned(),
        (StepStatus::Failed, _) => format!("failed: {note}"),
        (StepStatus::Running, _) => format!("running, proven by {}", wanted(verify)),
        (StepStatus::Interrupted, _) => format!("interrupted, proven by {}", wanted(verify)),
        (StepStatus::Pending, _) => {
            let needs: Vec<&str> = plan.waits_for(step).collect();
            let waits = if needs.is_empty() {
                String::new()
            } else {
                format!("waits for {}, ", needs.join(", "))
            };
            format!("{waits}proven by {}", wanted(verify))
        }
    };
    format!("- {id}: {} ({state})", cut_line(objective, SHOWN))
}

fn wanted(verify: &Verification) -> String {
    match verify.text.as_str() {
        "" => verify.tool.clone(),
        text => format!("{} with '{}'", verify.tool, cut_line(text, SHOWN)),
    }
}
