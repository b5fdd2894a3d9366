//! `agentctl version`.

use agentd_proto::v1;

use crate::app::App;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::VersionView;

/// Prints the versions of both sides. A daemon is not started for it.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let own = env!("CARGO_PKG_VERSION");
    // A daemon that is not there, or does not answer, has no version to print.
    let mut absent = "not running";
    let daemon = match app.try_running_client().await {
        Ok(Some(client)) => client.admin().get_status(v1::GetStatusRequest {}).await.ok(),
        Ok(None) => None,
        Err(_) => {
            absent = "cannot be reached; see `agentctl status`";
            None
        }
    };
    let daemon = daemon.map(|answer| answer.into_inner().version);
    if args.json {
        app.output.json(&VersionView { agentctl: own, agentd: daemon.as_deref() })?;
    } else {
        app.output.line(&format!("agentctl {own}"))?;
        let theirs = daemon.as_deref().unwrap_or(absent);
        app.output.foreign_line(&format!("agentd   {theirs}"))?;
    }
    Ok(Exit::Ok)
}
