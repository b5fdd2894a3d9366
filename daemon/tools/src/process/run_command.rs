//! Running a command in the sandbox, to its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{
    Action, ActionTarget, Capabilities, Confinement, ToolResult, ToolStatus, cut_line,
};
use agentd_sandbox::{Backend, Command, Exit, Limits, Profile, Programs, Sandbox};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::running::{Ended, STOP_PATIENCE, run_to_its_end};
use crate::{About, ToolContext, TypedTool};

/// Longest run, when nothing is said and at most (spec k.3).
const USUAL_SECONDS: u32 = 30;
const MOST_SECONDS: u32 = 120;

/// Words of argv, and bytes of one and of a command line (spec a.3).
const MAX_WORDS: usize = 64;
const MAX_WORD: usize = 4_096;
const MAX_COMMAND: usize = 20_000;

/// Longest summary in characters.
const MAX_SUMMARY: usize = 120;

/// Files of [`Exit::run_later`] that are named.
const MAX_NAMED: usize = 10;

/// Arguments of run_command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A command line for bash.
    command: Option<String>,
    /// Instead of command: a program and its arguments, without a shell.
    argv: Option<Vec<String>>,
    /// Directory relative to the workspace.
    cwd: Option<String>,
    /// Longest run in seconds, 1 to 120; 30 when left out.
    timeout_s: Option<u32>,
    /// True: it changes no files.
    read_only: Option<bool>,
    /// True: it needs the network.
    network: Option<bool>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct RunCommand {
    pub(crate) programs: Arc<Programs>,
}

/// A command that is about to run.
struct Ready {
    sandbox: Arc<dyn Sandbox>,
    command: Command,
    target: ActionTarget,
    time: Duration,
}

#[async_trait]
impl TypedTool for RunCommand {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "run_command",
            description: "Runs a command in a sandbox and gives its output and exit code. It has no \
                          input and no terminal, writes only in the workspace, and what it leaves \
                          running is ended.",
            capabilities: Capabilities::PROCESS,
            aliases: &["toolkit_exec", "runCommand"],
        }
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        // The tool keeps the time itself, so that the output so far is not lost.
        let seconds = arguments.timeout_s.unwrap_or(USUAL_SECONDS).min(MOST_SECONDS);
        Some(Duration::from_secs(seconds.into()) + 2 * STOP_PATIENCE)
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let Ready { command, target, .. } = self.ready(ctx, arguments).await?;
        let shown = match command.argv.as_slice() {
            [_bash, _c, script] if arguments.command.is_some() => script.clone(),
            argv => argv.join(" "),
        };
        let summary = format!("run {}", cut_line(&shown, MAX_SUMMARY));
        Ok(Action { summary, targets: vec![target] })
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let ready = match self.ready(ctx, &arguments).await {
            Ok(ready) => ready,
            Err(refused) => return refused,
        };
        if planned.targets != [ready.target.clone()] {
            return ToolResult::fatal(
                "ACTION_CHANGED",
                "The command was not run: the directory or the sandbox is another one than when it \
                 was looked at. Call it again.",
            );
        }
        match run_to_its_end(&*ready.sandbox, &ready.command, ready.time, &ctx.output).await {
            Ok(ended) => ToolResult {
                workspace_changed: ready.command.profile == Profile::WorkspaceWrite,
                ..told(ended)
            },
            Err(error) => unavailable(&error.to_string()),
        }
    }
}

impl RunCommand {
    async fn ready(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Ready, ToolResult> {
        let argv = argv(arguments)?;
        let seconds = arguments.timeout_s.unwrap_or(USUAL_SECONDS);
        if !(1..=MOST_SECONDS).contains(&seconds) {
            return Err(invalid(format!("timeout_s is {seconds}: give 1 to {MOST_SECONDS}.")));
        }
        let cwd = directory(&ctx.workspace, arguments.cwd.as_deref().unwrap_or("."))?;
        let sandbox =
            self.programs.sandbox().await.map_err(|missing| unavailable(&missing.to_string()))?;
        let writes = arguments.read_only != Some(true);
        let network = arguments.network == Some(true);
        let confinement = match sandbox.backend() {
            Backend::None => None,
            backend => Some(Confinement { backend: backend.name().to_owned(), writes, network }),
        };
        let target = ActionTarget::Run {
            argv: argv.clone(),
            cwd: cwd.to_string_lossy().into_owned(),
            confinement,
        };
        let command = Command {
            argv,
            workspace: ctx.workspace.clone(),
            cwd,
            profile: if writes { Profile::WorkspaceWrite } else { Profile::ReadOnly },
            network,
            limits: Limits::BUILD,
        };
        Ok(Ready { sandbox, command, target, time: Duration::from_secs(seconds.into()) })
    }
}

/// The words of a command.
fn argv(arguments: &Arguments) -> Result<Vec<String>, ToolResult> {
    match (&arguments.command, &arguments.argv) {
        (Some(_), Some(_)) | (None, None) => {
            Err(invalid("give either command, a line for bash, or argv.".to_owned()))
        }
        (Some(command), None) if command.trim().is_empty() => {
            Err(invalid("command is empty.".to_owned()))
        }
        (Some(command), None) if command.len() > MAX_COMMAND => Err(invalid(format!(
            "command is longer than {MAX_COMMAND} bytes: write a script into a file and run that."
        ))),
        (Some(command), None) => Ok(vec!["bash".to_owned(), "-c".to_owned(), command.clone()]),
        (None, Some(argv)) => {
            let is_right = (1..=MAX_WORDS).contains(&argv.len())
                && argv.iter().all(|word| word.len() <= MAX_WORD)
                && argv.first().is_some_and(|program| !program.is_empty());
            is_right.then(|| argv.clone()).ok_or_else(|| {
                invalid(format!(
                    "argv needs a program, and takes {MAX_WORDS} words of {MAX_WORD} bytes."
                ))
            })
        }
    }
}

/// The directory relative to the workspace, without links.
fn directory(workspace: &Path, cwd: &str) -> Result<PathBuf, ToolResult> {
    let wrong = |why: String| {
        ToolResult::fatal("INVALID_PATH", format!("cwd '{}' {why}", cut_line(cwd, MAX_SUMMARY)))
    };
    let resolve = |path: &Path| {
        path.canonicalize().map_err(|error| wrong(format!("cannot be opened: {error}.")))
    };
    let root = resolve(workspace)?;
    let path = resolve(&root.join(cwd))?;
    if !path.is_dir() {
        return Err(wrong("is not a directory.".to_owned()));
    }
    path.strip_prefix(&root).map(Path::to_owned).map_err(|_outside| {
        let cwd = cut_line(cwd, MAX_SUMMARY);
        ToolResult::fatal(
            "PATH_OUTSIDE_WORKSPACE",
            format!("cwd '{cwd}' is outside the workspace; a session works inside it only."),
        )
    })
}

fn invalid(message: String) -> ToolResult {
    ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", message)
}

fn unavailable(message: &str) -> ToolResult {
    ToolResult::fatal("TOOL_PROCESS_UNAVAILABLE", format!("The command was not run: {message}."))
}

/// The result of a command.
fn told(ended: Ended) -> ToolResult {
    let code = ended.code();
    let Ended { out: mut text, errors, exit, late } = ended;
    let line = |text: &mut String, line: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(line);
    };
    if !errors.is_empty() {
        line(&mut text, "[stderr]\n");
        text.push_str(&errors);
    }
    let exit = match exit {
        Some(Ok(exit)) => Some(exit),
        Some(Err(error)) if late.is_none() => {
            return unavailable(&format!("{error}: {}", errors.trim()));
        }
        Some(Err(_)) | None => None,
    };
    if text.is_empty() {
        text.push_str("[no output]");
    }
    if let Some(Exit { left_running: left @ 1.., .. }) = &exit {
        line(&mut text, &format!("[{left} of its processes still ran and were ended.]"));
    }
    if let Some(Exit { run_later, .. }) = exit.as_ref().filter(|exit| !exit.run_later.is_empty()) {
        let named: Vec<String> =
            run_later.iter().take(MAX_NAMED).map(|path| path.display().to_string()).collect();
        line(
            &mut text,
            &format!("[Changed files that run outside the sandbox: {}]", named.join(", ")),
        );
    }
    if let Some(time) = late {
        line(&mut text, &format!("[Timed out after {} s and was ended.]", time.as_secs()));
        return ToolResult::new(ToolStatus::RetryableError, text, "TOOL_TIMEOUT");
    }
    match code {
        Some(0) => ToolResult { exit_code: code, ..ToolResult::success(text) },
        Some(not_zero) => {
            line(&mut text, &format!("[exit code {not_zero}]"));
            ToolResult { exit_code: code, ..ToolResult::partial("COMMAND_NONZERO_EXIT", text) }
        }
        None => unavailable("its end is unknown"),
    }
}
