//! `agentctl status`.

use agentd_proto::v1;
use agentd_shared::format::facts::Fact;
use agentd_shared::format::{Role, daemon};
use agentd_shared::{Client, Server};

use super::usage;
use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::{StatusView, UsageRowView};
use crate::look::{Look, prefixed_rows};

/// Shows how the daemon is.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.running_client().await?;
    let status = fetch(&client).await?;
    if args.json {
        let today = usage::today_row(&client).await;
        let mut view = StatusView::from(&status);
        view.context = app.server().and_then(|server| server.context.as_deref());
        view.server = app.server().map(Server::url);
        view.today = today.as_ref().map(UsageRowView::from);
        app.output.json(&view)?;
    } else {
        if let Some(server) = app.server() {
            let name = server.context.as_deref().unwrap_or("none");
            app.output.foreign_line(&format!("context   {name} ({})", server.url()))?;
        }
        let width = app.output.is_terminal().then(|| Size::detect().text_width());
        let today = usage::today_line(&client).await;
        for line in lines(&status, today.as_deref(), width) {
            app.output.foreign_line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

/// Asks the daemon.
///
/// # Errors
/// A report when it refuses.
pub(crate) async fn fetch(client: &Client) -> Result<v1::GetStatusResponse, Failure> {
    let answer = client.admin().get_status(v1::GetStatusRequest {}).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot ask the daemon for its status", status))
}

/// The state as lines for people. They hold foreign text.
pub(crate) fn lines(
    status: &v1::GetStatusResponse,
    today: Option<&str>,
    width: Option<usize>,
) -> Vec<String> {
    let look = Look { width: width.unwrap_or(usize::MAX), colored: false };
    let facts = daemon::status(status, today).into_iter();
    let rows = |fact: Fact| {
        prefixed_rows(
            &fact.text,
            Role::Plain,
            fact.padded_label(daemon::LABEL_WIDTH).as_str(),
            look,
        )
    };
    facts.flat_map(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_behind_their_labels_and_fit() {
        let status = v1::GetStatusResponse {
            running_turns_limit: 16,
            warnings: vec!["the provider cannot be reached: connection refused".into()],
            ..Default::default()
        };
        let shown = lines(&status, Some("$0.12"), None).join("\n");
        assert!(shown.contains("\ntoday     $0.12\n"), "{shown}");
        let warning = "\nwarning   the provider cannot be reached: connection refused\n";
        assert!(shown.contains(warning), "{shown}");

        let narrow = lines(&status, Some("$0.12"), Some(40));
        let shown = narrow.join("\n");
        let broken = "warning   the provider cannot be\n          reached: connection refused\n\
                      \x20         `agentctl doctor` says what to\n          do";
        assert!(shown.ends_with(broken), "{shown}");
        assert_eq!(narrow.iter().find(|line| line.chars().count() > 40), None);
    }
}
