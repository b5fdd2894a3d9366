//! `agentctl sessions set`.

use crate::app::App;
use crate::cli::{SetArgs, Wishes};
use crate::exit::{Exit, Failure};
use crate::{ids, which};

/// Sets model and effort.
pub(super) async fn run(args: &SetArgs, app: &App) -> Result<Exit, Failure> {
    let SetArgs { session, model, effort } = args;
    let client = app.client().await?;
    let session_id = ids::resolve(&client, session).await?;
    let wishes = Wishes { model: model.clone(), effort: *effort };
    which::set(&client, app.author(), &session_id, &wishes).await?;
    app.output.note(&format!("{} has it from the next turn on", ids::short(&session_id)));
    Ok(Exit::Ok)
}
