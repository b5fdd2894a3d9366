//! Goals: what is to be reached beyond one session (spec i.14).
//!
//! They belong to a workspace, or hold everywhere, and outlive every session. All of them are in
//! memory, and there is one owner of them, the `GoalBook`: each change is durable before it is seen.
//! The calls of a session reach them through [`SessionGoals`].

mod book;
mod session_goals;

use std::path::Path;

use agentd_domain::{Goal, GoalAuthor, GoalContent, GoalPriority, GoalScope};
use agentd_tools::{ReachedGoal, SetGoal};

use crate::engine::{Engine, check_workspace};
use crate::error::CommandError;
use crate::rules::root_of;
use crate::session::SessionDeps;

pub(crate) use book::GoalBook;
pub use book::{MAX_DONE_GOALS, MAX_OPEN_GOALS, MAX_OPEN_GOALS_OF_SCOPE};
pub(crate) use session_goals::SessionGoals;

/// A goal to be set.
#[derive(Debug, Clone)]
pub struct NewGoal {
    /// What.
    pub content: GoalContent,
    /// How important it is; none: as one that says the same is, else the middle.
    pub priority: Option<GoalPriority>,
    /// Directory of the workspace that it belongs to; none: it holds everywhere.
    pub workspace: Option<String>,
    /// Who sets it.
    pub by: GoalAuthor,
}

impl Engine {
    /// Goals in order of [`Goal::rank`]: all, or those that hold in a workspace.
    ///
    /// # Errors
    /// When there is no such directory, or they cannot be read.
    pub async fn goals(&self, workspace: Option<&str>) -> Result<Vec<Goal>, CommandError> {
        let root = match workspace {
            None => None,
            Some(directory) => {
                check_workspace(directory).await?;
                Some(root_of(Path::new(directory)).await)
            }
        };
        let deps = self.deps();
        Ok(deps.goals.list(&*deps.store, root.as_deref()).await?)
    }

    /// Sets a goal, or gives the open one that says the same.
    ///
    /// # Errors
    /// When the workspace is no directory, there are too many goals, or the store fails.
    ///
    /// # Cancel safety
    /// None: a goal may be durable and not be seen. Run it in a task of its own.
    pub async fn set_goal(&self, new: NewGoal) -> Result<SetGoal, CommandError> {
        let NewGoal { content, priority, workspace, by } = new;
        let scope = match workspace {
            None => GoalScope::User,
            Some(directory) => {
                check_workspace(&directory).await?;
                GoalScope::Workspace { root: root_of(Path::new(&directory)).await }
            }
        };
        let deps = self.deps();
        deps.goals.set(deps, content, priority, scope, by).await
    }

    /// Notes that a goal is reached.
    ///
    /// # Errors
    /// When there is no such goal, or the store fails.
    ///
    /// # Cancel safety
    /// As of [`Self::set_goal`].
    pub async fn reach_goal(
        &self,
        goal_id: &str,
        by: GoalAuthor,
    ) -> Result<ReachedGoal, CommandError> {
        let deps = self.deps();
        deps.goals.reach(deps, goal_id, None, by).await
    }

    /// Removes a goal.
    ///
    /// # Errors
    /// As [`Self::reach_goal`].
    ///
    /// # Cancel safety
    /// As of [`Self::set_goal`].
    pub async fn remove_goal(&self, goal_id: &str, by: &GoalAuthor) -> Result<Goal, CommandError> {
        let deps = self.deps();
        deps.goals.remove(deps, goal_id, None, by).await
    }
}

/// What the first turn of a session is told of goals: how many are open, and nothing of what they say.
/// None when there are none, or they cannot be read.
pub(crate) async fn note(deps: &SessionDeps, workspace: &str) -> Option<String> {
    let root = root_of(Path::new(workspace)).await;
    match deps.goals.count_open(&*deps.store, &root).await {
        Ok(0) => None,
        Ok(1) => Some("1 goal is open here, which manage_goals lists".to_owned()),
        Ok(many) => Some(format!("{many} goals are open here, which manage_goals lists")),
        Err(error) => {
            tracing::warn!(%error, "the goals cannot be read");
            None
        }
    }
}
