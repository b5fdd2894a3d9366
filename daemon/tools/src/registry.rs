//! All tools by name, and the checks before a call.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agentd_domain::{ToolEffect, ToolResult, ToolSpec, cut_line};

use crate::nearest::{did_you_mean, nearest};
use crate::{Tool, arguments, builtin};

/// How many names are suggested for a wrong one.
const SUGGESTIONS: usize = 2;

/// How much of a wrong name is shown, in characters.
const MAX_NAME: usize = 64;

/// The tools of a daemon.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

/// Why a tool was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There is one with this name.
    #[error("there are two tools named '{0}'")]
    Duplicate(String),
}

/// A call whose arguments passed the schema.
#[derive(Debug, Clone)]
pub struct PreparedCall {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// What it may do.
    pub effect: ToolEffect,
    /// The converted arguments.
    pub arguments: serde_json::Value,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// The built-in tools: calculator, list_dir, read_file, text_length and time.
    pub fn builtin() -> Self {
        Self::builtin_keeping_private(Vec::new())
    }

    /// The built-in tools, of which those that open files refuse everything under the paths in
    /// `private`. A daemon gives its own configuration and data here.
    pub fn builtin_keeping_private(private: Vec<PathBuf>) -> Self {
        let tools = builtin::tools(private);
        Self { tools: tools.into_iter().map(|tool| (tool.spec().name.clone(), tool)).collect() }
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// When there is one with this name.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegisterError> {
        let name = tool.spec().name.clone();
        if self.tools.contains_key(&name) {
            return Err(RegisterError::Duplicate(name));
        }
        self.tools.insert(name, tool);
        Ok(())
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
        let Some(tool) = self.tools.get(name) else {
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
        Ok(PreparedCall { tool: Arc::clone(tool), effect: tool.spec().effect, arguments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_tool_is_registered_under_a_name_of_its_own() {
        let names: Vec<String> =
            Registry::builtin().specs().into_iter().map(|spec| spec.name).collect();
        assert_eq!(names, ["calculator", "list_dir", "read_file", "text_length", "time"]);
        assert_eq!(builtin::tools(Vec::new()).len(), names.len());
    }

    #[test]
    fn a_second_tool_of_the_same_name_is_refused() {
        let mut registry = Registry::builtin();
        for tool in builtin::tools(Vec::new()) {
            let name = tool.spec().name.clone();
            assert_eq!(registry.register(tool), Err(RegisterError::Duplicate(name)));
        }
    }

    #[test]
    fn an_unknown_tool_is_answered_with_near_names() {
        let check = |name: &str, expect: &str| {
            let refused = Registry::builtin().prepare(name, "{}").expect_err(name);
            assert_eq!(refused.error_code, "UNKNOWN_TOOL");
            assert_eq!(
                refused.output,
                format!(
                    "There is no tool {expect} The tools are: calculator, list_dir, read_file, \
                     text_length, time."
                )
            );
        };
        check("readfile", "'readfile'; did you mean 'read_file'?");
        check("Calculator", "'Calculator'; did you mean 'calculator'?");
        check("browse", "'browse'.");
        check("", "''.");
    }
}
