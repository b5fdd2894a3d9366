//! All tools by name, and the checks before a call.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentd_domain::{ToolEffect, ToolResult, ToolSpec};

use crate::Tool;

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
            return Err(ToolResult::fatal("UNKNOWN_TOOL", format!("there is no tool '{name}'")));
        };
        let arguments = serde_json::from_str(arguments_json).map_err(|error| {
            ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", format!("arguments: {error}"))
        })?;
        Ok(PreparedCall { tool: Arc::clone(tool), effect: tool.spec().effect, arguments })
    }
}
