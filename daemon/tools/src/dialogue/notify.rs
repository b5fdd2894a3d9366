//! A message to whoever is there, without waiting for an answer.

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Surroundings;
use crate::people::Announcement;
use crate::{About, Rank, ToolContext, TypedTool};

/// Longest title and message, in characters.
const MAX_TITLE: usize = 100;
const MAX_MESSAGE: usize = 500;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Urgency {
    Low,
    #[default]
    Normal,
    Critical,
}

impl Urgency {
    const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::Critical => "critical",
        }
    }
}

/// Arguments of notify.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[schemars(length(min = 1, max = 500))]
    message: String,
    #[schemars(length(max = 100))]
    title: Option<String>,
    /// Left out: normal.
    urgency: Option<Urgency>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Notify {
    pub(crate) surroundings: Surroundings,
}

#[async_trait]
impl TypedTool for Notify {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "notify",
            description: "Shows a message on the attached terminals and on the desktop, where there \
                          is one, without waiting.",
            // To be told twice, after a stop in between, harms nobody.
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
        let Arguments { message, title, urgency } = arguments;
        let urgency = urgency.unwrap_or_default();
        let message = cut_line(&message, MAX_MESSAGE);
        let title =
            title.map(|title| cut_line(&title, MAX_TITLE)).filter(|title| !title.is_empty());
        if message.is_empty() {
            return ToolResult::fatal(
                "TOOL_ARGUMENT_VALIDATION_FAILED",
                "message is blank; say what to tell.",
            );
        }
        let text = match &title {
            Some(title) => format!("{title}: {message}"),
            None => message.clone(),
        };
        let is_grave = urgency == Urgency::Critical;
        let terminals = ctx.people.announce(Announcement { text, is_grave }).await;
        let title = title.as_deref().unwrap_or("agentd");
        let desktop = self.surroundings.show(urgency.name(), title, &message).await;
        let mut told = match terminals {
            None => "It could not be kept in the session.".to_owned(),
            Some(0) => "No terminal is attached; who attaches next sees it.".to_owned(),
            Some(1) => "Shown on 1 attached terminal.".to_owned(),
            Some(many) => format!("Shown on {many} attached terminals."),
        };
        match &desktop {
            Ok(()) => told += " Shown on the desktop.",
            Err(why) => told = format!("{told} Not shown on a desktop: {why}."),
        }
        match (terminals, desktop) {
            (None, Err(_)) => ToolResult::fatal("NOT_NOTIFIED", told),
            _ => ToolResult::success(told),
        }
    }
}

#[cfg(test)]
mod tests;
