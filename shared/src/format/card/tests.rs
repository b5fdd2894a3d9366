use super::*;
use crate::format::styled::Colors;

const WIDTH: usize = 60;

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(Row::text).collect()
}

fn call(name: &str, arguments: &str, status: v1::ToolStatus, output: &str) -> ToolCallItem {
    ToolCallItem {
        call_id: "C".into(),
        name: name.into(),
        arguments_json: arguments.into(),
        state: ToolCallState::Finished(status),
        output: output.into(),
        elapsed_ms: 12,
        ..ToolCallItem::default()
    }
}

fn check(call: &ToolCallItem, expect: &[&str]) {
    assert_eq!(texts(&finished(call, WIDTH)), expect);
}

#[test]
fn a_call_that_did_well_is_one_row() {
    let arguments = r#"{"expression":"1+1"}"#;
    let calculated = call("calculator", arguments, v1::ToolStatus::Success, "2");
    check(&calculated, &["✓ calculator expression=1+1 → 2 · 12 ms"]);
    let read = call(
        "read_file",
        r#"{"path":"src/lib.rs"}"#,
        v1::ToolStatus::Success,
        "//! A crate.\n\nfn a() {}\nfn b() {}\n",
    );
    check(&read, &["✓ read_file path=src/lib.rs → //! A crat… (+2 lines) · 12 ms"]);
    let nothing = call("glob_files", r#"{"pattern":"*.x"}"#, v1::ToolStatus::Empty, "none");
    check(&nothing, &["✓ glob_files pattern=*.x → nothing found · 12 ms"]);
    let known = ToolCallItem { source: v1::ResultSource::Cache, ..calculated };
    check(&known, &["✓ calculator expression=1+1 → 2 · known already"]);
}

#[test]
fn a_change_is_shown_and_counted() {
    let lines = "+line\n".repeat(20);
    let edited = ToolCallItem {
        diff: format!("--- a/a.rs\n+++ b/a.rs\n@@ -1,1 +1,20 @@\n-old\n{lines}"),
        ..call(
            "edit_file",
            r#"{"edits":[{"old":"old","new":"line"}],"path":"a.rs"}"#,
            v1::ToolStatus::Success,
            "Changed 'a.rs'",
        )
    };
    let rows = texts(&finished(&edited, WIDTH));
    assert_eq!(rows[0], "✓ edit_file path=a.rs · +20 -1 · 12 ms");
    assert_eq!(rows[1..4], ["  @@ -1,1 +1,20 @@", "  -old", "  +line"]);
    assert_eq!(rows.last().map(String::as_str), Some("  … 12 more lines (/diff)"));
    assert_eq!(rows.len(), 12);
    let undone = ToolCallItem { arguments_json: "{}".into(), name: "undo_edit".into(), ..edited };
    assert_eq!(finished(&undone, WIDTH)[1].text(), "  a.rs", "nothing else says which file it was");
}

#[test]
fn a_program_shows_its_first_lines_and_when_it_fails_its_last_ones_too() {
    let arguments = r#"{"command":"cargo test"}"#;
    let ran = |status, code: i32, output: &str| ToolCallItem {
        exit_code: Some(code),
        ..call("run_command", arguments, status, output)
    };
    check(
        &ran(v1::ToolStatus::Success, 0, "ok\n"),
        &["✓ run_command command=\"cargo test\" → ok · 12 ms"],
    );
    let lines = "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n";
    check(
        &ran(v1::ToolStatus::Success, 0, lines),
        &[
            "✓ run_command command=\"cargo test\" · 12 ms",
            "  │ line 1",
            "  │ line 2",
            "  │ line 3",
            "  … 6 more lines",
        ],
    );
    check(
        &ran(v1::ToolStatus::Partial, 101, &format!("{lines}[exit code 101]")),
        &[
            "✗ run_command command=\"cargo test\" · exit 101 · 12 ms",
            "  │ line 1",
            "  … 5 more lines",
            "  │ line 7",
            "  │ line 8",
            "  │ line 9",
        ],
    );
}

#[test]
fn what_went_wrong_is_told_with_its_code() {
    let mut failed = call(
        "edit_file",
        r#"{"path":"a.rs"}"#,
        v1::ToolStatus::FatalError,
        "'a.rs' exists and was not read in this session; read it with read_file before it is changed.",
    );
    failed.error_code = "NOT_READ".into();
    check(
        &failed,
        &[
            "✗ edit_file path=a.rs · NOT_READ · 12 ms",
            "  'a.rs' exists and was not read in this session; read it",
            "  with read_file before it is changed.",
        ],
    );
    let skipped = ToolCallItem {
        source: v1::ResultSource::NotRun,
        ..call("time", "{}", v1::ToolStatus::Skipped, "[not run: the one before failed]")
    };
    check(&skipped, &["– time · not run", "  [not run: the one before failed]"]);
    let cut = call("time", "{}", v1::ToolStatus::Interrupted, "");
    check(&cut, &["✗ time · cut off; what it did is not known · 12 ms"]);
    let repeated = call("time", "{}", v1::ToolStatus::Repeated, "x");
    check(&repeated, &["↺ time · the same result again · 12 ms"]);
}

#[test]
fn a_call_that_runs_turns_and_shows_its_last_lines() {
    let runs = ToolCallItem {
        state: ToolCallState::Running,
        output: "one\ntwo\n  three\r\n 10 %\r 50 %\r100 %\n\nlast \u{1b}[2J".into(),
        started_at_ms: 1_000,
        ..call("run_command", r#"{"command":"make"}"#, v1::ToolStatus::Success, "")
    };
    assert_eq!(
        texts(&running(&runs, 1_200, 3, WIDTH)),
        ["⠦ run_command command=make", "  │   three", "  │ 100 %", "  │ last \\u{1b}[2J"]
    );
    assert_eq!(texts(&running(&runs, 13_500, 0, WIDTH)), ["⠧ run_command command=make · 12 s"]);
    assert_eq!(started(&runs, WIDTH).text(), "▸ run_command command=make");
}

#[test]
fn en_01_no_row_is_wider_than_the_terminal() {
    let diff =
        "--- a/日本\n+++ b/日本\n@@ -1,1 +1,1 @@\n-古い行の長い文字列\n+新しい行の長い文字列\n";
    let failed = ToolCallItem {
        error_code: "TOOL_ARGUMENT_VALIDATION_FAILED".into(),
        ..call("書く", r#"{"path":"日本語/道"}"#, v1::ToolStatus::FatalError, "失敗した理由は長い")
    };
    let edited = ToolCallItem {
        diff: diff.into(),
        ..call("edit_file", r#"{"text":"日本語"}"#, v1::ToolStatus::Success, "x")
    };
    let ran = ToolCallItem {
        exit_code: Some(1),
        output: "日本語の長い行\n".repeat(9),
        ..call("run_command", r#"{"command":"長い 命令"}"#, v1::ToolStatus::Partial, "")
    };
    for width in 20..90 {
        for call in [&failed, &edited, &ran] {
            let live = running(call, 99_000, 3, width);
            for row in finished(call, width).iter().chain(&live) {
                assert!(row.width() <= width, "{width}: {row:?}");
                assert!(!row.paint(Colors::None).contains('\u{1b}'), "{row:?}");
            }
        }
    }
}
