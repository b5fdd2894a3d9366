//! Finding a tool of the second rank by what it does.

use agentd_domain::{Action, Capabilities, ToolResult, ToolSpec, cut_line};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::score::best;
use crate::{Tool, ToolContext, arguments, schema};

/// Its name.
pub(crate) const FIND_TOOLS: &str = "find_tools";

/// How many tools are described in a result.
const MAX_FOUND: usize = 4;

/// Bytes of names that its own description may hold. It is a part of every request.
const MAX_NAMES: usize = 500;

/// Bytes of a list of all tools.
const MAX_LIST: usize = 16 * 1024;

/// Characters of a description in that list.
const MAX_LINE: usize = 200;

/// Arguments of find_tools.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What it should do, in a few English words.
    #[schemars(length(min = 1, max = 200))]
    query: String,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct FindTools {
    spec: ToolSpec,
    tools: Vec<ToolSpec>,
}

impl FindTools {
    /// Finds these, which are sorted by name.
    pub(crate) fn among(tools: Vec<ToolSpec>) -> Self {
        let names = names(&tools);
        let spec = ToolSpec {
            name: FIND_TOOLS.to_owned(),
            description: format!(
                "Describes further tools and their arguments; call_tool runs them: {names}."
            ),
            parameters: schema::parameters::<Arguments>(),
            capabilities: Capabilities::PURE,
        };
        Self { spec, tools }
    }
}

/// The names, as many as there is room for.
fn names(tools: &[ToolSpec]) -> String {
    let mut text = String::new();
    for (told, tool) in tools.iter().enumerate() {
        if text.len() + tool.name.len() > MAX_NAMES {
            return format!("{text} and {} more", tools.len() - told);
        }
        text += if text.is_empty() { "" } else { ", " };
        text += &tool.name;
    }
    text
}

#[async_trait]
impl Tool for FindTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Value, _planned: &Action) -> ToolResult {
        let query = match arguments::read::<Arguments>(arguments) {
            Ok(Arguments { query }) => query,
            Err(refused) => return refused,
        };
        let found = best(&self.tools, &query, MAX_FOUND);
        if found.is_empty() {
            let query = cut_line(&query, MAX_LINE);
            return ToolResult::empty(format!(
                "No tool fits '{query}'. These are all:\n{}",
                all(&self.tools)
            ));
        }
        let described: Vec<String> = found.into_iter().map(described).collect();
        ToolResult::success(described.join("\n\n"))
    }
}

/// A tool with all that a call of it needs.
fn described(tool: &ToolSpec) -> String {
    format!("{}: {}\narguments: {}", tool.name, tool.description, tool.parameters)
}

fn all(tools: &[ToolSpec]) -> String {
    let mut text = String::new();
    for (told, tool) in tools.iter().enumerate() {
        let line = format!("{}: {}\n", tool.name, cut_line(&tool.description, MAX_LINE));
        if text.len() + line.len() > MAX_LIST {
            return format!("{text}[{} more: use other words.]", tools.len() - told);
        }
        text += &line;
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_many_tools_stays_short() {
        let tool = |at: usize| ToolSpec {
            name: format!("tool_number_{at:03}"),
            description: "It does this and that. ".repeat(20),
            parameters: serde_json::json!({}),
            capabilities: Capabilities::PURE,
        };
        let tools: Vec<_> = (0..500).map(tool).collect();
        let list = all(&tools);
        assert!(list.len() < MAX_LIST + 100 && list.ends_with(" more: use other words.]"));
        let find = FindTools::among(tools);
        assert!(find.spec.description.len() < MAX_NAMES + 150, "{}", find.spec.description);
        assert!(find.spec.description.ends_with(" more."), "{}", find.spec.description);
        let two = (0..2).map(tool).collect();
        assert!(
            FindTools::among(two).spec.description.ends_with(": tool_number_000, tool_number_001.")
        );
    }
}
