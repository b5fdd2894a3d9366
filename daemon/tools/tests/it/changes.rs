//! Changing files: only what was read, only as planned, whole or not at all.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use agentd_domain::{ActionTarget, ToolResult, ToolStatus};
use agentd_tools::{CallLimits, FileLedger, ToolContext, run_call};
use serde_json::{Value, json};

use crate::harness::{Place, assert_refused, context};

pub(crate) async fn write(place: &Place, path: &str, content: &str) -> ToolResult {
    place.call("write_file", json!({"path": path, "content": content, "overwrite": true})).await
}

pub(crate) async fn edit(place: &Place, path: &str, old: &str, new: &str) -> ToolResult {
    let edits = json!([{"old": old, "new": new}]);
    place.call("edit_file", json!({"path": path, "edits": edits})).await
}

pub(crate) fn content(place: &Place, path: &str) -> Vec<u8> {
    std::fs::read(place.workspace.join(path)).expect("a file")
}

/// What lies in a directory.
pub(crate) fn names(place: &Place, path: &str) -> Vec<String> {
    let entries = std::fs::read_dir(place.workspace.join(path)).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_file_is_made_with_its_directories_and_replaced_once_it_is_known() {
    let place = Place::new();
    let made = place.call("write_file", json!({"path": "d/e/f.txt", "content": "1\n"})).await;
    assert_eq!(made.status, ToolStatus::Success, "{made:?}");
    assert!(made.output.starts_with("Made 'd/e/f.txt', 2 bytes, sha256 4355a46b"), "{made:?}");
    assert!(made.workspace_changed);
    assert_eq!(content(&place, "d/e/f.txt"), b"1\n");
    // What was written is known.
    let again = json!({"path": "d/e/f.txt", "content": "2\n"});
    assert_refused(&place.call("write_file", again).await, "FILE_EXISTS");
    let changed = write(&place, "d/e/f.txt", "2\n").await;
    assert!(changed.diff.ends_with("@@ -1,1 +1,1 @@\n-1\n+2\n"), "{changed:?}");
    assert!(changed.output.ends_with("-1\n+2"), "{changed:?}");
    assert_eq!(names(&place, "d/e"), ["f.txt"]);
    let same = write(&place, "d/e/f.txt", "2\n").await;
    assert!(!same.workspace_changed, "{same:?}");
}

#[tokio::test]
async fn w1_4_a_file_that_was_not_read_is_not_changed() {
    let place = Place::new();
    place.write("f", "old");
    assert_refused(&write(&place, "f", "new").await, "NOT_READ");
    assert_refused(&edit(&place, "f", "old", "new").await, "NOT_READ");
    let with_hash = |sha256: &str| json!({"path": "f", "content": "new", "overwrite": true, "expected_sha256": sha256});
    assert_refused(&place.call("write_file", with_hash(&"0".repeat(64))).await, "STALE_FILE");
    assert_eq!(content(&place, "f"), b"old");
    let sum = place.call("hash_file", json!({"path": "f"})).await.output;
    let right = sum.split_whitespace().find(|word| word.len() == 64).expect("a check sum");
    let result = place.call("write_file", with_hash(&right.to_uppercase())).await;
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    assert_eq!(content(&place, "f"), b"new");
}

#[tokio::test]
async fn ed_07_what_others_have_changed_is_not_overwritten() {
    let place = Place::new();
    place.write("f", "one\n");
    place.read("f").await;
    place.write("f", "one\ntwo\n");
    for refused in [write(&place, "f", "mine\n").await, edit(&place, "f", "one", "1").await] {
        assert_refused(&refused, "STALE_FILE");
        assert!(refused.output.ends_with("It now begins:\none\ntwo\n"), "{refused:?}");
    }
    assert_eq!(content(&place, "f"), b"one\ntwo\n");
    place.read("f").await;
    assert_eq!(edit(&place, "f", "one", "1").await.status, ToolStatus::Success);
}

#[tokio::test]
async fn ed_07_a_change_of_the_same_size_and_time_is_seen() {
    let place = Place::new();
    place.write("f", "one\n");
    place.read("f").await;
    let path = place.workspace.join("f");
    let time = path.metadata().and_then(|metadata| metadata.modified()).expect("a time");
    place.write("f", "two\n");
    let file = std::fs::File::options().write(true).open(&path).expect("the file");
    file.set_modified(time).expect("set the time");
    assert_refused(&write(&place, "f", "mine\n").await, "STALE_FILE");
    assert_eq!(content(&place, "f"), b"two\n");
}

#[tokio::test]
async fn ed_07_several_edits_of_one_answer_are_all_made() {
    let place = Place::new();
    place.write("f", "1\n2\n3\n4\n5\n6\n");
    place.read("f").await;
    for line in 1..=6 {
        let done = edit(&place, "f", &format!("{line}\n"), &format!("line {line}.\n")).await;
        assert_eq!(done.status, ToolStatus::Success, "{done:?}");
    }
    assert_eq!(content(&place, "f"), b"line 1.\nline 2.\nline 3.\nline 4.\nline 5.\nline 6.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn ed_07_sessions_that_edit_at_once_lose_nothing() {
    let place = Place::new();
    place.write("f", "");
    let sessions = [0, 1, 2].map(|session| {
        let (workspace, registry) = (place.workspace.clone(), place.registry.clone());
        async move {
            let ctx = ToolContext { files: Arc::new(FileLedger::new()), ..context(&workspace) };
            let call = async |tool: &str, arguments: Value| -> ToolResult {
                let call = registry.prepare(tool, &arguments.to_string()).expect("a call");
                match call.plan(&ctx).await {
                    Ok(planned) => {
                        run_call(call, &planned, &ctx, CallLimits::default()).await.result
                    }
                    Err(refused) => refused,
                }
            };
            for line in 0..10 {
                loop {
                    call("read_file", json!({"path": "f"})).await;
                    let now = std::fs::read_to_string(workspace.join("f")).expect("the file");
                    let new = format!("{now}{session}-{line}\n");
                    let arguments = json!({"path": "f", "content": new, "overwrite": true});
                    // What it holds may be newer than what was read; then this is refused.
                    let result = call("write_file", arguments).await;
                    if result.status == ToolStatus::Success {
                        break;
                    }
                    assert_eq!(result.error_code, "STALE_FILE", "{result:?}");
                }
            }
        }
    });
    let [first, second, third] = sessions;
    tokio::join!(first, second, third);
    let text = String::from_utf8(content(&place, "f")).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!((lines.len(), text.lines().count()), (30, 30), "{text}");
}

#[tokio::test]
async fn a_change_is_held_to_its_plan() {
    let place = Place::new();
    place.write("f", "one\n");
    place.read("f").await;
    let ctx = ToolContext { files: Arc::clone(&place.files), ..context(&place.workspace) };
    let arguments = r#"{"path":"f","edits":[{"old":"one","new":"1"}]}"#;
    let call = place.registry.prepare("edit_file", arguments).expect("a call");
    let planned = call.plan(&ctx).await.expect("a plan");
    assert_eq!(planned.summary, "edit f");
    let [ActionTarget::Write { path, base_sha256, new_sha256, diff }] = planned.targets.as_slice()
    else {
        panic!("{planned:?}")
    };
    assert_eq!(
        (path.as_str(), diff.as_str()),
        ("f", "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-one\n+1\n")
    );
    assert!(base_sha256 != new_sha256 && base_sha256.is_some() && new_sha256.is_some());
    // It changes and the session knows of it, but nobody has approved of this.
    place.write("f", "one two\n");
    place.read("f").await;
    let result = run_call(call, &planned, &ctx, CallLimits::default()).await.result;
    assert_refused(&result, "STALE_FILE");
    assert_eq!(content(&place, "f"), b"one two\n");
}

#[tokio::test]
async fn mode_and_links_are_kept() {
    let place = Place::new();
    place.write("real/run.sh", "echo 1\n");
    let script = place.workspace.join("real/run.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o751))
        .expect("set the mode");
    place.link("real/run.sh", "link.sh");
    place.read("link.sh").await;
    let done = edit(&place, "link.sh", "echo 1", "echo 2").await;
    assert!(done.output.starts_with("Changed 'real/run.sh'"), "{done:?}");
    assert!(place.workspace.join("link.sh").is_symlink());
    assert_eq!(content(&place, "real/run.sh"), b"echo 2\n");
    assert_eq!(script.metadata().expect("a file").permissions().mode() & 0o7777, 0o751);
    assert_eq!(names(&place, "real"), ["run.sh"]);
}

#[tokio::test]
async fn sc_01_nothing_is_written_outside_of_the_workspace() {
    let place = Place::new();
    place.link(&place.outside, "out");
    place.link(place.outside.join("victim"), "notes.md");
    place.link(place.outside.join("not-yet"), "draft");
    place.link("not-yet-here", "inside");
    place.write("a/in.txt", "");
    for path in [
        "out/new",
        "out/victim",
        "notes.md",
        "draft",
        "../outside/new",
        "/etc/new",
        "~/new",
        "a/../../outside/new",
        "out/d/e/new",
        "/proc/self/root/tmp/new",
    ] {
        let refused = write(&place, path, "x").await;
        assert_refused(&refused, "PATH_OUTSIDE_WORKSPACE");
    }
    assert_refused(&write(&place, "inside", "x").await, "DANGLING_LINK");
    for path in ["", ".", "new/", "a/..", "new/../x/y"] {
        assert_eq!(write(&place, path, "x").await.status, ToolStatus::FatalError, "{path}");
    }
    let outside = std::fs::read_dir(&place.outside).expect("a directory").count();
    assert_eq!(outside, 1);
    assert_eq!(names(&place, "."), ["a", "draft", "inside", "notes.md", "out"]);
}

#[tokio::test]
async fn sc_01_a_hard_link_s_other_name_is_not_written_through() {
    let place = Place::new();
    std::fs::hard_link(place.outside.join("victim"), place.workspace.join("f")).expect("a link");
    place.read("f").await;
    assert_eq!(write(&place, "f", "mine").await.status, ToolStatus::Success);
    let victim = std::fs::read_to_string(place.outside.join("victim")).expect("the victim");
    assert_eq!(victim, crate::harness::SECRET);
}

#[tokio::test]
async fn sc_03_protected_files_are_not_written() {
    let mut place = Place::new();
    place.write("home/state", "");
    place.write(".git/config", "");
    place.link(".git/hooks", "hooks");
    std::fs::create_dir(place.workspace.join(".git/hooks")).expect("a directory");
    place.registry =
        agentd_tools::Registry::builtin_keeping_private(vec![place.workspace.join("home")]);
    for path in [
        ".env",
        "sub/.env.local",
        "key.pem",
        ".ssh/config",
        "home/new",
        ".git/config",
        ".git/hooks/pre-commit",
        "hooks/pre-commit",
        "sub/.GIT/config",
    ] {
        assert_refused(&write(&place, path, "x").await, "PROTECTED_FILE");
    }
    assert_eq!(names(&place, "."), [".git", "home", "hooks"]);
}

#[tokio::test]
async fn what_runs_later_is_marked() {
    let place = Place::new();
    let ctx = context(&place.workspace);
    let summary = async |path: &str| {
        let arguments = json!({"path": path, "content": "x"}).to_string();
        let call = place.registry.prepare("write_file", &arguments).expect("a call");
        call.plan(&ctx).await.expect("a plan").summary
    };
    let marked = " (it runs later, outside of the sandbox)";
    for path in [".github/workflows/ci.yml", ".bashrc", ".vscode/tasks.json", "Jenkinsfile"] {
        assert_eq!(summary(path).await, format!("write {path}{marked}"));
    }
    assert_eq!(summary("src/main.rs").await, "write src/main.rs");
}

#[tokio::test]
async fn ed_02_bytes_are_kept_on_disk() {
    let place = Place::new();
    place.write("f.js", b"const x = 1;\n// caf\xe9 note\n");
    place.read("f.js").await;
    assert_eq!(edit(&place, "f.js", "x = 1", "x = 2").await.status, ToolStatus::Success);
    assert_eq!(content(&place, "f.js"), b"const x = 2;\n// caf\xe9 note\n");
    assert_refused(&edit(&place, "f.js", "note", "\u{fffd}").await, "EDIT_ENCODING");
    assert_eq!(content(&place, "f.js"), b"const x = 2;\n// caf\xe9 note\n");
}

#[tokio::test]
async fn errors_of_syntax_are_told_after_the_write() {
    let place = Place::new();
    let result = write(&place, "a.rs", "fn main() {\n    let x = ;\n}\n").await;
    assert_eq!(result.status, ToolStatus::Success);
    assert!(result.output.contains("\n[Errors of syntax: line 2: "), "{result:?}");
}

#[tokio::test]
async fn a_file_of_ten_megabytes_is_edited() {
    let place = Place::new();
    let line = "a line of a large file that is edited in its middle\n";
    let half = line.repeat(100_000);
    place.write("large.txt", format!("{half}here\r\n{half}"));
    place.read("large.txt").await;
    let result = edit(&place, "large.txt", "here\n", "there\n").await;
    assert!(result.diff.contains("@@ -99998,7 +99998,7 @@"), "{result:?}");
    assert_eq!(content(&place, "large.txt"), format!("{half}there\r\n{half}").into_bytes());
}
