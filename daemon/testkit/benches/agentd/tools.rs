//! What calls of tools cost: those that only compute, that read, that run programs, and that change files.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use agentd_testkit::LlmServer;
use anyhow::{Context as _, ensure};
use tokio::process::Command;
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::measure::{Samples, ms};
use crate::report::{Aim, Row, Unit};
use crate::round::{CONFIG, Call, Rounds, lines, workspace};

const ROUNDS: usize = 60;
const PROGRAMS: usize = 40;
const READS: usize = 20;
const EDITS: usize = 7;
/// Files that are read side by side, and the bytes of each.
const FILES: usize = 4;
const FILE_BYTES: usize = 8 * 1024 * 1024;
const EDITED_BYTES: usize = 10 * 1024 * 1024;

const SUM: Call<'_> = ("calculator", r#"{"expression":"17 * 23"}"#);
/// What a program that writes nothing and succeeds comes to.
const NOTHING: &str = "[no output]";
const TRUE: Call<'_> = ("run_command", r#"{"argv":["true"]}"#);

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let workspace = workspace()?;
    let mut rows = Vec::new();
    {
        let home = Home::new(&llm.base_url(), CONFIG)?;
        let daemon = DaemonProcess::start(&home).await?;
        rows.extend(files(&llm, &daemon, workspace.path()).await?);
        daemon.stop().await?;
    }
    for backend in ["bubblewrap", "landlock", "none"] {
        rows.extend(program(&llm, backend, workspace.path()).await?);
    }
    Ok(rows)
}

async fn files(
    llm: &LlmServer,
    daemon: &DaemonProcess,
    workspace: &Path,
) -> anyhow::Result<Vec<Row>> {
    fs::write(workspace.join("small.txt"), lines(4_000))?;
    let small = ("read_file", r#"{"path":"small.txt"}"#);
    let mut rounds = Rounds::open(llm, daemon, workspace).await?;
    rounds.timed(&[SUM], "391").await?;
    let (mut sums, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        sums.push(rounds.timed(&[SUM], "391").await?);
        reads.push(rounds.timed(&[small], "line 1 ").await?);
    }
    let (sums, reads) = (Samples::new(sums), Samples::new(reads));
    let row = |what: &str, value| Row::new("tools", what, value, Unit::Ms);
    let mut rows = vec![
        row("round of a sum, p50", sums.median()).aim(Aim::AtMost(3.0)),
        row("round of a sum, p99", sums.percentile(99)),
        row("round of reading 4 KB, p50", reads.median()).raw(sums.median(), "round of a sum"),
    ];
    rows.push(side_by_side(llm, daemon, workspace).await?);
    rows.push(edit(llm, daemon, workspace).await?);
    Ok(rows)
}

/// Four reads that one answer asks for, beside as many answers with one each.
async fn side_by_side(
    llm: &LlmServer,
    daemon: &DaemonProcess,
    workspace: &Path,
) -> anyhow::Result<Row> {
    let text = lines(FILE_BYTES);
    let mut arguments = Vec::new();
    for number in 0..FILES {
        fs::write(workspace.join(format!("{number}.txt")), &text)?;
        arguments.push(format!(r#"{{"path":"{number}.txt","limit":5}}"#));
    }
    let calls: Vec<Call<'_>> =
        arguments.iter().map(|arguments| ("read_file", arguments.as_str())).collect();
    let mut rounds = Rounds::open(llm, daemon, workspace).await?;
    rounds.timed(&calls, "line 5 ").await?;
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..READS {
        together.push(rounds.timed(&calls, "line 5 ").await?);
        let mut sum = 0.0;
        for call in &calls {
            sum += rounds.timed(&[*call], "line 5 ").await?;
        }
        alone.push(sum);
    }
    let what = format!("{FILES} reads of 8 MiB in one answer, p50");
    Ok(Row::new("tools", what, Samples::new(together).median(), Unit::Ms)
        .raw(Samples::new(alone).median(), "in an answer each")
        .aim(Aim::RatioAtMost(1.0)))
}

/// A line changes in the middle of a long file, beside the least that a safe change needs.
async fn edit(llm: &LlmServer, daemon: &DaemonProcess, workspace: &Path) -> anyhow::Result<Row> {
    let text = lines(EDITED_BYTES);
    let path = workspace.join("long.txt");
    let middle = "line 100000 of";
    ensure!(text.contains(middle), "the file is too short");
    fs::write(&path, &text)?;
    let mut rounds = Rounds::open(llm, daemon, workspace).await?;
    rounds.timed(&[("read_file", r#"{"path":"long.txt","limit":5}"#)], "line 5 ").await?;
    let change = |old: &str, new: &str| {
        format!(r#"{{"path":"long.txt","edits":[{{"old":"{old}","new":"{new}"}}]}}"#)
    };
    let changed = "line one hundred thousand of";
    let (there, back) = (change(middle, changed), change(changed, middle));
    let (mut edits, mut raw) = (Vec::new(), Vec::new());
    for _ in 0..EDITS {
        for arguments in [&there, &back] {
            edits.push(rounds.timed(&[("edit_file", arguments)], "long.txt").await?);
            raw.push(replaced(&path, &workspace.join("beside.txt"))?);
        }
    }
    ensure!(fs::read_to_string(&path)? == text, "the edits did more than they were told");
    Ok(Row::new("tools", "round of an edit in 10 MiB, p50", Samples::new(edits).median(), Unit::Ms)
        .raw(Samples::new(raw).median(), "read, write, fsync, rename"))
}

fn replaced(path: &Path, beside: &Path) -> anyhow::Result<f64> {
    let start = Instant::now();
    let text = fs::read(path)?;
    let temporary = beside.with_extension("new");
    let mut file = File::create(&temporary)?;
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&temporary, beside)?;
    Ok(ms(start.elapsed()))
}

/// `true` in a sandbox, beside `true`. No rows where the backend is not there.
async fn program(llm: &LlmServer, backend: &str, workspace: &Path) -> anyhow::Result<Vec<Row>> {
    let config = format!("{CONFIG}[sandbox]\nbackend = \"{backend}\"\n");
    let home = Home::new(&llm.base_url(), &config)?;
    let daemon = DaemonProcess::start(&home).await?;
    let mut rounds = Rounds::open(llm, &daemon, workspace).await?;
    if let Err(error) = rounds.timed(&[TRUE], NOTHING).await {
        println!("  not measured with {backend}: {error}");
        daemon.stop().await?;
        return Ok(Vec::new());
    }
    let (mut boxed, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..PROGRAMS {
        boxed.push(rounds.timed(&[TRUE], NOTHING).await?);
        let start = Instant::now();
        let status = Command::new("true").status().await.context("start true")?;
        ensure!(status.success(), "true failed");
        plain.push(ms(start.elapsed()));
    }
    daemon.stop().await?;
    let boxed = Samples::new(boxed);
    let what = match backend {
        "none" => "round of `true` without a sandbox, p50".to_owned(),
        _ => format!("round of `true` in {backend}, p50"),
    };
    let row = Row::new("tools", what, boxed.median(), Unit::Ms)
        .raw(Samples::new(plain).median(), "process `true`");
    Ok(vec![row.aim(Aim::AtMost(20.0))])
}
