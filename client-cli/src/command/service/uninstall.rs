//! `agentctl service uninstall`: stops the units, and removes the files that `install` wrote.

use std::path::{Path, PathBuf};

use super::systemctl::systemctl;
use super::unit_file::{self, Found};
use super::{Scope, ServiceArgs, UNITS, tell, user_config_dir};
use crate::app::App;
use crate::exit::{Exit, Failure};

pub(super) async fn run(args: &ServiceArgs, app: &App) -> Result<Exit, Failure> {
    let scope = Scope::chosen(args.user);
    let config_dir = match scope {
        Scope::User => user_config_dir(app)?,
        Scope::System => PathBuf::new(),
    };
    // The program's path does not matter: any text of ours is known by its checksum.
    let files =
        unit_file::all(scope, &config_dir, args.root.as_deref(), Path::new("/usr/bin/agentd"))
            .map_err(|problem| Failure::new(Exit::Usage, problem))?;
    let mut found = Vec::new();
    for file in &files {
        let state = file.look().map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot read {}", file.path.display()))
                .because(error)
        })?;
        found.push(state);
    }
    if found.iter().all(|state| *state == Found::Missing) {
        app.output.note("no service is installed");
        return Ok(Exit::Ok);
    }
    let here = args.root.is_none();
    if here {
        let [socket, service] = UNITS;
        systemctl(scope, &["disable", "--now", socket, service]).await?;
        tell(app, "stopped and disabled agentd.socket and agentd.service");
    }
    let mut left = false;
    for (file, state) in files.iter().zip(found) {
        let path = file.path.display();
        match state {
            Found::Missing => {}
            Found::Changed if !args.force => {
                left = true;
                app.output.note(&format!("{path} stays: somebody has changed it"));
            }
            Found::Same | Found::Older | Found::Changed => {
                std::fs::remove_file(&file.path).map_err(|error| {
                    Failure::new(Exit::Failed, format!("cannot remove {path}")).because(error)
                })?;
                tell(app, &format!("removed {path}"));
            }
        }
    }
    if here {
        systemctl(scope, &["daemon-reload"]).await?;
    }
    if left {
        app.output.note("--force removes changed files too");
    }
    app.output.note("sessions and configuration stay where they are");
    Ok(Exit::Ok)
}
