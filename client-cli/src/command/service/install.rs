//! `agentctl service install`: writes the units, and starts them.

use std::path::{Path, PathBuf};

use agentd_shared::start::find_agentd;
use clap::Args;

use super::systemctl::{run as run_tool, systemctl};
use super::unit_file::{self, Found, UnitFile};
use super::{SYSTEM_SOCKET, Scope, ServiceArgs, UNITS, tell, user_config_dir};
use crate::app::App;
use crate::command::shutdown;
use crate::exit::{Exit, Failure};

/// Options of `service install`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InstallArgs {
    /// Which service.
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    /// Program that the unit starts; without it: as clients find it
    #[arg(long, value_name = "PATH")]
    pub(crate) agentd: Option<PathBuf>,
    /// Print files and commands, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Folders that a system service cannot see (`ProtectHome=`, `PrivateTmp=`).
const HIDDEN: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];

pub(super) async fn run(args: &InstallArgs, app: &App) -> Result<Exit, Failure> {
    let scope = Scope::chosen(args.service.user);
    let agentd = program(scope, args)?;
    let config_dir = match scope {
        Scope::User => user_config_dir(app)?,
        Scope::System => PathBuf::new(),
    };
    let files = unit_file::all(scope, &config_dir, args.service.root.as_deref(), &agentd)
        .map_err(|problem| Failure::new(Exit::Usage, problem))?;
    if args.dry_run {
        for UnitFile { path, text } in &files {
            app.output.line(&format!("==> {}\n{text}", path.display()))?;
        }
        for command in commands(scope) {
            app.output.line(&format!("==> {}", command.join(" ")))?;
        }
        return Ok(Exit::Ok);
    }
    let found = look(&files, args.service.force)?;
    let here = args.service.root.is_none();
    if here {
        // Before anything is written: without systemd it would be of no use.
        systemctl(scope, &["daemon-reload"]).await?;
    }
    for (file, found) in files.iter().zip(&found) {
        let path = file.path.display();
        if *found == Found::Same {
            tell(app, &format!("{path} is as it should be"));
            continue;
        }
        file.write().map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot write {path}")).because(error)
        })?;
        tell(app, &format!("wrote {path}"));
    }
    if !here {
        app.output.note("nothing was started: the files lie under another root");
        return Ok(Exit::Ok);
    }
    if scope == Scope::User {
        make_room(app).await?;
    }
    for command in commands(scope) {
        run_tool(&command).await?;
        tell(app, &format!("ran {}", command.join(" ")));
    }
    match scope {
        Scope::User => app
            .output
            .note("it runs while you are logged in; `loginctl enable-linger` lets it run always"),
        Scope::System => app.output.note(&format!(
            "members of the group agentd can use it: agentctl --socket {SYSTEM_SOCKET} chat"
        )),
    }
    if found.contains(&Found::Older) {
        app.output.note(
            "`systemctl restart agentd` (with --user for your own) makes changed units count",
        );
    }
    Ok(Exit::Ok)
}

/// The daemon's program, as the unit will name it.
fn program(scope: Scope, args: &InstallArgs) -> Result<PathBuf, Failure> {
    let found = find_agentd(args.agentd.as_deref())
        .map_err(|error| Failure::new(Exit::Unreachable, error.to_string()).hint(error.hint()))?;
    let agentd = std::path::absolute(&found).map_err(|error| {
        Failure::new(Exit::Failed, format!("cannot use {}", found.display())).because(error)
    })?;
    // The folder that a link leads to counts too.
    let real = std::fs::canonicalize(&agentd).unwrap_or_else(|_gone| agentd.clone());
    let hidden = |path: &Path| HIDDEN.iter().any(|dir| path.starts_with(dir));
    if scope == Scope::System && (hidden(&agentd) || hidden(&real)) {
        return Err(Failure::new(Exit::Usage, "the system's service could not run this program")
            .because(format!("{} lies where the unit cannot look", real.display()))
            .hint("install it to /usr/local/bin and name it with --agentd, or use --user"));
    }
    Ok(agentd)
}

fn look(files: &[UnitFile], force: bool) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    let mut changed = Vec::new();
    for file in files {
        let found = file.look().map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot read {}", file.path.display()))
                .because(error)
        })?;
        if found == Found::Changed && !force {
            changed.push(file.path.display().to_string());
        }
        all.push(found);
    }
    if changed.is_empty() {
        return Ok(all);
    }
    Err(Failure::new(Exit::Failed, "nothing was written")
        .because(format!("somebody has changed {}", changed.join(", ")))
        .hint("move the changes into a drop-in (`systemctl edit`) and use --force, or leave it as it is"))
}

/// What is run, in order.
fn commands(scope: Scope) -> Vec<Vec<&'static str>> {
    let systemctl = |arguments: &[&'static str]| {
        let user: &[&str] = if scope == Scope::User { &["--user"] } else { &[] };
        [&["systemctl"], user, arguments].concat()
    };
    let [socket, service] = UNITS;
    let mut all = Vec::new();
    if scope == Scope::System {
        all.push(vec!["systemd-sysusers", "/etc/sysusers.d/agentd.conf"]);
        all.push(vec!["systemd-tmpfiles", "--create", "/etc/tmpfiles.d/agentd.conf"]);
    }
    all.push(systemctl(&["daemon-reload"]));
    all.push(systemctl(&["enable", "--now", socket]));
    all.push(systemctl(&["enable", "--now", service]));
    all
}

/// Stops a daemon that a client started: it has the data that the service needs.
async fn make_room(app: &App) -> Result<(), Failure> {
    let [_socket, service] = UNITS;
    let is_active = systemctl(Scope::User, &["is-active", service]).await.is_ok();
    if !is_active && app.try_running_client().await?.is_some() {
        app.output.note("a daemon runs already; the service takes its place");
        shutdown::stop(app).await?;
    }
    Ok(())
}
