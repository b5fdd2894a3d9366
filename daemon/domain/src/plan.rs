//! Plans (spec h.5): steps that depend on each other, each done only when a call has proven it.
//!
//! Pure: a command gives the plan that follows from it, or says why it cannot. Reading order: `command`
//! (what can be asked for), `graph` (which steps a plan may have), `proof` (when a step is done).

mod command;
mod graph;
mod proof;

use serde::{Deserialize, Serialize};

use crate::cut_line;

pub use command::{PlanCommand, PlanError};
pub use graph::{NewStep, StepsError};
pub use proof::{Proof, TestCounts, Trial, Verification};

/// How far a step is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being done, in a turn that runs.
    Running,
    /// Done and proven.
    Done,
    /// Tried, and it cannot be done like this.
    Failed,
    /// Its turn ended before it was done.
    Interrupted,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// What it is called in the plan: `^[A-Za-z0-9_-]{1,32}$`.
    pub id: String,
    /// What is to be done, one line.
    pub objective: String,
    /// The ids of the steps that have to be done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// What proves it.
    pub verify: Verification,
    /// How far it is.
    #[serde(default)]
    pub status: StepStatus,
    /// Why it failed, one line; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The call that proved it; none before it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// The plan of a session. Each change gives the whole plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What it is for, one line.
    pub goal: String,
    /// In the order in which they were given; those that were done before a replan stand first. None: there
    /// is no plan.
    pub steps: Vec<PlanStep>,
    /// How often what was left has been planned anew.
    #[serde(default)]
    pub replans: u32,
    /// How often the session's plan has changed.
    #[serde(default)]
    pub revision: u64,
}

impl Plan {
    /// Longest goal in characters.
    pub const MAX_GOAL: usize = 255;
    /// Longest objective, or reason, in characters.
    pub const MAX_LINE: usize = 500;
    /// Most steps that are not done (spec d.4: 6).
    pub const MAX_OPEN_STEPS: usize = 6;
    /// How often what is left can be planned anew (spec d.7: 5).
    pub const MAX_REPLANS: u32 = 5;

    /// The step with this id.
    pub fn step(&self, id: &str) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// The step that is being done.
    pub fn running(&self) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.status == StepStatus::Running)
    }

    /// The step that calls can prove: the one that is being done, else the one that was.
    pub fn current(&self) -> Option<&PlanStep> {
        let interrupted = || self.steps.iter().find(|step| step.status == StepStatus::Interrupted);
        self.running().or_else(interrupted)
    }

    /// Steps that are not done, in order.
    pub fn left(&self) -> impl Iterator<Item = &PlanStep> {
        self.steps.iter().filter(|step| step.status != StepStatus::Done)
    }

    /// Steps that are done.
    pub fn done(&self) -> usize {
        self.steps.len() - self.left().count()
    }

    /// What a step still waits for, in order.
    pub fn waits_for<'a>(&'a self, step: &'a PlanStep) -> impl Iterator<Item = &'a str> {
        let is_done =
            |need: &&String| self.step(need).is_some_and(|step| step.status == StepStatus::Done);
        step.needs.iter().filter(move |need| !is_done(need)).map(String::as_str)
    }

    /// Steps that can be begun now, in order.
    pub fn ready(&self) -> impl Iterator<Item = &PlanStep> {
        self.left().filter(|step| {
            step.status != StepStatus::Running && self.waits_for(step).next().is_none()
        })
    }

    /// The plan once the turn is over that did the running step; none: no step runs.
    #[must_use]
    pub fn interrupted(&self) -> Option<Self> {
        self.running()?;
        let mut plan = self.clone();
        for step in &mut plan.steps {
            if step.status == StepStatus::Running {
                step.status = StepStatus::Interrupted;
            }
        }
        plan.revision += 1;
        Some(plan)
    }
}

fn one_line(text: &str, max: usize) -> String {
    cut_line(&text.split_whitespace().collect::<Vec<_>>().join(" "), max)
}

#[cfg(test)]
mod tests;
