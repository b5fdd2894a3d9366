//! Repositories whose settings name no program that git would run when it changes them.

use std::fs::Metadata;
use std::path::Path;

/// Longest settings that are looked at, in bytes.
const MAX_CONFIG: u64 = 64 * 1024;

/// Most entries among the hooks that are looked at.
const MAX_HOOKS: usize = 256;

/// Sections that name none, as far as git asks other repositories over HTTP alone.
const SECTIONS: [&str; 7] = ["branch", "fetch", "init", "pull", "push", "remote", "user"];

/// Keys of `core` that name none, or that the box sets otherwise.
const CORE: [&str; 14] = [
    "autocrlf",
    "bare",
    "editor",
    "eol",
    "filemode",
    "fsmonitor",
    "hookspath",
    "ignorecase",
    "logallrefupdates",
    "pager",
    "precomposeunicode",
    "repositoryformatversion",
    "sshcommand",
    "symlinks",
];

/// True when git in this directory, relative to the workspace, works in the workspace's own repository,
/// and nothing in the settings of that can start a program: no filter, no driver, no include. What is
/// not understood counts as something that can.
pub(crate) fn is_plain_repository(workspace: &Path, cwd: &Path) -> bool {
    let git = workspace.join(".git");
    let is_plain_file = |metadata: Metadata| metadata.is_file() && metadata.len() <= MAX_CONFIG;
    let config = git.join("config");
    git.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
        && !["commondir", "config.worktree"].iter().any(|name| git.join(name).exists())
        && config.symlink_metadata().is_ok_and(is_plain_file)
        && std::fs::read_to_string(config).is_ok_and(|text| is_plain(&text))
        && !looks_into_others(&workspace.join(".gitmodules"), is_plain_file)
        && !is_in_another(workspace, cwd)
}

/// True when git may be told to look into repositories in this one, whose settings nobody has looked
/// at: `ignore` there stands above what the box says of all.
fn looks_into_others(modules: &Path, is_plain_file: impl Fn(Metadata) -> bool) -> bool {
    let Ok(metadata) = modules.symlink_metadata() else { return false };
    !is_plain_file(metadata)
        || std::fs::read_to_string(modules)
            .map_or(true, |text| text.to_lowercase().contains("ignore"))
}

/// True when git may find another repository on the way up to the workspace, one without files of its
/// own too.
fn is_in_another(workspace: &Path, cwd: &Path) -> bool {
    let holds_one = |dir: &Path| {
        [".git", "HEAD"]
            .iter()
            .any(|name| workspace.join(dir).join(name).symlink_metadata().is_ok())
    };
    cwd.is_absolute() || cwd.ancestors().filter(|dir| !dir.as_os_str().is_empty()).any(holds_one)
}

/// True when the workspace's repository may have hooks, which git in the box does not run.
pub(crate) fn has_hooks(workspace: &Path) -> bool {
    let git = workspace.join(".git");
    let is_hook =
        |entry: std::fs::DirEntry| !entry.file_name().to_string_lossy().ends_with(".sample");
    std::fs::read_dir(git.join("hooks"))
        .is_ok_and(|entries| entries.flatten().take(MAX_HOOKS).any(is_hook))
        || std::fs::read_to_string(git.join("config"))
            .is_ok_and(|text| text.to_lowercase().contains("hookspath"))
}

fn is_plain(config: &str) -> bool {
    let mut section = String::new();
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if line.ends_with('\\') {
            return false;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(name) = header.strip_suffix(']') else { return false };
            section = name.split([' ', '\t', '.']).next().unwrap_or_default().to_lowercase();
            return section == "core" || SECTIONS.contains(&section.as_str());
        }
        let key = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_lowercase();
        section != "core" || CORE.contains(&key.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_can_start_a_program_are_not_plain() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
                     [user]\n\tname = Ada\n[remote \"origin\"]\n\turl = x\n[branch \"main\"]\n\tmerge = y\n";
        assert!(is_plain(usual));
        for more in [
            "[filter \"lfs\"]\n\tclean = git-lfs clean",
            "[include]\n\tpath = ../evil",
            "[core]\n\tworktree = /elsewhere",
            "[core] alternateRefsCommand = x",
            "[merge \"x\"]\n\tdriver = sh x",
            "[user]\n\tname = a\\\n[filter \"x\"]",
            "[CORE]\n\tattributesFile = x",
            "[commit]\n\tgpgSign = true",
        ] {
            assert!(!is_plain(&format!("{usual}{more}\n")), "{more}");
        }
    }

    #[test]
    fn without_a_directory_of_its_own_a_workspace_has_no_plain_repository() {
        let dir = tempfile::tempdir().unwrap();
        let is_plain = |cwd: &str| is_plain_repository(dir.path(), Path::new(cwd));
        assert!(!is_plain(""));
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(!is_plain(""));
        std::fs::write(dir.path().join(".git/config"), "[core]\n\tbare = false\n").unwrap();
        assert!(is_plain(""));
        std::fs::write(dir.path().join(".git/commondir"), "../evil\n").unwrap();
        assert!(!is_plain(""));
    }

    #[test]
    fn git_in_a_repository_inside_of_the_workspaces_own_works_in_no_plain_one() {
        let dir = tempfile::tempdir().unwrap();
        let is_plain = |cwd: &str| is_plain_repository(dir.path(), Path::new(cwd));
        for name in [".git", "a/b/c", "bare/d", "sub/.git"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        for name in [".git/config", "bare/HEAD"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        for (cwd, expect) in
            [("", true), ("a/b/c", true), ("sub", false), ("bare", false), ("bare/d", false)]
        {
            assert_eq!(is_plain(cwd), expect, "{cwd}");
        }
        assert!(!is_plain("/elsewhere"), "a further root has another repository");
        let modules = dir.path().join(".gitmodules");
        std::fs::write(&modules, "[submodule \"x\"]\n\tpath = x\n\turl = y\n").unwrap();
        assert!(is_plain(""));
        std::fs::write(&modules, "[submodule \"x\"]\n\tpath = x\n\tIgnore = none\n").unwrap();
        assert!(!is_plain(""));
    }
}
