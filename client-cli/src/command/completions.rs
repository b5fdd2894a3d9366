//! `agentctl completions`.

use clap::Args;
use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Options of `completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Prints a completion script.
pub(super) fn run(args: &CompletionsArgs, output: &Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "agentctl", &mut script);
    output.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
