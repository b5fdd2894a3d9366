//! `agentctl service`: the daemon as a service of systemd, of the system or of its user.

mod install;
mod status;
mod systemctl;
mod uninstall;
mod unit_file;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::app::App;
use crate::exit::{Exit, Failure};

use install::InstallArgs;
use status::ServiceStatusArgs;

/// Commands about the service.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Write the units, enable and start them
    #[command(after_help = "\
A file that somebody has changed is not overwritten without --force: changes
belong into a drop-in (`systemctl edit agentd`). Root installs the system's
service, everybody else one of their own. There is no --json: files and
commands are told as they come, and --dry-run prints them whole.

Examples:
  agentctl service install --user
  agentctl service install --dry-run
  sudo agentctl service install --agentd /usr/local/bin/agentd")]
    Install(InstallArgs),
    /// Show the units and the daemon
    #[command(after_help = "\
Examples:
  agentctl service status --user
  agentctl service status --json | jq -r '.[].active'")]
    Status(ServiceStatusArgs),
    /// Stop the units and remove what `install` wrote; sessions stay
    #[command(after_help = "\
There is no --json: what is removed is told as it goes.

Examples:
  agentctl service uninstall --user")]
    Uninstall(ServiceArgs),
}

/// Options of commands that change a service.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServiceArgs {
    /// The service of the calling user (the default for everybody but root)
    #[arg(long)]
    pub(crate) user: bool,
    /// Work on files under this folder, and start or stop nothing
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Overwrite or remove files that somebody has changed, too
    #[arg(long)]
    pub(crate) force: bool,
}

/// The units that people start, stop and look at.
const UNITS: [&str; 2] = ["agentd.socket", "agentd.service"];
/// Where the system's daemon listens.
const SYSTEM_SOCKET: &str = "/run/agentd/agentd.sock";

/// Whose service it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The machine's: it runs as a user of its own.
    System,
    /// The calling user's.
    User,
}

impl Scope {
    /// The user's own when that is asked for, and for everybody but root.
    fn chosen(user: bool) -> Self {
        if user || !rustix::process::geteuid().is_root() { Self::User } else { Self::System }
    }
}

/// Runs one of the commands.
///
/// # Errors
/// What is in the way, with a remedy.
pub(super) async fn run(command: &ServiceCommand, app: &App) -> Result<Exit, Failure> {
    match command {
        ServiceCommand::Install(args) => install::run(args, app).await,
        ServiceCommand::Status(args) => status::run(Scope::chosen(args.user), args.json, app).await,
        ServiceCommand::Uninstall(args) => uninstall::run(args, app).await,
    }
}

/// Tells what was done. What is begun is done to its end, even when nobody reads any more.
fn tell(app: &App, line: &str) {
    let _reader_gone = app.output.line(line);
}

/// The directory above `systemd/user` for this user's own units.
fn user_config_dir(app: &App) -> Result<PathBuf, Failure> {
    if app.paths().home().is_some() {
        return Err(Failure::new(Exit::Usage, "a service uses the usual folders of its user")
            .because("--home or AGENTD_HOME names another")
            .hint("unset it, or run that daemon by a unit of your own"));
    }
    match app.paths().config_dir.parent() {
        Some(dir) => Ok(dir.to_owned()),
        None => Err(Failure::new(Exit::Usage, "there is no folder for the user's units")),
    }
}
