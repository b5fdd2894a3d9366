//! `agentctl sessions`.

mod delete;
pub(crate) mod export;
mod fork;
mod import;
pub(crate) mod list;
pub(crate) mod rename;
mod set;
pub(crate) mod show;

use crate::app::App;
use crate::cli::SessionsCommand;
use crate::exit::{Exit, Failure};

/// Runs a command about sessions.
pub(super) async fn run(command: &SessionsCommand, app: &App) -> Result<Exit, Failure> {
    match command {
        SessionsCommand::List(args) => list::run(args, app).await,
        SessionsCommand::Show(args) => show::run(args, app).await,
        SessionsCommand::Rename(args) => rename::run(args, app).await,
        SessionsCommand::Set(args) => set::run(args, app).await,
        SessionsCommand::Delete(args) => delete::run(args, app).await,
        SessionsCommand::Fork(args) => fork::run(args, app).await,
        SessionsCommand::Export(args) => export::run(args, app).await,
        SessionsCommand::Import(args) => import::run(args, app).await,
    }
}
