//! `agentctl sessions`.

mod delete;
pub(crate) mod export;
mod fork;
mod import;
pub(crate) mod list;
pub(crate) mod rename;
mod set;
pub(crate) mod show;

use clap::Subcommand;

use crate::app::App;
use crate::exit::{Exit, Failure};

use delete::DeleteArgs;
use export::ExportArgs;
use fork::ForkArgs;
use import::ImportArgs;
use list::ListArgs;
use rename::RenameArgs;
use set::SetArgs;
use show::ShowArgs;

/// Commands about sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the most recently used first
    #[command(after_help = "\
When there are more than --limit, stderr says so.

Examples:
  agentctl sessions list --limit 100
  agentctl sessions list --limit 0 --json | jq -r '.[].session_id'")]
    List(ListArgs),
    /// Show one session with its queue and open questions
    Show(ShowArgs),
    /// Give a session a title that stays
    #[command(after_help = "\
Examples:
  agentctl sessions rename last \"tax return\"")]
    Rename(RenameArgs),
    /// Set the model or the effort of a session from the next turn on
    #[command(after_help = "\
Examples:
  agentctl sessions set last --model gpt-5 --effort low
  agentctl sessions set last --effort default")]
    Set(SetArgs),
    /// Remove sessions with all they hold
    Delete(DeleteArgs),
    /// Copy a session up to an event into a new one
    Fork(ForkArgs),
    /// Write a session to a file
    #[command(after_help = "\
`jsonl` can be imported again; `markdown` is for people.

Examples:
  agentctl sessions export last --output talk.jsonl
  agentctl sessions export 01JZ3V8QK5RD --format markdown > talk.md")]
    Export(ExportArgs),
    /// Create a session from an exported file
    #[command(after_help = "\
Examples:
  agentctl sessions import talk.jsonl
  ssh host agentctl sessions export last | agentctl sessions import -")]
    Import(ImportArgs),
}

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
