//! `agentctl completions`.

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArgs};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Prints a completion script.
pub(super) fn run(args: &CompletionsArgs, output: &Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "agentctl", &mut script);
    output.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
