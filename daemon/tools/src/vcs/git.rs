//! Looking at a repository. Nothing of it is changed.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult};
use agentd_sandbox::{Limits, Profile, Programs};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::hardened::{Git, failed, words};
use crate::fs::{Protected, is_secret_place, relative_place, shown};
use crate::{About, LiveOutput, Rank, ToolContext, TypedTool};

/// Commits that are listed, when nothing is said and at most.
const USUAL_COMMITS: u32 = 20;

/// Longest revision in bytes.
const MAX_REV: usize = 250;

/// Files with secrets that are named.
const MAX_NAMED: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Status,
    Diff,
    Log,
    Show,
}

/// Arguments of git.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    action: What,
    /// A commit, or a range for diff and log. Diff compares with it.
    rev: Option<String>,
    /// A file or directory. Show gives this file as it is in rev.
    path: Option<String>,
    /// Diff of what is staged.
    staged: Option<bool>,
    /// Most commits of log; left out: 20.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct GitRead {
    pub(crate) programs: Arc<Programs>,
    pub(crate) protected: Protected,
    pub(crate) limits: Limits,
}

/// A question to git that is about to be asked.
struct Ready {
    git: Git,
    argv: Vec<String>,
    /// Files that it leaves out, since they hold secrets.
    left_out: Vec<String>,
}

#[async_trait]
impl TypedTool for GitRead {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "git",
            description: "Shows the status, a diff, the log, a commit, or a file at a commit of the \
                          repository.",
            // A commit made elsewhere changes the answer and no file of the workspace.
            capabilities: Capabilities { cacheable: false, ..Capabilities::WORKSPACE_READ },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let Ready { git, argv, .. } = self.ready(&ctx.workspace, arguments).await?;
        let Arguments { action, rev, path, .. } = arguments;
        let name = format!("{action:?}").to_lowercase();
        let words = [Some(name.as_str()), rev.as_deref(), path.as_deref()];
        let summary: Vec<String> = words.into_iter().flatten().map(shown).collect();
        Ok(Action {
            summary: format!("git {}", summary.join(" ")),
            targets: vec![git.target(argv, false)],
        })
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        self.answer(ctx, &arguments, planned).await.unwrap_or_else(|refusal| refusal)
    }
}

impl GitRead {
    async fn answer(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
        planned: &Action,
    ) -> Result<ToolResult, ToolResult> {
        let Ready { git, argv, left_out } = self.ready(&ctx.workspace, arguments).await?;
        if planned.targets != [git.target(argv.clone(), false)] {
            return Err(ToolResult::retryable(
                "ACTION_CHANGED",
                "The repository changed since it was looked at. Call it again.",
            ));
        }
        let ended = git.run(&ctx.workspace, argv, Profile::ReadOnly, &ctx.output).await?;
        if ended.code() != Some(0) {
            return Err(failed(&ended));
        }
        let mut output = ended.out;
        let is_empty = match arguments.action {
            // Its first line names the branch.
            What::Status => output.lines().nth(1).is_none(),
            What::Diff | What::Log | What::Show => output.trim().is_empty(),
        };
        if is_empty {
            output += match arguments.action {
                What::Status => "[nothing to commit, the working tree is clean]",
                What::Diff => "[no difference]",
                What::Log => "[no commits]",
                What::Show => "[it is empty]",
            };
        }
        if !left_out.is_empty() {
            let names: Vec<String> =
                left_out.iter().take(MAX_NAMED).map(|name| shown(name)).collect();
            let names = names.join(", ");
            output = format!("{output}\n[Not shown, because such files hold secrets: {names}]");
        }
        Ok(if is_empty { ToolResult::empty(output) } else { ToolResult::success(output) })
    }

    async fn ready(&self, workspace: &Path, arguments: &Arguments) -> Result<Ready, ToolResult> {
        let Arguments { action, rev, path, staged, limit } = arguments;
        let rev = rev.as_deref().filter(|rev| !rev.is_empty()).map(checked).transpose()?;
        let path = match path.as_deref().filter(|path| !path.is_empty()) {
            Some(path) => Some(relative_place(workspace, &self.protected, path)?),
            None => None,
        };
        let git = Git::find(&self.programs, self.limits).await?;
        let filters = git.without_filters(workspace).await?;
        let spec = format!(":(literal){}", path.as_deref().unwrap_or("."));
        let of_rev = |rev: &str| format!("{rev}^{{commit}}");
        let words_of = |arguments: &[&str]| words(&filters, arguments);
        let argv = match action {
            What::Status => words_of(&["status", "--short", "--branch", "--", &spec]),
            What::Log => {
                let limit = format!("-n{}", limit.unwrap_or(USUAL_COMMITS));
                words_of(&[
                    "log",
                    "--no-ext-diff",
                    "--no-textconv",
                    "--date=iso-strict",
                    "--format=%h %ad %an: %s%d",
                    &limit,
                    rev.unwrap_or("HEAD"),
                    "--",
                    &spec,
                ])
            }
            What::Show if path.is_some() => {
                let place = path.as_deref().unwrap_or_default();
                let of_file = format!("{}:./{place}", rev.unwrap_or("HEAD"));
                words_of(&["show", "--no-ext-diff", "--no-textconv", &of_file])
            }
            What::Diff | What::Show => {
                let of_commit = of_rev(rev.unwrap_or("HEAD"));
                let mut command = match action {
                    What::Show => {
                        vec!["show", "--date=iso-strict", "--diff-merges=first-parent", &of_commit]
                    }
                    _ if *staged == Some(true) => vec!["diff", "--cached"],
                    _ => vec!["diff"],
                };
                if let (What::Diff, Some(rev)) = (action, rev) {
                    command.push(rev);
                }
                command.extend(["--no-ext-diff", "--no-textconv"]);
                return self.differences(workspace, git, &filters, &command, &spec).await;
            }
        };
        Ok(Ready { git, argv, left_out: Vec::new() })
    }

    /// A command that shows differences, without those in files that hold secrets.
    async fn differences(
        &self,
        workspace: &Path,
        git: Git,
        filters: &[(String, String)],
        command: &[&str],
        spec: &str,
    ) -> Result<Ready, ToolResult> {
        let listing = [command, &["--name-only", "--no-renames", "--", spec]].concat();
        let listed = git
            .run(workspace, words(filters, &listing), Profile::ReadOnly, &LiveOutput::nobody())
            .await?;
        if listed.code() != Some(0) {
            return Err(failed(&listed));
        }
        let left_out: Vec<String> = listed
            .out
            .lines()
            .filter(|name| is_secret_place(Path::new(name.trim_matches('"'))))
            .map(str::to_owned)
            .collect();
        let mut all: Vec<&str> = [command, &["--stat", "--patch"]].concat();
        if !left_out.is_empty() {
            // The old side of a renamed file would be shown by its new name.
            all.push("--no-renames");
        }
        all.extend(["--", spec]);
        let excluded: Vec<String> =
            left_out.iter().map(|name| format!(":(exclude,top,literal){name}")).collect();
        all.extend(excluded.iter().map(String::as_str));
        let argv = words(filters, &all);
        Ok(Ready { git, argv, left_out })
    }
}

/// A revision that is no option, and names no file: for that there is `path`.
fn checked(rev: &str) -> Result<&str, ToolResult> {
    let is_wrong = rev.starts_with('-')
        || rev.len() > MAX_REV
        || rev.contains(|c: char| c == ':' || c.is_control() || c.is_whitespace());
    if is_wrong {
        return Err(ToolResult::fatal(
            "TOOL_ARGUMENT_VALIDATION_FAILED",
            "rev: give a commit, a branch, a tag or a range; a file goes into path.",
        ));
    }
    Ok(rev)
}
