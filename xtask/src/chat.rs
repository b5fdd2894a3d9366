//! Building the programs and opening the chat.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::steps::cargo;

/// Arguments of `cargo xtask chat`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Build with optimisation: slower to build, faster to run
    #[arg(long)]
    release: bool,
    /// Passed on to `agentctl chat`, such as `--continue` or `--session ID`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Builds, then becomes `agentctl chat`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // The full-screen client too: `agentctl tui` looks for it beside itself.
    let mut build = cargo(&["build"]);
    build.args(["agentd", "agentctl", "agent-tui"].iter().flat_map(|name| ["--package", name]));
    if args.release {
        build.arg("--release");
    }
    if !build.status().context("start cargo")?.success() {
        bail!("the build failed; the messages above tell why");
    }
    // agentctl finds agentd beside itself.
    let profile = if args.release { "release" } else { "debug" };
    let program = target_directory()?.join(profile).join("agentctl");
    let mut chat = std::process::Command::new(&program);
    chat.arg("chat").args(&args.rest);
    become_command(chat).with_context(|| format!("run {}", program.display()))
}

/// Where cargo puts what it builds; it can be set outside of the project.
pub(crate) fn target_directory() -> anyhow::Result<PathBuf> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("ask cargo for the target directory")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("read what cargo tells")?;
    match metadata.get("target_directory").and_then(serde_json::Value::as_str) {
        Some(directory) => Ok(directory.into()),
        None => bail!("cargo does not tell its target directory"),
    }
}

/// Replaces this process, so that signals and the terminal are the chat's alone.
#[cfg(unix)]
fn become_command(mut command: std::process::Command) -> anyhow::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec().into())
}

#[cfg(not(unix))]
fn become_command(mut command: std::process::Command) -> anyhow::Result<ExitCode> {
    let status = command.status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
