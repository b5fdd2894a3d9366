//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Full-screen client of agentd: shows a session, and lets you act in it.
#[derive(Debug, Parser)]
#[command(name = "agent-tui", version, max_term_width = 100)]
pub struct Cli {
    /// One folder for configuration, data, state and socket, instead of the usual places
    #[arg(long, value_name = "DIR", env = "AGENTD_HOME")]
    pub home: Option<PathBuf>,
    /// Session by id, by a unique beginning, or `last`; without it a new one begins
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The session that was used last, or a new one when there is none
    #[arg(long = "continue", conflicts_with = "session")]
    pub resume: bool,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
}
