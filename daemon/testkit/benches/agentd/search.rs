//! Searching a large tree, beside ripgrep.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use agentd_testkit::LlmServer;
use anyhow::{Context as _, ensure};
use tokio::process::Command;
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::measure::{Samples, ms};
use crate::report::{Aim, Row, Unit};
use crate::round::{CONFIG, Call, Rounds, lines, workspace};

const FOLDERS: usize = 500;
const FILES: usize = 100;
const FILE_BYTES: usize = 800;
/// One file in so many holds what is looked for.
const EVERY: usize = 2_000;
const ROUNDS: usize = 15;

const GREP: Call<'_> = ("grep_files", r#"{"pattern":"need[l]e_[0-9]+"}"#);
const GLOB: Call<'_> = ("glob_files", r#"{"pattern":"**/needle_*.txt"}"#);
const RG_GREP: &[&str] = &["--line-number", "need[l]e_[0-9]+"];
const RG_GLOB: &[&str] = &["--files", "--glob", "**/needle_*.txt"];

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let workspace = workspace()?;
    grow(workspace.path())?;
    let home = Home::new(&llm.base_url(), CONFIG)?;
    let daemon = DaemonProcess::start(&home).await?;
    let mut rows = Vec::new();
    for (what, call, arguments) in
        [("grep in 50,000 files, p50", GREP, RG_GREP), ("glob in 50,000 files, p50", GLOB, RG_GLOB)]
    {
        rows.push(search(&llm, &daemon, workspace.path(), what, (call, arguments)).await?);
    }
    daemon.stop().await?;
    Ok(rows)
}

/// A tree of small files.
fn grow(workspace: &Path) -> anyhow::Result<()> {
    let text = lines(FILE_BYTES);
    for folder in 0..FOLDERS {
        let dir = workspace.join(format!("folder_{folder}"));
        fs::create_dir(&dir)?;
        for number in 0..FILES {
            let all = folder * FILES + number;
            let (name, text) = if all.is_multiple_of(EVERY) {
                ("needle", format!("{text}let needle_{all} = 1;\n"))
            } else {
                ("file", text.clone())
            };
            fs::write(dir.join(format!("{name}_{number}.txt")), text)?;
        }
    }
    Ok(())
}

async fn search(
    llm: &LlmServer,
    daemon: &DaemonProcess,
    workspace: &Path,
    what: &str,
    (call, arguments): (Call<'_>, &[&str]),
) -> anyhow::Result<Row> {
    let mut rounds = Rounds::open(llm, daemon, workspace).await?;
    rounds.timed(&[call], "needle_").await?;
    let has_ripgrep = Command::new("rg").arg("--version").stdout(Stdio::null()).status().await;
    let has_ripgrep = has_ripgrep.is_ok_and(|status| status.success());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(rounds.timed(&[call], "needle_").await?);
        if has_ripgrep {
            theirs.push(ripgrep(workspace, arguments).await?);
        }
    }
    let row = Row::new("search", what, Samples::new(ours).median(), Unit::Ms);
    if has_ripgrep {
        let theirs = Samples::new(theirs).median();
        return Ok(row.raw(theirs, "ripgrep").aim(Aim::RatioAtMost(1.3)));
    }
    println!("  not compared with ripgrep: rg is not installed");
    Ok(row)
}

async fn ripgrep(workspace: &Path, arguments: &[&str]) -> anyhow::Result<f64> {
    let start = Instant::now();
    let output = Command::new("rg")
        .args(arguments)
        .current_dir(workspace)
        .stdin(Stdio::null())
        .output()
        .await
        .context("start rg")?;
    let took = ms(start.elapsed());
    let found = String::from_utf8_lossy(&output.stdout).lines().count();
    ensure!(found == FOLDERS * FILES / EVERY, "rg found {found} of them");
    Ok(took)
}
