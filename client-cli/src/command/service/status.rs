//! `agentctl service status`: the units' states, then the daemon's own.

use agentd_shared::{Client, Endpoint};
use clap::Args;
use serde::Serialize;

use super::systemctl::systemctl;
use super::{SYSTEM_SOCKET, Scope, UNITS};
use crate::app::App;
use crate::command::status;
use crate::exit::{Exit, Failure};

/// Options of `service status`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServiceStatusArgs {
    /// The service of the calling user (the default for everybody but root)
    #[arg(long)]
    pub(crate) user: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is asked about each unit.
const PROPERTIES: &str =
    "--property=Id,LoadState,ActiveState,SubState,UnitFileState,MainPID,NRestarts,StatusText";

pub(super) async fn run(scope: Scope, json: bool, app: &App) -> Result<Exit, Failure> {
    let [socket, service] = UNITS;
    let shown = systemctl(scope, &["show", PROPERTIES, socket, service]).await?;
    let units: Vec<Unit> = shown.split("\n\n").map(Unit::read).collect();
    if json {
        app.output.json(&units)?;
    } else {
        for unit in &units {
            app.output.foreign_line(&unit.line())?;
        }
    }
    if units.iter().all(|unit| unit.load != "loaded") {
        return Err(Failure::new(Exit::NotFound, "no service is installed")
            .hint("install it with `agentctl service install`"));
    }
    if !units.iter().any(|unit| unit.id == service && unit.active == "active") {
        // Asking would start it where the socket waits for the first connection.
        return Ok(Exit::Failed);
    }
    if json {
        return Ok(Exit::Ok);
    }
    let client = match scope {
        Scope::User => app.running_client().await?,
        Scope::System => {
            let connected = Client::connect(&Endpoint::new(SYSTEM_SOCKET)).await;
            connected.map_err(|error| {
                Failure::new(Exit::Unreachable, "cannot reach the daemon")
                    .because(&error)
                    .hint(error.hint())
            })?
        }
    };
    for line in status::lines(&status::fetch(&client).await?, None, None) {
        app.output.foreign_line(&line)?;
    }
    Ok(Exit::Ok)
}

/// A unit as `systemctl show` has it.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Unit {
    id: String,
    load: String,
    active: String,
    sub: String,
    file: String,
    pid: String,
    restarts: String,
    text: String,
}

impl Unit {
    fn read(block: &str) -> Self {
        let mut unit = Self::default();
        for (key, value) in block.lines().filter_map(|line| line.split_once('=')) {
            let field = match key {
                "Id" => &mut unit.id,
                "LoadState" => &mut unit.load,
                "ActiveState" => &mut unit.active,
                "SubState" => &mut unit.sub,
                "UnitFileState" => &mut unit.file,
                "MainPID" => &mut unit.pid,
                "NRestarts" => &mut unit.restarts,
                "StatusText" => &mut unit.text,
                _ => continue,
            };
            value.clone_into(field);
        }
        unit
    }

    fn line(&self) -> String {
        let Self { id, load, active, sub, file, pid, restarts, text } = self;
        if load != "loaded" {
            return format!("{id:<15} {load}");
        }
        let mut line = format!("{id:<15} {active} ({sub}), {file}");
        for (label, value) in [("pid", pid), ("restarts", restarts)] {
            if !value.is_empty() && value != "0" {
                line = format!("{line}, {label} {value}");
            }
        }
        if text.is_empty() { line } else { format!("{line}: {text}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_one_line() {
        let block = "MainPID=42\nNRestarts=0\nStatusText=1 sessions live\nId=agentd.service\n\
                     LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\n";
        let line = "agentd.service  active (running), enabled, pid 42: 1 sessions live";
        assert_eq!(Unit::read(block).line(), line);
        let missing = "Id=agentd.socket\nLoadState=not-found\nActiveState=inactive\n";
        assert_eq!(Unit::read(missing).line(), "agentd.socket   not-found");
    }
}
