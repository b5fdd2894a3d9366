//! Git without the programs that a repository can make it run: hooks, pagers, filters, drivers of
//! diffs, monitors, signing programs, remote helpers. The box around it is the second line.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{ActionTarget, Confinement, ToolResult, cut_line};
use agentd_sandbox::{Backend, Command, GIT_SETTINGS, Limits, Network, Profile, Programs, Sandbox};

use crate::LiveOutput;
use crate::process::running::{Bounds, Ended, STOP_PATIENCE, run_to_its_end};

/// How git shows what it shows here.
const LOOKS: [(&str, &str); 4] = [
    ("color.ui", "false"),
    ("column.ui", "never"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
];

/// Ways to other repositories. A clone that is not whole would fetch what is missing. Each is named: a
/// repository that allows one by its name stands above what is said of all.
const CLOSED: [(&str, &str); 7] = [
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    ("protocol.file.allow", "never"),
    ("protocol.git.allow", "never"),
    ("protocol.http.allow", "never"),
    ("protocol.https.allow", "never"),
    ("protocol.ssh.allow", "never"),
];

/// Settings that stand above those of the repository.
pub(super) fn settings<'a>() -> impl Iterator<Item = (&'a str, &'a str)> {
    GIT_SETTINGS.into_iter().chain(LOOKS).chain(CLOSED)
}

/// Longest run of git.
const TIME: Duration = Duration::from_secs(20);

/// How long a call may take: it runs git three times at most.
pub(super) const CALL_TIME: Duration =
    Duration::from_secs(3 * (TIME.as_secs() + STOP_PATIENCE.as_secs()) + STOP_PATIENCE.as_secs());

/// Bytes of a list that are read.
const MAX_LIST: usize = 1024 * 1024;

/// Options of whatever looks at differences. A repository in this one has filters, drivers and
/// monitors of its own, which looking into it would run; what stands in `.gitmodules` or the
/// settings, nothing but options overrides.
pub(super) const NO_DIRT: &str = "--ignore-submodules=dirty";
pub(super) const NO_SUBMODULE_DIFF: &str = "--submodule=short";

/// How much of what git says is shown of an error, in characters.
const MAX_MESSAGE: usize = 400;

/// Most filters of a repository that are switched off.
const MAX_FILTERS: usize = 50;

/// A box to run git in.
#[derive(Debug)]
pub(super) struct Git {
    sandbox: Arc<dyn Sandbox>,
    limits: Limits,
}

impl Git {
    /// Takes the sandbox in force.
    ///
    /// # Errors
    /// The result of the call, when there is none.
    pub(super) async fn find(programs: &Programs, limits: Limits) -> Result<Self, ToolResult> {
        let sandbox = programs.sandbox().await.map_err(|missing| {
            ToolResult::fatal("TOOL_PROCESS_UNAVAILABLE", format!("Git was not run: {missing}."))
        })?;
        Ok(Self { sandbox, limits })
    }

    /// True when something is around the programs that it runs.
    pub(super) fn is_kept_in(&self) -> bool {
        self.sandbox.backend() != Backend::None
    }

    /// What a permission is decided on.
    pub(super) fn target(&self, argv: Vec<String>, writes: bool) -> ActionTarget {
        let confinement = match self.sandbox.backend() {
            Backend::None => None,
            backend => Some(Confinement {
                backend: backend.name().to_owned(),
                writes,
                network: false,
                hosts: Vec::new(),
            }),
        };
        ActionTarget::Run { argv, cwd: String::new(), confinement }
    }

    /// Runs a program in the root of the workspace.
    ///
    /// # Errors
    /// The result of the call, when it did not run to its end.
    pub(super) async fn run(
        &self,
        workspace: &Path,
        argv: Vec<String>,
        profile: Profile,
        live: &LiveOutput,
    ) -> Result<Ended, ToolResult> {
        self.run_within(workspace, argv, profile, live, TIME).await
    }

    /// Runs a program that lists something, without showing it. Whether the list is whole is for the
    /// caller to look at.
    ///
    /// # Errors
    /// The result of the call, when it did not run to its end.
    pub(super) async fn list(
        &self,
        workspace: &Path,
        argv: Vec<String>,
    ) -> Result<Ended, ToolResult> {
        let bounds = Bounds { time: TIME, kept_bytes: MAX_LIST };
        self.run_within(workspace, argv, Profile::ReadOnly, &LiveOutput::nobody(), bounds).await
    }

    async fn run_within(
        &self,
        workspace: &Path,
        argv: Vec<String>,
        profile: Profile,
        live: &LiveOutput,
        bounds: impl Into<Bounds>,
    ) -> Result<Ended, ToolResult> {
        let command = Command {
            argv,
            workspace: workspace.to_owned(),
            further_roots: Vec::new(),
            cwd: ".".into(),
            profile,
            network: Network::None,
            limits: self.limits,
        };
        let unavailable = |what: &str| {
            ToolResult::fatal("TOOL_PROCESS_UNAVAILABLE", format!("Git was not run: {what}."))
        };
        let ended = run_to_its_end(&*self.sandbox, &command, bounds, live)
            .await
            .map_err(|error| unavailable(&error.to_string()))?;
        if let Some(time) = ended.late {
            return Err(ToolResult::retryable(
                "TOOL_TIMEOUT",
                format!("Git did not end within {} s and was stopped.", time.as_secs()),
            ));
        }
        match ended.code() {
            Some(127) => Err(ToolResult::fatal(
                "MISSING_PROGRAM",
                "Git is not installed where commands run; the package 'git' adds it.",
            )),
            Some(_) => Ok(ended),
            None => Err(unavailable(ended.errors.trim())),
        }
    }

    /// The settings that switch off the filters of the repository.
    ///
    /// # Errors
    /// The result of the call, when there is no repository or it cannot be read.
    pub(super) async fn without_filters(
        &self,
        workspace: &Path,
    ) -> Result<Vec<(String, String)>, ToolResult> {
        let argv = words(&[], &["config", "--name-only", "--get-regexp", r"^filter\."]);
        let listed = self.list(workspace, argv).await?;
        match listed.code() {
            Some(0) => {}
            // There is none.
            Some(1) if listed.errors.is_empty() => return Ok(Vec::new()),
            _ => return Err(failed(&listed)),
        }
        let mut names: Vec<&str> = listed
            .out
            .lines()
            .filter_map(|line| line.strip_prefix("filter."))
            .filter_map(|line| line.rsplit_once('.').map(|(name, _)| name))
            .collect();
        names.sort_unstable();
        names.dedup();
        // An argument of git ends a name at the first equals sign.
        if !listed.is_exact
            || names.len() > MAX_FILTERS
            || names.iter().any(|name| name.contains('='))
        {
            return Err(ToolResult::fatal(
                "REPOSITORY_REFUSED",
                "The settings of this repository hold filters whose names cannot be switched off.",
            ));
        }
        let off = |name: &&str| {
            [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
                .map(|(key, value)| (format!("filter.{name}.{key}"), value.to_owned()))
        };
        Ok(names.iter().flat_map(off).collect())
    }
}

/// How git is called.
pub(super) fn words(more: &[(String, String)], arguments: &[&str]) -> Vec<String> {
    let mut words: Vec<String> =
        ["git", "--no-pager", "--no-optional-locks"].map(str::to_owned).into();
    let settings = settings().map(|(key, value)| format!("{key}={value}"));
    for setting in settings.chain(more.iter().map(|(key, value)| format!("{key}={value}"))) {
        words.extend(["-c".to_owned(), setting]);
    }
    words.extend(arguments.iter().map(|word| (*word).to_owned()));
    words
}

/// The result of a git that ended with an error.
pub(super) fn failed(ended: &Ended) -> ToolResult {
    let said = cut_line(&ended.errors, MAX_MESSAGE);
    if said.contains("not a git repository") {
        return ToolResult::fatal(
            "NOT_A_REPOSITORY",
            "The workspace is not the root of a git repository whose .git is in it.",
        );
    }
    ToolResult {
        exit_code: ended.code(),
        ..ToolResult::fatal("GIT_FAILED", format!("Git says: {said}"))
    }
}
