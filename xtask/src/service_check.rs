//! `cargo xtask service-check`: are the units right, and does the machine's one really run?
//!
//! systemd reads the units (what it complains about is a failure, although it exits with 0), rates
//! their hardening, and boots the machine's unit in a container. What cannot be done here is told as
//! skipped, with the reason.

mod boot;
mod tree;
mod verify;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Output, Stdio};

use anyhow::Context as _;

use crate::chat::target_directory;
use crate::steps::cargo;

/// How a part of the check ended.
#[derive(Debug)]
enum Part {
    Passed,
    Failed,
    Skipped(String),
}

/// The programs that the units start.
#[derive(Debug)]
struct Programs {
    agentd: PathBuf,
    agentctl: PathBuf,
}

/// One part of the check.
type RunPart = fn(&Programs) -> anyhow::Result<Part>;

/// Runs all parts.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let built = cargo(&["build", "--quiet", "--package", "agentd", "--package", "agentctl"])
        .status()
        .context("build the programs")?;
    anyhow::ensure!(built.success(), "the programs cannot be built");
    let target = target_directory()?.join("debug");
    let programs = Programs { agentd: target.join("agentd"), agentctl: target.join("agentctl") };
    let mut failed = false;
    let parts: [(&str, RunPart); 3] =
        [("verify", verify::units), ("security", verify::exposure), ("boot", boot::run)];
    for (name, part) in parts {
        match part(&programs)? {
            Part::Passed => println!("ok       {name}"),
            Part::Skipped(reason) => println!("SKIPPED  {name}: {reason}"),
            Part::Failed => {
                println!("FAILED   {name}");
                failed = true;
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What the summary of all checks should say of this one; the reasons stand above it.
pub(crate) fn left_out() -> &'static str {
    if is_root() { "" } else { "the unit was not booted: only root can boot a container" }
}

/// Runs a program that gets this many seconds, and returns what it said.
fn bounded(seconds: u32, program: &str, arguments: &[&str]) -> anyhow::Result<Output> {
    Command::new("timeout")
        .args(["--kill-after=5", &seconds.to_string(), program])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("run {program}"))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .any(|dir| dir.join(program).is_file())
}

/// Set by whoever lends a machine that packages may be installed on, as `.ci/run` is run on one.
const MAY_INSTALL: &str = "AGENTD_CI_MAY_INSTALL";

/// True when the program is there, or could be installed where that is allowed.
fn ensure_installed(program: &str, package: &str) -> bool {
    if is_installed(program) {
        return true;
    }
    let is_allowed = std::env::var_os(MAY_INSTALL).is_some_and(|value| value == "1");
    if !is_allowed || !is_root() || !is_installed("apt-get") {
        return false;
    }
    println!("installing {package}, which has {program}");
    let install = ["install", "--yes", "--no-install-recommends", package];
    // What went wrong shows in that the program is still missing.
    let _installed = bounded(180, "apt-get", &install);
    is_installed(program)
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t0\t")))
}
