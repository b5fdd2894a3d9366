//! `agentctl context`: what a session's requests are made of; and names for daemons on other machines.

pub(crate) mod compact;
pub(crate) mod expand;
pub(crate) mod layers;
pub(crate) mod pins;
pub(crate) mod servers;

use agentd_shared::RemoteArgs;
use clap::{Args, Subcommand};

use self::compact::CompactArgs;
use self::expand::ExpandArgs;
use self::pins::{PinArgs, UnpinArgs};
use self::servers::ServersCommand;
use crate::app::App;
use crate::exit::{Exit, Failure};

/// Options of `context`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ContextCommand>,
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Commands about what requests are made of, and about named servers.
#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Fold all turns of a session but the newest into its summary now
    #[command(after_help = "\
Examples:
  agentctl context compact last")]
    Compact(CompactArgs),
    /// List the lines of a session's summary, or show what one was made from
    #[command(after_help = "\
Examples:
  agentctl context expand
  agentctl context expand 3 --session 01JZ3V8QK5RD")]
    Expand(ExpandArgs),
    /// Have the model keep to a text in a session, whatever is folded
    #[command(after_help = "\
Examples:
  agentctl context pin \"keep to the public API\"")]
    Pin(PinArgs),
    /// Take back what is pinned
    #[command(after_help = "\
Examples:
  agentctl context unpin 1")]
    Unpin(UnpinArgs),
    #[command(flatten)]
    Servers(ServersCommand),
}

/// Runs a command about what requests are made of.
pub(super) async fn run(
    args: &ContextArgs,
    remote: &RemoteArgs,
    app: &App,
) -> Result<Exit, Failure> {
    match &args.command {
        None => layers::run(&args.session, args.json, app).await,
        Some(ContextCommand::Compact(args)) => compact::run(args, app).await,
        Some(ContextCommand::Expand(args)) => expand::run(args, app).await,
        Some(ContextCommand::Pin(args)) => pins::pin(args, app).await,
        Some(ContextCommand::Unpin(args)) => pins::unpin(args, app).await,
        Some(ContextCommand::Servers(command)) => servers::run(command, remote, app),
    }
}
