//! `agentctl config`: the daemon's program owns the configuration, so it is asked to do the work.

use std::process::Stdio;

use agentd_shared::start::find_agentd;
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::exit::{Exit, Failure};

/// Options of `config`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConfigArgs {
    /// What to do
    #[arg(value_enum, value_name = "init|show|path")]
    pub(crate) action: ConfigAction,
}

/// What to do with the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfigAction {
    /// Write a commented file when there is none.
    Init,
    /// Print what is in force and where each value comes from.
    Show,
    /// Print the path of the file.
    Path,
}

/// Runs `agentd config ...` on this terminal.
pub(super) async fn run(args: &ConfigArgs, app: &App) -> Result<Exit, Failure> {
    let program = find_agentd(None)
        .map_err(|error| Failure::new(Exit::Unreachable, error.to_string()).hint(error.hint()))?;
    let action = match args.action {
        ConfigAction::Init => "init",
        ConfigAction::Show => "show",
        ConfigAction::Path => "path",
    };
    let mut command = tokio::process::Command::new(&program);
    command.args(["config", action]).stdin(Stdio::inherit());
    if let Some(home) = app.paths().home() {
        command.env("AGENTD_HOME", home);
    }
    let ended = command.status().await.map_err(|error| {
        Failure::new(Exit::Failed, format!("cannot run {}", program.display())).because(error)
    })?;
    // It has said itself what is wrong.
    Ok(match ended.code() {
        Some(0) => Exit::Ok,
        Some(2) => Exit::Usage,
        _ => Exit::Failed,
    })
}
