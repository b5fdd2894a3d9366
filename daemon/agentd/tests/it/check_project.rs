//! Checks of projects, by their own commands in the sandbox.

use std::fs;

use agentd_domain::{Action, ActionTarget, ToolResult, ToolStatus};
use serde_json::{Value, json};

use crate::programs::{Place, boxed};

async fn check(place: &Place, arguments: Value) -> ToolResult {
    place.call("check_project", arguments).await
}

fn write(place: &Place, name: &str, text: &str) {
    let path = place.workspace.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[track_caller]
fn assert_told(result: &ToolResult, status: ToolStatus, code: &str, part: &str) {
    assert_eq!((result.status, result.error_code.as_str()), (status, code), "{result:?}");
    assert!(result.output.contains(part), "{part}: {result:?}");
}

#[tokio::test]
async fn the_tests_of_a_project_are_found_run_and_counted() {
    let place = boxed();
    write(&place, "setup.py", "");
    write(&place, "Makefile", "all:\n");
    let python = |body: &str| {
        format!("import unittest\nclass T(unittest.TestCase):\n{body}\n def test_b(self): pass\n")
    };
    write(&place, "test_a.py", &python(" def test_a(self): self.assertEqual(1, 2)"));
    let failed = check(&place, json!({"action": "test"})).await;
    assert_told(
        &failed,
        ToolStatus::Partial,
        "TESTS_FAILED",
        "[tests: 1 passed, 1 failed, 0 skipped]",
    );
    let head =
        "[python project by its setup.py; it is make too: python3 -B -m unittest discover]\n";
    assert!(failed.output.starts_with(head) && failed.output.contains("1 != 2"), "{failed:?}");
    assert!(failed.workspace_changed);
    assert_eq!(failed.exit_code, Some(1));

    write(&place, "test_a.py", &python(" def test_a(self): self.assertEqual(1, 1)"));
    let passed = check(&place, json!({"action": "test"})).await;
    assert_told(&passed, ToolStatus::Success, "", "[tests: 2 passed, 0 failed, 0 skipped]");
    let one = check(&place, json!({"action": "test", "filter": "test_b"})).await;
    assert_told(&one, ToolStatus::Success, "", "[tests: 1 passed, 0 failed, 0 skipped]");
}

#[tokio::test]
async fn a_run_without_tests_is_no_success() {
    let place = boxed();
    write(&place, "sub/setup.py", "");
    let nothing = check(&place, json!({"action": "test", "path": "sub"})).await;
    assert_told(&nothing, ToolStatus::Partial, "NO_TESTS_RAN", "No test ran");
    write(&place, "Makefile", "test:\n\t@echo all is well\n");
    let unknown = check(&place, json!({"action": "test"})).await;
    assert_told(&unknown, ToolStatus::Partial, "TESTS_NOT_COUNTED", "all is well");
    write(&place, "Makefile", "test:\n\t@echo '3 passing (5ms)'\n");
    let counted = check(&place, json!({"action": "test"})).await;
    assert_told(&counted, ToolStatus::Success, "", "[tests: 3 passed, 0 failed, 0 skipped]");
    write(&place, "Makefile", "test:\n\t@echo '3 passing (5ms)'; exit 1\n");
    let counted = check(&place, json!({"action": "test"})).await;
    assert_told(&counted, ToolStatus::Partial, "TESTS_FAILED", "[tests: 3 passed");
}

#[tokio::test]
async fn what_runs_is_planned_with_its_directory() {
    let place = boxed();
    write(&place, "sub/Makefile", "lint:\n\ttrue\n");
    let Action { summary, targets } =
        place.planned("check_project", &json!({"action": "lint", "path": "sub"})).await.unwrap();
    assert_eq!(summary, "make lint");
    let [ActionTarget::Run { argv, cwd, .. }] = targets.as_slice() else { panic!("{targets:?}") };
    assert_eq!((argv.join(" ").as_str(), cwd.as_str()), ("make lint", "sub"));
    let linted = check(&place, json!({"action": "lint", "path": "sub"})).await;
    assert_eq!(linted.status, ToolStatus::Success, "{linted:?}");
}

#[tokio::test]
async fn what_is_missing_is_told() {
    let place = boxed();
    let none = check(&place, json!({"action": "test"})).await;
    assert_told(&none, ToolStatus::FatalError, "NO_PROJECT", "Name its directory in path");
    write(&place, "pyproject.toml", "");
    write(&place, "package.json", "{\"scripts\": {\"test\": \"jest\"}}");
    let python = json!({"action": "lint", "kind": "python"});
    let linted = place.bash("command -v ruff").await;
    assert_ne!(linted.exit_code, Some(0), "this test needs a machine without ruff in /usr");
    let missing = check(&place, python).await;
    assert_told(&missing, ToolStatus::FatalError, "MISSING_PROGRAM", "ruff is not installed");
    let no_script = check(&place, json!({"action": "lint"})).await;
    assert_told(&no_script, ToolStatus::FatalError, "NO_COMMAND", "no script 'lint'");
    let other = check(&place, json!({"action": "test", "kind": "go"})).await;
    assert_told(&other, ToolStatus::FatalError, "NO_PROJECT", "no go");
    for filter in
        [json!({"action": "test", "filter": "-x"}), json!({"action": "lint", "filter": "x"})]
    {
        let refused = check(&place, filter).await;
        assert_told(&refused, ToolStatus::FatalError, "TOOL_ARGUMENT_VALIDATION_FAILED", "filter:");
    }
    let outside = check(&place, json!({"action": "test", "path": "/etc"})).await;
    assert_told(&outside, ToolStatus::FatalError, "NO_PROJECT", "");
}

/// The tests of a project are what a project says; a link does not lead to another's.
#[tokio::test]
async fn sc_01_a_project_outside_of_the_workspace_is_not_run() {
    let (place, other) = (boxed(), boxed());
    write(&other, "Makefile", "test:\n\ttrue\n");
    std::os::unix::fs::symlink(other.workspace.path(), place.workspace.path().join("link"))
        .unwrap();
    let refused = check(&place, json!({"action": "test", "path": "link"})).await;
    assert_told(&refused, ToolStatus::FatalError, "NO_PROJECT", "");
}
