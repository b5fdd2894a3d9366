use super::*;

fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for file in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/HEAD",
        "a/b/.bashrc",
        "sub/.git/config",
        "src/x",
    ] {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, "before").expect("a file");
    }
    std::os::unix::fs::symlink("/etc", dir.path().join(".github")).expect("a link");
    dir
}

fn place(dir: &Path) -> Place {
    Place { workspace: dir.into(), roots: vec![dir.into()], cwd: dir.into(), hidden: Vec::new() }
}

fn mounted(dir: &Path, profile: Profile) -> Vec<(String, bool)> {
    let mut mounts: Vec<(String, bool)> = mounts(&place(dir), profile)
        .into_iter()
        .map(|mount| {
            let path = mount.path.strip_prefix(dir).expect("below it").display().to_string();
            (path, mount.is_read_only)
        })
        .collect();
    mounts.sort();
    mounts
}

#[test]
fn protected_files_are_known_wherever_they_lie() {
    for place in [
        ".bashrc",
        "home/.BASHRC",
        ".github/workflows/ci.yml",
        ".devcontainer/devcontainer.json",
        "sub/.git/config",
        ".git/commondir",
        ".git/modules/x/hooks/post-merge",
        "Jenkinsfile",
    ] {
        assert!(runs_later(Path::new(place)), "{place}");
    }
    for place in ["src/main.rs", ".git/HEAD", "hooks/x", "config", ".git"] {
        assert!(!runs_later(Path::new(place)), "{place}");
    }
}

#[test]
fn git_is_read_only_but_for_git_itself_and_links_are_left_alone() {
    let dir = workspace();
    let with = |of_git: &[(&str, bool)]| {
        // Nothing above a protected file can be renamed away.
        let mut all = vec![("a", false), ("a/b", false), ("a/b/.bashrc", true)];
        all.extend([("sub", false), ("sub/.git", true)]);
        all.extend(of_git);
        all.iter().map(|(path, is)| ((*path).to_owned(), *is)).collect::<Vec<_>>()
    };
    assert_eq!(mounted(dir.path(), Profile::ReadOnly), []);
    let mut expected = with(&[(".git", true)]);
    expected.sort();
    assert_eq!(mounted(dir.path(), Profile::WorkspaceWrite), expected);
    let mut expected = with(&[(".git", false), (".git/config", true), (".git/hooks", true)]);
    expected.sort();
    assert_eq!(mounted(dir.path(), Profile::GitWrite), expected);
}

#[test]
fn what_is_new_or_changed_is_told() {
    let dir = workspace();
    let before = Look::at(&place(dir.path()));
    for file in
        [".git/commondir", ".git/hooks/new", "sub/.git/config", "new/.git", ".husky/a/b", "y"]
    {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, "changed by a program").expect("a file");
    }
    std::fs::write(dir.path().join(".git/HEAD"), "another branch").expect("a file");
    let changed = Look::at(&place(dir.path())).changed_since(&before);
    let named: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(
        named,
        [".git/commondir", ".git/hooks/new", ".husky/a/b", "new/.git", "sub/.git/config"]
    );
}
