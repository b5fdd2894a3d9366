//! The tools for repositories: what they show, and what they commit.

mod remotes;
mod traps;

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use agentd::config::SandboxConfig;
use agentd_domain::{Action, ActionTarget, ToolResult, ToolStatus};
use agentd_sandbox::Choice;
use agentd_tools::{CallLimits, run_call};
use serde_json::{Value, json};

use crate::programs::{Place, boxed, directory, place};

const NAMED: &str = "git config user.name Ada && git config user.email ada@example.org";

/// A repository with one commit of two files.
async fn repository(place: Place) -> Place {
    let made = place
        .bash(&format!(
            "git init -q -b main . && {NAMED} && mkdir d && echo one > a.txt && echo two > d/b.txt \
             && git add -A && git commit -qm 'first commit'"
        ))
        .await;
    assert_eq!(made.exit_code, Some(0), "{made:?}");
    place
}

async fn git(place: &Place, arguments: Value) -> ToolResult {
    place.call("git", arguments).await
}

fn write(place: &Place, name: &str, text: &str) {
    fs::write(place.workspace.path().join(name), text).unwrap();
}

#[track_caller]
fn assert_code(result: &ToolResult, code: &str) {
    assert_eq!(result.error_code, code, "{result:?}");
    assert_eq!(result.status, ToolStatus::FatalError, "{result:?}");
}

#[tokio::test]
async fn a_repository_is_looked_at() {
    let place = repository(boxed()).await;
    let clean = git(&place, json!({"action": "status"})).await;
    assert_eq!(clean.status, ToolStatus::Empty, "{clean:?}");
    assert_eq!(clean.output, "## main\n[nothing to commit, the working tree is clean]");
    assert_eq!(git(&place, json!({"action": "diff"})).await.status, ToolStatus::Empty);

    write(&place, "a.txt", "other\n");
    write(&place, "new file", "x\n");
    let status = git(&place, json!({"action": "status"})).await;
    assert_eq!(status.output, "## main\n M a.txt\n?? \"new file\"\n");
    let diff = git(&place, json!({"action": "diff"})).await;
    assert!(diff.output.contains("-one\n+other\n"), "{diff:?}");
    assert_eq!(
        git(&place, json!({"action": "diff", "staged": true})).await.status,
        ToolStatus::Empty
    );
    let elsewhere = git(&place, json!({"action": "diff", "path": "d"})).await;
    assert_eq!(elsewhere.output, "[no difference]");

    place.bash("git commit -qam 'second commit'").await;
    let log = git(&place, json!({"action": "log"})).await;
    assert_eq!(log.output.lines().count(), 2, "{log:?}");
    assert!(log.output.contains(" Ada: second commit (HEAD -> main)\n"), "{log:?}");
    let log = git(&place, json!({"action": "log", "path": "d/b.txt", "limit": 5})).await;
    assert!(log.output.ends_with(" Ada: first commit\n") && log.output.lines().count() == 1);
    let shown = git(&place, json!({"action": "show"})).await;
    assert!(shown.output.contains("second commit") && shown.output.contains("+other"), "{shown:?}");
    let file = git(&place, json!({"action": "show", "rev": "HEAD~1", "path": "a.txt"})).await;
    assert_eq!(file.output, "one\n");
    let diff = git(&place, json!({"action": "diff", "rev": "HEAD~1..HEAD"})).await;
    assert!(diff.output.contains("-one\n+other\n"), "{diff:?}");
}

#[tokio::test]
async fn a_look_is_planned_as_the_command_that_people_know() {
    let place = repository(boxed()).await;
    for (arguments, command, read) in [
        (json!({"action": "status"}), "git status", None),
        (json!({"action": "log"}), "git log", None),
        (json!({"action": "log", "rev": "main", "limit": 5}), "git log -n5 main", None),
        (json!({"action": "diff", "path": "a.txt"}), "git diff -- a.txt", Some("a.txt")),
        (json!({"action": "diff", "staged": true, "rev": "HEAD"}), "git diff --cached HEAD", None),
        (
            json!({"action": "show", "path": "./x/../d/b.txt"}),
            "git show HEAD:./d/b.txt",
            Some("d/b.txt"),
        ),
    ] {
        let Action { targets, .. } = place.planned("git", &arguments).await.unwrap();
        let (run, reads) = targets.split_first().unwrap();
        let ActionTarget::Run { argv, confinement: Some(confinement), .. } = run else {
            panic!("{targets:?}")
        };
        assert_eq!(argv.join(" "), command);
        assert!(!confinement.writes && !confinement.network);
        let expect: Vec<ActionTarget> = read
            .map(|path| ActionTarget::Read { path: path.to_owned(), version: None })
            .into_iter()
            .collect();
        assert_eq!(reads, expect);
    }
}

#[tokio::test]
async fn a_look_and_a_commit_have_time_for_all_runs_of_git() {
    let place = boxed();
    for (tool, arguments) in
        [("git", json!({"action": "log"})), ("git_commit", json!({"message": "x"}))]
    {
        let call = place.registry.prepare(tool, &arguments.to_string()).unwrap();
        assert!(CallLimits::of(&call).timeout > Duration::from_secs(3 * 25), "{tool}");
    }
}

#[tokio::test]
async fn a_look_that_was_planned_elsewhere_is_not_tried_again() {
    let place = repository(boxed()).await;
    let ctx = place.context();
    let call = place.registry.prepare("git", r#"{"action": "log"}"#).unwrap();
    let planned = place.planned("git", &json!({"action": "status"})).await.unwrap();
    let refused = run_call(call, &planned, &ctx, CallLimits::default()).await.result;
    assert_code(&refused, "ACTION_CHANGED");
}

#[tokio::test]
async fn what_is_no_revision_or_leads_out_is_refused() {
    let place = repository(boxed()).await;
    for rev in ["--output=x", "-p", "HEAD:a.txt", ":/first", "a b", "a\nb"] {
        let refused = git(&place, json!({"action": "show", "rev": rev})).await;
        assert_code(&refused, "TOOL_ARGUMENT_VALIDATION_FAILED");
    }
    let unknown = git(&place, json!({"action": "log", "rev": "nothing"})).await;
    assert_code(&unknown, "GIT_FAILED");
    let outside = git(&place, json!({"action": "diff", "path": "/etc/passwd"})).await;
    assert_code(&outside, "PATH_OUTSIDE_WORKSPACE");
    let outside = git(&place, json!({"action": "show", "path": "a/../../x"})).await;
    assert_code(&outside, "PATH_OUTSIDE_WORKSPACE");
    let none = boxed();
    assert_code(&git(&none, json!({"action": "status"})).await, "NOT_A_REPOSITORY");
}

#[tokio::test]
async fn a_commit_holds_the_named_files_and_leaves_what_else_is_staged() {
    let place = repository(boxed()).await;
    write(&place, "a.txt", "other\n");
    write(&place, "new.txt", "new\n");
    write(&place, "staged.txt", "later\n");
    place.outside("git add staged.txt && rm d/b.txt");
    let arguments = json!({"message": "Change a\n\nand more: it's \"x\" $HOME", "paths": ["a.txt", "d", "new.txt"]});
    let Action { summary, targets } = place.planned("git_commit", &arguments).await.unwrap();
    for part in
        ["commit to main after ", "by Ada <ada@example.org>", "M a.txt", "D d/b.txt", "A new.txt"]
    {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    assert!(!summary.contains("staged.txt"), "{summary}");
    let [ActionTarget::Run { argv, .. }] = targets.as_slice() else { panic!("{targets:?}") };
    assert_eq!(argv[..4], ["git", "commit", "--no-verify", "-m"]);
    assert_eq!(argv[5..], ["--only", "--", "a.txt", "d", "new.txt"]);

    let made = place.call("git_commit", arguments).await;
    assert_eq!(made.status, ToolStatus::Success, "{made:?}");
    assert!(made.output.contains("3 files changed"), "{made:?}");
    let body = place.bash("git log -1 --format='%an <%ae>%n%B'").await.output;
    assert_eq!(body, "Ada <ada@example.org>\nChange a\n\nand more: it's \"x\" $HOME\n\n");
    assert_eq!(git(&place, json!({"action": "status"})).await.output, "## main\nA  staged.txt\n");

    let made = place.call("git_commit", json!({"message": "What is staged"})).await;
    assert_eq!(made.status, ToolStatus::Success, "{made:?}");
    assert_eq!(git(&place, json!({"action": "status"})).await.status, ToolStatus::Empty);
    assert_code(&place.call("git_commit", json!({"message": "x"})).await, "NOTHING_TO_COMMIT");
}

#[tokio::test]
async fn the_first_commit_of_a_repository_is_made() {
    let place = boxed();
    place.bash(&format!("git init -q -b main . && {NAMED} && echo one > a.txt")).await;
    let made = place.call("git_commit", json!({"message": "First", "paths": ["a.txt"]})).await;
    assert_eq!(made.status, ToolStatus::Success, "{made:?}");
    assert_eq!(git(&place, json!({"action": "status"})).await.status, ToolStatus::Empty);
}

#[tokio::test]
async fn a_commit_is_held_to_what_was_looked_at() {
    let place = repository(boxed()).await;
    write(&place, "a.txt", "seen\n");
    let arguments = json!({"message": "x", "paths": ["a.txt"]});
    let ctx = place.context();
    let head = place.bash("git rev-parse HEAD").await.output;
    for (name, change) in [
        ("content", "echo unseen > a.txt"),
        ("branch", "git checkout -q -b other"),
        ("commit", "git commit -qm between --allow-empty"),
    ] {
        write(&place, "a.txt", "seen\n");
        let call = place.registry.prepare("git_commit", &arguments.to_string()).unwrap();
        let planned = call.plan(&ctx).await.unwrap();
        place.bash(change).await;
        let before = place.bash("git rev-parse HEAD").await.output;
        let result = run_call(call, &planned, &ctx, CallLimits::default()).await.result;
        assert_eq!(result.error_code, "ACTION_CHANGED", "{name}: {result:?}");
        assert_eq!(place.bash("git rev-parse HEAD").await.output, before, "{name}");
    }
    assert_ne!(place.bash("git rev-parse HEAD").await.output, head, "the last change is a commit");
}

#[tokio::test]
async fn a_commit_in_the_middle_of_a_merge_is_refused() {
    let place = repository(boxed()).await;
    place.outside("git checkout -q -b other && echo x > a.txt && git commit -qam x");
    place.outside("git checkout -q main && echo y > a.txt && git commit -qam y");
    place.outside("! git merge other");
    let refused = place.call("git_commit", json!({"message": "x", "paths": ["a.txt"]})).await;
    assert_code(&refused, "REPOSITORY_BUSY");
}

#[tokio::test]
async fn plain_git_runs_no_hook_and_says_so() {
    let place = repository(boxed()).await;
    let quiet = place.bash("git commit --allow-empty -qm two").await;
    assert_eq!((quiet.exit_code, quiet.output.as_str()), (Some(0), "[no output]"));
    place.outside(
        "printf '#!/bin/sh\\ntouch mark\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
    );
    let told = place.bash("git commit --allow-empty -qm three").await;
    assert_eq!(told.exit_code, Some(0), "{told:?}");
    assert!(told.output.contains("[Hooks are not run in the sandbox"), "{told:?}");
    assert!(!place.workspace.path().join("mark").exists());
    // It would have been run.
    place.outside("git commit --allow-empty -qm four");
    assert!(place.workspace.path().join("mark").exists());
}

#[tokio::test]
async fn a_machine_without_git_says_which_package_adds_it() {
    let programs = directory();
    symlink("/usr/bin/touch", programs.path().join("touch")).unwrap();
    let path = programs.path().display().to_string();
    let readable_paths = vec![path.clone()];
    let config = SandboxConfig { path, readable_paths, ..SandboxConfig::default() };
    let place = place(Choice::Auto, env!("CARGO_BIN_EXE_agentd"), &config);
    let missing = git(&place, json!({"action": "status"})).await;
    assert_code(&missing, "MISSING_PROGRAM");
    assert!(missing.output.contains("the package 'git' adds it"), "{missing:?}");
}
