//! Tools whose effects and duration tests can see and control.

use std::io::Write as _;
use std::path::Path;

use agentd_domain::{Action, Capabilities, ToolResult, ToolSpec};
use agentd_tools::{Tool, ToolContext};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::Gate;

/// Appends a line to a file of the workspace: an effect that shows how often it ran.
#[derive(Debug)]
pub struct AppendLine {
    spec: ToolSpec,
    gate: Option<Gate>,
}

impl AppendLine {
    /// Name of the file in the workspace.
    pub const FILE: &str = "lines.txt";

    /// A tool that ends once the line is written, unless its argument `then_wait` is true: then it
    /// ends only when it is cancelled.
    pub fn new() -> Self {
        Self { spec: append_spec(), gate: None }
    }

    /// A tool that waits at the gate once the line is written.
    pub fn gated(gate: &Gate) -> Self {
        Self { spec: append_spec(), gate: Some(gate.clone()) }
    }
}

impl Default for AppendLine {
    fn default() -> Self {
        Self::new()
    }
}

fn append_spec() -> ToolSpec {
    ToolSpec {
        name: "append_line".to_owned(),
        description: "Appends a line to a file.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "line": {"type": "string", "description": "The line."},
                "then_wait": {"type": "boolean", "description": "Never end by itself."},
            },
            "required": ["line"],
            "additionalProperties": false,
        }),
        capabilities: Capabilities::WORKSPACE_WRITE,
    }
}

#[async_trait]
impl Tool for AppendLine {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, ctx: &ToolContext, arguments: Value, _planned: &Action) -> ToolResult {
        let line = arguments.get("line").and_then(Value::as_str).unwrap_or_default();
        if let Err(error) = append(&ctx.workspace, line) {
            return ToolResult::fatal("IO", error.to_string());
        }
        if let Some(gate) = &self.gate {
            gate.pass().await;
        }
        if arguments.get("then_wait").and_then(Value::as_bool) == Some(true) {
            std::future::pending::<()>().await;
        }
        ToolResult::success(format!("appended {line}"))
    }
}

/// One small write: it is whole or not there, also when the process is killed.
fn append(workspace: &Path, line: &str) -> std::io::Result<()> {
    let path = workspace.join(AppendLine::FILE);
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// A read that takes as long as the test wants.
#[derive(Debug)]
pub struct SlowRead {
    spec: ToolSpec,
    gate: Gate,
}

impl SlowRead {
    /// A tool that ends when the gate is released.
    pub fn new(gate: &Gate) -> Self {
        let spec = ToolSpec {
            name: "slow_read".to_owned(),
            description: "Reads slowly.".to_owned(),
            parameters: json!({
                "type": "object", "properties": {"n": {"type": "integer"}},
                "additionalProperties": false,
            }),
            capabilities: Capabilities::WORKSPACE_READ,
        };
        Self { spec, gate: gate.clone() }
    }
}

#[async_trait]
impl Tool for SlowRead {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, _ctx: &ToolContext, _arguments: Value, _planned: &Action) -> ToolResult {
        self.gate.pass().await;
        ToolResult::success("read at last")
    }
}

/// A tool that gives a fixed output, such as a very long one.
#[derive(Debug)]
pub struct FixedOutput {
    spec: ToolSpec,
    output: String,
}

impl FixedOutput {
    /// A tool `fixed_output` that gives `output`.
    pub fn new(output: impl Into<String>) -> Self {
        let spec = ToolSpec {
            name: "fixed_output".to_owned(),
            description: "Gives a fixed text.".to_owned(),
            parameters: json!({
                "type": "object", "properties": {"n": {"type": "integer"}},
                "additionalProperties": false,
            }),
            capabilities: Capabilities::PURE,
        };
        Self { spec, output: output.into() }
    }
}

#[async_trait]
impl Tool for FixedOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, _ctx: &ToolContext, _arguments: Value, _planned: &Action) -> ToolResult {
        ToolResult::success(self.output.clone())
    }
}
