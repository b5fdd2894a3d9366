//! A view of a session's plan.

use agentd_proto::v1;
use serde::Serialize;

/// The whole plan.
#[derive(Debug, Serialize)]
pub(super) struct PlanView<'a> {
    goal: &'a str,
    steps: Vec<StepView<'a>>,
    replans: u32,
    replans_limit: u32,
    revision: u64,
}

#[derive(Debug, Serialize)]
struct StepView<'a> {
    id: &'a str,
    objective: &'a str,
    needs: &'a [String],
    verify: Option<VerificationView<'a>>,
    status: String,
    note: &'a str,
    proof: Option<ProofView<'a>>,
    waits_for: &'a [String],
}

#[derive(Debug, Serialize)]
struct VerificationView<'a> {
    tool: &'a str,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct ProofView<'a> {
    call_id: &'a str,
    tool: &'a str,
    summary: &'a str,
}

impl<'a> From<&'a v1::Plan> for PlanView<'a> {
    fn from(plan: &'a v1::Plan) -> Self {
        let v1::Plan { goal, steps, replans, replans_limit, revision } = plan;
        Self {
            goal,
            steps: steps.iter().map(StepView::from).collect(),
            replans: *replans,
            replans_limit: *replans_limit,
            revision: *revision,
        }
    }
}

impl<'a> From<&'a v1::PlanStep> for StepView<'a> {
    fn from(step: &'a v1::PlanStep) -> Self {
        let v1::PlanStep { id, objective, needs, verify, status, note, proof, waits_for } = step;
        Self {
            id,
            objective,
            needs,
            verify: verify.as_ref().map(|verify| {
                let v1::PlanVerification { tool, text } = verify;
                VerificationView { tool, text }
            }),
            status: super::plan_step_status(*status),
            note,
            proof: proof.as_ref().map(|proof| {
                let v1::PlanProof { call_id, tool, summary } = proof;
                ProofView { call_id, tool, summary }
            }),
            waits_for,
        }
    }
}
