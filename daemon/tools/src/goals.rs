//! The goals that hold where a call works, as the call reaches them. Somebody else keeps them.

use std::fmt::Debug;

use agentd_domain::{Goal, GoalContent, GoalPriority, SessionId, SessionStatus, UnfinishedWork};
use async_trait::async_trait;

/// A goal that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetGoal {
    /// It is new.
    New(Goal),
    /// One that says the same is open already.
    Known(Goal),
}

/// What became of a goal that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReachedGoal {
    /// It was open until now.
    Now(Goal),
    /// It was done before.
    Before(Goal),
}

/// Another session of the workspace that has not done all that it set out to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedSession {
    /// Which.
    pub session_id: SessionId,
    /// Its title; may be empty.
    pub title: String,
    /// What it is doing.
    pub status: SessionStatus,
    /// What it has left.
    pub left: UnfinishedWork,
}

/// What other sessions of the workspace have left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The last used first.
    pub sessions: Vec<UnfinishedSession>,
    /// How many more there are.
    pub more: usize,
    /// How many of the daemon's sessions were looked at, the last used first; none: all.
    pub looked_at: Option<usize>,
}

/// Why nothing became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalsError {
    /// Machine-readable, such as `NO_SUCH_GOAL`.
    pub code: &'static str,
    /// What is wrong and what to do, in sentences.
    pub message: String,
    /// It may work when tried again.
    pub may_pass: bool,
}

/// Goals of a workspace, and those that hold everywhere. What is set belongs to the workspace, and is
/// noted with who makes the call.
#[async_trait]
pub trait Goals: Debug + Send + Sync + 'static {
    /// All of them, in order of [`Goal::rank`].
    async fn list(&self) -> Result<Vec<Goal>, GoalsError>;

    /// Sets one. Where one that says the same is open, it is that one, with the priority if one is
    /// given.
    async fn set(
        &self,
        content: GoalContent,
        priority: Option<GoalPriority>,
    ) -> Result<SetGoal, GoalsError>;

    /// Notes that one is reached.
    async fn reach(&self, goal_id: &str) -> Result<ReachedGoal, GoalsError>;

    /// Removes one. A model cannot remove what a person has set.
    async fn remove(&self, goal_id: &str) -> Result<Goal, GoalsError>;

    /// What other sessions of the workspace have left.
    async fn unfinished(&self) -> Result<Unfinished, GoalsError>;
}

/// Nobody keeps any.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoGoals;

impl NoGoals {
    fn refusal() -> GoalsError {
        GoalsError {
            code: "NO_GOALS_HERE",
            message: "Nothing keeps goals where this call runs.".to_owned(),
            may_pass: false,
        }
    }
}

#[async_trait]
impl Goals for NoGoals {
    async fn list(&self) -> Result<Vec<Goal>, GoalsError> {
        Err(Self::refusal())
    }

    async fn set(
        &self,
        _content: GoalContent,
        _priority: Option<GoalPriority>,
    ) -> Result<SetGoal, GoalsError> {
        Err(Self::refusal())
    }

    async fn reach(&self, _goal_id: &str) -> Result<ReachedGoal, GoalsError> {
        Err(Self::refusal())
    }

    async fn remove(&self, _goal_id: &str) -> Result<Goal, GoalsError> {
        Err(Self::refusal())
    }

    async fn unfinished(&self) -> Result<Unfinished, GoalsError> {
        Err(Self::refusal())
    }
}
