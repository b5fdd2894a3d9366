//! `agentctl tools show`.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::text::one_line;
use clap::Args;
use serde_json::Value;

use super::list::effect;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::ToolView;

/// Options of `tools show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    /// Name of the tool
    #[arg(value_name = "NAME")]
    name: String,
    /// Print JSON, with the schema of the arguments
    #[arg(long)]
    json: bool,
}

/// Shows one tool.
pub(super) async fn run(args: &ShowArgs, app: &App) -> Result<Exit, Failure> {
    let tool = fetch(&app.client().await?, &args.name).await?;
    if args.json {
        app.output.json(&ToolView::from(&tool))?;
    } else {
        for line in lines(&tool) {
            app.output.foreign_line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

/// Asks for a tool.
///
/// # Errors
/// A report when there is none, or the daemon refuses.
pub(crate) async fn fetch(client: &Client, name: &str) -> Result<v1::Tool, Failure> {
    let request = v1::GetToolRequest { name: name.to_owned() };
    let answer = client.tool().get_tool(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot show the tool", status))?;
    Ok(answer.into_inner().tool.unwrap_or_default())
}

/// A tool as lines for people.
pub(crate) fn lines(tool: &v1::Tool) -> Vec<String> {
    let mut lines = vec![one_line(&tool.name, 64)];
    if !tool.missing.is_empty() {
        lines.push(format!("  missing: {}", one_line(&tool.missing, 500)));
    }
    if !tool.description.is_empty() {
        lines.push(format!("  {}", one_line(&tool.description, 1_000)));
    }
    if let Some(capabilities) = &tool.capabilities {
        let mut about = vec![effect(tool)];
        about.extend(capabilities.parallel_safe.then_some("beside other calls"));
        about.extend(capabilities.cacheable.then_some("equal calls of a turn once"));
        lines.push(format!("  {}", about.join(", ")));
    }
    if !tool.aliases.is_empty() {
        lines.push(format!("  also known as {}", one_line(&tool.aliases.join(", "), 200)));
    }
    let schema: Value = serde_json::from_str(&tool.parameters_json).unwrap_or_default();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let parameters = schema.get("properties").and_then(Value::as_object);
    for (name, parameter) in parameters.into_iter().flatten() {
        let must = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let about = parameter.get("description").and_then(Value::as_str).unwrap_or_default();
        let line = format!("{name} ({}{must}) {about}", kind(parameter));
        lines.push(format!("  {}", one_line(&line, 500)));
    }
    lines
}

/// The type of a parameter, in words.
fn kind(parameter: &Value) -> String {
    match parameter.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => {
            let names = several.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if parameter.get("enum").is_some() => "choice".to_owned(),
        _ => "value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_shown_with_its_parameters() {
        let tool = v1::Tool {
            name: "write_file".into(),
            description: "Makes a file.".into(),
            parameters_json: r#"{"type":"object","required":["path"],"properties":{
                "overwrite":{"type":"boolean","description":"Replace it."},
                "path":{"type":["string","null"],"description":"Where."}}}"#
                .into(),
            capabilities: Some(v1::ToolCapabilities {
                effect: v1::ToolEffect::WorkspaceWrite.into(),
                ..v1::ToolCapabilities::default()
            }),
            aliases: vec!["writeFile".into()],
            missing: String::new(),
        };
        assert_eq!(
            lines(&tool),
            [
                "write_file",
                "  Makes a file.",
                "  writes",
                "  also known as writeFile",
                "  overwrite (boolean, optional) Replace it.",
                "  path (string) Where.",
            ]
        );
    }
}
