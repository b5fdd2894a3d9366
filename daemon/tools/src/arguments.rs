//! Arguments: from the text that the model wrote to values that fit the schema.
//!
//! Models get types wrong in a few known ways. What can be converted without loss is converted
//! once, before anything is asked or run, so that approval and log show what the tool gets; the
//! rest is told to the model field by field, so that it need not guess.

mod convert;
mod json;
mod surrogates;

use agentd_domain::{ToolResult, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Error code of arguments that do not fit.
const VALIDATION_FAILED: &str = "TOOL_ARGUMENT_VALIDATION_FAILED";

/// Longest argument text in bytes. It is above every limit of a single field: a lower bound here
/// would make large fields impossible to send at all.
const MAX_TEXT: usize = 1024 * 1024;

/// How many problems are told at once.
const MAX_PROBLEMS: usize = 10;

/// Parses `text` and converts it to the schema of `spec`.
pub(crate) fn prepare(spec: &ToolSpec, text: &str) -> Result<Value, ToolResult> {
    let refuse = |problems: &[String]| {
        let mut lines = vec![format!("The arguments of '{}' do not fit:", spec.name)];
        lines.extend(problems.iter().take(MAX_PROBLEMS).map(|problem| format!("- {problem}")));
        if let Some(more @ 1..) = problems.len().checked_sub(MAX_PROBLEMS) {
            lines.push(format!("- and {more} more"));
        }
        ToolResult::fatal(VALIDATION_FAILED, lines.join("\n"))
    };

    let value = object(text).map_err(|problem| refuse(&[problem]))?;
    let mut problems = Vec::new();
    let value = convert::convert(&spec.parameters, value, "", &mut problems);
    if problems.is_empty() { Ok(value) } else { Err(refuse(&problems)) }
}

/// The arguments in `text`, not yet converted to a schema.
pub(crate) fn fields(text: &str) -> Result<Map<String, Value>, ToolResult> {
    match object(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Ok(Map::new()),
        Err(problem) => Err(ToolResult::fatal(VALIDATION_FAILED, format!("arguments: {problem}"))),
    }
}

/// The object in `text`, which may be encoded twice. No arguments at all are an empty object.
fn object(text: &str) -> Result<Value, String> {
    if text.len() > MAX_TEXT {
        return Err(format!(
            "expected at most {MAX_TEXT} bytes of JSON, received {} bytes",
            text.len()
        ));
    }
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let value = match json::parse(&surrogates::replace_lone(text))? {
        Value::String(inner) if inner.trim().is_empty() => Value::Null,
        Value::String(inner) => json::parse(&surrogates::replace_lone(&inner))
            .map_err(|error| format!("expected an object, received a string: {error}"))?,
        value => value,
    };
    match value {
        Value::Null => Ok(Value::Object(Map::new())),
        value @ Value::Object(_) => Ok(value),
        other => Err(format!("expected an object, received {}", convert::describe(&other))),
    }
}

/// Reads converted arguments into a tool's own type.
pub(crate) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolResult> {
    serde_json::from_value(arguments)
        .map_err(|error| ToolResult::fatal(VALIDATION_FAILED, format!("arguments: {error}")))
}

#[cfg(test)]
mod tests;
