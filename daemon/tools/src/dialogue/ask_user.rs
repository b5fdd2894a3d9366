//! A question to the users, which any attached terminal answers.

use std::time::Duration;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::people::{Answer, Question};
use crate::run::interrupted;
use crate::{About, ToolContext, TypedTool};

/// How long an answer is waited for, when nothing is said and at most.
const USUAL_SECONDS: u32 = 600;
const MOST_SECONDS: u32 = 86_400;

/// What is left between the end of a question and that of its call.
const SLACK: Duration = Duration::from_secs(10);

/// Arguments of ask_user.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[schemars(length(min = 1, max = 2_000))]
    question: String,
    /// Answers to choose from; left out: any text.
    #[schemars(length(max = 10))]
    options: Option<Vec<String>>,
    /// The answer taken when nobody gives one.
    #[schemars(length(max = 200))]
    default: Option<String>,
    /// Longest wait; left out: 600.
    #[schemars(range(min = 1, max = 86_400))]
    timeout_s: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct AskUser;

#[async_trait]
impl TypedTool for AskUser {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "ask_user",
            description: "Asks the user a question and waits for the answer. Only for what you \
                          cannot find out or decide yourself.",
            // It changes nothing; a turn that goes on after a stop asks again.
            capabilities: Capabilities {
                parallel_safe: false,
                cacheable: false,
                retry_same_args: false,
                ..Capabilities::PURE
            },
            aliases: &["ask_question"],
        }
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        Some(time(arguments) + SLACK)
    }

    async fn plan(&self, _ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        question(arguments).map(|_is_one| Action::default())
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let question = match question(&arguments) {
            Ok(question) => question,
            Err(refused) => return refused,
        };
        let (default, seconds) = (question.default.clone(), question.timeout.as_secs());
        let (why, code) = match ctx.people.ask(question).await {
            Answer::Given { choice, by } => {
                return ToolResult::success(format!("{by} answered: {choice}"));
            }
            Answer::Lost => return interrupted(),
            Answer::Expired => (format!("Nobody answered within {seconds} s"), "NO_ANSWER"),
            Answer::NobodyThere => ("Nobody is there who could answer".to_owned(), "NOBODY_THERE"),
        };
        match default {
            Some(default) => ToolResult::success(format!("{why}; the default is taken: {default}")),
            None => ToolResult::partial(
                code,
                format!("{why}. Decide yourself, and say in your answer what you assumed."),
            ),
        }
    }
}

fn time(arguments: &Arguments) -> Duration {
    let seconds = arguments.timeout_s.unwrap_or(USUAL_SECONDS).clamp(1, MOST_SECONDS);
    Duration::from_secs(seconds.into())
}

fn question(arguments: &Arguments) -> Result<Question, ToolResult> {
    /// Longest option in bytes.
    const MAX_OPTION: usize = 200;
    let Arguments { question, options, default, .. } = arguments;
    let invalid = |what: String| ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", what);
    let choices = options.clone().unwrap_or_default();
    if question.trim().is_empty() {
        return Err(invalid("question is blank; say what you want to know.".to_owned()));
    }
    for (at, choice) in choices.iter().enumerate() {
        if choice.trim().is_empty() || choice.len() > MAX_OPTION {
            return Err(invalid(format!("options[{at}]: give 1 to {MAX_OPTION} bytes.")));
        }
        if choices.iter().take(at).any(|other| other == choice) {
            return Err(invalid(format!("options[{at}] is there twice.")));
        }
    }
    let default = default.clone().filter(|default| !default.is_empty());
    if let Some(default) = &default
        && !choices.is_empty()
        && !choices.contains(default)
    {
        return Err(invalid("default is not one of options.".to_owned()));
    }
    Ok(Question { prompt: question.clone(), choices, default, timeout: time(arguments) })
}
