//! `agentctl sessions`.

mod create;
mod delete;
pub(crate) mod export;
mod fork;
mod import;
pub(crate) mod list;
mod mark_read;
pub(crate) mod rename;
mod set;
pub(crate) mod show;

use clap::Subcommand;

use crate::app::App;
use crate::exit::{Exit, Failure};

use create::CreateArgs;
use delete::DeleteArgs;
use export::ExportArgs;
use fork::ForkArgs;
use import::ImportArgs;
use list::ListArgs;
use mark_read::MarkReadArgs;
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
    /// Create a session and print its id
    #[command(after_help = "\
Its tools work in the current directory, unless --workspace names another.
`chat` and `send` create one by themselves.

Examples:
  agentctl sessions create --title \"tax return\" --mode plan
  id=$(agentctl sessions create) && agentctl send --session \"$id\" hello")]
    Create(CreateArgs),
    /// Show one session with its queue and open questions
    #[command(after_help = "\
Examples:
  agentctl sessions show last
  agentctl sessions show last --json | jq .open_approvals")]
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
    /// Note that all of sessions has been seen, so that none counts as unread
    #[command(after_help = "\
Examples:
  agentctl sessions mark-read last
  agentctl sessions mark-read --all")]
    MarkRead(MarkReadArgs),
    /// Remove sessions with all they hold
    #[command(after_help = "\
Examples:
  agentctl sessions delete 01JZ3V8QK5RD
  agentctl sessions delete --yes 01JZ3V8QK5RD 01JZ3V9AAAAA")]
    Delete(DeleteArgs),
    /// Copy a session up to an event into a new one
    #[command(after_help = "\
Examples:
  agentctl sessions fork last
  agentctl sessions fork 01JZ3V8QK5RD --at 120 --title \"another way\"")]
    Fork(ForkArgs),
    /// Write a session to a file
    #[command(after_help = "\
`jsonl` can be imported again; `markdown` is for people. There is no --json:
each line of `jsonl` is an object already.

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
        SessionsCommand::Create(args) => create::run(args, app).await,
        SessionsCommand::MarkRead(args) => mark_read::run(args, app).await,
        SessionsCommand::Show(args) => show::run(args, app).await,
        SessionsCommand::Rename(args) => rename::run(args, app).await,
        SessionsCommand::Set(args) => set::run(args, app).await,
        SessionsCommand::Delete(args) => delete::run(args, app).await,
        SessionsCommand::Fork(args) => fork::run(args, app).await,
        SessionsCommand::Export(args) => export::run(args, app).await,
        SessionsCommand::Import(args) => import::run(args, app).await,
    }
}
