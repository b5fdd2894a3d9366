//! `agentctl tools show`.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::format::facts::Fact;
use agentd_shared::format::tools;
use clap::Args;

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
    let indented = |(at, fact): (usize, Fact)| match at {
        0 => fact.text,
        _ => format!("  {}", fact.text),
    };
    tools::one(tool).into_iter().enumerate().map(indented).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_tool_stands_below_its_name() {
        let tool = v1::Tool {
            name: "write_file".into(),
            description: "Makes a file.".into(),
            aliases: vec!["writeFile".into()],
            ..v1::Tool::default()
        };
        assert_eq!(lines(&tool), ["write_file", "  Makes a file.", "  also known as writeFile"]);
    }
}
