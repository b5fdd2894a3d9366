//! Building the daemon and the full-screen client as users run them, and running the benchmarks against it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::chat::target_directory;
use crate::steps::cargo;

/// Arguments of `cargo xtask bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which to run, such as `turn` or `stream`; all of them when none is named
    names: Vec<String>,
    /// Write the results as JSON too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Builds `agentd` and `agent-tui`, then runs the benchmarks.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // On its own, so that no test's needs get into the program that is measured.
    for package in ["agentd", "agent-tui"] {
        let built = cargo(&["build", "--release", "--package", package]).status();
        if !built.context("start cargo")?.success() {
            bail!("the build of {package} failed; the messages above tell why");
        }
    }
    let mut bench = cargo(&[
        "bench",
        "--package",
        "agentd-testkit",
        "--features",
        "daemon",
        "--bench",
        "agentd",
    ]);
    bench.arg("--").args(&args.names);
    if let Some(json) = &args.json {
        // Cargo runs it in another directory.
        let json = std::path::absolute(json).context("find the file for the results")?;
        bench.arg("--json").arg(json);
    }
    let programs = target_directory()?.join("release");
    bench.env("AGENTD_BIN", programs.join("agentd"));
    bench.env("AGENT_TUI_BIN", programs.join("agent-tui"));
    let status = bench.status().context("start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
