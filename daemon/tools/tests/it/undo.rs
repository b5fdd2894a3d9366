//! Taking back changes, also those that were made before a restart.

use std::sync::Arc;

use agentd_domain::{ToolResult, ToolStatus};
use agentd_tools::{CopyLimits, FileChanges, FileLedger, UndoCopies};
use serde_json::json;

use crate::changes::{content, edit, names, write};
use crate::harness::{Place, assert_refused};
use crate::patches::patch;

async fn undo(place: &Place) -> ToolResult {
    place.call("undo_edit", json!({})).await
}

#[tokio::test]
async fn changes_are_taken_back_one_after_the_other() {
    let place = Place::new();
    place.write("a", "1\n");
    place.write("b", b"\xe9\r\n");
    place.read("a").await;
    place.read("b").await;
    edit(&place, "a", "1", "one").await;
    let moved = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 \
                 @@\n+x\ndiff --git a/b b/c\nrename from b\nrename to c\n";
    assert_eq!(patch(&place, moved).await.status, ToolStatus::Success);
    assert_eq!(names(&place, "."), ["a", "c", "n"]);
    let undone = undo(&place).await;
    assert!(undone.diff.contains("-two\n+one\n"), "{undone:?}");
    assert_eq!(names(&place, "."), ["a", "b"]);
    assert_eq!((content(&place, "a"), content(&place, "b")), (b"one\n".into(), b"\xe9\r\n".into()));
    assert_eq!(undo(&place).await.status, ToolStatus::Success);
    assert_eq!(content(&place, "a"), b"1\n");
    assert_refused(&undo(&place).await, "NOTHING_TO_UNDO");
}

#[tokio::test]
async fn w0_25_what_has_changed_since_is_not_taken_back() {
    let place = Place::new();
    write(&place, "a", "1\n").await;
    write(&place, "b", "1\n").await;
    edit(&place, "a", "1", "2").await;
    place.write("a", "mine\n");
    assert_refused(&undo(&place).await, "STALE_FILE");
    assert_eq!(content(&place, "a"), b"mine\n");
}

#[tokio::test]
async fn w0_25_a_refusal_names_the_change_and_what_helps() {
    let place = Place::new();
    write(&place, "a", "1\n").await;
    place.write("b", "1\n");
    place.read("b").await;
    edit(&place, "b", "1", "2").await;
    // What a command does to the file.
    let moved = |from: &str, to: &str| {
        std::fs::rename(place.workspace.join(from), place.workspace.join(to)).expect("a move");
    };
    moved("b", "c");
    let refused = undo(&place).await;
    assert_refused(&refused, "STALE_FILE");
    for words in ["Change 2 cannot", "'b' is not there any more", "--change N`: 1 (a)."] {
        assert!(refused.output.contains(words), "{words}: {refused:?}");
    }
    assert_eq!(names(&place, "."), ["a", "c"]);
    // Both remedies help.
    assert_eq!(undo_number(&place, 1).await.status, ToolStatus::Success);
    moved("c", "b");
    assert_eq!(undo(&place).await.status, ToolStatus::Success);
    assert_eq!(content(&place, "b"), b"1\n");

    write(&place, "a", "1\n").await;
    edit(&place, "a", "1", "2").await;
    let refused = undo_number(&place, 3).await;
    assert!(refused.output.contains("changed again by change 4: take that back first"));
    place.write("a", "mine\n");
    let refused = undo(&place).await;
    assert!(refused.output.contains("Change 4 cannot"), "{refused:?}");
    assert!(refused.output.contains("has changed 'a' since. Read it"), "{refused:?}");
}

async fn undo_number(place: &Place, number: u64) -> ToolResult {
    place.call("undo_edit", json!({ "change": number })).await
}

/// The ledger of a daemon that has just started over the copies that an earlier one left.
fn started(place: &Place, limits: CopyLimits) -> Arc<FileLedger> {
    let dir = place.outside.join("undo");
    let copies = UndoCopies::open(&dir, limits).expect("open the copies");
    Arc::new(FileLedger::of(Arc::new(FileChanges::kept_in(Arc::new(copies), "S".to_owned()))))
}

#[tokio::test]
async fn what_was_changed_before_a_restart_is_taken_back_after_it() {
    let mut place = Place::new();
    place.files = started(&place, CopyLimits::default());
    write(&place, "a", "1\n").await;
    edit(&place, "a", "1", "2").await;
    write(&place, "b", "new\n").await;
    place.files = started(&place, CopyLimits::default());
    // What was read is forgotten, so that a change asks for a new look.
    assert_refused(&edit(&place, "a", "2", "3").await, "NOT_READ");
    assert_eq!(undo(&place).await.status, ToolStatus::Success);
    assert_eq!(names(&place, "."), ["a"]);
    let undone = undo(&place).await;
    assert!(undone.diff.contains("-2\n+1\n"), "{undone:?}");
    assert_eq!(content(&place, "a"), b"1\n");
    place.files = started(&place, CopyLimits::default());
    assert_eq!(undo(&place).await.status, ToolStatus::Success);
    assert!(names(&place, ".").is_empty());
    assert_refused(&undo(&place).await, "NOTHING_TO_UNDO");
}

#[tokio::test]
async fn a_change_is_taken_back_by_its_number_unless_another_came_after_it() {
    let place = Place::new();
    write(&place, "a", "1\n").await;
    write(&place, "b", "1\n").await;
    edit(&place, "a", "1", "2").await;
    assert_refused(&undo_number(&place, 1).await, "STALE_FILE");
    assert_refused(&undo_number(&place, 9).await, "NO_SUCH_CHANGE");
    assert_eq!(undo_number(&place, 2).await.status, ToolStatus::Success);
    assert_eq!(names(&place, "."), ["a"]);
    assert_eq!(undo_number(&place, 3).await.status, ToolStatus::Success);
    assert_eq!(undo_number(&place, 1).await.status, ToolStatus::Success);
    assert!(names(&place, ".").is_empty());
}

#[tokio::test]
async fn a_copy_that_is_gone_is_told_and_nothing_is_changed() {
    let mut place = Place::new();
    let limits = CopyLimits { file: 10, ..CopyLimits::default() };
    place.files = started(&place, limits);
    write(&place, "a", "more than ten bytes\n").await;
    edit(&place, "a", "more", "less").await;
    let refused = undo(&place).await;
    assert_refused(&refused, "COPY_GONE");
    assert_eq!(content(&place, "a"), b"less than ten bytes\n");
    let diffs = place
        .registry
        .net_diffs(&place.workspace, &Arc::default(), place.files.changes())
        .expect("diffs");
    assert!(diffs[0].diff.contains("+less than ten bytes"), "a new file has no copy: {diffs:?}");
}

#[tokio::test]
async fn changes_that_cannot_be_kept_are_made_and_said_to_be_final() {
    let mut place = Place::new();
    place.files = started(&place, CopyLimits::default());
    std::fs::remove_dir_all(place.outside.join("undo")).expect("the disk is gone");
    let made = write(&place, "a", "1\n").await;
    assert_eq!(made.status, ToolStatus::Success);
    assert!(made.output.contains("cannot be taken back"), "{made:?}");
}

#[tokio::test]
async fn what_changes_come_to_is_told_by_file() {
    let place = Place::new();
    place.write("a", "1\n2\n");
    place.write("b", "same\n");
    place.read("a").await;
    place.read("b").await;
    edit(&place, "a", "1", "one").await;
    edit(&place, "a", "2", "two").await;
    edit(&place, "b", "same", "other").await;
    edit(&place, "b", "other", "same").await;
    write(&place, "n", "new\n").await;
    let diffs = || {
        place
            .registry
            .net_diffs(&place.workspace, &Arc::default(), place.files.changes())
            .expect("diffs")
    };
    let told: Vec<String> = diffs().into_iter().map(|file| file.diff).collect();
    assert_eq!(
        told,
        [
            "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n-2\n+one\n+two\n",
            "--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+new\n"
        ]
    );
    place.write("a", "somebody else\n");
    assert_eq!(
        diffs().iter().map(|file| file.changed_by_others).collect::<Vec<_>>(),
        [true, false]
    );
    let patched = patch(&place, "--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n").await;
    assert_eq!(patched.status, ToolStatus::Success, "{patched:?}");
    assert_eq!(diffs().len(), 1, "made and removed again");
}
