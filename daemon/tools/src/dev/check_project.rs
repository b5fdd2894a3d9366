//! Tests, lints and formatting of a project, by the commands of its kind.
//!
//! A run counts as a success when tests passed, not when a program ended well: a run that found no
//! test proves nothing.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, ToolResult, ToolStatus, cut_line};
use agentd_sandbox::Programs;
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::counts::{Counts, counts};
use super::project::{Check, Kind, NoCommand, Project, Runner, projects};
use crate::fs::{Protected, blocking, open_file, shown};
use crate::process::ProcessLimits;
use crate::process::command::{Ready, Wanted};
use crate::process::running::Ended;
use crate::process::told::{call_time, line, told};
use crate::{About, Rank, ToolContext, TypedTool};

/// Most bytes of a file that tells of a project.
const MAX_FILE: u64 = 256 * 1024;

/// As the helper of the sandbox and shells answer for a program that is not there.
const NOT_FOUND: i32 = 127;

/// What pytest answers when there are no tests.
const PYTEST_NO_TESTS: i32 = 5;

/// Longest summary in characters.
const MAX_SUMMARY: usize = 160;

/// Arguments of check_project.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Format changes files.
    action: Check,
    /// Directory of the project; left out: the workspace.
    path: Option<String>,
    /// Only tests whose names hold this.
    #[schemars(length(max = 200))]
    filter: Option<String>,
    /// Which, where there are several kinds.
    kind: Option<Kind>,
    /// Longest run in seconds; left out: as long as may be.
    timeout_s: Option<u32>,
    /// Hosts that it needs, such as crates.io or *.crates.io.
    network: Option<Vec<String>>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct CheckProject {
    pub(crate) programs: Arc<Programs>,
    pub(crate) protected: Protected,
    pub(crate) limits: ProcessLimits,
}

/// A command of a project that is about to run.
struct Found {
    project: Project,
    runner: Runner,
    /// Further kinds that the directory is of.
    also: Vec<&'static str>,
}

#[async_trait]
impl TypedTool for CheckProject {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "check_project",
            description: "Runs the tests, the linter or the formatter of a Cargo, Go, Node, Python \
                          or make project, and counts what passed and failed.",
            capabilities: Capabilities::PROCESS,
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        Some(call_time(self.time(arguments).unwrap_or(self.limits.longest_time)))
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (found, ready) = self.ready(ctx, arguments).await?;
        let summary = cut_line(&shown(&found.runner.argv.join(" ")), MAX_SUMMARY);
        Ok(Action { summary, targets: vec![ready.target] })
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let running = async {
            let time = self.time(&arguments)?;
            let (found, ready) = self.ready(ctx, &arguments).await?;
            let ended = ready.run(planned, self.limits.bounds(time), &ctx.output).await?;
            Ok(judged(arguments.action, &found, ended))
        };
        running.await.unwrap_or_else(|refused: ToolResult| refused)
    }
}

impl CheckProject {
    fn time(&self, arguments: &Arguments) -> Result<Duration, ToolResult> {
        match arguments.timeout_s {
            Some(_) => self.limits.time(arguments.timeout_s),
            None => Ok(self.limits.longest_time),
        }
    }

    async fn ready(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
    ) -> Result<(Found, Ready), ToolResult> {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let asked = arguments.clone();
        let found = blocking(ctx, move |_cancel| find(&root, &protected, &asked)).await?;
        let wanted = Wanted {
            argv: found.runner.argv.clone(),
            cwd: arguments.path.as_deref(),
            // Builds and caches are written beside the sources.
            writes: true,
            network: arguments.network.as_deref().unwrap_or_default(),
            limits: self.limits.command,
        };
        let ready = Ready::of(&self.programs, ctx, wanted).await?;
        Ok((found, ready))
    }
}

fn find(root: &Path, protected: &Protected, arguments: &Arguments) -> Result<Found, ToolResult> {
    let Arguments { action, path, filter, kind, .. } = arguments;
    let dir = path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
    let filter = filter.as_deref().filter(|filter| !filter.is_empty());
    let is_wrong = |filter: &str| filter.starts_with('-') || filter.contains('\0');
    if filter.is_some_and(is_wrong) || (filter.is_some() && *action != Check::Test) {
        return Err(ToolResult::fatal(
            "TOOL_ARGUMENT_VALIDATION_FAILED",
            "filter: it is a part of the names of tests, and does not begin with '-'.",
        ));
    }
    let content = |name: &str| {
        let (file, _) = open_file(root, protected, &format!("{dir}/{name}")).ok()?;
        let mut text = Vec::new();
        file.take(MAX_FILE).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    let mut all = projects(&content);
    let at = all.iter().position(|project| kind.is_none_or(|kind| project.kind == kind));
    let Some(at) = at else {
        let what = kind.map_or("project of a known kind", Kind::name);
        return Err(ToolResult::fatal(
            "NO_PROJECT",
            format!(
                "'{}' holds no {what}: no Cargo.toml, go.mod, package.json, pyproject.toml or the \
                 like, no Makefile. Name its directory in path, or use run_command.",
                shown(dir)
            ),
        ));
    };
    let project = all.remove(at);
    let runner = project.runner(*action, filter, &content).map_err(|NoCommand(why)| {
        ToolResult::fatal(
            "NO_COMMAND",
            format!("There is no command for that: {why}. Use run_command."),
        )
    })?;
    let also = all.iter().map(|project| project.kind.name()).collect();
    Ok(Found { project, runner, also })
}

/// What came of it.
fn judged(check: Check, found: &Found, ended: Ended) -> ToolResult {
    let Found { project, runner, also } = found;
    if let Some(package) = missing(runner, &ended) {
        return ToolResult::fatal(
            "MISSING_PROGRAM",
            format!(
                "The project was not checked: {package} The programs that commands see are those \
                 of the system; [sandbox] path and readable_paths add others."
            ),
        );
    }
    let also =
        if also.is_empty() { String::new() } else { format!("; it is {} too", also.join(", ")) };
    let head = format!(
        "[{} project by its {}{also}: {}]\n",
        project.kind.name(),
        project.file,
        runner.argv.join(" ")
    );
    let (code, is_late) = (ended.code(), ended.late.is_some());
    let counted = Counted {
        counts: counts(runner.counted_by, &format!("{}\n{}", ended.out, ended.errors)),
        is_cut: ended.is_cut,
    };
    let mut result = told(ended);
    result.workspace_changed = true;
    result.output = head + &result.output;
    if check != Check::Test || is_late || result.status == ToolStatus::FatalError {
        return result;
    }
    let (note, status, error_code) = verdict(code, &counted);
    line(&mut result.output, &note);
    ToolResult { status, error_code: error_code.to_owned(), ..result }
}

/// What was read of the tests.
struct Counted {
    /// None: no summary was found.
    counts: Option<Counts>,
    /// A part of the output was not kept, and summaries may have stood in it.
    is_cut: bool,
}

fn verdict(code: Option<i32>, counted: &Counted) -> (String, ToolStatus, &'static str) {
    let &Counted { counts, is_cut } = counted;
    let Some(Counts { passed, failed, skipped }) = counts else {
        return if code == Some(0) {
            let note = "[How many tests ran cannot be told from this output: see whether any did.]";
            (note.to_owned(), ToolStatus::Partial, "TESTS_NOT_COUNTED")
        } else {
            ("[No test was counted.]".to_owned(), ToolStatus::Partial, "TESTS_FAILED")
        };
    };
    let told = if is_cut {
        format!(
            "[tests: at least {passed} passed, {failed} failed, {skipped} skipped: a part of the \
             output is left out]"
        )
    } else {
        format!("[tests: {passed} passed, {failed} failed, {skipped} skipped]")
    };
    if is_cut && passed == 0 && failed == 0 && code == Some(0) {
        return (told, ToolStatus::Partial, "TESTS_NOT_COUNTED");
    }
    if !is_cut && passed == 0 && failed == 0 && matches!(code, Some(0 | PYTEST_NO_TESTS)) {
        let note = format!("{told} [No test ran: that is no success.]");
        return (note, ToolStatus::Partial, "NO_TESTS_RAN");
    }
    if code != Some(0) || failed > 0 {
        return (told, ToolStatus::Partial, "TESTS_FAILED");
    }
    (told, ToolStatus::Success, "")
}

/// What would have to be installed, when a program is missing.
fn missing(runner: &Runner, ended: &Ended) -> Option<String> {
    let program = runner.argv.first().map(String::as_str).unwrap_or_default();
    let said = &ended.errors;
    if ended.code() == Some(NOT_FOUND) && said.starts_with("cannot run") {
        let package = match program {
            "cargo" => "rustup, or the package cargo,",
            "go" | "gofmt" => "the package golang",
            "npm" => "the package npm",
            "pnpm" | "yarn" | "bun" => "npm install --global",
            "python3" => "the package python3",
            "ruff" => "pip install ruff, or the package ruff,",
            "make" => "the package make",
            _ => "a package",
        };
        return Some(format!("{program} is not installed; {package} adds it."));
    }
    if ended.code() == Some(0) {
        return None;
    }
    let known = [
        ("No module named pytest", "pytest is not installed; the package python3-pytest adds it."),
        (
            "no such command: `clippy`",
            "clippy is not installed; rustup component add clippy does it.",
        ),
        (
            "'cargo-clippy' is not installed",
            "clippy is not installed; rustup component add clippy does it.",
        ),
        (
            "no such command: `fmt`",
            "rustfmt is not installed; rustup component add rustfmt does it.",
        ),
        (
            "'cargo-fmt' is not installed",
            "rustfmt is not installed; rustup component add rustfmt does it.",
        ),
    ];
    let known = known.iter().find(|(text, _)| said.contains(text) || ended.out.contains(text));
    if let Some((_, what)) = known {
        return Some((*what).to_owned());
    }
    let of_script =
        ended.code() == Some(NOT_FOUND) && matches!(program, "npm" | "pnpm" | "yarn" | "bun");
    of_script.then(|| {
        format!(
            "a program of the script is not installed ({}); {program} install adds those of \
             package.json, with the network.",
            cut_line(
                said.lines().find(|line| line.contains("not found")).unwrap_or(said),
                MAX_SUMMARY
            )
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_success_when_tests_passed_and_none_failed() {
        let counted = |passed, failed| Some(Counts { passed, failed, skipped: 0 });
        let check = |code, counts, status, error_code: &str| {
            let (note, got, got_code) = verdict(code, &Counted { counts, is_cut: false });
            assert_eq!((got, got_code), (status, error_code), "{note}");
        };
        check(Some(0), counted(3, 0), ToolStatus::Success, "");
        check(Some(0), counted(0, 0), ToolStatus::Partial, "NO_TESTS_RAN");
        check(Some(5), counted(0, 0), ToolStatus::Partial, "NO_TESTS_RAN");
        check(Some(0), None, ToolStatus::Partial, "TESTS_NOT_COUNTED");
        check(Some(0), counted(3, 1), ToolStatus::Partial, "TESTS_FAILED");
        check(Some(101), counted(3, 0), ToolStatus::Partial, "TESTS_FAILED");
        check(Some(101), counted(0, 0), ToolStatus::Partial, "TESTS_FAILED");
        check(Some(1), None, ToolStatus::Partial, "TESTS_FAILED");
        check(None, counted(1, 0), ToolStatus::Partial, "TESTS_FAILED");
    }

    #[test]
    fn what_is_counted_in_output_that_is_cut_is_told_as_the_least() {
        let check = |code, passed, failed, status, error_code: &str| {
            let counts = Some(Counts { passed, failed, skipped: 0 });
            let (note, got, got_code) = verdict(code, &Counted { counts, is_cut: true });
            assert_eq!((got, got_code), (status, error_code), "{note}");
            assert!(note.contains("at least") && !note.contains("No test ran"), "{note}");
        };
        check(Some(0), 3, 0, ToolStatus::Success, "");
        check(Some(0), 0, 0, ToolStatus::Partial, "TESTS_NOT_COUNTED");
        check(Some(5), 0, 0, ToolStatus::Partial, "TESTS_FAILED");
        check(Some(101), 3, 0, ToolStatus::Partial, "TESTS_FAILED");
    }
}
