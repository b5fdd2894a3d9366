//! Goals that outlive a session (spec i.14). The daemon keeps them; the tool asks it, and tells what
//! there is. What it advises is counted from what is kept: nothing is guessed.

mod tell;

use agentd_domain::{Action, Capabilities, GoalContent, GoalPriority, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::goals::{GoalsError, ReachedGoal, SetGoal};
use crate::{About, Rank, ToolContext, TypedTool};

/// Arguments of manage_goals.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// done: it is reached. drop: it no longer matters. check: what is open or unfinished, and what
    /// comes next.
    action: What,
    /// For add: what to reach, at most 2000 characters.
    content: Option<String>,
    /// For add: 1 comes first, 3 last; left out: 2.
    #[schemars(range(min = 1, max = 3))]
    priority: Option<u32>,
    /// For done and drop; for list: only this goal, whole.
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Add,
    Done,
    Drop,
    List,
    Check,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Done => "done",
            Self::Drop => "drop",
            Self::List => "list",
            Self::Check => "check",
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ManageGoals;

#[async_trait]
impl TypedTool for ManageGoals {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "manage_goals",
            description: "Keeps goals of this workspace beyond the session, for its later sessions. For \
                          what the user wants to be reached some day; manage_todo_list is for the work \
                          at hand.",
            // To set, reach or remove a goal a second time changes nothing.
            capabilities: Capabilities {
                parallel_safe: false,
                cacheable: false,
                retry_same_args: false,
                ..Capabilities::PURE
            },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let asked = match Asked::of(arguments) {
            Ok(asked) => asked,
            Err(problem) => return ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", problem),
        };
        match answer(ctx, asked).await {
            Ok(output) => ToolResult::success(output),
            Err(GoalsError { code, message, may_pass: true }) => {
                ToolResult::retryable(code, message)
            }
            Err(GoalsError { code, message, may_pass: false }) => ToolResult::fatal(code, message),
        }
    }
}

/// What a call asks, checked.
enum Asked {
    Add { content: GoalContent, priority: Option<GoalPriority> },
    Done { id: String },
    Drop { id: String },
    List { id: Option<String> },
    Check,
}

impl Asked {
    fn of(arguments: Arguments) -> Result<Self, String> {
        let Arguments { action, content, priority, id } = arguments;
        let named = |id: Option<String>| {
            let id = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
            id.ok_or("id: it is missing, and this action takes it; list shows the ids.".to_owned())
        };
        // What an action does not take was meant for another one.
        let unused = |field: &str, is_given: bool| {
            if is_given {
                Err(format!("{field}: {} does not take it.", action.name()))
            } else {
                Ok(())
            }
        };
        if action != What::Add {
            unused("content", content.is_some())?;
            unused("priority", priority.is_some())?;
        }
        if matches!(action, What::Add | What::Check) {
            unused("id", id.is_some())?;
        }
        Ok(match action {
            What::Add => {
                let content =
                    content.ok_or("content: it is missing; say what is to be reached.")?;
                let content =
                    GoalContent::try_from(content).map_err(|error| format!("content: {error}."))?;
                let priority = priority.map(GoalPriority::try_from).transpose();
                let priority = priority.map_err(|error| format!("priority: {error}."))?;
                Self::Add { content, priority }
            }
            What::Done => Self::Done { id: named(id)? },
            What::Drop => Self::Drop { id: named(id)? },
            What::List => Self::List { id: id.map(|id| named(Some(id))).transpose()? },
            What::Check => Self::Check,
        })
    }
}

async fn answer(ctx: &ToolContext, asked: Asked) -> Result<String, GoalsError> {
    let (goals, now) = (&ctx.goals, ctx.clock.now());
    Ok(match asked {
        Asked::Add { content, priority } => match goals.set(content, priority).await? {
            SetGoal::New(goal) => format!(
                "Goal {} is kept for later sessions in this workspace, with priority {}.",
                goal.goal_id,
                goal.priority.get()
            ),
            SetGoal::Known(goal) => format!(
                "Goal {} says the same already and is open, with priority {}.",
                goal.goal_id,
                goal.priority.get()
            ),
        },
        Asked::Done { id } => match goals.reach(&id).await? {
            ReachedGoal::Now(goal) => {
                let open = goals.list().await?.iter().filter(|goal| goal.is_open()).count();
                let left = match open {
                    0 => "No goal is open any more.".to_owned(),
                    1 => "1 goal is still open.".to_owned(),
                    many => format!("{many} goals are still open."),
                };
                format!("Goal {} is done. {left}", goal.goal_id)
            }
            ReachedGoal::Before(goal) => format!("Goal {} was done before.", goal.goal_id),
        },
        Asked::Drop { id } => {
            format!("Goal {} is dropped and no longer kept.", goals.remove(&id).await?.goal_id)
        }
        Asked::List { id: None } => tell::list(&goals.list().await?, ctx.session, now),
        Asked::List { id: Some(id) } => {
            let known = goals.list().await?;
            let found = known.iter().find(|goal| goal.goal_id.eq_ignore_ascii_case(&id));
            let goal = found.ok_or_else(|| GoalsError {
                code: "NO_SUCH_GOAL",
                message: "There is no goal of this id here; list without id shows those there are."
                    .to_owned(),
                may_pass: false,
            })?;
            tell::whole(goal, ctx.session, now)
        }
        Asked::Check => {
            let known = goals.list().await?;
            tell::check(&known, &goals.unfinished().await?, ctx.session, now)
        }
    })
}

#[cfg(test)]
mod tests;
