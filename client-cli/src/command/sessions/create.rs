//! `agentctl sessions create`.

use std::path::PathBuf;

use agentd_proto::v1;
use agentd_shared::client_ids::new_ulid;
use agentd_shared::which::model_on_the_wire;
use agentd_shared::{Wishes, directory};
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::SessionView;

/// Options of `sessions create`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CreateArgs {
    /// Title that stays; without it one is made from the first message
    #[arg(long, value_name = "TITLE", default_value = "", hide_default_value = true)]
    title: String,
    /// Directory that its tools work in; without it the current one
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// What its turns are like.
    #[command(flatten)]
    wishes: Wishes,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Creates a session and prints its id.
pub(super) async fn run(args: &CreateArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let named = |path: &PathBuf| directory::named(client.endpoint(), path);
    let Wishes { model, effort, mode, work, add_dir } = &args.wishes;
    let workspace = match &args.workspace {
        Some(path) => named(path)?,
        // Empty: the home directory, on a machine that does not have this one.
        None => directory::current(client.endpoint())?.unwrap_or_default(),
    };
    let request = v1::CreateSessionRequest {
        session_id: new_ulid(),
        title: args.title.clone(),
        workspace,
        model: model.as_deref().map(model_on_the_wire).unwrap_or_default().to_owned(),
        effort: effort.map_or(v1::Effort::Unspecified, v1::Effort::from).into(),
        permission_mode: mode
            .map_or(v1::PermissionMode::Unspecified, v1::PermissionMode::from)
            .into(),
        work_mode: work.map_or(v1::WorkMode::Unspecified, v1::WorkMode::from).into(),
        further_roots: add_dir.iter().map(named).collect::<Result<_, _>>()?,
    };
    let answer = client.session().create_session(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot create a session", status))?;
    let session = answer.into_inner().session.unwrap_or_default();
    if args.json {
        app.output.json(&SessionView::from(&session))?;
    } else {
        app.output.line(&session.session_id)?;
    }
    Ok(Exit::Ok)
}
