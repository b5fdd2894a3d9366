//! The plan of a session. The tool says what is asked of it: the session keeps it, proves its steps
//! with the calls that were really run, and shows it to all terminals (spec h.5).

use agentd_domain::{
    Action, Capabilities, NewStep, PlanCommand, SessionRequest, ToolResult, Verification,
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{About, Rank, ToolContext, TypedTool};

/// Arguments of manage_plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// replan gives new steps for all that are not done.
    action: What,
    /// For create.
    goal: Option<String>,
    /// For create and replan.
    #[schemars(length(min = 1, max = 6))]
    steps: Option<Vec<Step>>,
    /// Id, for begin, done and fail.
    step: Option<String>,
    /// For fail and replan.
    why: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Create,
    Begin,
    Done,
    Fail,
    Replan,
    Show,
    Drop,
}

/// One step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    #[schemars(length(min = 1, max = 32))]
    id: String,
    #[schemars(length(min = 1, max = 500))]
    objective: String,
    /// Ids of steps that come before.
    needs: Option<Vec<String>>,
    /// The call that proves it, made after it begins.
    verify: Verify,
}

/// What proves a step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verify {
    /// Such as check_project.
    tool: String,
    /// What its arguments hold, such as 'cargo test'.
    text: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ManagePlan;

#[async_trait]
impl TypedTool for ManagePlan {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "manage_plan",
            description: "Keeps a plan of steps that depend on each other, which the user sees. A step \
                          is done only after the call that verifies it has succeeded since it began.",
            // It asks the session, which decides in the order of the calls.
            capabilities: Capabilities {
                parallel_safe: false,
                cacheable: false,
                retry_same_args: false,
                ..Capabilities::PURE
            },
            aliases: &["plan"],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        match command(arguments) {
            Ok(command) => {
                let request = Some(Box::new(SessionRequest::Plan(command)));
                ToolResult { request, ..ToolResult::success("") }
            }
            Err(problem) => ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", problem),
        }
    }
}

fn command(arguments: Arguments) -> Result<PlanCommand, String> {
    let Arguments { action, goal, steps, step, why } = arguments;
    let named = |value: Option<String>, field: &str| {
        value.ok_or_else(|| format!("{field}: it is missing, and this action takes it."))
    };
    let new_steps = || {
        let steps = steps.ok_or("steps: they are missing, and this action takes them.")?;
        Ok::<_, String>(steps.into_iter().map(new_step).collect())
    };
    Ok(match action {
        What::Create => PlanCommand::Create { goal: named(goal, "goal")?, steps: new_steps()? },
        What::Begin => PlanCommand::Begin { step: named(step, "step")? },
        What::Done => PlanCommand::Done { step: named(step, "step")? },
        What::Fail => PlanCommand::Fail { step: named(step, "step")?, why: named(why, "why")? },
        What::Replan => PlanCommand::Replan { why: named(why, "why")?, steps: new_steps()? },
        What::Show => PlanCommand::Show,
        What::Drop => PlanCommand::Drop,
    })
}

fn new_step(step: Step) -> NewStep {
    let Step { id, objective, needs, verify: Verify { tool, text } } = step;
    let verify = Verification { tool, text: text.unwrap_or_default() };
    NewStep { id, objective, needs: needs.unwrap_or_default(), verify }
}
