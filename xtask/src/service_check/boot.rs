//! The machine's unit, booted in a container of systemd-nspawn.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;

use super::{Part, Programs, bounded, ensure_installed, is_root, tree};

/// Seconds from the start of the container to its end.
const PATIENCE: u32 = 240;
/// What runs inside; its results are lines that begin with `ok` or `FAILED`.
const INSIDE: &str = include_str!("inside.sh");
/// The last line of the results.
const COMPLETE: &str = "complete";
/// Starts it, and ends the container.
const UNIT: &str = "[Unit]\nAfter=multi-user.target\n\n[Service]\nType=oneshot\n\
                    ExecStart=/check/inside.sh\nExecStopPost=/bin/systemctl --no-block poweroff\n\
                    TimeoutStartSec=220\n";

/// Boots, waits for the end and prints what was found.
pub(super) fn run(programs: &Programs) -> anyhow::Result<Part> {
    if !is_root() {
        return Ok(Part::Skipped("only root can boot a container".to_owned()));
    }
    if !ensure_installed("systemd-nspawn", "systemd-container") {
        return Ok(Part::Skipped("systemd-nspawn is not installed".to_owned()));
    }
    let tree = match tree::cached()? {
        Ok(tree) => tree,
        Err(reason) => return Ok(Part::Skipped(reason)),
    };
    let booted = tree::copy(&tree)?;
    let results = boot(&booted, programs);
    fs::remove_dir_all(&booted).context("remove the copy of the tree")?;
    let results = results?;
    for line in results.lines() {
        println!("  {line}");
    }
    let complete = results.lines().any(|line| line == COMPLETE);
    let sound = complete && !results.lines().any(|line| line.starts_with("FAILED"));
    if !complete {
        println!("the container ended before the check did");
    }
    Ok(if sound { Part::Passed } else { Part::Failed })
}

fn boot(tree: &Path, programs: &Programs) -> anyhow::Result<String> {
    let bin = tree.join("usr/local/bin");
    fs::copy(&programs.agentd, bin.join("agentd")).context("copy agentd")?;
    fs::copy(&programs.agentctl, bin.join("agentctl")).context("copy agentctl")?;
    let check = tree.join("check");
    fs::create_dir_all(&check)?;
    fs::write(check.join("inside.sh"), INSIDE)?;
    fs::set_permissions(check.join("inside.sh"), fs::Permissions::from_mode(0o755))?;
    let units = tree.join("etc/systemd/system");
    let wants = units.join("multi-user.target.wants");
    fs::create_dir_all(&wants)?;
    fs::write(units.join("service-check.service"), UNIT)?;
    std::os::unix::fs::symlink("../service-check.service", wants.join("service-check.service"))?;
    let directory = tree.display().to_string();
    let ended = bounded(
        PATIENCE,
        "systemd-nspawn",
        &[
            "--quiet",
            "--register=no",
            "--keep-unit",
            "--private-network",
            "--directory",
            &directory,
            "--boot",
        ],
    )?;
    let results = fs::read_to_string(check.join("results")).unwrap_or_default();
    if results.is_empty() {
        println!("{}", String::from_utf8_lossy(&ended.stdout));
        println!("{}", String::from_utf8_lossy(&ended.stderr));
    }
    Ok(results)
}
