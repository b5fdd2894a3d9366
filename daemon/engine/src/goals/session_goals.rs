//! The goals of a workspace, as the calls of a session reach them.

use std::path::PathBuf;
use std::sync::Arc;

use agentd_domain::{ErrorKind, Goal, GoalAuthor, GoalContent, GoalPriority, GoalScope, SessionId};
use agentd_tools::{Goals, GoalsError, ReachedGoal, SetGoal, Unfinished, UnfinishedSession};
use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::error::CommandError;
use crate::rules::root_of;
use crate::session::SessionDeps;

/// Sessions of the index that are looked at, the last used first.
const LOOKED_AT: usize = 200;

/// Sessions that are told.
const TOLD: usize = 10;

/// Goals that hold in one workspace.
#[derive(Debug)]
pub(crate) struct SessionGoals {
    pub(crate) deps: Arc<SessionDeps>,
    pub(crate) workspace: PathBuf,
    /// The session that calls: what it has left is its own.
    pub(crate) session: SessionId,
    /// Who is noted.
    pub(crate) by: GoalAuthor,
}

impl SessionGoals {
    /// Runs a change to its end: a call that is cut off leaves none that is durable and not seen.
    async fn whole<T: Send + 'static>(
        &self,
        change: impl Future<Output = Result<T, CommandError>> + Send + 'static,
    ) -> Result<T, GoalsError> {
        let (done, result) = oneshot::channel();
        self.deps.tasks.spawn("goal", async move {
            let _cut_off = done.send(change.await);
        });
        result.await.unwrap_or(Err(CommandError::Stopping)).map_err(|error| told(&error))
    }
}

#[async_trait]
impl Goals for SessionGoals {
    async fn list(&self) -> Result<Vec<Goal>, GoalsError> {
        let root = root_of(&self.workspace).await;
        let listed = self.deps.goals.list(&*self.deps.store, Some(&root)).await;
        listed.map_err(|error| told(&error.into()))
    }

    async fn set(
        &self,
        content: GoalContent,
        priority: Option<GoalPriority>,
    ) -> Result<SetGoal, GoalsError> {
        let scope = GoalScope::Workspace { root: root_of(&self.workspace).await };
        let (deps, by) = (Arc::clone(&self.deps), self.by.clone());
        self.whole(async move { deps.goals.set(&deps, content, priority, scope, by).await }).await
    }

    async fn reach(&self, goal_id: &str) -> Result<ReachedGoal, GoalsError> {
        let root = root_of(&self.workspace).await;
        let (deps, by, goal_id) = (Arc::clone(&self.deps), self.by.clone(), goal_id.to_owned());
        self.whole(async move { deps.goals.reach(&deps, &goal_id, Some(&root), by).await }).await
    }

    async fn remove(&self, goal_id: &str) -> Result<Goal, GoalsError> {
        let root = root_of(&self.workspace).await;
        let (deps, by, goal_id) = (Arc::clone(&self.deps), self.by.clone(), goal_id.to_owned());
        self.whole(async move { deps.goals.remove(&deps, &goal_id, Some(&root), &by).await }).await
    }

    /// Read from the index: no session is opened for it.
    async fn unfinished(&self) -> Result<Unfinished, GoalsError> {
        let root = root_of(&self.workspace).await;
        let page = self.deps.store.sessions(None, LOOKED_AT).await;
        let page = page.map_err(|error| told(&error.into()))?;
        let looked_at = page.next.map(|_further| LOOKED_AT);
        let mut found = Unfinished { looked_at, ..Unfinished::default() };
        for record in page.sessions {
            if record.session_id == self.session || record.unfinished.is_none() {
                continue;
            }
            let workspace = PathBuf::from(&record.workspace);
            if record.workspace != root && root_of(&workspace).await != root {
                continue;
            }
            if found.sessions.len() == TOLD {
                found.more += 1;
                continue;
            }
            found.sessions.push(UnfinishedSession {
                session_id: record.session_id,
                title: record.title,
                status: record.status,
                left: record.unfinished,
            });
        }
        Ok(found)
    }
}

/// An error as a model reads it.
fn told(error: &CommandError) -> GoalsError {
    let (code, remedy) = match error {
        CommandError::NoGoal(_) => ("NO_SUCH_GOAL", "list shows those there are here"),
        CommandError::TooManyGoals { .. } => {
            ("TOO_MANY_GOALS", "drop some that no longer matter, or tell the user")
        }
        CommandError::GoalOfPerson(_) => {
            ("GOAL_OF_PERSON", "if it no longer matters, tell the user: `agentctl goals drop`")
        }
        other => ("GOALS_UNAVAILABLE", other.hint()),
    };
    let may_pass = matches!(error.kind(), ErrorKind::Unavailable);
    let problem = match error {
        CommandError::Read(error) => format!("the goals could not be read: {error}"),
        other => other.to_string(),
    };
    GoalsError { code, message: format!("{problem}; {remedy}."), may_pass }
}
