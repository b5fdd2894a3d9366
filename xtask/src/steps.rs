//! Running steps one after another and telling how each went.

use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// One thing to run, or a reason not to.
#[derive(Debug)]
pub(crate) struct Step {
    name: &'static str,
    does: Does,
    note: &'static str,
}

#[derive(Debug)]
enum Does {
    Run(Command),
    Skip,
}

impl Step {
    /// A step that runs `command`.
    pub(crate) fn run(name: &'static str, command: Command) -> Self {
        Self { name, does: Does::Run(command), note: "" }
    }

    /// A step that is left out, which the summary tells with the reason.
    pub(crate) fn skip(name: &'static str, reason: &'static str) -> Self {
        Self { name, does: Does::Skip, note: reason }
    }

    /// The same with a remark in the summary.
    pub(crate) fn with_note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// A step that is over.
#[derive(Debug)]
struct Ended {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
    note: &'static str,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.outcome {
            Outcome::Passed => "ok",
            Outcome::Failed => "FAILED",
            Outcome::Skipped => "SKIPPED",
        };
        write!(f, "  {word:<8} {:<18} {:>6.1} s", self.name, self.took.as_secs_f32())?;
        if self.note.is_empty() { Ok(()) } else { write!(f, "  {}", self.note) }
    }
}

/// A command of the cargo that runs this task, in the root of the project.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// The root of the project.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// True when `cargo NAME` is installed.
pub(crate) fn has_cargo_command(name: &str) -> bool {
    cargo(&[name, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs all steps, also after one that failed, and sums up.
pub(crate) fn run_all(steps: Vec<Step>) -> anyhow::Result<ExitCode> {
    let mut ended = Vec::new();
    for step in steps {
        ended.push(run(step)?);
    }
    println!("\n{}", summary(&ended));
    let failed = ended.iter().any(|step| step.outcome == Outcome::Failed);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

#[expect(clippy::disallowed_methods, reason = "a task of its own process tells real time")]
fn run(step: Step) -> anyhow::Result<Ended> {
    let Step { name, does, note } = step;
    let started = Instant::now();
    let outcome = match does {
        Does::Skip => Outcome::Skipped,
        Does::Run(mut command) => {
            println!("\n==> {name}: {}", shown(&command));
            match command.status() {
                Ok(status) if status.success() => Outcome::Passed,
                Ok(_failed) => Outcome::Failed,
                Err(error) => anyhow::bail!("start {}: {error}", shown(&command)),
            }
        }
    };
    let ended = Ended { name, outcome, took: started.elapsed(), note };
    println!("{ended}");
    Ok(ended)
}

fn shown(command: &Command) -> String {
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    std::iter::once("cargo".into()).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn summary(ended: &[Ended]) -> String {
    let count = |outcome| ended.iter().filter(|step| step.outcome == outcome).count();
    let lines: Vec<String> = ended.iter().map(ToString::to_string).collect();
    format!(
        "Summary\n{}\n{} of {} steps passed, {} failed, {} skipped.",
        lines.join("\n"),
        count(Outcome::Passed),
        ended.len(),
        count(Outcome::Failed),
        count(Outcome::Skipped),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(name: &'static str, outcome: Outcome, note: &'static str) -> Ended {
        Ended { name, outcome, took: Duration::from_millis(1_250), note }
    }

    #[test]
    fn the_summary_tells_what_was_skipped_and_why() {
        let steps = [
            ended("format", Outcome::Passed, ""),
            ended("licences", Outcome::Skipped, "no cargo-deny"),
            ended("tests", Outcome::Failed, ""),
        ];
        assert_eq!(
            summary(&steps),
            "Summary\n  ok       format                1.2 s\n  SKIPPED  licences              1.2 s  \
             no cargo-deny\n  FAILED   tests                 1.2 s\n\
             1 of 3 steps passed, 1 failed, 1 skipped."
        );
    }

    #[test]
    fn a_step_that_is_left_out_is_not_a_failure() {
        let left_out = run(Step::skip("x", "reason")).expect("nothing is started");
        assert_eq!((left_out.outcome, left_out.note), (Outcome::Skipped, "reason"));
    }
}
