//! Which steps a plan may have: few, named once, and in no circle.

use super::{Plan, PlanStep, StepStatus, Verification, one_line};

/// A step as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStep {
    /// See [`PlanStep::id`].
    pub id: String,
    /// See [`PlanStep::objective`].
    pub objective: String,
    /// See [`PlanStep::needs`].
    pub needs: Vec<String>,
    /// See [`PlanStep::verify`].
    pub verify: Verification,
}

/// Why steps make no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepsError {
    /// None at all.
    #[error("steps: a plan has at least one")]
    None,
    /// Too many.
    #[error("steps: {got} are too many; at most {max} can be left to do, so make them larger")]
    TooMany {
        /// How many there are.
        got: usize,
        /// How many there may be.
        max: usize,
    },
    /// An id that is none.
    #[error("steps[{index}].id: it takes 1 to 32 of A-Z, a-z, 0-9, _ and -")]
    Id {
        /// Which step.
        index: usize,
    },
    /// Two steps of one name.
    #[error("steps: '{id}' is there twice; give each step an id of its own")]
    Twice {
        /// The name.
        id: String,
    },
    /// Nothing to do, or nothing that proves it.
    #[error("steps: {field} of '{id}' is blank")]
    Blank {
        /// The step.
        id: String,
        /// Which part of it.
        field: &'static str,
    },
    /// It needs a step that is not there.
    #[error("steps: '{id}' needs '{need}', which is no step of the plan")]
    UnknownNeed {
        /// The step.
        id: String,
        /// What it needs.
        need: String,
    },
    /// Steps that wait for each other.
    #[error("steps: {} wait for each other; leave out what they need", .ids.join(", "))]
    Circle {
        /// Them.
        ids: Vec<String>,
    },
}

/// The steps of a plan that keeps `done` and has `new` to do.
pub(super) fn steps(done: Vec<PlanStep>, new: Vec<NewStep>) -> Result<Vec<PlanStep>, StepsError> {
    if new.is_empty() {
        return Err(StepsError::None);
    }
    if new.len() > Plan::MAX_OPEN_STEPS {
        return Err(StepsError::TooMany { got: new.len(), max: Plan::MAX_OPEN_STEPS });
    }
    let mut steps = done;
    for (index, step) in new.into_iter().enumerate() {
        let NewStep { id, objective, mut needs, verify } = step;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if id.is_empty() || id.len() > 32 || !id.chars().all(is_name) {
            return Err(StepsError::Id { index });
        }
        if steps.iter().any(|step| step.id == id) {
            return Err(StepsError::Twice { id });
        }
        let objective = one_line(&objective, Plan::MAX_LINE);
        let verify = Verification {
            tool: one_line(&verify.tool, 64),
            text: one_line(&verify.text, Plan::MAX_LINE),
        };
        if objective.is_empty() {
            return Err(StepsError::Blank { id, field: "objective" });
        }
        if verify.tool.is_empty() {
            return Err(StepsError::Blank { id, field: "verify.tool" });
        }
        needs.sort_unstable();
        needs.dedup();
        let (status, note, proof) = (StepStatus::Pending, String::new(), None);
        steps.push(PlanStep { id, objective, needs, verify, status, note, proof });
    }
    for step in &steps {
        if let Some(need) =
            step.needs.iter().find(|need| !steps.iter().any(|other| other.id == **need))
        {
            return Err(StepsError::UnknownNeed { id: step.id.clone(), need: need.clone() });
        }
    }
    let circle = circle(&steps);
    if !circle.is_empty() {
        return Err(StepsError::Circle { ids: circle });
    }
    Ok(steps)
}

/// The steps that can never be begun, by taking away those that can until none is left to take
/// (Kahn 1962).
pub(super) fn circle(steps: &[PlanStep]) -> Vec<String> {
    let mut waiting: Vec<&PlanStep> = steps.iter().collect();
    loop {
        let before = waiting.len();
        let ids: Vec<&str> = waiting.iter().map(|step| step.id.as_str()).collect();
        waiting.retain(|step| step.needs.iter().any(|need| ids.contains(&need.as_str())));
        if waiting.is_empty() || waiting.len() == before {
            return waiting.into_iter().map(|step| step.id.clone()).collect();
        }
    }
}
