//! What is checked, in order: cheap things first, the tests last, so that their closing line is
//! the last thing above the summary.

use crate::fuzz;
use crate::steps::{Step, cargo, has_cargo_command};

/// Every check that the build server runs.
pub(crate) fn all() -> Vec<Step> {
    let tests = if has_cargo_command("nextest") {
        Step::run("tests", cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]))
    } else {
        Step::run(
            "tests",
            cargo(&["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests"]),
        )
        .with_note(
            "cargo-nextest is not installed, so `cargo test` runs them and nothing ends a test \
             that waits for ever (`cargo install cargo-nextest --locked`)",
        )
    };
    vec![
        formatting(),
        clippy(),
        clippy_of_features(),
        documentation(),
        dependencies(),
        tidy(),
        fuzzing(),
        doctests(),
        service(),
        escape_suite(),
        tests_of_features(),
        tests,
    ]
}

/// What is worth waiting for before each commit.
pub(crate) fn quick() -> Vec<Step> {
    let tests: &[&str] = if has_cargo_command("nextest") {
        &["nextest", "run", "--workspace", "--lib", "--bins"]
    } else {
        &["test", "--workspace", "--lib", "--bins"]
    };
    vec![formatting(), clippy(), Step::run("unit tests", cargo(tests))]
}

/// The rules in `xtask/tests/tidy.rs`.
pub(crate) fn tidy() -> Step {
    Step::run("tidy", cargo(&["test", "--quiet", "--package", "xtask", "--test", "tidy"]))
}

/// The units of systemd. What cannot be checked here, it tells itself too.
fn service() -> Step {
    Step::run("service", cargo(&["run", "--quiet", "--package", "xtask", "--", "service-check"]))
        .with_note(crate::service_check::left_out())
}

/// Tells on which backends of the sandbox the tests that follow try to get out, and why not on others.
fn escape_suite() -> Step {
    let test = "promises::it_is_told_which_backends_were_run_and_which_not_and_why";
    let mut command = cargo(&["test", "--quiet", "--package", "agentd-sandbox", "--test", "it"]);
    command.args(["--", "--exact", test, "--nocapture"]);
    Step::run("escape suite", command)
}

fn formatting() -> Step {
    Step::run("format", cargo(&["fmt", "--all", "--", "--check"]))
}

fn clippy() -> Step {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    Step::run("clippy", cargo(&arguments))
}

/// Features of `agentd` that no other step builds: traces, and a model of vectors in a directory. They are
/// built together, once, because `otel` changes how tonic is built, and all that stands on that.
const FEATURES: &str = "agentd/otel,agentd/local-embeddings";
const WITH_FEATURES: [&str; 6] =
    ["--package", "agentd", "--package", "agentd-llm", "--features", FEATURES];

fn clippy_of_features() -> Step {
    let mut command = cargo(&["clippy"]);
    command.args(WITH_FEATURES).args(["--all-targets", "--", "-D", "warnings"]);
    Step::run("clippy (features)", command)
}

/// What the features add; the rest is tested without them.
fn tests_of_features() -> Step {
    let mut command = if has_cargo_command("nextest") {
        let mut command = cargo(&["nextest", "run", "--no-fail-fast"]);
        let added = "test(/^traces::/) | test(/^static_model::/) | test(/^config::embeddings::/) \
                     | binary(otel) | binary(local_embeddings)";
        command.args(["-E", added]);
        command
    } else {
        cargo(&["test", "--no-fail-fast"])
    };
    command.args(WITH_FEATURES).args(["--lib", "--test", "otel", "--test", "local_embeddings"]);
    Step::run("tests (features)", command)
}

fn documentation() -> Step {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    // Read by rustdoc alone: nothing is compiled again for it.
    command.env("RUSTDOCFLAGS", "-D warnings");
    Step::run("documentation", command)
}

fn doctests() -> Step {
    Step::run("doctests", cargo(&["test", "--workspace", "--doc"]))
}

/// A minute for each target, all at once.
fn fuzzing() -> Step {
    let name = "fuzzing";
    if has_cargo_command("fuzz") {
        Step::run(name, cargo(&["xtask", "fuzz", "--seconds", "60"]))
    } else {
        Step::skip(name, fuzz::MISSING)
    }
}

fn dependencies() -> Step {
    let name = "licences and bans";
    if has_cargo_command("deny") {
        Step::run(name, cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"]))
    } else {
        let reason = "cargo-deny is not installed (`cargo install cargo-deny --locked`)";
        Step::skip(name, reason)
    }
}
