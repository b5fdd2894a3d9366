//! `agentctl context expand`: the lines of a summary, and what each was made from.

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::text::{one_line, relative_time, sanitize};
use agentd_shared::{Client, ids};
use clap::Args;

use super::layers;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::{CompactedView, ExpandedView};

/// Columns of a line of the summary.
const LINE_WIDTH: usize = 500;
/// Columns of a name.
const NAME_WIDTH: usize = 60;

/// Options of `context expand`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExpandArgs {
    /// Number of the line; without it: all lines with their numbers
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    line: Option<u32>,
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(long, value_name = "ID", default_value = "last")]
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows the summary of a session, or what a line of it was made from.
pub(super) async fn run(args: &ExpandArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let Some(line) = args.line else {
        let context = layers::fetch(&client, &session_id).await?;
        if args.json {
            app.output.json(&context.summary.as_ref().map(CompactedView::from))?;
            return Ok(Exit::Ok);
        }
        for line in summary(context.summary.as_ref()) {
            app.output.line(&line)?;
        }
        return Ok(Exit::Ok);
    };
    let expanded = expand(&client, &session_id, line).await?;
    if args.json {
        app.output.json(&ExpandedView::from(&expanded))?;
        return Ok(Exit::Ok);
    }
    for row in lines(&expanded, i64::try_from(now_ms()).unwrap_or(i64::MAX)) {
        app.output.line(&row)?;
    }
    Ok(Exit::Ok)
}

/// Asks the daemon.
///
/// # Errors
/// A report when there is no such line, or the daemon refuses.
pub(crate) async fn expand(
    client: &Client,
    session_id: &str,
    line: u32,
) -> Result<v1::ExpandSummaryResponse, Failure> {
    let request = v1::ExpandSummaryRequest { session_id: session_id.to_owned(), line };
    let answer = client.context().expand_summary(request).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot show what the line was made from", status))
}

/// The lines of a summary by section, with their numbers.
pub(crate) fn summary(summary: Option<&v1::ContextCompacted>) -> Vec<String> {
    let Some(summary) = summary else {
        return vec!["no turns were folded into a summary yet".to_owned()];
    };
    let mut rows = Vec::new();
    let mut section = None;
    for (at, line) in summary.lines.iter().enumerate() {
        if section.replace(line.section) != Some(line.section) {
            rows.push(format!("{}:", section_name(line)));
        }
        rows.push(format!("  {}  {}", at + 1, one_line(&line.text, LINE_WIDTH)));
    }
    match summary.untold_turns {
        0 => {}
        1 => rows.push("1 turn is told of by no line".to_owned()),
        many => rows.push(format!("{many} turns are told of by no line")),
    }
    rows
}

/// A line of the summary, and under it what was said.
pub(crate) fn lines(expanded: &v1::ExpandSummaryResponse, now: i64) -> Vec<String> {
    let line = expanded.line.clone().unwrap_or_default();
    let mut rows = vec![format!("{}: {}", section_name(&line), one_line(&line.text, LINE_WIDTH))];
    for message in &expanded.messages {
        let v1::ExpandedMessage { seq, at_ms, who, text } = message;
        let when = relative_time(*at_ms, now);
        rows.push(format!("  {} · {when} · event {seq}", one_line(who, NAME_WIDTH)));
        // What stands in a line end of another kind is shown as an escape.
        rows.extend(
            text.split('\n').map(|line| format!("    {}", sanitize(line)).trim_end().to_owned()),
        );
    }
    if expanded.messages.is_empty() {
        rows.push("  nothing of it is in the log".to_owned());
    }
    if expanded.truncated {
        rows.push("  … and more; `agentctl sessions export` writes all of it".to_owned());
    }
    rows
}

fn section_name(line: &v1::SummaryLine) -> String {
    crate::json::summary_section(line.section).replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(section: v1::SummarySection, text: &str) -> v1::SummaryLine {
        v1::SummaryLine { section: section.into(), text: text.to_owned(), from: Vec::new() }
    }

    #[test]
    fn lines_are_numbered_through_and_stand_under_their_section() {
        let compacted = v1::ContextCompacted {
            lines: vec![
                line(v1::SummarySection::Constraints, "keep to\ntabs"),
                line(v1::SummarySection::OpenTasks, "port \u{1b}[2Jit"),
                line(v1::SummarySection::OpenTasks, "test it"),
            ],
            untold_turns: 2,
            ..Default::default()
        };
        assert_eq!(
            summary(Some(&compacted)),
            [
                "constraints:",
                "  1  keep to tabs",
                "open tasks:",
                "  2  port \\u{1b}[2Jit",
                "  3  test it",
                "2 turns are told of by no line",
            ]
        );
        assert_eq!(summary(None), ["no turns were folded into a summary yet"]);
    }

    #[test]
    fn what_was_said_is_shown_whole_and_moves_no_cursor() {
        let message = |who: &str, text: &str| v1::ExpandedMessage {
            seq: 7,
            at_ms: 0,
            who: who.to_owned(),
            text: text.to_owned(),
        };
        let expanded = v1::ExpandSummaryResponse {
            line: Some(line(v1::SummarySection::Done, "counted")),
            messages: vec![message("user", "how\nmuch?"), message("a\u{7}b", "\u{1b}]0;x\u{7}42")],
            truncated: true,
        };
        let told = lines(&expanded, 600_000);
        assert_eq!(
            told[..4],
            ["done: counted", "  user · 10 min ago · event 7", "    how", "    much?",]
        );
        assert!(!told.concat().contains(char::is_control), "{told:#?}");
        assert!(told.last().is_some_and(|last| last.contains("and more")), "{told:#?}");
    }
}
