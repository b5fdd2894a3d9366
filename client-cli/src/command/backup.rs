//! `agentctl backup`.

use std::path::PathBuf;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::with_deadline;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::BackupView;
use crate::progress::Progress;

/// Options of `backup`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BackupArgs {
    /// Directory to create
    #[arg(value_name = "DEST")]
    pub(crate) destination: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A store of many gigabytes takes its time.
const DEADLINE: Duration = Duration::from_secs(3600);

/// Writes a copy of the store.
pub(super) async fn run(args: &BackupArgs, app: &App) -> Result<Exit, Failure> {
    let unusable = |why: String| {
        let what = format!("{} cannot be the destination", args.destination.display());
        Failure::new(Exit::Usage, what).because(why)
    };
    if app.server().is_some() && !args.destination.is_absolute() {
        let why = "it is on the daemon's machine, so it must begin with '/'".to_owned();
        return Err(unusable(why));
    }
    // The daemon works in another directory.
    let destination = std::path::absolute(&args.destination)
        .map_err(|error| unusable(error.to_string()))?
        .into_os_string()
        .into_string()
        .map_err(|_path| unusable("the path is not UTF-8".to_owned()))?;
    let client = app.client().await?;
    let copying = Progress::wait(&app.output, "copying the store");
    let request = v1::BackupStoreRequest { destination: destination.clone() };
    let answer = client.admin().backup_store(with_deadline(request, DEADLINE)).await;
    drop(copying);
    let answer = answer.map_err(|status| rpc_failure("cannot back up the store", status))?;
    let v1::BackupStoreResponse { sessions, events } = answer.into_inner();
    if args.json {
        app.output.json(&BackupView { destination: &destination, sessions, events })?;
    } else {
        app.output
            .line(&format!("copied {sessions} sessions with {events} events to {destination}"))?;
    }
    Ok(Exit::Ok)
}
