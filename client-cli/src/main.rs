//! `agentctl`: talks to the agent that lives on this machine.
//!
//! Its one job is to turn a command line into calls of the daemon, and what comes back into text for
//! people or JSON for programs. It knows the wire contract and the client kit, never the daemon's own
//! crates. It owns no state but the input history; sessions live in the daemon.

mod app;
mod by_hand;
mod chat;
mod cli;
mod columns;
mod command;
mod confirm;
mod exit;
mod json;
mod look;
mod output;
mod progress;
mod signals;
mod streamed;
mod terminal_audience;
mod transcript_text;

use std::process::ExitCode;

use clap::Parser as _;

use cli::Cli;
use exit::{Exit, Failure};
use output::{ColorChoice, Output};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let color = cli.global.color;
    // Two threads: one may wait for a slow terminal while the other keeps the connection alive.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let ended = match runtime {
        Ok(runtime) => {
            let ended = runtime.block_on(Box::pin(command::run(cli)));
            // A thread that waits for a key must not hold up the end.
            runtime.shutdown_background();
            ended
        }
        Err(error) => Err(Failure::new(Exit::Failed, "cannot start the runtime").because(error)),
    };
    ended
        .unwrap_or_else(|failure| {
            Output::new(color).failure(&failure);
            failure.exit()
        })
        .into()
}

/// Prints help, a version or what is wrong with the command line.
fn usage(error: &clap::Error) -> ExitCode {
    let output = Output::new(ColorChoice::Auto);
    let text = if output.colored() {
        error.render().ansi().to_string()
    } else {
        error.render().to_string()
    };
    if error.use_stderr() {
        output.usage(error);
        return Exit::Usage.into();
    }
    match output.raw(&text) {
        Ok(()) => Exit::Ok.into(),
        Err(failure) => failure.exit().into(),
    }
}
