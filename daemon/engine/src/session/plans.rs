//! The session's plan: what calls prove of it, and what becomes of it when a turn ends.

use agentd_domain::{
    EventBody, Plan, PlanChanged, PlanCommand, PlanError, StepStatus, SuspendReason,
    ToolCallFinished, ToolEffect, Trial,
};

use super::decide::Draft;
use super::state::SessionState;

/// The plan that follows from what a call asks of it.
pub(crate) fn answer(state: &SessionState, command: PlanCommand) -> Result<Plan, PlanError> {
    state.plan.apply(command, state.trial.as_ref())
}

/// Folds a new plan in. What was tried for one step says nothing of another, nor of the same one
/// begun anew.
pub(crate) fn changed(state: &mut SessionState, plan: &Plan) {
    let running = |plan: &Plan| plan.running().map(|step| step.id.clone());
    let begins = running(plan).is_some() && running(plan) != running(&state.plan);
    let current = plan.current().map(|step| step.id.as_str());
    let is_about = |trial: &Trial| current == Some(trial.step.as_str());
    if begins || !state.trial.as_ref().is_some_and(is_about) {
        state.trial = None;
    }
    state.plan.clone_from(plan);
}

/// Folds in what the result of a call says of the current step. Its call is still open.
pub(crate) fn tried(state: &mut SessionState, finished: &ToolCallFinished) {
    let Some(step) = state.plan.current() else { return };
    let open = state
        .turn
        .iter()
        .flat_map(|turn| &turn.open_calls)
        .find(|open| open.call.call_id == finished.call_id);
    let Some(open) = open else { return };
    let tests = finished.exit_code.and_then(|_| agentd_tools::count_tests(&finished.output));
    let arguments = open.call.arguments_json.as_str();
    let is_told = open.started != Some(ToolEffect::Process)
        || agentd_tools::surely_runs(arguments, &step.verify.text);
    if let Some(trial) =
        Trial::of(step, finished, arguments, open.started, tests).filter(|_| is_told)
    {
        state.trial = Some(trial);
    } else if finished.workspace_changed
        && let Some(trial) = &mut state.trial
    {
        trial.files_changed();
    }
}

/// The drafts of a batch, with the running step of the plan interrupted before a turn ends or another
/// begins. Twice is as once.
pub(crate) fn interrupt(state: &SessionState, drafts: Vec<Draft>) -> Vec<Draft> {
    if !drafts.iter().any(|draft| is_end(&draft.body)) {
        return drafts;
    }
    let mut interrupted = state.plan.interrupted();
    let mut all = Vec::with_capacity(drafts.len() + 1);
    for draft in drafts {
        if let EventBody::PlanChanged(PlanChanged { plan }) = &draft.body {
            interrupted = plan.interrupted();
        }
        if is_end(&draft.body)
            && let Some(plan) = interrupted.take()
        {
            all.push(Draft { turn_id: draft.turn_id, body: PlanChanged { plan }.into() });
        }
        all.push(draft);
    }
    all
}

/// The daemon's stop ends a turn too: when it goes on, its model may be another.
fn is_end(body: &EventBody) -> bool {
    match body {
        EventBody::TurnStarted(_)
        | EventBody::TurnCompleted(_)
        | EventBody::TurnFailed(_)
        | EventBody::TurnInterrupted(_) => true,
        EventBody::TurnSuspended(suspended) => suspended.reason == SuspendReason::DaemonStopped,
        _ => false,
    }
}

/// What the model is told at the start of a turn of a plan that is not through.
pub(crate) fn reminder(plan: &Plan) -> String {
    let left = plan.left().count();
    if left == 0 {
        return String::new();
    }
    let steps = plan.left().map(|step| {
        let state = match step.status {
            StepStatus::Failed => format!("failed: {}", step.note),
            StepStatus::Interrupted | StepStatus::Running => {
                "interrupted: see how far it is, then begin it again".to_owned()
            }
            StepStatus::Pending | StepStatus::Done => {
                let needs: Vec<&str> = plan.waits_for(step).collect();
                if needs.is_empty() {
                    "ready".to_owned()
                } else {
                    format!("waits for {}", needs.join(", "))
                }
            }
        };
        format!("\n- {} ({state}): {}", step.id, step.objective)
    });
    format!(
        "[note from agentd, not from the user: the plan '{}' of an earlier turn has {left} of {} steps \
         left. Go on with it through manage_plan only if that is what the user wants now.{}]",
        plan.goal,
        plan.steps.len(),
        steps.collect::<String>()
    )
}
