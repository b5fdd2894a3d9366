//! `agentctl tools list`.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::format::tools::{about, effect};
use agentd_shared::text::one_line;
use unicode_width::UnicodeWidthStr as _;

use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::ToolView;

/// Columns of a description where nobody says how many there are.
const DESCRIPTION_WIDTH: usize = 200;

/// Lists the tools.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let tools = fetch(&app.client().await?).await?;
    if args.json {
        let views: Vec<ToolView<'_>> = tools.iter().map(ToolView::from).collect();
        app.output.json(&views)?;
    } else {
        let width = app.output.is_terminal().then(|| Size::detect().text_width());
        for line in lines(&tools, width) {
            app.output.foreign_line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

/// Asks for the tools.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn fetch(client: &Client) -> Result<Vec<v1::Tool>, Failure> {
    let answer = client.tool().list_tools(v1::ListToolsRequest {}).await;
    let answer = answer.map_err(|status| rpc_failure("cannot list the tools", status))?;
    Ok(answer.into_inner().tools)
}

/// The tools as lines for people, in at most `width` columns where that is known.
pub(crate) fn lines(tools: &[v1::Tool], width: Option<usize>) -> Vec<String> {
    let widest = |text: fn(&v1::Tool) -> usize| tools.iter().map(text).max().unwrap_or(0);
    let name_width = widest(|tool| tool.name.width());
    let effect_width = widest(|tool| effect(tool).width());
    let line = |tool: &v1::Tool| {
        let head =
            format!("{:<name_width$}  {:<effect_width$}  ", one_line(&tool.name, 64), effect(tool));
        let room = width.map_or(DESCRIPTION_WIDTH, |width| width.saturating_sub(head.width()));
        format!("{head}{}", one_line(&about(tool), room)).trim_end().to_owned()
    };
    tools.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_a_line_and_says_what_it_lacks() {
        let tool = |name: &str, effect: v1::ToolEffect, missing: &str| v1::Tool {
            name: name.into(),
            description: "Does\u{1b} something that takes many words to say.".into(),
            capabilities: Some(v1::ToolCapabilities {
                effect: effect.into(),
                ..v1::ToolCapabilities::default()
            }),
            missing: missing.into(),
            ..v1::Tool::default()
        };
        let tools = [
            tool("read_file", v1::ToolEffect::WorkspaceRead, ""),
            tool("ocr", v1::ToolEffect::Process, "install tesseract-ocr"),
        ];
        assert_eq!(
            lines(&tools, Some(50)),
            [
                "read_file  reads  Does\\u{1b} something that takes…",
                "ocr        runs   missing: install tesseract-ocr"
            ]
        );
    }
}
