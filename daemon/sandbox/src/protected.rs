//! Files of a workspace that others run later, outside of any box, and those that hold its secrets.

mod look;
mod walk;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

pub(crate) use self::look::Look;
use self::walk::{Found, find};
use crate::Profile;
use crate::place::Place;

/// Files that programs outside run or obey by themselves, in lower case: shells, CI, hooks of other
/// tools.
const FILES: &[&str] = &[
    ".bash_login",
    ".bash_profile",
    ".bashrc",
    ".envrc",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".pre-commit-config.yaml",
    ".profile",
    ".travis.yml",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "config.fish",
    "jenkinsfile",
    "lefthook.yml",
];

/// Directories of such files.
const DIRECTORIES: &[&str] = &[
    ".circleci",
    ".devcontainer",
    ".githooks",
    ".github",
    ".husky",
    ".idea",
    ".vscode",
    "autostart",
];

/// What in a `.git` makes git run programs: its settings, where else it finds some, and hooks.
const OF_GIT: &[&str] = &["config", "config.worktree", "commondir", "hooks"];

/// Hidden inside, where the workspace is somebody's home.
const SECRETS: &[&str] =
    &[".ssh", ".gnupg", ".aws", ".kube", ".netrc", ".config/gcloud", ".docker"];

/// True for files that start programs later, outside of any sandbox, without being asked to.
pub fn runs_later(place: &Path) -> bool {
    let names: Vec<String> = place
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .map(|part| part.as_os_str().to_string_lossy().to_lowercase())
        .collect();
    let is = |list: &[&str], name: &String| list.contains(&name.as_str());
    let mut of_git = names.iter().skip_while(|name| *name != ".git").skip(1);
    names.last().is_some_and(|name| is(FILES, name))
        || names.iter().any(|name| is(DIRECTORIES, name))
        || of_git.any(|name| is(OF_GIT, name))
}

/// A path of the workspace that is mounted on itself, and whether nothing below it can be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) path: PathBuf,
    pub(crate) is_read_only: bool,
}

/// What keeps protected files as they are, in the order in which it is to be mounted. Links are left
/// alone: mounting on one would follow it. What is not there yet cannot be mounted on.
pub(crate) fn mounts(place: &Place, profile: Profile) -> Vec<Mount> {
    if profile == Profile::ReadOnly {
        return Vec::new();
    }
    let own = place.workspace.join(".git");
    let mut mounts = BTreeMap::new();
    for found in place.roots.iter().flat_map(|root| find(root)) {
        match found {
            Found::Git(git) if profile == Profile::GitWrite && git == own => {
                mounts.extend(present(&git, OF_GIT).into_iter().map(|path| (path, true)));
                mounts.insert(git, false);
            }
            Found::Git(path) | Found::RunsLater(path) => {
                mounts.insert(path, true);
            }
        }
    }
    // What is mounted on itself cannot be renamed away, and with it what is mounted or hidden below.
    let kept: Vec<PathBuf> = mounts.keys().chain(&place.hidden).cloned().collect();
    for above in kept.iter().flat_map(|path| above(place, path)) {
        mounts.entry(above.to_owned()).or_insert(false);
    }
    let mut mounts: Vec<Mount> =
        mounts.into_iter().map(|(path, is_read_only)| Mount { path, is_read_only }).collect();
    // Nothing is mounted over.
    mounts.sort_by_key(|mount| mount.path.components().count());
    mounts
}

/// The directories between a root and a path below it.
fn above<'a>(place: &Place, path: &'a Path) -> Vec<&'a Path> {
    let is_inside = |dir: &&Path| {
        place.roots.iter().any(|root| dir.starts_with(root))
            && !place.roots.iter().any(|root| dir == root)
    };
    path.ancestors().skip(1).take_while(is_inside).collect()
}

/// Secrets that are there.
pub(crate) fn secrets(workspace: &Path) -> Vec<PathBuf> {
    present(workspace, SECRETS)
}

/// Those of `names` that are there and are no links.
fn present(dir: &Path, names: &[&str]) -> Vec<PathBuf> {
    let is_there = |path: &PathBuf| {
        path.symlink_metadata().is_ok_and(|metadata| !metadata.file_type().is_symlink())
    };
    names.iter().map(|name| dir.join(name)).filter(is_there).collect()
}

#[cfg(test)]
mod tests;
