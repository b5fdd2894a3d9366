//! The plan of a session.

use agentd_domain::{Plan, PlanStep, Proof, StepStatus, Verification};
use agentd_proto::v1;

pub(crate) fn plan(plan: &Plan) -> v1::Plan {
    let Plan { goal, steps, replans, revision } = plan;
    v1::Plan {
        goal: goal.clone(),
        steps: steps.iter().map(|step| self::step(plan, step)).collect(),
        replans: *replans,
        replans_limit: Plan::MAX_REPLANS,
        revision: *revision,
    }
}

fn step(plan: &Plan, step: &PlanStep) -> v1::PlanStep {
    let PlanStep { id, objective, needs, verify, status, note, proof } = step;
    let Verification { tool, text } = verify;
    let status = match status {
        StepStatus::Pending => v1::PlanStepStatus::Pending,
        StepStatus::Running => v1::PlanStepStatus::Running,
        StepStatus::Done => v1::PlanStepStatus::Done,
        StepStatus::Failed => v1::PlanStepStatus::Failed,
        StepStatus::Interrupted => v1::PlanStepStatus::Interrupted,
    };
    v1::PlanStep {
        id: id.clone(),
        objective: objective.clone(),
        needs: needs.clone(),
        verify: Some(v1::PlanVerification { tool: tool.clone(), text: text.clone() }),
        status: status.into(),
        note: note.clone(),
        proof: proof.as_ref().map(self::proof),
        waits_for: plan.waits_for(step).map(str::to_owned).collect(),
    }
}

fn proof(proof: &Proof) -> v1::PlanProof {
    let Proof { call_id, tool, summary } = proof;
    v1::PlanProof { call_id: call_id.to_string(), tool: tool.clone(), summary: summary.clone() }
}
