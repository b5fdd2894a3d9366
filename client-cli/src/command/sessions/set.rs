//! `agentctl sessions set`.

use agentd_shared::{EffortArg, ModeArg, Wishes, WorkArg, ids, which};
use clap::Args;

use crate::app::App;
use crate::exit::{Exit, Failure};
use crate::json::SessionView;

/// Options of `sessions set`.
#[derive(Debug, Clone, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)))]
pub(crate) struct SetArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Model that answers; `default` for the daemon's
    #[arg(long, value_name = "MODEL", group = "what")]
    pub(crate) model: Option<String>,
    /// How long it reasons; `default` for the model's own
    #[arg(long, value_name = "LEVEL", value_enum, group = "what")]
    pub(crate) effort: Option<EffortArg>,
    /// How much the agent may do without asking
    #[arg(long, value_name = "MODE", value_enum, group = "what")]
    pub(crate) mode: Option<ModeArg>,
    /// What the agent works on
    #[arg(long, value_name = "WORK", value_enum, group = "what")]
    pub(crate) work: Option<WorkArg>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sets model, effort and modes.
pub(super) async fn run(args: &SetArgs, app: &App) -> Result<Exit, Failure> {
    let SetArgs { session, model, effort, mode, work, json } = args;
    let client = app.client().await?;
    let session_id = ids::resolve(&client, session).await?;
    let (asked, add_dir) = (model.clone(), Vec::new());
    let wishes = Wishes { model: asked, effort: *effort, mode: *mode, work: *work, add_dir };
    which::set(&client, app.author(), &session_id, &wishes).await?;
    if *json {
        let detail = super::show::fetch(&client, &session_id).await?;
        app.output.json(&SessionView::from(&detail.session.unwrap_or_default()))?;
        return Ok(Exit::Ok);
    }
    let when = if model.is_some() || effort.is_some() { "turn" } else { "call" };
    app.output.note(&format!("{} has it from the next {when} on", ids::short(&session_id)));
    Ok(Exit::Ok)
}
