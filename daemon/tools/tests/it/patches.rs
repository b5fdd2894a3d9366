//! Patches of several files, and taking changes back.

use std::os::unix::fs::PermissionsExt as _;

use agentd_domain::{ToolResult, ToolStatus};
use serde_json::json;

use crate::changes::{content, edit, names};
use crate::harness::{Place, assert_refused};

pub(crate) async fn patch(place: &Place, patch: &str) -> ToolResult {
    place.call("apply_patch", json!({ "patch": patch })).await
}

#[tokio::test]
async fn a_patch_changes_makes_removes_and_renames_files() {
    let place = Place::new();
    place.write("a", "1\n2\n");
    place.write("b", "gone\n");
    place.write("c", "old\n");
    let script = place.workspace.join("c");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750))
        .expect("set the mode");
    for name in ["a", "b", "c"] {
        place.read(name).await;
    }
    let diff = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n--- /dev/null\n+++ b/d/new\n@@ \
                -0,0 +1 @@\n+x\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n--- a/c\n+++ \
                b/c2\n@@ -1 +1 @@\n-old\n+new\n";
    let result = patch(&place, diff).await;
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    assert_eq!(names(&place, "."), ["a", "c2", "d"]);
    assert_eq!(content(&place, "a"), b"1\ntwo\n");
    assert_eq!(content(&place, "d/new"), b"x\n");
    assert_eq!(content(&place, "c2"), b"new\n");
    let mode = place.workspace.join("c2").metadata().expect("a file").permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
    // What it wrote is known, what it removed is not.
    assert_eq!(edit(&place, "c2", "new", "newer").await.status, ToolStatus::Success);
}

#[tokio::test]
async fn w0_24_a_patch_is_applied_whole_or_not_at_all() {
    let place = Place::new();
    place.write("a", "1\n");
    place.write("b", "2\n");
    place.read("a").await;
    let both = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+two\n";
    assert_refused(&patch(&place, both).await, "NOT_READ");
    place.read("b").await;
    place.write("b", "other\n");
    assert_refused(&patch(&place, both).await, "STALE_FILE");
    place.read("b").await;
    assert_refused(&patch(&place, both).await, "INVALID_PATCH");
    assert_eq!(content(&place, "a"), b"1\n");
    // The second file fails only when it is written: below a file there is no directory.
    let deep = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 \
                @@\n+x\n--- /dev/null\n+++ b/x/y\n@@ -0,0 +1 @@\n+y\n";
    let refused = patch(&place, deep).await;
    assert_eq!(refused.status, ToolStatus::FatalError, "{refused:?}");
    assert!(!refused.workspace_changed, "{refused:?}");
    assert_eq!(names(&place, "."), ["a", "b"]);
    assert_eq!((content(&place, "a"), content(&place, "b")), (b"1\n".into(), b"other\n".into()));
}

#[tokio::test]
async fn sc_01_a_patch_stays_in_the_workspace() {
    let place = Place::new();
    place.link(&place.outside, "out");
    for path in ["../outside/new", "out/new", "/etc/new"] {
        let made = format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n");
        assert_refused(&patch(&place, &made).await, "PATH_OUTSIDE_WORKSPACE");
    }
    let hook = "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n";
    assert_refused(&patch(&place, hook).await, "PROTECTED_FILE");
    assert_eq!(std::fs::read_dir(&place.outside).expect("a directory").count(), 1);
}
