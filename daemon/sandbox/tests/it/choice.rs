//! Which backend is taken, and what is said when there is none.

use std::path::PathBuf;

use agentd_sandbox::{Backend, Choice, SpawnError, choose};

use crate::boxes::{boxed, confining, policy};

#[tokio::test]
async fn sb_01_without_a_backend_nothing_runs_and_one_line_says_what_is_missing() {
    let mut broken = policy(Vec::new());
    broken.helper = PathBuf::from("/nonexistent/helper");
    let refused = choose(Choice::Auto, &broken).await.expect_err("no backend works");
    let line = refused.to_string();
    assert_eq!(refused.0.len(), 2, "{line}");
    assert!(!line.contains('\n'), "{line}");
    for words in
        ["programs are not run", "bubblewrap: ", "landlock: ", "sandbox.backend = \"none\""]
    {
        assert!(line.contains(words), "{words} is missing in: {line}");
    }
}

#[tokio::test]
async fn sb_01_no_sandbox_at_all_is_never_chosen_by_itself() {
    let (sandbox, missing) = choose(Choice::Auto, &policy(Vec::new())).await.expect("one works");
    assert_ne!(sandbox.backend(), Backend::None);
    for missing in missing {
        println!("not available: {missing}");
    }
    let (open, _) = choose(Choice::Only(Backend::None), &policy(Vec::new())).await.expect("asked");
    assert_eq!(open.backend(), Backend::None);
}

#[tokio::test]
async fn a_directory_outside_the_workspace_is_refused_before_anything_starts() {
    for boxed in confining("directory").await {
        let link = boxed.workspace.path().join("out");
        std::os::unix::fs::symlink("/usr", &link).expect("link");
        for cwd in ["..", "/etc", "out"] {
            let mut command = boxed.command(&["true"]);
            command.cwd = cwd.into();
            let refused = boxed.sandbox.spawn(&command).await.expect_err(cwd);
            assert!(matches!(refused, SpawnError::OutsideWorkspace { .. }), "{cwd}: {refused}");
        }
        let mut command = boxed.command(&[]);
        assert!(matches!(boxed.sandbox.spawn(&command).await, Err(SpawnError::NoProgram)));
        command = boxed.command(&["true"]);
        command.workspace = boxed.secrets.path().to_owned();
        let refused = boxed.sandbox.spawn(&command).await.expect_err("the daemon's own files");
        assert!(matches!(refused, SpawnError::Workspace { .. }), "{refused}");
    }
}

#[tokio::test]
async fn a_workspace_of_root_is_refused_when_the_daemon_is_root() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: the tests are not root's");
        return;
    }
    for backend in [Backend::Bubblewrap, Backend::Landlock] {
        let Ok(boxed) = boxed(backend).await else { continue };
        let of_root = tempfile::tempdir().expect("a directory");
        let mut command = boxed.command(&["id"]);
        command.workspace = of_root.path().to_owned();
        let refused = boxed.sandbox.spawn(&command).await.expect_err("root's");
        assert!(matches!(refused, SpawnError::Root { .. }), "{refused}");
        assert_eq!(boxed.run("id -u; id -G").await.out, "65534\n65534\n");
    }
}
