//! What can be done with a plan.

use super::{NewStep, Plan, PlanStep, StepStatus, StepsError, Trial, graph, one_line};

/// What is asked of the session's plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanCommand {
    /// Nothing: to see it.
    Show,
    /// A plan, where none is left to do.
    Create {
        /// What it is for.
        goal: String,
        /// What is to be done.
        steps: Vec<NewStep>,
    },
    /// A step begins.
    Begin {
        /// Its id.
        step: String,
    },
    /// A step is done.
    Done {
        /// Its id.
        step: String,
    },
    /// A step cannot be done.
    Fail {
        /// Its id.
        step: String,
        /// Why.
        why: String,
    },
    /// What is not done is to be done in another way.
    Replan {
        /// Why.
        why: String,
        /// What is to be done instead.
        steps: Vec<NewStep>,
    },
    /// It is given up.
    Drop,
}

/// Why a command cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is none.
    #[error("there is no plan: make one with create, a goal and steps")]
    NoPlan,
    /// One is there.
    #[error(
        "the plan '{goal}' has {left} steps left: go on with it, change it with replan, or drop it"
    )]
    Unfinished {
        /// Its goal.
        goal: String,
        /// Steps that are not done.
        left: usize,
    },
    /// Everything is done.
    #[error("all steps are done: a new plan is made with create")]
    IsDone,
    /// A blank text.
    #[error("{field} is blank")]
    Blank {
        /// Which one.
        field: &'static str,
    },
    /// The steps make no plan.
    #[error(transparent)]
    Steps(#[from] StepsError),
    /// No step of that name.
    #[error("step: '{got}' is none of the plan: {}", .known.join(", "))]
    NoStep {
        /// What was asked for.
        got: String,
        /// What there is.
        known: Vec<String>,
    },
    /// It is done already.
    #[error("step '{step}' is done already")]
    StepIsDone {
        /// Its id.
        step: String,
    },
    /// Others come first.
    #[error("step '{step}' waits for {}", .needs.join(", "))]
    NotReady {
        /// Its id.
        step: String,
        /// What it waits for.
        needs: Vec<String>,
    },
    /// One at a time.
    #[error("step '{running}' is being done: end it with done or fail first")]
    OtherRuns {
        /// The other one.
        running: String,
    },
    /// It has not begun.
    #[error("step '{step}' has not begun: begin it first, so that what proves it comes after that")]
    NotBegun {
        /// Its id.
        step: String,
    },
    /// Nothing proves it.
    #[error(
        "step '{step}' is not proven: {why}. It is done once a call of {} succeeds in this turn",
        .verify
    )]
    Unproven {
        /// Its id.
        step: String,
        /// What is missing.
        why: String,
        /// What would prove it.
        verify: String,
    },
    /// Planned anew too often.
    #[error(
        "it was planned anew {max} times, which is the most: finish what is left, or drop the plan \
         and tell the user what stands in the way"
    )]
    TooManyReplans {
        /// How often it may be.
        max: u32,
    },
}

impl Plan {
    /// The plan that follows. `trial` is the last call that could have proven the current step.
    ///
    /// # Errors
    /// When the command does not fit the plan; it stays as it is then.
    pub fn apply(&self, command: PlanCommand, trial: Option<&Trial>) -> Result<Self, PlanError> {
        let mut plan = match command {
            PlanCommand::Show | PlanCommand::Drop if self.steps.is_empty() => {
                return Err(PlanError::NoPlan);
            }
            PlanCommand::Show => return Ok(self.clone()),
            PlanCommand::Create { goal, steps } => self.create(&goal, steps)?,
            PlanCommand::Begin { step } => self.begin(&step)?,
            PlanCommand::Done { step } => self.finish(&step, trial)?,
            PlanCommand::Fail { step, why } => self.fail(&step, &why)?,
            PlanCommand::Replan { why, steps } => self.replan(&why, steps)?,
            PlanCommand::Drop => Self::default(),
        };
        plan.revision = self.revision + 1;
        Ok(plan)
    }

    fn create(&self, goal: &str, steps: Vec<NewStep>) -> Result<Self, PlanError> {
        let left = self.left().count();
        if left > 0 {
            return Err(PlanError::Unfinished { goal: self.goal.clone(), left });
        }
        let goal = one_line(goal, Self::MAX_GOAL);
        if goal.is_empty() {
            return Err(PlanError::Blank { field: "goal" });
        }
        let steps = graph::steps(Vec::new(), steps)?;
        Ok(Self { goal, steps, ..Self::default() })
    }

    fn begin(&self, id: &str) -> Result<Self, PlanError> {
        let step = self.open_step(id)?;
        if let Some(running) = self.running().filter(|running| running.id != id) {
            return Err(PlanError::OtherRuns { running: running.id.clone() });
        }
        let needs: Vec<String> = self.waits_for(step).map(str::to_owned).collect();
        if !needs.is_empty() {
            return Err(PlanError::NotReady { step: id.to_owned(), needs });
        }
        Ok(self.with(id, |step| {
            step.status = StepStatus::Running;
            step.note.clear();
        }))
    }

    fn finish(&self, id: &str, trial: Option<&Trial>) -> Result<Self, PlanError> {
        let step = self.begun_step(id)?;
        let unproven = |why: String| {
            let verify = match step.verify.text.as_str() {
                "" => step.verify.tool.clone(),
                text => format!("{} with '{text}'", step.verify.tool),
            };
            PlanError::Unproven { step: id.to_owned(), why, verify }
        };
        match trial.filter(|trial| trial.step == id) {
            None => Err(unproven("no such call was run since it began".to_owned())),
            Some(trial) if !trial.passed => {
                Err(unproven(format!("the last such call: {}", trial.proof.summary)))
            }
            Some(trial) => Ok(self.with(id, |step| {
                step.status = StepStatus::Done;
                step.note.clear();
                step.proof = Some(trial.proof.clone());
            })),
        }
    }

    fn fail(&self, id: &str, why: &str) -> Result<Self, PlanError> {
        self.begun_step(id)?;
        let why = reason(why)?;
        Ok(self.with(id, |step| {
            step.status = StepStatus::Failed;
            step.note = why;
        }))
    }

    fn replan(&self, why: &str, steps: Vec<NewStep>) -> Result<Self, PlanError> {
        if self.steps.is_empty() {
            return Err(PlanError::NoPlan);
        }
        if self.left().next().is_none() {
            return Err(PlanError::IsDone);
        }
        reason(why)?;
        if self.replans >= Self::MAX_REPLANS {
            return Err(PlanError::TooManyReplans { max: Self::MAX_REPLANS });
        }
        let done = self.steps.iter().filter(|step| step.status == StepStatus::Done);
        let steps = graph::steps(done.cloned().collect(), steps)?;
        Ok(Self { steps, replans: self.replans + 1, ..self.clone() })
    }

    /// A step that can still be done.
    fn open_step(&self, id: &str) -> Result<&PlanStep, PlanError> {
        if self.steps.is_empty() {
            return Err(PlanError::NoPlan);
        }
        let step = self.step(id).ok_or_else(|| PlanError::NoStep {
            got: one_line(id, 40),
            known: self.steps.iter().map(|step| step.id.clone()).collect(),
        })?;
        match step.status {
            StepStatus::Done => Err(PlanError::StepIsDone { step: id.to_owned() }),
            _ => Ok(step),
        }
    }

    /// The step that has begun, in this turn or one that was cut off.
    fn begun_step(&self, id: &str) -> Result<&PlanStep, PlanError> {
        let step = self.open_step(id)?;
        match self.current() {
            Some(current) if current.id == id => Ok(step),
            _ => Err(PlanError::NotBegun { step: id.to_owned() }),
        }
    }

    fn with(&self, id: &str, change: impl FnOnce(&mut PlanStep)) -> Self {
        let mut plan = self.clone();
        if let Some(step) = plan.steps.iter_mut().find(|step| step.id == id) {
            change(step);
        }
        plan
    }
}

fn reason(why: &str) -> Result<String, PlanError> {
    let why = one_line(why, Plan::MAX_LINE);
    if why.is_empty() { Err(PlanError::Blank { field: "why" }) } else { Ok(why) }
}
