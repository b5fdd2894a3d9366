//! The client for terminals that cannot be drawn on, and for people who hear them: `agentctl chat`, in
//! place of this process.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::cli::Cli;
use crate::exit::Failure;

/// The program.
const PROGRAM: &str = "agentctl";

/// Puts it in place of this process; returns only when that fails.
pub fn exec(cli: &Cli) -> Failure {
    let program = program();
    let error = Command::new(&program).args(cli.chat_arguments()).exec();
    Failure::no_linear(&program.display().to_string(), &error)
}

/// The one beside our own program, of the same release; else the one of PATH.
fn program() -> PathBuf {
    let own = env::current_exe().ok();
    let beside = own.as_deref().and_then(std::path::Path::parent).map(|dir| dir.join(PROGRAM));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PROGRAM.into())
}

/// Whether the terminal understands nothing but plain text.
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}
