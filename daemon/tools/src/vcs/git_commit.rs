//! Making a commit, of exactly what was looked at.
//!
//! The plan makes the tree of the commit beside the repository, and says its files; the run makes
//! the same tree again in the repository, and goes on only when it is the same one, on the same
//! branch, at the same commit. It is git's plumbing that does both: it runs no hooks, no editor, no
//! signing program, and pushes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use agentd_sandbox::{Limits, Profile, Programs};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::hardened::{Git, SETTINGS, failed};
use super::identity::{self, Identity};
use crate::fs::{Protected, is_secret_place, relative_place, shown};
use crate::process::running::Ended;
use crate::{About, LiveOutput, Rank, ToolContext, TypedTool};

const LOOK: &str = include_str!("look.sh");
const COMMIT: &str = include_str!("commit.sh");

/// Longest message in bytes.
const MAX_MESSAGE: usize = 10_000;

/// Longest first line of it that a summary shows, in characters.
const MAX_SUBJECT: usize = 100;

/// Files that a summary names.
const MAX_NAMED: usize = 20;

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

/// What would be committed.
#[derive(Debug, Default)]
struct Looked {
    tree: String,
    parent: String,
    branch: String,
    author: Identity,
    /// Files with their kind of change, as far as they are told.
    files: Vec<String>,
    count: usize,
    /// Hooks that git would run.
    hooks: Vec<String>,
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

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        Ok(self.ready(&ctx.workspace, arguments).await?.action)
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        self.commit(ctx, &arguments, planned).await.unwrap_or_else(|refusal| refusal)
    }
}

impl GitCommit {
    async fn ready(&self, workspace: &Path, arguments: &Arguments) -> Result<Ready, ToolResult> {
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
        let specs: Vec<String> = places.iter().map(|place| format!(":(literal){place}")).collect();
        let git = Git::find(&self.programs, self.limits).await?;
        let mut preamble = preamble(&git.without_filters(workspace).await?);
        let argv = script(&preamble, LOOK, &specs);
        let ended = git.run(workspace, argv, Profile::ReadOnly, &LiveOutput::nobody()).await?;
        let mut looked = Looked::read(&ended)?;
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
        let action = looked.action(&git, message, &places);
        Ok(Ready { git, preamble, specs, looked, action })
    }

    async fn commit(
        &self,
        ctx: &ToolContext,
        arguments: &Arguments,
        planned: &Action,
    ) -> Result<ToolResult, ToolResult> {
        let Ready { git, preamble, specs, looked, action } =
            self.ready(&ctx.workspace, arguments).await?;
        if action != *planned {
            return Err(changed());
        }
        let Looked { tree, parent, branch, hooks, .. } = looked;
        let mut words = vec![tree, parent, branch, arguments.message.clone()];
        words.extend(specs);
        let argv = script(&preamble, COMMIT, &words);
        let ended = git.run(&ctx.workspace, argv, Profile::WorkspaceWrite, &ctx.output).await?;
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
        Ok(ToolResult { workspace_changed: true, ..ToolResult::success(output.join("\n")) })
    }
}

impl Looked {
    fn read(ended: &Ended) -> Result<Self, ToolResult> {
        let told = |key: &str| lines(&ended.out, key);
        let one = |key: &str| told(key).pop().unwrap_or_default();
        if let Some(state) = told("busy").first() {
            return Err(ToolResult::fatal(
                "REPOSITORY_BUSY",
                format!("A merge, rebase or the like is under way ({state}); it is ended by hand."),
            ));
        }
        let tree = one("tree");
        if ended.code() != Some(0) || tree.is_empty() {
            return Err(failed(ended));
        }
        if let Some(filtered) = told("filter").first() {
            return Err(ToolResult::fatal(
                "FILTER_NEEDED",
                format!(
                    "A file is stored through a program, which is not run here ({}). The user \
                     commits it by hand.",
                    shown(filtered)
                ),
            ));
        }
        let count = one("count").parse().unwrap_or_default();
        let files: Vec<String> = told("file").iter().map(|line| line.replace('\t', " ")).collect();
        if count == 0 {
            return Err(ToolResult::fatal(
                "NOTHING_TO_COMMIT",
                "There is nothing to commit: name the changed files in paths.",
            ));
        }
        if files.len() < count {
            return Err(ToolResult::fatal(
                "TOO_MANY_FILES",
                format!("These are {count} files, more than can be told: commit them in parts."),
            ));
        }
        let is_secret = |file: &&String| {
            let name = file.split_once(' ').map_or("", |(_, name)| name).trim_matches('"');
            is_secret_place(Path::new(name))
        };
        if let Some(secret) = files.iter().find(is_secret) {
            return Err(ToolResult::fatal(
                "PROTECTED_FILE",
                format!("'{}' is protected, because such files hold secrets.", shown(secret)),
            ));
        }
        Ok(Self {
            tree,
            parent: one("parent"),
            branch: one("branch"),
            author: Identity { name: one("name"), email: one("email") },
            files,
            count,
            hooks: told("hook"),
        })
    }

    /// What people are asked about. The command says the same as what is done; the tree in the
    /// summary is its content.
    fn action(&self, git: &Git, message: &str, places: &[String]) -> Action {
        let Self { tree, parent, branch, author, files, count, .. } = self;
        let mut named: Vec<String> = files.iter().take(MAX_NAMED).map(|file| shown(file)).collect();
        if let Some(more @ 1..) = count.checked_sub(named.len()) {
            named.push(format!("and {more} more"));
        }
        let on = match branch.strip_prefix("refs/heads/") {
            Some(name) => format!("to {name}"),
            None => "to no branch".to_owned(),
        };
        let short = |id: &str| id.chars().take(12).collect::<String>();
        let after = if parent.is_empty() {
            "as the first one".to_owned()
        } else {
            format!("after {}", short(parent))
        };
        let summary = format!(
            "commit {} {after}, by {} <{}>, tree {}: {}; {}",
            shown(&on),
            shown(&author.name),
            shown(&author.email),
            short(tree),
            shown(&cut_line(message, MAX_SUBJECT)),
            named.join(", "),
        );
        let mut argv: Vec<String> =
            ["git", "commit", "--no-verify", "-m", message].map(str::to_owned).into();
        if !places.is_empty() {
            argv.extend(["--only", "--"].map(str::to_owned));
            argv.extend(places.iter().cloned());
        }
        Action { summary, targets: vec![git.target(argv, true)] }
    }
}

/// What stands behind a key in the lines that a script wrote.
fn lines(output: &str, key: &str) -> Vec<String> {
    output
        .lines()
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
        .map(str::to_owned)
        .collect()
}

/// The settings for every git of a script.
fn preamble(filters: &[(String, String)]) -> String {
    let fixed = SETTINGS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let all: Vec<(String, String)> = fixed.chain(filters.iter().cloned()).collect();
    let mut text = export("GIT_CONFIG_COUNT", &all.len().to_string());
    for (at, (key, value)) in all.iter().enumerate() {
        text += &export(&format!("GIT_CONFIG_KEY_{at}"), key);
        text += &export(&format!("GIT_CONFIG_VALUE_{at}"), value);
    }
    text
}

fn export(variable: &str, value: &str) -> String {
    format!("export {variable}='{}'\n", value.replace('\'', r"'\''"))
}

fn script(preamble: &str, script: &str, arguments: &[String]) -> Vec<String> {
    let mut argv = vec!["sh".to_owned(), "-c".to_owned(), format!("{preamble}{script}")];
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
