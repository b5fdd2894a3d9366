//! `agentctl config`: the daemon's program owns the configuration, so it is asked to do the work.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::app::App;
use crate::cli::{ConfigAction, ConfigArgs};
use crate::exit::{Exit, Failure};

/// Runs `agentd config ...` on this terminal.
pub(super) async fn run(args: &ConfigArgs, app: &App) -> Result<Exit, Failure> {
    let program = find_agentd()?;
    let action = match args.action {
        ConfigAction::Init => "init",
        ConfigAction::Show => "show",
        ConfigAction::Path => "path",
    };
    let mut command = tokio::process::Command::new(&program);
    command.args(["config", action]).stdin(Stdio::inherit());
    if let Some(home) = app.paths.home() {
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

/// Finds the daemon's program: `AGENTD_BIN`, else beside this program, else in `PATH`.
fn find_agentd() -> Result<PathBuf, Failure> {
    if let Some(named) = std::env::var_os("AGENTD_BIN").filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let beside = std::env::current_exe().ok();
    let beside = beside.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .into_iter()
        .chain(std::env::split_paths(&path))
        .filter(|dir| !dir.as_os_str().is_empty())
        .map(|dir| dir.join("agentd"))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| {
            Failure::new(Exit::Unreachable, "the program agentd was not found")
                .hint("put agentd beside agentctl or into PATH, or name it in AGENTD_BIN")
        })
}
