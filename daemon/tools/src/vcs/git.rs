//! Looking at a repository. Nothing of it is changed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, ActionTarget, Capabilities, ToolResult};
use agentd_sandbox::{Limits, Profile, Programs};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::hardened::{CALL_TIME, Git, NO_DIRT, NO_SUBMODULE_DIFF, failed, words};
use super::names::{QUOTED, is_secret, unquoted};
use crate::fs::{Protected, relative_place, shown};
use crate::{About, Rank, ToolContext, TypedTool};

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

/// What is asked of a repository.
struct Question<'a> {
    action: What,
    rev: Option<&'a str>,
    /// Relative to the workspace.
    place: Option<String>,
    is_staged: bool,
    limit: Option<u32>,
}

/// A question to git that is about to be asked.
struct Ready {
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

    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        Some(CALL_TIME)
    }

    /// Nothing is started for it: git comes after the permission to run it, and what is planned is the
    /// command as people and rules know it, without the options that switch programs off.
    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let question = self.question(&ctx.workspace, arguments)?;
        Ok(question.action(&Git::find(&self.programs, self.limits).await?))
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
        let question = self.question(&ctx.workspace, arguments)?;
        let git = Git::find(&self.programs, self.limits).await?;
        if question.action(&git) != *planned {
            return Err(ToolResult::fatal(
                "ACTION_CHANGED",
                "Git was not run: the sandbox is another one than when it was looked at. Call it \
                 again.",
            ));
        }
        let Ready { argv, left_out } = question.ready(&git, &ctx.workspace).await?;
        let ended = git.run(&ctx.workspace, argv, Profile::ReadOnly, &ctx.output).await?;
        if ended.code() != Some(0) {
            return Err(failed(&ended));
        }
        let mut output = ended.out;
        let is_empty = match question.action {
            // Its first line names the branch.
            What::Status => output.lines().nth(1).is_none(),
            What::Diff | What::Log | What::Show => output.trim().is_empty(),
        };
        if is_empty {
            output += match question.action {
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

    fn question<'a>(
        &self,
        workspace: &Path,
        arguments: &'a Arguments,
    ) -> Result<Question<'a>, ToolResult> {
        let Arguments { action, rev, path, staged, limit } = arguments;
        let rev = rev.as_deref().filter(|rev| !rev.is_empty()).map(checked).transpose()?;
        let place = match path.as_deref().filter(|path| !path.is_empty()) {
            Some(path) => Some(relative_place(workspace, &self.protected, path)?),
            None => None,
        };
        Ok(Question {
            action: *action,
            rev,
            place,
            is_staged: *staged == Some(true),
            limit: *limit,
        })
    }
}

impl Question<'_> {
    /// What a permission is decided on.
    fn action(&self, git: &Git) -> Action {
        let Self { action, rev, place, is_staged, limit } = self;
        let name = format!("{action:?}").to_lowercase();
        let words = [Some(name.as_str()), *rev, place.as_deref()];
        let summary: Vec<String> = words.into_iter().flatten().map(shown).collect();
        let mut argv = vec!["git".to_owned(), name.clone()];
        argv.extend((*action == What::Diff && *is_staged).then(|| "--cached".to_owned()));
        let limit = limit.filter(|_| *action == What::Log);
        argv.extend(limit.map(|limit| format!("-n{limit}")));
        match (action, place) {
            (What::Show, Some(place)) => {
                argv.push(format!("{}:./{place}", rev.unwrap_or("HEAD")));
            }
            (_, place) => {
                argv.extend(rev.filter(|_| *action != What::Status).map(str::to_owned));
                argv.extend(place.iter().flat_map(|place| ["--".to_owned(), place.clone()]));
            }
        }
        let reads = place.iter().cloned().map(|path| ActionTarget::Read { path, version: None });
        let targets = std::iter::once(git.target(argv, false)).chain(reads).collect();
        Action { summary: format!("git {}", summary.join(" ")), targets }
    }

    async fn ready(&self, git: &Git, workspace: &Path) -> Result<Ready, ToolResult> {
        let Self { action, rev, place, is_staged, limit } = self;
        let filters = git.without_filters(workspace).await?;
        let spec = format!(":(literal){}", place.as_deref().unwrap_or("."));
        let words_of = |arguments: &[&str]| words(&filters, arguments);
        let argv = match (action, place) {
            (What::Status, _) => words_of(&["status", "--short", "--branch", NO_DIRT, "--", &spec]),
            (What::Log, _) => {
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
            (What::Show, Some(place)) => {
                let of_file = format!("{}:./{place}", of_commit(rev.unwrap_or("HEAD")));
                // What stands at the path may be a commit, whose differences nobody has looked at.
                words_of(&["show", "--no-patch", "--no-ext-diff", "--no-textconv", &of_file])
            }
            (What::Diff, _) => {
                let mut command = vec!["diff"];
                command.extend(is_staged.then_some("--cached"));
                let of_commits = rev.map(of_commits);
                command.extend(of_commits.as_deref());
                return differences(git, workspace, &filters, (&command, &[]), &spec).await;
            }
            (What::Show, None) => {
                let of_commit = of_commit(rev.unwrap_or("HEAD"));
                let command =
                    ["show", "--date=iso-strict", "--diff-merges=first-parent", &of_commit];
                let names_only = ["--format="];
                return differences(git, workspace, &filters, (&command, &names_only), &spec).await;
            }
        };
        Ok(Ready { argv, left_out: Vec::new() })
    }
}

/// A command that shows differences, without those in files that hold secrets. `names_only` are
/// further options of the one that lists their names.
async fn differences(
    git: &Git,
    workspace: &Path,
    filters: &[(String, String)],
    (command, names_only): (&[&str], &[&str]),
    spec: &str,
) -> Result<Ready, ToolResult> {
    const PLAIN: [&str; 4] = ["--no-ext-diff", "--no-textconv", NO_DIRT, NO_SUBMODULE_DIFF];
    let listing =
        [command, &PLAIN, names_only, &["--name-only", "--no-renames", "--", spec]].concat();
    let quoted = [filters, &[(QUOTED.0.to_owned(), QUOTED.1.to_owned())]].concat();
    let listed = git.list(workspace, words(&quoted, &listing)).await?;
    if listed.code() != Some(0) {
        return Err(failed(&listed));
    }
    if !listed.is_exact {
        return Err(ToolResult::fatal(
            "TOO_MANY_FILES",
            "These are more files than can be told, so that those with secrets cannot be left out: \
             name a path.",
        ));
    }
    let names = listed.out.lines().map(unquoted).filter(|name| is_secret(name));
    let left_out: Vec<String> = names.map(String::from_utf8).collect::<Result<_, _>>().map_err(
        |_not_text| {
            ToolResult::fatal(
                "PROTECTED_FILE",
                "A file with secrets is among these whose name is not text, so that it cannot be left \
                 out: name a path.",
            )
        },
    )?;
    let mut all: Vec<&str> = [command, &PLAIN, &["--stat", "--patch"]].concat();
    if !left_out.is_empty() {
        // The old side of a renamed file would be shown by its new name.
        all.push("--no-renames");
    }
    all.extend(["--", spec]);
    let excluded: Vec<String> =
        left_out.iter().map(|name| format!(":(exclude,top,literal){name}")).collect();
    all.extend(excluded.iter().map(String::as_str));
    Ok(Ready { argv: words(filters, &all), left_out })
}

/// A revision that can only be a commit: the name of a file's content would show what it holds,
/// wherever it is.
fn of_commit(rev: &str) -> String {
    format!("{rev}^{{commit}}")
}

/// The same of a range.
fn of_commits(range: &str) -> String {
    let split = |dots: &str| {
        let (from, to) = range.split_once(dots)?;
        let side = |rev: &str| if rev.is_empty() { String::new() } else { of_commit(rev) };
        Some(format!("{}{dots}{}", side(from), side(to)))
    };
    split("...").or_else(|| split("..")).unwrap_or_else(|| of_commit(range))
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
