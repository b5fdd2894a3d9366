//! Finding files and lines, and being told where was not looked.

use agentd_domain::{ToolResult, ToolStatus};
use agentd_tools::{BuiltinSettings, CallLimits, Registry, run_call};
use serde_json::{Value, json};

use crate::harness::{Place, SECRET, assert_refused, context};

async fn grep(place: &Place, arguments: Value) -> ToolResult {
    place.call("grep_files", arguments).await
}

async fn glob(place: &Place, pattern: &str) -> ToolResult {
    place.call("glob_files", json!({"pattern": pattern})).await
}

#[tokio::test]
async fn lines_are_found_with_their_numbers_in_order_of_the_paths() {
    let place = Place::new();
    place.write("b.rs", "one\ntwo needle\nthree\n");
    place.write("a/x.rs", "needle\r\nno\r\n");
    place.write("a/y.py", "nothing\n");
    let result = grep(&place, json!({"pattern": "ne+dle$"})).await;
    assert_eq!(
        result.output,
        "a/x.rs\n1: needle\n\nb.rs\n2: two needle\n\n[2 lines in 2 of 3 files match.]"
    );
    assert_eq!(result.evidence[1].uri, "file:b.rs#L2");
    let check = async |arguments: Value, expect: &str| {
        let result = grep(&place, arguments.clone()).await;
        assert_eq!(result.output, expect, "{arguments}");
    };
    check(json!({"pattern": "needle", "mode": "files"}), "a/x.rs\nb.rs\n[2 of 3 files match.]")
        .await;
    check(
        json!({"pattern": "e", "mode": "count", "glob": "*.rs"}),
        "a/x.rs: 1\nb.rs: 3\n[4 lines in 2 of 2 files match.]",
    )
    .await;
    check(
        json!({"pattern": "NEEDLE", "ignore_case": true, "context": 1, "type": "rust", "path": "b.rs"}),
        "b.rs\n1- one\n2: two needle\n3- three\n\n[1 lines in 1 of 1 files match.]",
    )
    .await;
    check(
        json!({"pattern": "e", "limit": 2, "path": "b.rs", "context": 1}),
        "b.rs\n1: one\n2: two needle\n\n[3 lines in 1 of 1 files match; 2 are shown. A \
         narrower pattern, path or glob shows others.]",
    )
    .await;
    check(json!({"pattern": "o.e", "literal": true}), "[No match in 3 files.]").await;
    check(json!({"pattern": "needle", "glob": "!*.rs"}), "[No match in 1 files.]").await;
}

#[tokio::test]
async fn gg_01_a_match_in_a_huge_line_is_shown_with_what_is_around_it() {
    let place = Place::new();
    let line = format!("{}needle{}", "{\"k\":1},".repeat(362_500), "x".repeat(100_000));
    place.write("data.json", &line);
    let result = grep(&place, json!({"pattern": "needle"})).await;
    assert!(result.output.contains("[2899880 bytes cut] "), "{}", result.output);
    assert!(result.output.contains("{\"k\":1},needlexxx"), "{}", result.output);
    assert!(result.output.contains("[99726 bytes cut]"), "{}", result.output);
    assert!(result.output.len() < 700, "{}", result.output.len());
    let every = grep(&place, json!({"pattern": "."})).await;
    assert!(every.output.contains("[more than 1000 matches in this line]"), "{}", every.output);
    assert!(every.output.len() < 700);
}

#[tokio::test]
async fn gg_01_many_matches_are_counted_and_the_text_is_bounded() {
    let place = Place::new();
    for file in 0..10 {
        place.write(&format!("{file}.log"), "a matching line of a log\n".repeat(10_000));
    }
    let result = grep(&place, json!({"pattern": "matching", "limit": 1000})).await;
    assert!(
        result.output.contains("[100000 lines in 10 of 10 files match; 1000 are shown."),
        "{}",
        result.output.lines().last().unwrap_or_default()
    );
    place.write("wide.log", format!("matching{}\n", "世".repeat(40_000)).repeat(300));
    let result = grep(&place, json!({"pattern": "matching", "path": "wide.log", "limit": 1000}));
    let result = result.await;
    assert!(result.output.len() < 50 * 1024, "{}", result.output.len());
    assert!(result.output.contains("[300 lines in 1 of 1 files match; "), "counts");
    let one = grep(&place, json!({"pattern": "g", "limit": 1, "path": "wide.log"})).await;
    assert!(one.output.len() < 700, "{}", one.output);
    assert!(
        one.output.contains("[300 lines in 1 of 1 files match; 1 are shown."),
        "{}",
        one.output
    );
}

fn hidden_and_ignored() -> Place {
    let place = Place::new();
    place.write(".github/workflows/ci.yml", "needle\n");
    place.write("build/out.js", "needle\n");
    place.write("sub/deep/kept.tmp", "needle\n");
    place.write("sub/deep/seen.txt", "nothing\n");
    place.write(".gitignore", "build/\n*.tmp\n");
    place.write(".git/config", "needle\n");
    place.write(".env", SECRET);
    place
}

#[tokio::test]
async fn gg_02_what_was_not_looked_at_is_told() {
    let place = hidden_and_ignored();
    let result = grep(&place, json!({"pattern": "needle"})).await;
    assert_eq!(result.status, ToolStatus::Empty);
    assert_eq!(
        result.output,
        "[No match in 1 files.]\n[Left out, a directory counting as one: 2 hidden \
         (include_hidden), 2 ignored (include_ignored), 1 protected.]"
    );
    let all = json!({"pattern": "needle", "mode": "files", "include_hidden": true,
                     "include_ignored": true});
    assert_eq!(
        grep(&place, all).await.output,
        ".github/workflows/ci.yml\nbuild/out.js\nsub/deep/kept.tmp\n[3 of 5 files match.]\n[Left \
         out, a directory counting as one: 1 protected.]"
    );
}

#[tokio::test]
async fn gg_02_hidden_and_ignored_paths_that_are_named_are_searched() {
    let place = hidden_and_ignored();
    for arguments in [
        json!({"pattern": "needle", "path": ".github"}),
        json!({"pattern": "needle", "path": "build"}),
        json!({"pattern": "needle", "path": "build/out.js"}),
        json!({"pattern": "needle", "path": "sub/deep/kept.tmp"}),
        json!({"pattern": "needle", "glob": ".github/**/*.yml"}),
        json!({"pattern": "needle", "glob": "**/.github/*/*.yml"}),
        json!({"pattern": "needle", "glob": "build/*.js"}),
        json!({"pattern": "needle", "path": ".git"}),
    ] {
        let result = grep(&place, arguments.clone()).await;
        assert_eq!(result.status, ToolStatus::Success, "{arguments}: {result:?}");
        assert!(result.output.contains("1: needle"), "{arguments}: {result:?}");
    }
    // A list above holds below, too.
    let result = grep(&place, json!({"pattern": "needle", "path": "sub/deep"})).await;
    assert!(result.output.contains("1 ignored"), "{result:?}");
    assert_eq!(
        glob(&place, ".github/**/*.yml").await.output.lines().next(),
        Some(".github/workflows/ci.yml")
    );
    assert_eq!(glob(&place, "build/*").await.output, "build/out.js\n");
    assert_refused(
        &grep(&place, json!({"pattern": "needle", "path": ".env"})).await,
        "PROTECTED_FILE",
    );
}

#[tokio::test]
async fn gg_02_an_error_is_never_no_match() {
    let place = Place::new();
    place.write("a.txt", "needle");
    let refused = grep(&place, json!({"pattern": "("})).await;
    assert_refused(&refused, "INVALID_PATTERN");
    assert!(refused.output.contains("unclosed group"), "{refused:?}");
    assert_refused(&grep(&place, json!({"pattern": "a\nb"})).await, "INVALID_PATTERN");
    assert_refused(&grep(&place, json!({"pattern": "a", "path": "none"})).await, "NOT_FOUND");
    assert_refused(&glob(&place, "none/*.rs").await, "NOT_FOUND");
    assert_refused(&glob(&place, "a[b").await, "INVALID_PATTERN");
    // Whoever runs this, a process's memory cannot be read from its beginning.
    let arguments = json!({"pattern": "a", "path": "mem"});
    let unreadable = place.call_in("/proc/self".as_ref(), "grep_files", arguments).await;
    assert_refused(&unreadable, "IO_ERROR");
    assert!(unreadable.output.contains("[Could not be read: 1; 'mem': "), "{unreadable:?}");
}

#[tokio::test]
async fn gg_02_utf_16_is_searched_and_binary_files_are_told() {
    let place = Place::new();
    let wide: Vec<u8> = "\u{feff}a needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("wide.txt", wide);
    place.write("binary.dat", b"\0\x01\x02 needle\n");
    let result = grep(&place, json!({"pattern": "needle"})).await;
    assert!(result.output.starts_with("wide.txt\n1: a needle\n"), "{result:?}");
    assert!(result.output.contains("1 binary, from their first NUL on"), "{result:?}");
    let named = grep(&place, json!({"pattern": "needle", "path": "binary.dat"})).await;
    assert!(named.output.starts_with("binary.dat (binary)\n"), "{named:?}");
}

#[tokio::test]
async fn sc_01_searches_do_not_leave_the_workspace() {
    let place = Place::new();
    place.link(&place.outside, "out");
    place.link(place.outside.join("victim"), "notes.md");
    place.write("a/in.txt", "model");
    let result = grep(&place, json!({"pattern": "model"})).await;
    assert!(result.output.starts_with("a/in.txt\n1: model\n\n[1 lines in 1 of 1"), "{result:?}");
    assert!(result.output.contains("2 links"), "{result:?}");
    assert_eq!(glob(&place, "**/*").await.output.lines().next(), Some("a/in.txt"));
    for path in ["out", "notes.md", "..", "/etc", "~", "a/../../outside"] {
        let refused = grep(&place, json!({"pattern": "model", "path": path})).await;
        assert_refused(&refused, "PATH_OUTSIDE_WORKSPACE");
    }
    for pattern in ["../outside/*", "/etc/*", "out/*", "a/../../outside/*"] {
        assert_refused(&glob(&place, pattern).await, "PATH_OUTSIDE_WORKSPACE");
    }
}

#[tokio::test]
async fn sc_03_a_search_leaves_out_what_holds_secrets() {
    let mut place = Place::new();
    place.write("keys/server.pem", SECRET);
    place.write(".env.local", SECRET);
    place.write("home/config.toml", SECRET);
    place.write(".env.example", "KEY=");
    place.registry = Registry::builtin_with(BuiltinSettings {
        private: vec![place.workspace.join("home")],
        ..BuiltinSettings::default()
    });
    let all = json!({"pattern": "not for|KEY", "include_hidden": true, "include_ignored": true});
    let result = grep(&place, all).await;
    assert!(!result.output.contains(SECRET), "{result:?}");
    assert!(result.output.starts_with(".env.example\n1: KEY=\n"), "{result:?}");
    assert!(result.output.contains("3 protected"), "{result:?}");
}

#[tokio::test]
async fn files_are_found_by_name_or_by_path() {
    let place = Place::new();
    for name in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/deep/d.txt"] {
        place.write(name, "");
    }
    let check = async |pattern: &str, expect: &str| {
        assert_eq!(glob(&place, pattern).await.output, expect, "{pattern}");
    };
    check("*.rs", "a.rs\nsrc/b.rs\nsrc/deep/c.rs\n").await;
    check("src/*.rs", "src/b.rs\n").await;
    check("src/**/*.rs", "src/b.rs\nsrc/deep/c.rs\n").await;
    check("./src/{b,deep/c}.rs", "src/b.rs\nsrc/deep/c.rs\n").await;
    check("**/d.*", "src/deep/d.txt\n").await;
    check("*.py", "[No file fits below '.'.]").await;
    let inside = format!("{}/src/*.rs", place.workspace.display());
    check(&inside, "src/b.rs\n").await;
    let below = json!({"pattern": "*.rs", "path": "src/deep"});
    assert_eq!(place.call("glob", below).await.output, "src/deep/c.rs\n");
}

#[tokio::test]
async fn a_long_list_of_files_counts_the_rest() {
    let place = Place::new();
    for number in 0..1_203 {
        place.write(&format!("d/{number:04}"), "");
    }
    let output = glob(&place, "*").await.output;
    assert_eq!(output.lines().count(), 501);
    assert_eq!(output.lines().nth(499), Some("d/0499"));
    assert!(output.contains("[500 of 1203 files are shown;"), "{output}");
}

#[tokio::test]
async fn w2_11_a_search_ends_when_its_turn_is_cancelled() {
    let place = Place::new();
    place.write("a.txt", "a\n".repeat(1_000_000));
    let ctx = context(&place.workspace);
    let call = place.registry.prepare("grep_files", r#"{"pattern":"(a*)*b|a"}"#).expect("a call");
    let planned = call.plan(&ctx).await.expect("a plan");
    let cancel = ctx.cancel.clone();
    let (outcome, ()) =
        tokio::join!(run_call(call, &planned, &ctx, CallLimits::default()), async {
            cancel.cancel();
        });
    assert_eq!(outcome.result.status, ToolStatus::Interrupted);
}
