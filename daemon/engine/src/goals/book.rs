//! All goals: in memory, and durable before they are seen.

use agentd_domain::{Goal, GoalAuthor, GoalContent, GoalDone, GoalPriority, GoalScope};
use agentd_store::{Batch, ReadError, Store, Write};
use agentd_tools::{ReachedGoal, SetGoal};
use tokio::sync::Mutex;

use crate::error::CommandError;
use crate::session::SessionDeps;

/// Most open goals.
pub const MAX_OPEN_GOALS: usize = 200;

/// Most open goals of one workspace, and most that hold everywhere: no workspace uses up the room of
/// all.
pub const MAX_OPEN_GOALS_OF_SCOPE: usize = 50;

/// Goals that are done and still kept; the one that was done first goes first.
pub const MAX_DONE_GOALS: usize = 100;

/// The one owner of the goals.
#[derive(Debug, Default)]
pub(crate) struct GoalBook {
    /// None until they have been read. Locked from the look at them to the change in memory, so that no
    /// two changes come between each other.
    known: Mutex<Option<Vec<Goal>>>,
}

impl GoalBook {
    /// Those that hold in the workspace with this root, or all, in order of [`Goal::rank`].
    pub(crate) async fn list(
        &self,
        store: &dyn Store,
        root: Option<&str>,
    ) -> Result<Vec<Goal>, ReadError> {
        let mut known = self.known.lock().await;
        let goals = read(&mut known, store).await?;
        let mut wanted: Vec<Goal> =
            goals.iter().filter(|goal| holds(goal, root)).cloned().collect();
        wanted.sort_by_key(Goal::rank);
        Ok(wanted)
    }

    /// How many are open in the workspace with this root.
    pub(crate) async fn count_open(
        &self,
        store: &dyn Store,
        root: &str,
    ) -> Result<usize, ReadError> {
        let mut known = self.known.lock().await;
        let goals = read(&mut known, store).await?;
        Ok(goals.iter().filter(|goal| goal.is_open() && goal.scope.holds_in(root)).count())
    }

    /// Sets one. Where one that says the same is open, it gets the priority, if one is given.
    ///
    /// # Cancel safety
    /// None, nor have the others that change goals: a change may be durable and not be seen.
    pub(crate) async fn set(
        &self,
        deps: &SessionDeps,
        content: GoalContent,
        priority: Option<GoalPriority>,
        scope: GoalScope,
        by: GoalAuthor,
    ) -> Result<SetGoal, CommandError> {
        let mut known = self.known.lock().await;
        let goals = read(&mut known, &*deps.store).await?;
        let same =
            |goal: &&mut Goal| goal.is_open() && goal.scope == scope && goal.content == content;
        if let Some(same) = goals.iter_mut().find(same) {
            let priority = priority.unwrap_or(same.priority);
            if priority != same.priority {
                let changed = Goal { priority, ..same.clone() };
                deps.store.commit(Batch::of(Write::PutGoal(changed.clone()))).await?;
                *same = changed;
            }
            return Ok(SetGoal::Known(same.clone()));
        }
        let open = goals.iter().filter(|goal| goal.is_open());
        let (all, of_scope) = open.fold((0, 0), |(all, of_scope), goal| {
            (all + 1, of_scope + usize::from(goal.scope == scope))
        });
        if of_scope >= MAX_OPEN_GOALS_OF_SCOPE {
            let wherever = match scope {
                GoalScope::User => "that hold everywhere",
                GoalScope::Workspace { .. } => "of this workspace",
            };
            return Err(CommandError::TooManyGoals { max: MAX_OPEN_GOALS_OF_SCOPE, wherever });
        }
        if all >= MAX_OPEN_GOALS {
            let wherever = "of all workspaces together";
            return Err(CommandError::TooManyGoals { max: MAX_OPEN_GOALS, wherever });
        }
        let at = deps.clock.now();
        let goal = Goal {
            goal_id: deps.ids.item_id(at).to_string(),
            content,
            priority: priority.unwrap_or_default(),
            scope,
            by,
            at,
            done: None,
        };
        deps.store.commit(Batch::of(Write::PutGoal(goal.clone()))).await?;
        goals.push(goal.clone());
        Ok(SetGoal::New(goal))
    }

    /// Notes that one is reached, of those that hold in the workspace with this root, or of all.
    pub(crate) async fn reach(
        &self,
        deps: &SessionDeps,
        goal_id: &str,
        root: Option<&str>,
        by: GoalAuthor,
    ) -> Result<ReachedGoal, CommandError> {
        let mut known = self.known.lock().await;
        let goals = read(&mut known, &*deps.store).await?;
        let goal = goals.get(find(goals, goal_id, root)?);
        let goal = goal.ok_or_else(|| no_goal(goal_id))?;
        if !goal.is_open() {
            return Ok(ReachedGoal::Before(goal.clone()));
        }
        let done = Some(GoalDone { by, at: deps.clock.now() });
        let reached = Goal { done, ..goal.clone() };
        let mut kept: Vec<&Goal> = goals.iter().filter(|goal| !goal.is_open()).collect();
        kept.sort_by_key(|goal| goal.rank());
        // One more comes.
        let gone: Vec<String> =
            kept.iter().skip(MAX_DONE_GOALS - 1).map(|goal| goal.goal_id.clone()).collect();
        let delete = |goal_id: &String| Write::DeleteGoal { goal_id: goal_id.clone() };
        let mut writes: Vec<Write> = gone.iter().map(delete).collect();
        writes.push(Write::PutGoal(reached.clone()));
        deps.store.commit(Batch::from(writes)).await?;
        goals.retain(|goal| goal.goal_id != reached.goal_id && !gone.contains(&goal.goal_id));
        goals.push(reached.clone());
        Ok(ReachedGoal::Now(reached))
    }

    /// Removes one, of those that hold in the workspace with this root, or of all. A model cannot
    /// remove what a person has set: it may be wrong about what still matters to him.
    pub(crate) async fn remove(
        &self,
        deps: &SessionDeps,
        goal_id: &str,
        root: Option<&str>,
        by: &GoalAuthor,
    ) -> Result<Goal, CommandError> {
        let mut known = self.known.lock().await;
        let goals = read(&mut known, &*deps.store).await?;
        let at = find(goals, goal_id, root)?;
        let goal = goals.get(at).ok_or_else(|| no_goal(goal_id))?;
        if let (GoalAuthor::Model { .. }, GoalAuthor::Person { .. }) = (by, &goal.by) {
            return Err(CommandError::GoalOfPerson(goal.goal_id.clone()));
        }
        let delete = Write::DeleteGoal { goal_id: goal.goal_id.clone() };
        deps.store.commit(Batch::of(delete)).await?;
        Ok(goals.remove(at))
    }
}

/// What is known, read from the store the first time.
async fn read<'a>(
    known: &'a mut Option<Vec<Goal>>,
    store: &dyn Store,
) -> Result<&'a mut Vec<Goal>, ReadError> {
    let stored = match known.take() {
        Some(known) => known,
        None => store.goals().await?,
    };
    Ok(known.insert(stored))
}

/// Where a goal is, by its id in any case of letters.
fn find(goals: &[Goal], goal_id: &str, root: Option<&str>) -> Result<usize, CommandError> {
    let wanted = |goal: &Goal| goal.goal_id.eq_ignore_ascii_case(goal_id) && holds(goal, root);
    goals.iter().position(wanted).ok_or_else(|| no_goal(goal_id))
}

fn holds(goal: &Goal, root: Option<&str>) -> bool {
    root.is_none_or(|root| goal.scope.holds_in(root))
}

fn no_goal(goal_id: &str) -> CommandError {
    CommandError::NoGoal(agentd_domain::cut_line(goal_id, 60))
}
