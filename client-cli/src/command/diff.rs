//! `agentctl diff`: what a session's tools have changed of files.

use agentd_proto::v1;
use agentd_proto::v1::list_changes_request::Place;
use agentd_shared::format::Role;
use agentd_shared::format::diff::{self, Counts, Names};
use agentd_shared::text::one_line;
use agentd_shared::{Client, ids};
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::exit::{Exit, Failure};
use crate::json::ChangesView;
use crate::look::Look;

/// Options of `diff`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DiffArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows the changes.
pub(super) async fn run(args: &DiffArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let changes = fetch(&client, &session_id).await?;
    if args.json {
        app.output.json(&ChangesView::from(&changes))?;
        return Ok(Exit::Ok);
    }
    let look = Look { width: Size::detect().text_width(), colored: app.output.colored() };
    for row in rows(&changes, look) {
        app.output.line(&row)?;
    }
    Ok(Exit::Ok)
}

/// Asks for the changes of a session.
///
/// # Errors
/// A report when there is no such session, or the daemon refuses.
pub(crate) async fn fetch(
    client: &Client,
    session_id: &str,
) -> Result<v1::ListChangesResponse, Failure> {
    let request = v1::ListChangesRequest { place: Some(Place::SessionId(session_id.to_owned())) };
    let answer = client.tool().list_changes(request).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot show the changes", status))
}

/// The changes as painted rows.
pub(crate) fn rows(changes: &v1::ListChangesResponse, look: Look) -> Vec<String> {
    let v1::ListChangesResponse { files, changes } = changes;
    let dim = |text: &str| look.row(Role::Dim, &one_line(text, look.width));
    let indented = |text: &str| {
        // One line has no blanks before it.
        let text = format!("  {}", one_line(text, look.width.saturating_sub(2)));
        look.row(Role::Dim, &text)
    };
    let mut rows = Vec::new();
    for file in files {
        let v1::FileDiff { path, diff, problem, changed_by_others } = file;
        if problem.is_empty() {
            rows.extend(look.paint_all(&diff::rows(diff, Names::Shown, look.width)));
        } else {
            let path = one_line(path, look.width);
            rows.push(look.row(Role::Heading, &path));
            rows.push(indented(&format!("not shown: {problem}")));
        }
        if *changed_by_others {
            let text = "  somebody else has changed it too";
            rows.push(look.row(Role::Warn, text));
        }
    }
    let all: String = files.iter().map(|file| file.diff.as_str()).collect();
    if files.is_empty() {
        rows.push(dim("no file holds anything else than before"));
    } else {
        let counts = Counts { files: files.len(), ..Counts::of(&all) };
        rows.push(look.paint(&counts.row()));
    }
    if let Some(last) = changes.last() {
        let first = changes.first().map_or(last.number, |change| change.number);
        let numbers = if first == last.number {
            format!("change {first} can be taken back")
        } else {
            format!("changes {first} to {} can be taken back", last.number)
        };
        rows.push(dim(&format!("{numbers}; the last is of {}", last.paths.join(", "))));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_by_file_with_what_can_be_taken_back() {
        let file = |path: &str, diff: &str, problem: &str, changed_by_others: bool| v1::FileDiff {
            path: path.into(),
            diff: diff.into(),
            problem: problem.into(),
            changed_by_others,
        };
        let change = |number: u64, path: &str| v1::FileChange { number, paths: vec![path.into()] };
        let changes = v1::ListChangesResponse {
            files: vec![
                file("a", "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n", "", true),
                file("b\u{1b}", "", "the copy is gone", false),
            ],
            changes: vec![change(3, "b"), change(4, "a")],
        };
        assert_eq!(
            rows(&changes, Look { width: 60, colored: false }),
            [
                "a",
                "@@ -1,1 +1,1 @@",
                "-x",
                "+y",
                "  somebody else has changed it too",
                "b\\u{1b}",
                "  not shown: the copy is gone",
                "2 files +1 -1",
                "changes 3 to 4 can be taken back; the last is of a",
            ]
        );
        let nothing = rows(&v1::ListChangesResponse::default(), Look { width: 60, colored: false });
        assert_eq!(nothing, ["no file holds anything else than before"]);
    }
}
