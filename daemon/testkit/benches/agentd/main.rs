//! What the daemon costs, measured side by side with what it cannot be faster than.
//!
//! `cargo xtask bench [NAME...] [--json FILE]` builds `agentd` with optimisation and runs this. Each
//! benchmark starts the real daemon as a process of its own, with a scripted model server and terminals
//! in this process, so that one monotonic clock times both ends. docs/BENCHMARKS.md says what each
//! row means. An aim that is not reached is a row that says so, not a failure.

#![expect(clippy::print_stdout, reason = "it prints what it measures")]

mod context;
mod daemon_process;
mod fanout;
mod fixture;
mod measure;
mod model;
mod replay;
mod report;
mod round;
mod screen;
mod search;
mod sessions;
mod start;
mod stream;
mod submit;
mod terminal;
mod tools;
mod turn;

use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context as _, bail};

use report::Row;

/// A benchmark that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

type Run = fn() -> Pin<Box<dyn Future<Output = anyhow::Result<Vec<Row>>>>>;

/// All benchmarks by name, in the order in which they run.
const BENCHMARKS: &[(&str, Run)] = &[
    ("turn", || Box::pin(turn::run())),
    ("stream", || Box::pin(stream::run())),
    ("fanout", || Box::pin(fanout::run())),
    ("start", || Box::pin(start::run())),
    ("sessions", || Box::pin(sessions::run())),
    ("replay", || Box::pin(replay::run())),
    ("submit", || Box::pin(submit::run())),
    ("tools", || Box::pin(tools::run())),
    ("search", || Box::pin(search::run())),
    ("prefix", || Box::pin(context::prefix())),
    ("context", || Box::pin(context::long_session())),
    ("tui", || Box::pin(screen::run())),
];

struct Arguments {
    names: Vec<String>,
    json: Option<PathBuf>,
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut arguments = Arguments { names: Vec::new(), json: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            // Cargo adds it for harnesses of its own.
            "--bench" => {}
            "--json" => {
                let file = words.next().context("--json needs a file")?;
                arguments.json = Some(file.into());
            }
            name if BENCHMARKS.iter().any(|(known, _)| *known == name) => {
                arguments.names.push(word);
            }
            other => {
                let known: Vec<&str> = BENCHMARKS.iter().map(|(name, _)| *name).collect();
                bail!("there is no benchmark '{other}'; there are {}", known.join(", "));
            }
        }
    }
    Ok(arguments)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { names, json } = arguments()?;
    let mut rows = Vec::new();
    for (name, run) in BENCHMARKS {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!("{name} ...");
        let measured = tokio::time::timeout(LIMIT, run())
            .await
            .with_context(|| format!("{name} took longer than {LIMIT:?}"))?
            .with_context(|| format!("run {name}"))?;
        rows.extend(measured);
    }
    println!("\n{}", report::table(&rows));
    if let Some(file) = json {
        let text = serde_json::to_string_pretty(&report::json(&rows))?;
        std::fs::write(&file, text + "\n").with_context(|| format!("write {}", file.display()))?;
    }
    Ok(())
}
