//! What a program may do to the workspace.

use std::fs;
use std::path::PathBuf;

use agentd_sandbox::{Backend, Choice, Profile, choose};

use crate::boxes::{Boxed, boxed, confining, directory, file, finish, give, policy};

#[tokio::test]
async fn a_program_changes_the_workspace_only_where_it_may_write() {
    for mut boxed in confining("profiles").await {
        file(&boxed.workspace, "a", "before");
        let script = "echo after > a; mkdir -p d/e; mv a d/e/b; cat d/e/b; pwd";
        let ran = boxed.run(script).await;
        let root = boxed.workspace.path().canonicalize().expect("path");
        assert_eq!(ran.out, format!("after\n{}\n", root.display()), "{}", ran.err);
        boxed.profile = Profile::ReadOnly;
        let ran = boxed
            .run("cat d/e/b; echo x > d/e/b; rm -rf d; touch new; ln d/e/b hard; chmod 777 .; ls")
            .await;
        assert_eq!(ran.out, "after\nd\n", "{}", ran.err);
        assert_eq!(fs::read_to_string(root.join("d/e/b")).expect("kept"), "after\n");
    }
}

#[tokio::test]
async fn files_that_others_run_later_cannot_be_changed_or_are_told_of() {
    for mut boxed in confining("run later").await {
        let config = file(&boxed.workspace, ".git/config", "[core]\n");
        let hook = file(&boxed.workspace, ".git/hooks/pre-commit", "#!/bin/sh\n");
        give(&boxed.workspace.path().join(".git"));
        let script = "echo evil >> .git/hooks/pre-commit; echo evil > .git/hooks/post-commit;
            echo evil >> .git/config; mv .git .old && cp -r .old .git && echo evil >> .git/config;
            echo ../evil > .git/commondir; touch .git/index; echo 'evil' > .envrc; true";
        let ran = boxed.run(script).await;
        let told = |name: &str| ran.exit.run_later.contains(&PathBuf::from(name));
        let git = boxed.workspace.path().join(".git");
        assert!(told(".envrc"), "what was not there cannot be locked: {:?}", ran.exit);
        if boxed.sandbox.backend() != Backend::Landlock {
            assert_eq!(fs::read_to_string(&hook).expect("kept"), "#!/bin/sh\n");
            assert_eq!(fs::read_to_string(&config).expect("kept"), "[core]\n");
            assert!(!git.join("index").exists() && !git.join("commondir").exists(), "{}", ran.err);
            assert_eq!(ran.exit.run_later, [PathBuf::from(".envrc")]);
            // Git itself changes its files, but for those.
            boxed.profile = Profile::GitWrite;
            let ran = boxed.run(script).await;
            assert_eq!(fs::read_to_string(&hook).expect("kept"), "#!/bin/sh\n");
            assert_eq!(fs::read_to_string(&config).expect("kept"), "[core]\n");
            assert!(git.join("index").exists(), "{}", ran.err);
            // The other one is there by now, and locked.
            assert_eq!(ran.exit.run_later, [PathBuf::from(".git/commondir")]);
        } else {
            for name in
                [".git/config", ".git/commondir", ".git/hooks/pre-commit", ".git/hooks/post-commit"]
            {
                assert!(told(name), "{name}: {:?}", ran.exit);
            }
        }
    }
}

#[tokio::test]
async fn what_is_above_a_protected_file_cannot_be_renamed_away() {
    for boxed in confining("renaming").await {
        if boxed.sandbox.backend() == Backend::Landlock {
            continue;
        }
        let config = file(&boxed.workspace, "sub/.git/config", "[core]\n");
        let workflow = file(&boxed.workspace, "x/y/.github/ci.yml", "on: push\n");
        for name in ["sub", "sub/.git", "x", "x/y", "x/y/.github"] {
            give(&boxed.workspace.path().join(name));
        }
        let ran = boxed
            .run(
                "mv sub s2; mkdir -p sub; cp -r s2/.git sub/.git; echo evil >> sub/.git/config;
                 mv x/y x/z; mv x w; mkdir -p x/y/.github; echo evil >> x/y/.github/ci.yml; ls",
            )
            .await;
        assert_eq!(ran.out, "sub\nx\n", "{}", ran.err);
        assert_eq!(fs::read_to_string(&config).expect("kept"), "[core]\n");
        assert_eq!(fs::read_to_string(&workflow).expect("kept"), "on: push\n");
        assert_eq!(ran.exit.run_later, Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn what_must_stay_hidden_below_the_workspace_is_hidden_or_nothing_runs() {
    for backend in [Backend::Bubblewrap, Backend::Landlock] {
        let Ok(mut boxed) = boxed(backend).await else { continue };
        boxed.workspace = directory();
        file(&boxed.workspace, ".ssh/id", "key");
        let started = boxed.sandbox.spawn(&boxed.command(&["cat", ".ssh/id"])).await;
        if backend == Backend::Bubblewrap {
            drop(started);
            let ran = boxed.run("cat .ssh/id; ls -A .ssh; touch .ssh/x").await;
            assert_eq!(ran.out, "", "{}", ran.err);
            assert!(!boxed.workspace.path().join(".ssh/x").exists());
            // Neither can what it is in.
            file(&boxed.workspace, ".config/gcloud/key", "key");
            give(&boxed.workspace.path().join(".config"));
            let ran = boxed.run("mv .config c; mkdir -p .config/gcloud; ls -A .config/*").await;
            assert_eq!(ran.out, "", "{}", ran.err);
            assert!(boxed.workspace.path().join(".config/gcloud/key").exists());
        } else {
            let refused = started.expect_err("it cannot be hidden").to_string();
            assert!(refused.contains(".ssh' must stay hidden"), "{refused}");
        }
    }
}

#[tokio::test]
async fn what_is_hidden_twice_keeps_nothing_from_running() {
    let workspace = directory();
    file(&workspace, "state/run/socket", "x");
    give(&workspace.path().join("state"));
    let hidden = ["state/run", "state"].map(|name| workspace.path().join(name));
    let only = Choice::Only(Backend::Bubblewrap);
    let Ok((sandbox, _)) = choose(only, &policy(hidden.to_vec())).await else {
        println!("hidden twice: skipped: no bubblewrap");
        return;
    };
    let boxed = boxed(Backend::Bubblewrap).await.expect("as before");
    let boxed = Boxed { sandbox, workspace, ..boxed };
    let ran = boxed.run("ls -A state; echo on").await;
    assert_eq!(ran.out, "on\n", "{}", ran.err);
}

#[tokio::test]
async fn further_roots_are_held_as_the_workspace_is() {
    for mut boxed in confining("further roots").await {
        let (further, beside) = (directory(), directory());
        file(&further, "a", "before");
        let hook = file(&further, ".git/hooks/pre-commit", "#!/bin/sh\n");
        let kept = file(&beside, "kept", "mine");
        give(&further.path().join(".git"));
        let root = further.path().canonicalize().expect("path");
        let beside = beside.path().canonicalize().expect("path");
        let run = async |boxed: &Boxed, cwd: PathBuf, script: &str| {
            let further_roots = vec![further.path().to_owned()];
            let command = agentd_sandbox::Command {
                further_roots,
                cwd,
                ..boxed.command(&["bash", "-c", script])
            };
            finish(boxed.sandbox.spawn(&command).await.expect("it starts")).await
        };
        let script = format!(
            "echo after > {root}/a; echo new > {root}/new; echo own > own; cat {root}/a own;
             ln -s {beside} {root}/link; cat {root}/link/kept; echo evil > {root}/link/kept;
             echo evil > {root}/../evil; echo evil > {root}/.git/hooks/pre-commit; true",
            root = root.display(),
            beside = beside.display(),
        );
        let ran = run(&boxed, PathBuf::new(), &script).await;
        assert_eq!(ran.out, "after\nown\n", "{}", ran.err);
        assert_eq!(fs::read_to_string(&kept).expect("kept"), "mine");
        assert!(!root.join("../evil").exists());
        let name = root.join(".git/hooks/pre-commit");
        if boxed.sandbox.backend() == Backend::Landlock {
            assert!(ran.exit.run_later.contains(&name), "{:?}", ran.exit);
        } else {
            assert_eq!(fs::read_to_string(&hook).expect("kept"), "#!/bin/sh\n");
        }
        // It may start there, and changes nothing where it may only read.
        boxed.profile = Profile::ReadOnly;
        let ran = run(&boxed, root.clone(), "pwd; cat new; echo x > new; touch newer; true").await;
        assert_eq!(ran.out, format!("{}\nnew\n", root.display()), "{}", ran.err);
        assert!(!root.join("newer").exists());
        assert_eq!(fs::read_to_string(root.join("new")).expect("kept"), "new\n");
        let command = boxed.command(&["true"]);
        let outside = agentd_sandbox::Command { cwd: root.clone(), ..command.clone() };
        assert!(boxed.sandbox.spawn(&outside).await.is_err(), "it is no root of this one");
        let taken = agentd_sandbox::Command { further_roots: vec!["/usr".into()], ..command };
        assert!(boxed.sandbox.spawn(&taken).await.is_err(), "that is the system's");
    }
}
