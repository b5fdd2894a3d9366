//! All goals: in memory, and durable before they are seen.

use std::sync::{Arc, PoisonError, RwLock};

use agentd_domain::{Goal, GoalAuthor, GoalContent, GoalDone, GoalPriority, GoalScope};
use agentd_store::{Batch, ReadError, Store, Write};
use agentd_tools::{ReachedGoal, SetGoal};
use tokio::sync::{Semaphore, SemaphorePermit};

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
#[derive(Debug)]
pub(crate) struct GoalBook {
    /// None until they have been read.
    known: RwLock<Option<Arc<Vec<Goal>>>>,
    /// One permit: held from the look at the goals to the change in memory, so that neither two
    /// changes nor a change and the first reading come between each other.
    changing: Semaphore,
}

impl Default for GoalBook {
    fn default() -> Self {
        Self { known: RwLock::default(), changing: Semaphore::new(1) }
    }
}

/// What is known while nobody else changes it.
struct Change<'a> {
    goals: Arc<Vec<Goal>>,
    // None only of a semaphore that was closed, which nobody does.
    _alone: Option<SemaphorePermit<'a>>,
}

impl GoalBook {
    /// Those that hold in the workspace with this root, or all, in order of [`Goal::rank`].
    pub(crate) async fn list(
        &self,
        store: &dyn Store,
        root: Option<&str>,
    ) -> Result<Vec<Goal>, ReadError> {
        let goals = self.all(store).await?;
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
        let goals = self.all(store).await?;
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
        let change = self.begin_change(&*deps.store).await?;
        let goals = &change.goals;
        let same = |goal: &Goal| goal.is_open() && goal.scope == scope && goal.content == content;
        if let Some(known) = goals.iter().find(|goal| same(goal)) {
            let priority = priority.unwrap_or(known.priority);
            let changed = Goal { priority, ..known.clone() };
            if priority != known.priority {
                deps.store.commit(Batch::of(Write::PutGoal(changed.clone()))).await?;
                let others = goals.iter().filter(|goal| goal.goal_id != changed.goal_id);
                self.replace(others.chain([&changed]).cloned().collect());
            }
            return Ok(SetGoal::Known(changed));
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
        self.replace(goals.iter().chain([&goal]).cloned().collect());
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
        let change = self.begin_change(&*deps.store).await?;
        let goals = &change.goals;
        let goal = find(goals, goal_id, root)?;
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
        let others = goals
            .iter()
            .filter(|goal| goal.goal_id != reached.goal_id && !gone.contains(&goal.goal_id));
        self.replace(others.chain([&reached]).cloned().collect());
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
        let change = self.begin_change(&*deps.store).await?;
        let goals = &change.goals;
        let goal = find(goals, goal_id, root)?;
        if let (GoalAuthor::Model { .. }, GoalAuthor::Person { .. }) = (by, &goal.by) {
            return Err(CommandError::GoalOfPerson(goal.goal_id.clone()));
        }
        let delete = Write::DeleteGoal { goal_id: goal.goal_id.clone() };
        deps.store.commit(Batch::of(delete)).await?;
        let others = goals.iter().filter(|other| other.goal_id != goal.goal_id);
        self.replace(others.cloned().collect());
        Ok(goal.clone())
    }

    /// All of them, read from the store the first time.
    async fn all(&self, store: &dyn Store) -> Result<Arc<Vec<Goal>>, ReadError> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        Ok(self.begin_change(store).await?.goals)
    }

    /// The same, for whoever changes them: nobody else does until it is dropped.
    async fn begin_change(&self, store: &dyn Store) -> Result<Change<'_>, ReadError> {
        let alone = self.changing.acquire().await.ok();
        let goals =
            if let Some(known) = self.known() { known } else { self.replace(store.goals().await?) };
        Ok(Change { goals, _alone: alone })
    }

    fn known(&self) -> Option<Arc<Vec<Goal>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The caller has begun a change, and what he gives is durable.
    fn replace(&self, goals: Vec<Goal>) -> Arc<Vec<Goal>> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.insert(Arc::new(goals)))
    }
}

/// A goal by its id, in any case of letters.
fn find<'a>(
    goals: &'a [Goal],
    goal_id: &str,
    root: Option<&str>,
) -> Result<&'a Goal, CommandError> {
    let wanted = |goal: &&Goal| goal.goal_id.eq_ignore_ascii_case(goal_id) && holds(goal, root);
    let no_goal = || CommandError::NoGoal(agentd_domain::cut_line(goal_id, 60));
    goals.iter().find(wanted).ok_or_else(no_goal)
}

fn holds(goal: &Goal, root: Option<&str>) -> bool {
    root.is_none_or(|root| goal.scope.holds_in(root))
}
