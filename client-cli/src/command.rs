//! The commands, one file each.

pub(crate) mod answer;
pub(crate) mod approvals;
pub(crate) mod attach;
pub(crate) mod backup;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod goals;
pub(crate) mod interrupt;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod permissions;
mod reload;
pub(crate) mod sandbox;
pub(crate) mod search;
pub(crate) mod send;
pub(crate) mod service;
pub(crate) mod sessions;
mod shutdown;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod tools;
pub(crate) mod tui;
pub(crate) mod undo;
pub(crate) mod upgrade;
pub(crate) mod usage;
mod version;
pub(crate) mod watch;
pub(crate) mod withdraw;

use crate::app::{App, BrokenConfig};
use crate::cli::{Cli, Command};
use crate::command::context::{ContextArgs, ContextCommand};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Runs the command of a command line.
///
/// # Errors
/// What the command failed with.
pub(crate) async fn run(cli: Cli) -> Result<Exit, Failure> {
    // This one needs nothing from its surroundings and must work in a broken installation too.
    if let Command::Completions(args) = &cli.command {
        return completions::run(args, &Output::new(cli.global.color));
    }
    if let Command::Man(args) = &cli.command {
        return man::run(args, &Output::new(cli.global.color));
    }
    if let Command::Tui(args) = &cli.command {
        return tui::run(args, &cli.global);
    }
    let mut app = App::new(&cli.global, about_broken_config(&cli.command))?;
    match &cli.command {
        // These need no daemon, and mend what keeps others from theirs.
        Command::Context(ContextArgs {
            command: Some(ContextCommand::Servers(command)), ..
        }) => {
            return context::servers::run(command, &cli.global.connect.remote, &app);
        }
        Command::Config(args) => return config::run(args, &app).await,
        _ => app.choose_server(&cli.global.connect.remote)?,
    }
    match cli.command {
        Command::Chat(args) => Box::pin(chat::run(&args, &app)).await,
        Command::Send(args) => Box::pin(send::run(&args, &app)).await,
        Command::Attach(args) => Box::pin(attach::run(&args, &app)).await,
        Command::Tail(args) => Box::pin(tail::run(&args, &app)).await,
        Command::Watch(args) => Box::pin(watch::run(&args, &app)).await,
        Command::Interrupt(args) => interrupt::run(&args, &app).await,
        Command::Withdraw(args) => withdraw::run(&args, &app).await,
        Command::Answer(args) => answer::run(&args, &app).await,
        Command::Search(args) => search::run(&args, &app).await,
        Command::Sessions(command) => Box::pin(sessions::run(&command, &app)).await,
        Command::Approvals(command) => approvals::run(&command, &app).await,
        Command::Permissions(command) => permissions::run(&command, &app).await,
        Command::Goals(command) => goals::run(&command, &app).await,
        Command::Tools(command) => Box::pin(tools::run(&command, &app)).await,
        Command::Diff(args) => diff::run(&args, &app).await,
        Command::Undo(args) => Box::pin(undo::run(&args, &app)).await,
        Command::Memory(command) => Box::pin(memory::run(&command, &app)).await,
        Command::Models(args) => models::run(&args, &app).await,
        Command::Status(args) => status::run(&args, &app).await,
        Command::Doctor(args) => doctor::run(&args, &app).await,
        Command::Sandbox(args) => Box::pin(sandbox::run(&args, &app)).await,
        Command::Logs(args) => Box::pin(logs::run(&args, &app)).await,
        Command::Usage(args) => usage::run(&args, &app).await,
        Command::Shutdown(args) => shutdown::run(&args, &app).await,
        Command::Reload(args) => reload::run(&args, &app).await,
        Command::Upgrade(args) => upgrade::run(&args, &app).await,
        Command::Service(command) => service::run(&command, &app).await,
        Command::Backup(args) => backup::run(&args, &app).await,
        Command::Config(args) => config::run(&args, &app).await,
        Command::Context(args) => context::run(&args, &cli.global.connect.remote, &app).await,
        Command::Token(command) => token::run(&command, &app).await,
        Command::Completions(args) => completions::run(&args, &app.output),
        Command::Man(args) => man::run(&args, &app.output),
        Command::Tui(args) => tui::run(&args, &cli.global),
        Command::Version(args) => version::run(&args, &app).await,
    }
}

/// Whoever has broken the file must be able to find it, to see what is wrong and to stop the daemon.
fn about_broken_config(command: &Command) -> BrokenConfig {
    match command {
        Command::Config(_) | Command::Reload(_) => BrokenConfig::Pass,
        Command::Status(_)
        | Command::Doctor(_)
        | Command::Sandbox(_)
        | Command::Logs(_)
        | Command::Shutdown(_)
        | Command::Service(_)
        | Command::Version(_) => BrokenConfig::Warn,
        Command::Chat(_)
        | Command::Send(_)
        | Command::Attach(_)
        | Command::Tail(_)
        | Command::Interrupt(_)
        | Command::Withdraw(_)
        | Command::Answer(_)
        | Command::Watch(_)
        | Command::Search(_)
        | Command::Sessions(_)
        | Command::Approvals(_)
        | Command::Permissions(_)
        | Command::Goals(_)
        | Command::Tools(_)
        | Command::Diff(_)
        | Command::Undo(_)
        | Command::Memory(_)
        | Command::Models(_)
        | Command::Usage(_)
        | Command::Upgrade(_)
        | Command::Backup(_)
        | Command::Context(_)
        | Command::Token(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Tui(_) => BrokenConfig::Refuse,
    }
}
