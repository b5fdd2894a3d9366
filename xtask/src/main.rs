//! Tasks of the project: `cargo xtask chat`, `test`, `quick`, `tidy`, `screenshots`, `bench`, `soak`, `fuzz`
//! and `service-check`.
//!
//! Its one job is that a person, a hook and the build server run the same commands. It knows none
//! of our crates and owns no state; everything it does is done by programs that it starts.

#![expect(clippy::print_stdout, reason = "what a task does is told on stdout")]

mod bench;
mod chat;
mod checks;
mod fuzz;
mod screenshots;
mod service_check;
mod soak;
mod steps;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds, runs and checks the project.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build agentd and agentctl, then open the chat; a daemon is started when none runs
    Chat(chat::Args),
    /// Run every check that the build server runs
    Test,
    /// Run the checks that take less than a minute; the pre-commit hook does
    Quick,
    /// Check the rules that no compiler knows: edges between crates, sizes, words, documents
    Tidy,
    /// Write docs/SCREENS.md and the keys of docs/TUI.md anew, as the clients show them
    Screenshots,
    /// Measure the daemon, built with optimisation; docs/BENCHMARKS.md tells what the rows mean
    Bench(bench::Args),
    /// Let many users work with the daemon while its model server has a bad day
    Soak(soak::Args),
    /// Check the units of systemd, and boot the machine's one in a container where that is possible
    ServiceCheck,
    /// Feed the decoders of streams with anything, to see that nothing breaks them
    Fuzz(fuzz::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().task {
        Task::Chat(args) => chat::run(&args),
        Task::Test => steps::run_all(checks::all()),
        Task::Quick => steps::run_all(checks::quick()),
        Task::Tidy => steps::run_all(vec![checks::tidy()]),
        Task::Screenshots => screenshots::run(),
        Task::Bench(args) => bench::run(&args),
        Task::Soak(args) => soak::run(&args),
        Task::ServiceCheck => service_check::run(),
        Task::Fuzz(args) => fuzz::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_chat_is_passed_on() {
        let check = |arguments: &[&str], expect: &str| {
            let words = ["cargo xtask", "chat"].iter().chain(arguments);
            let cli = Cli::try_parse_from(words).expect("legal arguments");
            assert_eq!(format!("{:?}", cli.task), format!("Chat(Args {{ {expect} }})"));
        };
        check(&[], "release: false, rest: []");
        check(&["--continue"], r#"release: false, rest: ["--continue"]"#);
        check(&["--release", "--model", "m"], r#"release: true, rest: ["--model", "m"]"#);
        check(&["--", "--help"], r#"release: false, rest: ["--help"]"#);
    }
}
