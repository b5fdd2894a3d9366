//! Making a commit, of exactly what was looked at.
//!
//! The plan makes the tree of the commit beside the repository, and says its files; the run makes
//! the same tree again in the repository, and goes on only when it is the same one, on the same
//! branch, at the same commit. It is git's plumbing that does both: it runs no hooks, no editor, no
//! signing program, and pushes nothing.
//!
//! So the plan runs git before anybody has permitted anything: what is permitted is the content of the
//! commit, and only git can tell it. All that a repository can make git run is switched off for it, as
//! it is for the commit itself, and nothing of the repository is written. Where no box is around
//! programs, nothing is started before it is permitted: the plan says then that it has not looked.

mod looked;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, ActionTarget, Capabilities, ToolResult, cut_line};
use agentd_sandbox::{Limits, Profile, Programs, git_variables};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use self::looked::{Looked, lines};
use super::hardened::{CALL_TIME, Git, failed, settings};
use super::identity::{self, Identity};
use crate::fs::{Protected, relative_place, shown};
use crate::{About, Rank, ToolContext, TypedTool};

const SPECS: &str = include_str!("specs.sh");
const LOOK: &str = include_str!("look.sh");
const COMMIT: &str = include_str!("commit.sh");

/// Longest message in bytes.
const MAX_MESSAGE: usize = 10_000;

/// Longest first line of it that a summary shows, in characters.
const MAX_SUBJECT: usize = 100;

/// Arguments of git_commit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[schemars(length(min = 1, max = 10_000))]
    message: String,
    /// Files and directories whose changes to commit, and no others; left out: what is staged.
    #[schemars(length(max = 100))]
    paths: Option<Vec<String>>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct GitCommit {
    pub(crate) programs: Arc<Programs>,
    pub(crate) protected: Protected,
    pub(crate) limits: Limits,
    /// Where the user has told git who he is.
    pub(crate) user_settings: Vec<PathBuf>,
}

/// What a call asks for.
struct Asked<'a> {
    message: &'a str,
    /// Relative to the workspace; none: what is staged.
    places: Vec<String>,
}

/// A commit that is about to be made.
struct Ready {
    git: Git,
    preamble: String,
    specs: Vec<String>,
    looked: Looked,
    action: Action,
}

#[async_trait]
impl TypedTool for GitCommit {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "git_commit",
            description: "Commits changes, only when the user asked for a commit. Hooks are not run, \
                          nothing is pushed.",
            // It goes further than an edit: it is asked for wherever anything is.
            capabilities: Capabilities { observes_workspace: true, ..Capabilities::EXCLUSIVE },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        Some(CALL_TIME)
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let asked = self.asked(&ctx.workspace, arguments)?;
        let git = Git::find(&self.programs, self.limits).await?;
        if git.is_kept_in() {
            Ok(self.ready(git, &ctx.workspace, &asked).await?.action)
        } else {
            Ok(asked.unseen(&git))
        }
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        self.commit(ctx, &arguments, planned).await.unwrap_or_else(|refusal| refusal)
    }
}

impl GitCommit {
    fn asked<'a>(
        &self,
        workspace: &Path,
        arguments: &'a Arguments,
    ) -> Result<Asked<'a>, ToolResult> {
        let Arguments { message, paths } = arguments;
        let invalid = |what: &str| ToolResult::fatal("TOOL_ARGUMENT_VALIDATION_FAILED", what);
        if message.trim().is_empty() || message.len() > MAX_MESSAGE || message.contains('\0') {
            return Err(invalid("message: say in 1 to 10,000 bytes what the commit is."));
        }
        let mut places = Vec::new();
        for path in paths.iter().flatten() {
            places.push(relative_place(workspace, &self.protected, path)?);
        }
        if paths.as_ref().is_some_and(Vec::is_empty) {
            return Err(invalid("paths is empty: name files, or leave it out for what is staged."));
        }
        Ok(Asked { message, places })
    }

    async fn ready(
        &self,
        git: Git,
        workspace: &Path,
        Asked { message, places }: &Asked<'_>,
    ) -> Result<Ready, ToolResult> {
        let specs: Vec<String> = places.iter().map(|place| format!(":(literal){place}")).collect();
        let mut preamble = preamble(&git.without_filters(workspace).await?);
        let argv = script(&preamble, LOOK, &specs);
        let mut looked = Looked::read(&git.list(workspace, argv).await?, places)?;
        let Identity { name, email } = identity::of_user(&self.user_settings);
        for (known, other) in [(&mut looked.author.name, name), (&mut looked.author.email, email)] {
            if known.is_empty() {
                *known = other;
            }
        }
        let Identity { name, email } = &looked.author;
        if name.is_empty() || email.is_empty() {
            return Err(ToolResult::fatal(
                "IDENTITY_MISSING",
                "Git does not know who the commit is by. Ask the user to run git config user.name \
                 and git config user.email in the repository.",
            ));
        }
        for (variable, value) in [
            ("GIT_AUTHOR_NAME", name),
            ("GIT_AUTHOR_EMAIL", email),
            ("GIT_COMMITTER_NAME", name),
            ("GIT_COMMITTER_EMAIL", email),
        ] {
            preamble += &export(variable, value);
        }
        let action = looked.action(&git, message, places);
        Ok(Ready { git, preamble, specs, looked, action })
    }

    async fn commit(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
        planned: &Action,
    ) -> Result<ToolResult, ToolResult> {
        let asked = self.asked(&ctx.workspace, arguments)?;
        let git = Git::find(&self.programs, self.limits).await?;
        let unseen = (!git.is_kept_in()).then(|| asked.unseen(&git));
        if unseen.as_ref().is_some_and(|unseen| unseen != planned) {
            return Err(changed());
        }
        let Ready { git, preamble, specs, looked, action } =
            self.ready(git, &ctx.workspace, &asked).await?;
        if unseen.is_none() && action != *planned {
            return Err(changed());
        }
        let Looked { tree, parent, branch, hooks, submodules, .. } = looked;
        let mut words = vec![tree, parent, branch, arguments.message.clone()];
        words.extend(specs);
        let argv = script(&preamble, COMMIT, &words);
        let ended = git.run(&ctx.workspace, argv, Profile::GitWrite, &ctx.output).await?;
        let told = |key: &str| -> Vec<String> { lines(&ended.out, key) };
        let Some(commit) = told("commit").pop() else {
            let is_changed = ended.out.lines().any(|line| line == "changed");
            return Err(if is_changed { changed() } else { failed(&ended) });
        };
        let mut output = vec![format!("Committed {commit}.")];
        output.extend(told("stat").into_iter().filter(|line| !line.trim().is_empty()));
        if ended.out.lines().any(|line| line == "index") {
            output
                .push("[The index could not be brought up to date; git reset does it.]".to_owned());
        }
        if !hooks.is_empty() {
            output.push(format!("[Not run, as no hook is: {}]", hooks.join(", ")));
        }
        if !submodules.is_empty() {
            let names: Vec<String> = submodules.iter().map(|name| shown(name)).collect();
            output.push(format!(
                "[Left out, as they are repositories of their own: {}]",
                names.join(", ")
            ));
        }
        Ok(ToolResult { workspace_changed: true, ..ToolResult::success(output.join("\n")) })
    }
}

impl Asked<'_> {
    /// What people are asked about where nothing may be looked at before.
    fn unseen(&self, git: &Git) -> Action {
        let Self { message, places } = self;
        let what = if places.is_empty() {
            "what is staged".to_owned()
        } else {
            places.iter().map(|place| shown(place)).collect::<Vec<_>>().join(", ")
        };
        let subject = shown(&cut_line(message, MAX_SUBJECT));
        let summary = format!("commit {what}, which nobody has looked at: {subject}");
        Action { summary, targets: vec![command(git, message, places)] }
    }
}

/// The command that says the same as what is done.
fn command(git: &Git, message: &str, places: &[String]) -> ActionTarget {
    let mut argv: Vec<String> =
        ["git", "commit", "--no-verify", "-m", message].map(str::to_owned).into();
    if !places.is_empty() {
        argv.extend(["--only", "--"].map(str::to_owned));
        argv.extend(places.iter().cloned());
    }
    git.target(argv, true)
}

/// The settings for every git of a script.
fn preamble(filters: &[(String, String)]) -> String {
    let off = filters.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let variables = git_variables(settings().chain(off));
    variables.iter().map(|(variable, value)| export(variable, value)).collect()
}

fn export(variable: &str, value: &str) -> String {
    format!("export {variable}='{}'\n", value.replace('\'', r"'\''"))
}

fn script(preamble: &str, script: &str, arguments: &[String]) -> Vec<String> {
    let mut argv = vec!["sh".to_owned(), "-c".to_owned(), format!("{preamble}{SPECS}{script}")];
    argv.push("git_commit".to_owned());
    argv.extend(arguments.iter().cloned());
    argv
}

fn changed() -> ToolResult {
    ToolResult::fatal(
        "ACTION_CHANGED",
        "Nothing was committed: files, branch or commits are others than when they were looked at. \
         Call it again.",
    )
}
