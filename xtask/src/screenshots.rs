//! Writing the blocks of the documentation anew that show what the full-screen client shows.

use std::process::ExitCode;

use crate::steps::{Step, cargo, run_all};

/// Runs the tests that keep the pages, and has them write what they would compare.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let mut command = cargo(&["test", "--quiet", "--package", "agent-tui", "--lib", "pages::"]);
    command.env("UPDATE_PAGES", "1");
    run_all(vec![Step::run("pages", command)])
}
