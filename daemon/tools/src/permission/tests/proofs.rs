use crate::surely_runs;

#[test]
fn a_command_line_proves_only_what_it_has_surely_run() {
    let runs = |command: &str| {
        let arguments = serde_json::json!({ "command": command });
        surely_runs(&arguments.to_string(), "cargo test")
    };
    for command in [
        "cargo test",
        "cargo  test --workspace\n",
        "cd x && cargo test 2>&1 && echo done",
        "cargo test > log",
        "timeout 60 cargo test",
    ] {
        assert!(runs(command), "{command}");
    }
    for command in [
        "echo 'cargo test' || cargo test",
        "echo cargo test",
        "true # cargo test",
        "cargo test | tail",
        "cargo test; true",
        "cargo test &",
        "! cargo test",
        "if false; then cargo test; fi",
        "f() { cargo test; } && true",
        "cargo test\ntrue",
        "cargo testing",
        "bash -c 'cargo test || true'",
    ] {
        assert!(!runs(command), "{command}");
    }
}

#[test]
fn words_of_a_program_count_and_other_tools_have_none() {
    let runs = |arguments: &str| surely_runs(arguments, "cargo test");
    assert!(runs(r#"{"argv":["cargo","test","-q"]}"#));
    assert!(!runs(r#"{"argv":["echo","cargo","test"]}"#));
    assert!(!runs(r#"{"argv":["cargo test"]}"#));
    assert!(runs(r#"{"action":"test"}"#));
}
