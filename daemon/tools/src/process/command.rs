//! A program that a tool is about to run: looked at, planned, and started as it was planned.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{Action, ActionTarget, Confinement, ToolResult, cut_line};
use agentd_sandbox::{
    Backend, Child, Command, Grant, Limits, Network, Policy, Profile, Programs, Sandbox, Terminal,
    TerminalSize,
};

use super::hosts;
use super::limits::invalid;
use super::running::{Bounds, Ended, run_to_its_end};
use crate::permission::is_plain_git;
use crate::vcs::is_plain_repository;
use crate::{LiveOutput, ToolContext};

/// Words of argv, and bytes of one and of a command line (spec a.3).
const MAX_WORDS: usize = 64;
const MAX_WORD: usize = 4_096;
const MAX_COMMAND: usize = 20_000;

/// Longest summary in characters.
pub(crate) const MAX_SUMMARY: usize = 120;

/// What a tool wants to run.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) argv: Vec<String>,
    /// Directory relative to the workspace, or an absolute one below a further root.
    pub(crate) cwd: Option<&'a str>,
    pub(crate) writes: bool,
    /// Hosts that it asks for; see [`hosts::network`].
    pub(crate) network: &'a [String],
    pub(crate) limits: Limits,
}

/// A program that is about to run.
#[derive(Debug)]
pub(crate) struct Ready {
    sandbox: Arc<dyn Sandbox>,
    pub(crate) command: Command,
    pub(crate) target: ActionTarget,
}

impl Ready {
    /// Looks at where the program would run, and behind what.
    ///
    /// # Errors
    /// The result of the call, when it cannot be run.
    pub(crate) async fn of(
        programs: &Programs,
        ctx: &ToolContext,
        wanted: Wanted<'_>,
    ) -> Result<Self, ToolResult> {
        let Wanted { argv, cwd, writes, network, limits } = wanted;
        let cwd = directory(ctx, cwd.unwrap_or("."))?;
        let sandbox =
            programs.sandbox().await.map_err(|missing| unavailable(&missing.to_string()))?;
        let network = hosts::network(network, programs.policy(), &*sandbox)?;
        let confinement = match sandbox.backend() {
            Backend::None => None,
            backend => Some(Confinement {
                backend: backend.name().to_owned(),
                writes,
                network: network != Network::None,
                hosts: hosts::hosts_of(&network),
            }),
        };
        let target = ActionTarget::Run {
            argv: argv.clone(),
            cwd: cwd.to_string_lossy().into_owned(),
            confinement,
        };
        let profile = match writes {
            false => Profile::ReadOnly,
            true if is_plain_git(&argv) && is_plain_repository(&ctx.workspace, &cwd) => {
                Profile::GitWrite
            }
            true => Profile::WorkspaceWrite,
        };
        let (workspace, further_roots) = (ctx.workspace.clone(), ctx.further_roots.to_vec());
        let command = Command { argv, workspace, further_roots, cwd, profile, network, limits };
        Ok(Self { sandbox, command, target })
    }

    /// Lets it through to any host with public addresses.
    ///
    /// # Errors
    /// The result of the call, when nothing here would keep it to these.
    pub(crate) fn through_to_public_hosts(mut self, policy: &Policy) -> Result<Self, ToolResult> {
        hosts::held(&*self.sandbox).map_err(|why| {
            let remedy = why.remedy;
            unavailable(&format!(
                "here nothing would keep it to public hosts ({}). The owner of this daemon can \
                 {remedy}",
                why.reason
            ))
        })?;
        let network = Network::Hosts(Grant::of_any(policy.allow_hosts.clone()));
        if let ActionTarget::Run { confinement: Some(inside), .. } = &mut self.target {
            inside.network = true;
            inside.hosts = hosts::hosts_of(&network);
        }
        self.command.network = network;
        Ok(self)
    }

    /// Starts what was planned, or nothing.
    ///
    /// # Errors
    /// The result of the call, when nothing was started.
    pub(crate) async fn start(&self, planned: &Action) -> Result<Child, ToolResult> {
        self.check(planned)?;
        let started = self.sandbox.spawn(&self.command).await;
        started.map_err(|error| unavailable(&error.to_string()))
    }

    /// Opens a terminal in which runs what was planned, or nothing.
    ///
    /// # Errors
    /// The result of the call, when nothing was started.
    pub(super) async fn open_terminal(
        &self,
        planned: &Action,
        size: TerminalSize,
    ) -> Result<(Child, Terminal), ToolResult> {
        self.check(planned)?;
        let started = self.sandbox.open_terminal(&self.command, size).await;
        started.map_err(|error| unavailable(&error.to_string()))
    }

    /// Runs what was planned to its end, or nothing.
    ///
    /// # Errors
    /// The result of the call, when nothing was started.
    pub(crate) async fn run(
        &self,
        planned: &Action,
        bounds: Bounds,
        live: &LiveOutput,
    ) -> Result<Ended, ToolResult> {
        self.check(planned)?;
        run_to_its_end(&*self.sandbox, &self.command, bounds, live)
            .await
            .map_err(|error| unavailable(&error.to_string()))
    }

    fn check(&self, planned: &Action) -> Result<(), ToolResult> {
        // What else is planned is read by the program, or for it.
        let mut runs =
            planned.targets.iter().filter(|target| matches!(target, ActionTarget::Run { .. }));
        if runs.next() == Some(&self.target) && runs.next().is_none() {
            return Ok(());
        }
        Err(ToolResult::fatal(
            "ACTION_CHANGED",
            "The command was not run: the directory or the sandbox is another one than when it \
             was looked at. Call it again.",
        ))
    }
}

/// The words of a command: a line for bash, or a program and its arguments.
///
/// # Errors
/// The result of a call that gave both, neither, or too much.
pub(crate) fn argv(
    command: Option<&String>,
    argv: Option<&Vec<String>>,
) -> Result<Vec<String>, ToolResult> {
    match (command, argv) {
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

/// The directory without links: relative to the workspace, or absolute below a further root.
fn directory(ctx: &ToolContext, cwd: &str) -> Result<PathBuf, ToolResult> {
    let wrong = |why: String| {
        ToolResult::fatal("INVALID_PATH", format!("cwd '{}' {why}", cut_line(cwd, MAX_SUMMARY)))
    };
    let resolve = |path: &Path| {
        path.canonicalize().map_err(|error| wrong(format!("cannot be opened: {error}.")))
    };
    let root = resolve(&ctx.workspace)?;
    let path = resolve(&root.join(cwd))?;
    if !path.is_dir() {
        return Err(wrong("is not a directory.".to_owned()));
    }
    if let Ok(below) = path.strip_prefix(&root) {
        return Ok(below.to_owned());
    }
    let mut further = ctx.further_roots.iter();
    if further.any(|root| root.canonicalize().is_ok_and(|root| path.starts_with(root))) {
        return Ok(path);
    }
    let cwd = cut_line(cwd, MAX_SUMMARY);
    Err(ToolResult::fatal(
        "PATH_OUTSIDE_WORKSPACE",
        format!("cwd '{cwd}' is outside the workspace; a session works inside it only."),
    ))
}

/// The result of a call that could start nothing.
pub(crate) fn unavailable(message: &str) -> ToolResult {
    ToolResult::fatal("TOOL_PROCESS_UNAVAILABLE", format!("The command was not run: {message}."))
}
