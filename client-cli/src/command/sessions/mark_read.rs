//! `agentctl sessions mark-read`.

use agentd_proto::v1;
use agentd_shared::ids;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::ReadView;

/// Options of `sessions mark-read`.
#[derive(Debug, Clone, Args)]
#[command(group(clap::ArgGroup::new("which").required(true)))]
pub(crate) struct MarkReadArgs {
    /// Sessions by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID", group = "which")]
    sessions: Vec<String>,
    /// All sessions
    #[arg(long, group = "which")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Whose place is moved where nobody's lasts: a script's would be kept for nobody.
const SCRIPTS: &str = "agentctl";

/// Notes that all of some sessions has been seen.
pub(super) async fn run(args: &MarkReadArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let sessions = if args.all {
        let all = ids::all(&client).await;
        all.map_err(|error| rpc_failure("cannot list sessions", error))?
    } else {
        let mut sessions = Vec::new();
        for wanted in &args.sessions {
            let session_id = ids::resolve(&client, wanted).await?;
            let found = super::show::fetch(&client, &session_id).await?;
            sessions.extend(found.session);
        }
        sessions
    };
    let client_id = match app.identity() {
        own if own.is_lasting() => own.client_id.as_str(),
        _another_each_time => SCRIPTS,
    };
    let mut read = Vec::new();
    for session in sessions {
        let request = v1::SetReadCursorRequest {
            session_id: session.session_id.clone(),
            client_id: client_id.to_owned(),
            seq: session.last_seq,
        };
        let answer = client.event().set_read_cursor(request).await;
        let answer =
            answer.map_err(|status| rpc_failure("cannot note that it was read", status))?;
        let seq = answer.into_inner().seq;
        read.push(ReadView { session_id: session.session_id, seq });
    }
    if args.json {
        app.output.json(&read)?;
    } else {
        let noun = if read.len() == 1 { "session" } else { "sessions" };
        app.output.note(&format!("{} {noun} marked as read", read.len()));
    }
    Ok(Exit::Ok)
}
