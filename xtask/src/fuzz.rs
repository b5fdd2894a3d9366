//! `cargo xtask fuzz`: any bytes through the decoders of streams, all targets at once.
//!
//! A target is a file in `fuzz/fuzz_targets`; what it starts from is in `fuzz/seeds`, and what it
//! finds on the way is kept in `fuzz/corpus`, which is not checked in.

use std::fs::{self, File};
use std::process::{Child, ExitCode};

use anyhow::Context as _;

use crate::steps::{cargo, has_cargo_command, root};

/// Why it cannot run, and what helps.
pub(crate) const MISSING: &str =
    "cargo-fuzz is not installed (`cargo install cargo-fuzz --locked`)";
/// Last lines of a failed target's output that are shown.
const SHOWN_LINES: usize = 60;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long each target runs, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !has_cargo_command("fuzz") {
        println!("Nothing was fuzzed: {MISSING}");
        return Ok(ExitCode::FAILURE);
    }
    // Without a sanitizer the stable compiler will do. There is no unsafe code of ours to watch.
    let built = cargo(&["fuzz", "build", "--sanitizer", "none"]).status().context("start cargo")?;
    if !built.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mut running = Vec::new();
    for target in targets()? {
        let child = start(&target, args.seconds)?;
        println!("{target}: {} s, output in {}", args.seconds, log(&target));
        running.push((target, child));
    }
    let mut code = ExitCode::SUCCESS;
    for (target, mut child) in running {
        let status = child.wait().with_context(|| format!("wait for {target}"))?;
        let output = fs::read(root().join(log(&target))).context("read the output")?;
        let output = String::from_utf8_lossy(&output);
        if status.success() {
            println!("{target}: ok, {}", result(&output));
        } else {
            println!("{target}: FAILED\n{}", last_lines(&output));
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Names of the targets, sorted.
fn targets() -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("fuzz/fuzz_targets")).context("list the targets")? {
        let name = entry.context("list the targets")?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(".rs")).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// Starts a target; its output goes to a file, so that they do not write over each other.
fn start(target: &str, seconds: u64) -> anyhow::Result<Child> {
    let corpus = format!("fuzz/corpus/{target}");
    fs::create_dir_all(root().join(&corpus)).with_context(|| format!("create {corpus}"))?;
    // Cargo's own target directory may be elsewhere.
    fs::create_dir_all(root().join("fuzz/target")).context("create fuzz/target")?;
    let log = File::create(root().join(log(target))).context("create the output")?;
    let time = format!("-max_total_time={seconds}");
    let seeds = format!("fuzz/seeds/{target}");
    let arguments =
        ["fuzz", "run", "--sanitizer", "none", target, corpus.as_str(), seeds.as_str(), "--"];
    // An input that takes long or much memory is a find too.
    let limits = [time.as_str(), "-timeout=10", "-rss_limit_mb=512", "-print_final_stats=1"];
    cargo(&[&arguments[..], &limits].concat())
        .stdout(log.try_clone().context("share the output")?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("start {target}"))
}

/// Where a target's output goes.
fn log(target: &str) -> String {
    format!("fuzz/target/{target}.log")
}

/// The line with the number of inputs, as libFuzzer writes it.
fn result(output: &str) -> &str {
    output
        .lines()
        .rev()
        .find(|line| line.starts_with("Done "))
        .unwrap_or("it does not say how many")
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let from = lines.len().saturating_sub(SHOWN_LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_stands_in_the_manifest() {
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("a manifest");
        let targets = targets().expect("targets");
        assert!(!targets.is_empty());
        for target in targets {
            assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
            let seeds = fs::read_dir(root().join("fuzz/seeds").join(&target)).expect("seeds");
            assert!(seeds.count() > 0, "{target}");
        }
    }

    #[test]
    fn the_result_is_found_and_the_end_of_a_failure_shown() {
        assert_eq!(result("#1 x\nDone 7 runs in 2 second(s)\nstat"), "Done 7 runs in 2 second(s)");
        assert_eq!(result(""), "it does not say how many");
        let long: Vec<String> = (0..100).map(|line| line.to_string()).collect();
        assert_eq!(last_lines(&long.join("\n")).lines().next(), Some("40"));
    }
}
