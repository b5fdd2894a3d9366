//! Calling a tool of the second rank. The registry takes such a call apart (`Registry::resolve`);
//! this tool itself is never run.

use agentd_domain::{Action, Capabilities, ToolResult, ToolSpec};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Tool, ToolContext, arguments, schema};

/// Its name.
pub(crate) const CALL_TOOL: &str = "call_tool";

/// Arguments of call_tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// As find_tools gave it.
    name: String,
    /// Arguments of that tool.
    arguments: Option<Map<String, Value>>,
}

/// The call that is meant.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) name: String,
    pub(crate) arguments_json: String,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct CallTool {
    spec: ToolSpec,
}

impl CallTool {
    pub(crate) fn new() -> Self {
        let spec = ToolSpec {
            name: CALL_TOOL.to_owned(),
            description: "Runs a tool that find_tools has described.".to_owned(),
            parameters: schema::parameters::<Arguments>(),
            // What counts is what the real tool may do.
            capabilities: Capabilities::EXCLUSIVE,
        };
        Self { spec }
    }

    /// Takes a call apart.
    ///
    /// # Errors
    /// The result to give the model, when the arguments are not those of `call_tool`.
    pub(crate) fn inner(tool: &dyn Tool, arguments_json: &str) -> Result<Inner, ToolResult> {
        let arguments = arguments::prepare(tool.spec(), arguments_json)?;
        let Arguments { name, arguments } = arguments::read(arguments)?;
        if name == CALL_TOOL {
            return Err(ToolResult::fatal(
                "TOOL_ARGUMENT_VALIDATION_FAILED",
                "call_tool does not call itself: name the tool that you mean.",
            ));
        }
        let arguments_json = Value::Object(arguments.unwrap_or_default()).to_string();
        Ok(Inner { name, arguments_json })
    }
}

#[async_trait]
impl Tool for CallTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, _ctx: &ToolContext, _arguments: Value, _planned: &Action) -> ToolResult {
        // Only a caller that passes the registry by comes here.
        ToolResult::fatal("UNKNOWN_TOOL", "call_tool itself does nothing.")
    }
}
