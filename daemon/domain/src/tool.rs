//! Tool calls and their results (spec a.1.5, a.1.8).

use serde::{Deserialize, Serialize};

use crate::CallId;

/// A request of the model to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in the session.
    pub call_id: CallId,
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON text, as the model wrote them.
    pub arguments_json: String,
}

/// What a tool may do to the world. Crash rules follow from it: what only reads may run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffect {
    /// Computes; sees and changes nothing.
    Pure,
    /// Reads the workspace.
    WorkspaceRead,
    /// Reads from the network.
    NetworkRead,
    /// Changes the workspace.
    WorkspaceWrite,
    /// Starts programs.
    Process,
    /// Anything else: runs alone.
    Exclusive,
}

impl ToolEffect {
    /// True when running the call a second time changes nothing.
    pub const fn is_repeatable(self) -> bool {
        match self {
            Self::Pure | Self::WorkspaceRead | Self::NetworkRead => true,
            Self::WorkspaceWrite | Self::Process | Self::Exclusive => false,
        }
    }
}

/// Outcome of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what was asked.
    Success,
    /// It did a part, or ended with a non-zero exit code.
    Partial,
    /// It worked and found nothing.
    Empty,
    /// It failed and may work when tried again.
    RetryableError,
    /// It failed and will fail again.
    FatalError,
    /// It was not run because the same call gave the same result before.
    Repeated,
    /// It was not run.
    Skipped,
    /// It was cut off; whether it had effects is unknown.
    Interrupted,
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Outcome.
    pub status: ToolStatus,
    /// What the model is shown.
    pub output: String,
    /// Machine-readable error such as `TOOL_ARGUMENT_VALIDATION_FAILED`; empty on success.
    pub error_code: String,
}

impl ToolResult {
    /// A result that did what was asked.
    pub fn success(output: impl Into<String>) -> Self {
        Self { status: ToolStatus::Success, output: output.into(), error_code: String::new() }
    }

    /// A failure that will fail again with the same arguments.
    pub fn fatal(code: &str, message: impl Into<String>) -> Self {
        Self { status: ToolStatus::FatalError, output: message.into(), error_code: code.to_owned() }
    }

    /// A failure that may pass by itself.
    pub fn retryable(code: &str, message: impl Into<String>) -> Self {
        Self {
            status: ToolStatus::RetryableError,
            output: message.into(),
            error_code: code.to_owned(),
        }
    }
}

/// How a tool is described to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// `^[A-Za-z0-9_-]{1,64}$`.
    pub name: String,
    /// One or two sentences for the model.
    pub description: String,
    /// JSON Schema of the arguments: an object without additional properties.
    pub parameters: serde_json::Value,
    /// What the tool may do.
    pub effect: ToolEffect,
}
