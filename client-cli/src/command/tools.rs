//! `agentctl tools`: what can be called, and calling it by hand.

mod arguments;
pub(crate) mod list;
mod run;
pub(crate) mod show;

use clap::Subcommand;

use crate::app::App;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};

pub(crate) use run::make;

/// Commands about tools.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools, and what this machine lacks for them
    #[command(after_help = "\
Examples:
  agentctl tools list
  agentctl tools list --json | jq -r '.[].name'")]
    List(JsonArgs),
    /// Show what a tool does and takes
    #[command(after_help = "\
Examples:
  agentctl tools show run_command")]
    Show(show::ShowArgs),
    /// Run a tool by hand
    #[command(after_help = "\
A call goes the way of a model's calls: the same rules, the same sandbox. What
a model would have to ask for is shown, and runs after a yes, or with --yes.
What the tool gives goes to stdout, all else to stderr; with --json each line
of stdout is a step: planned, output, finished.

Examples:
  agentctl tools run calculator expression='2^10'
  agentctl tools run grep_files pattern=TODO path=src
  agentctl tools run run_command command='cargo test' --session last
  agentctl tools run edit_file --json-args '{\"path\": \"a\", \"edits\": []}'")]
    Run(run::RunArgs),
}

/// Runs a command about tools.
pub(super) async fn run(command: &ToolsCommand, app: &App) -> Result<Exit, Failure> {
    match command {
        ToolsCommand::List(args) => list::run(args, app).await,
        ToolsCommand::Show(args) => show::run(args, app).await,
        ToolsCommand::Run(args) => run::run(args, app).await,
    }
}
