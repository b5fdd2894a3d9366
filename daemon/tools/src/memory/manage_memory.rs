//! Long-term memory. The tool says what is asked: the turn carries it out, because it knows what the
//! user has said and what came from elsewhere.

use agentd_domain::{
    Action, Capabilities, MemoryCategory, MemoryCommand, MemoryPriority, MemoryReach,
    SessionRequest, TimestampMs, ToolResult,
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{About, ToolContext, TypedTool};

/// Arguments of manage_memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    action: What,
    /// One statement that makes sense alone. For add and update.
    #[schemars(length(max = 2000))]
    content: Option<String>,
    /// For update and forget.
    id: Option<String>,
    /// For search.
    query: Option<String>,
    category: Option<Category>,
    priority: Option<Priority>,
    /// 1 trivial to 5 vital.
    #[schemars(range(min = 1, max = 5))]
    importance: Option<u8>,
    #[schemars(length(max = 16))]
    tags: Option<Vec<String>>,
    /// Only for this workspace.
    here: Option<bool>,
    /// When it ends or, for a reminder, is due: 2027-01-31T09:00:00Z
    until: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Add,
    Search,
    List,
    Update,
    Forget,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Category {
    Instruction,
    Preference,
    Fact,
    Reminder,
    General,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    Critical,
    High,
    Medium,
    Low,
}

impl From<Category> for MemoryCategory {
    fn from(category: Category) -> Self {
        match category {
            Category::Instruction => Self::Instruction,
            Category::Preference => Self::Preference,
            Category::Fact => Self::Fact,
            Category::Reminder => Self::Reminder,
            Category::General => Self::General,
        }
    }
}

impl From<Priority> for MemoryPriority {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Critical => Self::Critical,
            Priority::High => Self::High,
            Priority::Medium => Self::Medium,
            Priority::Low => Self::Low,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ManageMemory;

#[async_trait]
impl TypedTool for ManageMemory {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "manage_memory",
            description: "What holds beyond this session. Add what the user wants remembered, lasting \
                          preferences and facts; never secrets, nor what only this task needs.",
            // It asks the turn, which carries it out in the order of the calls.
            capabilities: Capabilities {
                parallel_safe: false,
                cacheable: false,
                retry_same_args: false,
                ..Capabilities::PURE
            },
            aliases: &["memory"],
        }
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        match command(arguments) {
            Ok(command) => {
                let request = Some(Box::new(SessionRequest::Memory(command)));
                ToolResult { request, ..ToolResult::success("") }
            }
            Err(problem) => ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", problem),
        }
    }
}

fn command(arguments: Arguments) -> Result<MemoryCommand, String> {
    let Arguments { action, content, id, query, category, priority, importance, tags, here, until } =
        arguments;
    let named = |value: Option<String>, field: &str| {
        value.ok_or_else(|| format!("{field}: it is missing, and this action takes it."))
    };
    let priority = priority.map(MemoryPriority::from);
    let expires_at = until.map(|text| time(&text)).transpose()?;
    Ok(match action {
        What::Add => MemoryCommand::Add {
            content: named(content, "content")?,
            category: category.map(MemoryCategory::from).unwrap_or_default(),
            priority,
            importance,
            tags: tags.unwrap_or_default(),
            reach: match here {
                Some(true) => MemoryReach::Workspace,
                _ => MemoryReach::Everywhere,
            },
            expires_at,
        },
        What::Search => MemoryCommand::Search { text: named(query, "query")? },
        What::List => MemoryCommand::List,
        What::Update => MemoryCommand::Update {
            id: named(id, "id")?,
            content,
            priority,
            importance,
            expires_at,
        },
        What::Forget => MemoryCommand::Forget { id: named(id, "id")? },
    })
}

fn time(text: &str) -> Result<TimestampMs, String> {
    let at: Result<jiff::Timestamp, _> = text.trim().parse();
    at.map(|at| TimestampMs(at.as_millisecond())).map_err(|_not_rfc_3339| {
        let text = agentd_domain::cut_line(text, 40);
        format!("until: '{text}' is no time with a zone; write it as 2027-01-31T09:00:00Z.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<MemoryCommand, String> {
        command(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn arguments_become_commands_or_name_what_is_missing() {
        let add = read(
            r#"{"action":"add","content":"x","category":"reminder","here":true,"until":"1970-01-01T00:00:01+00:00"}"#,
        );
        let expect = MemoryCommand::Add {
            content: "x".to_owned(),
            category: MemoryCategory::Reminder,
            priority: None,
            importance: None,
            tags: Vec::new(),
            reach: MemoryReach::Workspace,
            expires_at: Some(TimestampMs(1000)),
        };
        assert_eq!(add, Ok(expect));
        for (json, field) in [
            (r#"{"action":"add"}"#, "content: "),
            (r#"{"action":"search"}"#, "query: "),
            (r#"{"action":"update","content":"x"}"#, "id: "),
            (r#"{"action":"forget"}"#, "id: "),
            (r#"{"action":"add","content":"x","until":"tomorrow"}"#, "until: 'tomorrow'"),
        ] {
            let problem = read(json).unwrap_err();
            assert!(problem.starts_with(field), "{problem}");
        }
    }
}
