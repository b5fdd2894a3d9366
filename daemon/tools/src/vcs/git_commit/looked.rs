//! What a commit would hold, as it was looked at.

use agentd_domain::{Action, ToolResult, cut_line};

use super::super::hardened::{Git, failed};
use super::super::identity::Identity;
use super::super::names::{is_secret, unquoted};
use super::{MAX_SUBJECT, command};
use crate::fs::shown;
use crate::process::running::Ended;

/// Files that a summary names.
const MAX_NAMED: usize = 20;

/// What would be committed.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) tree: String,
    pub(super) parent: String,
    pub(super) branch: String,
    pub(super) author: Identity,
    /// Files with their kind of change, as far as they are told.
    pub(super) files: Vec<String>,
    pub(super) count: usize,
    /// Hooks that git would run.
    pub(super) hooks: Vec<String>,
    /// Repositories in this one, of which nothing is committed.
    pub(super) submodules: Vec<String>,
}

impl Looked {
    pub(super) fn read(ended: &Ended, places: &[String]) -> Result<Self, ToolResult> {
        let too_many = |what: &str| {
            ToolResult::fatal(
                "TOO_MANY_FILES",
                format!("These are {what}, more than can be told: commit them in parts."),
            )
        };
        if ended.is_cut {
            return Err(too_many("very many files"));
        }
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
        let text = |name: &str| String::from_utf8_lossy(&unquoted(name)).into_owned();
        let submodules: Vec<String> = told("submodule").iter().map(|name| text(name)).collect();
        if let Some(name) = submodules.iter().find(|name| places.contains(name)) {
            return Err(ToolResult::fatal(
                "SUBMODULE",
                format!(
                    "'{}' is a repository of its own, into which nobody looks here. The user \
                     commits it by hand.",
                    shown(name)
                ),
            ));
        }
        let count = one("count").parse().unwrap_or_default();
        let listed = told("file");
        let changes: Vec<(&str, &str)> =
            listed.iter().filter_map(|line| line.split_once('\t')).collect();
        let files: Vec<String> =
            changes.iter().map(|(kind, name)| format!("{kind} {}", text(name))).collect();
        if count == 0 {
            return Err(ToolResult::fatal(
                "NOTHING_TO_COMMIT",
                "There is nothing to commit: name the changed files in paths.",
            ));
        }
        if files.len() < count {
            return Err(too_many(&format!("{count} files")));
        }
        if let Some((_, secret)) = changes.iter().find(|(_, name)| is_secret(&unquoted(name))) {
            return Err(ToolResult::fatal(
                "PROTECTED_FILE",
                format!(
                    "'{}' is protected, because such files hold secrets.",
                    shown(&text(secret))
                ),
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
            submodules,
        })
    }

    /// What people are asked about. The tree in the summary is its content.
    pub(super) fn action(&self, git: &Git, message: &str, places: &[String]) -> Action {
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
        Action { summary, targets: vec![command(git, message, places)] }
    }
}

/// What stands behind a key in the lines that a script wrote.
pub(super) fn lines(output: &str, key: &str) -> Vec<String> {
    output
        .lines()
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
        .map(str::to_owned)
        .collect()
}
