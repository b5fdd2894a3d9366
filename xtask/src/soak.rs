//! `cargo xtask soak`: many users, a model server on a bad day, and the daemon's memory beside it.

use std::process::ExitCode;

use anyhow::Context as _;

use crate::steps::cargo;

/// Arguments of `cargo xtask soak`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long; from 4 minutes on memory and descriptors are judged too
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: u64,
    /// Users, each in a session of its own
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    sessions: u64,
    /// What the model server and the users do by chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the test of that name for longer than every build does.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // Not nextest, whose limits are those of the short run.
    let mut soak = cargo(&["test", "--package", "agentd-testkit", "--test", "it"]);
    soak.args(["--", "--nocapture", "soak::"]);
    soak.env("AGENTD_SOAK_SECONDS", (args.minutes * 60).to_string());
    soak.env("AGENTD_SOAK_SESSIONS", args.sessions.to_string());
    soak.env("AGENTD_SOAK_SEED", args.seed.to_string());
    let status = soak.status().context("start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
