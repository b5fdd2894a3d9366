//! All tools by name, and the checks before a call.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult, ToolSpec, cut_line};

use crate::nearest::{did_you_mean, nearest};
use crate::{BuiltinSettings, Tool, ToolContext, arguments, builtin};

/// How many names are suggested for a wrong one.
const SUGGESTIONS: usize = 2;

/// How much of a wrong name is shown, in characters.
const MAX_NAME: usize = 64;

/// The tools of a daemon.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Other names, and whose they are.
    aliases: BTreeMap<&'static str, String>,
}

/// Why a tool was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There is one with this name.
    #[error("there are two tools named '{0}'")]
    Duplicate(String),
    /// The name is not one that providers take.
    #[error("'{0}' is not a name for a tool: use 1 to 64 letters, digits, '_' or '-'")]
    Name(String),
}

/// A call whose arguments passed the schema.
#[derive(Debug, Clone)]
pub struct PreparedCall {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// What it may do, and how it may be run.
    pub capabilities: Capabilities,
    /// The converted arguments.
    pub arguments: serde_json::Value,
}

impl PreparedCall {
    /// Says what the call will do.
    ///
    /// # Errors
    /// The result of the call, when it is clear already that it cannot be carried out.
    pub async fn plan(&self, ctx: &ToolContext) -> Result<Action, ToolResult> {
        self.tool.plan(ctx, &self.arguments).await
    }
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// The built-in tools with the usual settings.
    pub fn builtin() -> Self {
        Self::builtin_with(BuiltinSettings::default())
    }

    /// The built-in tools, of which those that open files refuse everything under `private`.
    pub fn builtin_keeping_private(private: Vec<PathBuf>) -> Self {
        Self::builtin_with(BuiltinSettings { private, ..BuiltinSettings::default() })
    }

    /// The built-in tools. A daemon names its own configuration and data as private.
    pub fn builtin_with(settings: BuiltinSettings) -> Self {
        let mut registry = Self::new();
        for tool in builtin::tools(settings) {
            if let Err(error) = registry.register(tool) {
                // A test registers each of them.
                tracing::error!(%error, "a built-in tool is left out");
            }
        }
        registry
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// When there is one with this name.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegisterError> {
        let name = tool.spec().name.clone();
        if !is_name(&name) {
            return Err(RegisterError::Name(cut_line(&name, MAX_NAME)));
        }
        if let Some(taken) = [name.as_str()]
            .iter()
            .chain(tool.aliases())
            .find(|name| self.tools.contains_key(**name) || self.aliases.contains_key(**name))
        {
            return Err(RegisterError::Duplicate((*taken).to_owned()));
        }
        self.aliases.extend(tool.aliases().iter().map(|alias| (*alias, name.clone())));
        self.tools.insert(name, tool);
        Ok(())
    }

    /// The tool of this name or alias.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).or_else(|| self.tools.get(self.aliases.get(name)?))
    }

    /// Descriptions for the model, sorted by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }

    /// Finds the tool and converts the arguments to its schema.
    ///
    /// # Errors
    /// The result to give the model: unknown tool, or arguments that do not fit.
    pub fn prepare(&self, name: &str, arguments_json: &str) -> Result<PreparedCall, ToolResult> {
        let Some(tool) = self.find(name) else {
            let near = nearest(name, self.tools.keys().map(String::as_str), SUGGESTIONS);
            let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            return Err(ToolResult::fatal(
                "UNKNOWN_TOOL",
                format!(
                    "There is no tool '{}'{} The tools are: {}.",
                    cut_line(name, MAX_NAME),
                    if near.is_empty() { ".".to_owned() } else { did_you_mean(&near) },
                    names.join(", ")
                ),
            ));
        };
        let arguments = arguments::prepare(tool.spec(), arguments_json)?;
        Ok(PreparedCall {
            tool: Arc::clone(tool),
            capabilities: tool.spec().capabilities,
            arguments,
        })
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_tool_is_registered_under_a_name_of_its_own() {
        let names: Vec<String> =
            Registry::builtin().specs().into_iter().map(|spec| spec.name).collect();
        assert_eq!(
            names,
            [
                "apply_patch",
                "calculator",
                "date_math",
                "edit_file",
                "fetch_url",
                "glob_files",
                "grep_files",
                "hash_file",
                "list_archive",
                "list_dir",
                "manage_todo_list",
                "os_info",
                "query_sqlite",
                "read_file",
                "search_web",
                "text_length",
                "time",
                "undo_edit",
                "write_file"
            ]
        );
        assert_eq!(builtin::tools(BuiltinSettings::default()).len(), names.len());
    }

    #[test]
    fn a_second_tool_of_the_same_name_is_refused() {
        let mut registry = Registry::builtin();
        for tool in builtin::tools(BuiltinSettings::default()) {
            let name = tool.spec().name.clone();
            assert_eq!(registry.register(tool), Err(RegisterError::Duplicate(name)));
        }
    }

    #[test]
    fn an_unknown_tool_is_answered_with_near_names() {
        let names: Vec<String> =
            Registry::builtin().specs().into_iter().map(|spec| spec.name).collect();
        let check = |name: &str, expect: &str| {
            let refused = Registry::builtin().prepare(name, "{}").expect_err(name);
            assert_eq!(refused.error_code, "UNKNOWN_TOOL");
            assert_eq!(
                refused.output,
                format!("There is no tool {expect} The tools are: {}.", names.join(", "))
            );
        };
        check("readfile", "'readfile'; did you mean 'read_file'?");
        check("Calculator", "'Calculator'; did you mean 'calculator'?");
        check("browse", "'browse'.");
        check("", "''.");
    }
}
