//! The list of what is to be done. The tool only checks it: the session keeps it and shows it to all
//! terminals (spec h.6).

use agentd_domain::{
    Action, Capabilities, SessionRequest, TodoItem, TodoList, TodoStatus, ToolResult,
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{About, ToolContext, TypedTool};

/// Arguments of manage_todo_list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    title: Option<String>,
    /// In order; empty clears it.
    #[schemars(length(max = 100))]
    items: Vec<Item>,
}

/// One thing to do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    #[schemars(length(min = 1, max = 500))]
    label: String,
    /// Left out: pending. One at most runs.
    status: Option<Status>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Pending,
    Running,
    Completed,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ManageTodoList;

#[async_trait]
impl TypedTool for ManageTodoList {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "manage_todo_list",
            description: "Keeps the steps of a longer task, which the user sees. Give the whole list \
                          before you begin and whenever a step begins or is done. Not for one or two \
                          steps. manage_plan is for steps to be proven.",
            // It sets what the session keeps; to set it again changes nothing.
            capabilities: Capabilities {
                parallel_safe: false,
                cacheable: false,
                retry_same_args: false,
                ..Capabilities::PURE
            },
            aliases: &["todo"],
        }
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let Arguments { title, items } = arguments;
        if let Some(index) = items.iter().position(|item| item.label.trim().is_empty()) {
            return ToolResult::fatal(
                "TOOL_ARGUMENT_VALIDATION_FAILED",
                format!("items[{index}].label is blank; say what is to be done."),
            );
        }
        let is_running = |item: &&Item| matches!(item.status, Some(Status::Running));
        let running = items.iter().filter(is_running).count();
        let items = items.into_iter().map(|Item { label, status }| TodoItem {
            label,
            status: match status {
                None | Some(Status::Pending) => TodoStatus::Pending,
                Some(Status::Running) => TodoStatus::Running,
                Some(Status::Completed) => TodoStatus::Completed,
            },
        });
        let list = TodoList::new(title.as_deref().unwrap_or_default(), items);
        let mut output = if list.items.is_empty() {
            "The list is cleared.".to_owned()
        } else {
            format!("{} of {} steps are completed.", list.completed(), list.items.len())
        };
        if running > 1 {
            output += " One step at most is running: the first stays so, the others are pending.";
        }
        let request = Some(Box::new(SessionRequest::Todo(list)));
        ToolResult { request, ..ToolResult::success(output) }
    }
}
