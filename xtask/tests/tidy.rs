//! The rules of the project that no compiler checks. Each test is one rule and tells all places
//! that break it.

#![expect(clippy::expect_used, reason = "a helper that fails fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Which of our crates a crate may use. Arrows point down; a new crate gets a line here.
const EDGES: &[(&str, &[&str])] = &[
    (
        "agentd",
        &[
            "agentd-context",
            "agentd-domain",
            "agentd-engine",
            "agentd-llm",
            "agentd-memory",
            "agentd-proto",
            "agentd-sandbox",
            "agentd-shared",
            "agentd-store",
            "agentd-tools",
        ],
    ),
    (
        "agentd-engine",
        &[
            "agentd-context",
            "agentd-domain",
            "agentd-llm",
            "agentd-memory",
            "agentd-search",
            "agentd-store",
            "agentd-tools",
        ],
    ),
    ("agentd-context", &["agentd-domain", "agentd-llm", "agentd-search"]),
    ("agentd-llm", &["agentd-domain"]),
    ("agentd-memory", &["agentd-domain", "agentd-llm", "agentd-search", "agentd-store"]),
    ("agentd-search", &["agentd-domain"]),
    ("agentd-store", &["agentd-domain"]),
    ("agentd-sandbox", &["agentd-domain"]),
    ("agentd-tools", &["agentd-domain", "agentd-sandbox"]),
    ("agentd-domain", &[]),
    ("agentd-proto", &[]),
    ("agentd-shared", &["agentd-proto"]),
    ("agentctl", &["agentd-proto", "agentd-shared"]),
    ("agent-tui", &["agentd-proto", "agentd-shared"]),
    (
        TESTKIT,
        &[
            "agentd",
            "agentd-domain",
            "agentd-engine",
            "agentd-llm",
            "agentd-proto",
            "agentd-shared",
            "agentd-store",
            "agentd-tools",
        ],
    ),
    ("xtask", &[]),
];

/// Helpers of tests: any crate may use them, for its tests alone.
const TESTKIT: &str = "agentd-testkit";

/// Crates of the daemon that may know the wire. All others are used through their own types.
const KNOWS_THE_WIRE: &[&str] = &["agentd", TESTKIT];

/// Longest file of code in lines; past it a file holds more than one idea.
const MAX_LINES: usize = 800;

/// Files that may be longer, each with the reason.
const LONGER: &[(&str, &str)] = &[];

/// Words that have no place in code, each with the reason.
const BANNED_WORDS: &[(&str, &str)] = &[
    ("todo!", "write it or leave it out"),
    ("unimplemented!", "write it or leave it out"),
    ("#[ignore", "a test that does not run tells nothing"),
    ("#[should_panic", "assert on the error instead"),
    (".flush_async(", "sled hangs when two run at once"),
    (".watch_prefix(", "sled blocks writers when it is not drained"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the project")
}

fn metadata() -> Metadata {
    MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata")
}

fn manifest(package: &Package) -> toml::Table {
    fs::read_to_string(&package.manifest_path).expect("a manifest").parse().expect("TOML")
}

/// All files of the project under `folder` with this ending, with their paths from the root.
fn files(folder: &str, ending: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                let is_ours = !name.starts_with('.') && name != "target";
                folders.extend(is_ours.then_some(path));
            } else if name.ends_with(ending) {
                let below = path.strip_prefix(root()).expect("below the root");
                let text = fs::read_to_string(&path).expect("text");
                found.insert(below.to_string_lossy().into_owned(), text);
            }
        }
    }
    found
}

fn rust_files() -> BTreeMap<String, String> {
    files(".", ".rs")
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// The part of a file that is compiled for tests only.
fn test_part<'a>(path: &str, text: &'a str) -> &'a str {
    // A conformance suite is tests by another name: each backend runs it.
    if is_test_file(path) || path.contains("/src/conformance/") {
        return text;
    }
    text.find("#[cfg(test)]\nmod tests {").map_or("", |start| &text[start..])
}

/// Lines with their numbers, without those that are comments.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[track_caller]
fn assert_none(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

#[test]
fn our_crates_depend_on_each_other_only_downwards() {
    let metadata = metadata();
    let edges: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let ours: BTreeSet<&str> =
        metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut broken = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let Some(allowed) = edges.get(name) else {
            broken.push(format!("{name} has no line in the table of edges"));
            continue;
        };
        for dependency in &package.dependencies {
            let on = dependency.name.as_str();
            let for_tests = dependency.kind == DependencyKind::Development;
            let is_fine = !ours.contains(on)
                || allowed.contains(&on)
                || (for_tests && (on == TESTKIT || on == name));
            if !is_fine {
                broken.push(format!("{name} -> {on} ({})", dependency.kind));
            }
        }
    }
    assert_none("not in the table of allowed edges", &broken);
}

#[test]
fn nothing_below_agentd_knows_the_wire() {
    let wire = |name: &str| {
        name == "agentd-proto" || name.starts_with("tonic") || name.starts_with("prost")
    };
    let mut broken = Vec::new();
    for package in &metadata().packages {
        let is_below = package.manifest_path.starts_with(root().join("daemon"))
            && !KNOWS_THE_WIRE.contains(&package.name.as_str());
        let known = package.dependencies.iter().filter(|dependency| wire(&dependency.name));
        broken.extend(
            known.filter(|_| is_below).map(|known| format!("{} -> {}", package.name, known.name)),
        );
    }
    assert_none("only agentd may know tonic, prost and agentd-proto", &broken);
}

#[test]
fn every_crate_takes_lints_and_versions_from_the_workspace() {
    let mut broken = Vec::new();
    for package in &metadata().packages {
        let manifest = manifest(package);
        let inherits = |value: Option<&toml::Value>| {
            value.and_then(|value| value.get("workspace")) == Some(&toml::Value::Boolean(true))
        };
        if !inherits(manifest.get("lints")) {
            broken.push(format!("{}: [lints] workspace = true is missing", package.name));
        }
        let mut tables = vec![&manifest];
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        tables.extend(targets.into_iter().flatten().filter_map(|(_, target)| target.as_table()));
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for table in &tables {
                let entries = table.get(kind).and_then(toml::Value::as_table);
                for (name, value) in entries.into_iter().flatten() {
                    // A crate may name itself to turn on a feature for its own tests.
                    let is_itself = value.get("path").and_then(toml::Value::as_str) == Some(".");
                    if !inherits(Some(value)) && !is_itself {
                        broken.push(format!("{}: {kind}.{name}", package.name));
                    }
                }
            }
        }
    }
    assert_none("to be inherited from the workspace", &broken);
}

#[test]
fn files_stay_short() {
    let excused: BTreeMap<&str, &str> = LONGER.iter().copied().collect();
    let long = rust_files().into_iter().filter(|(path, text)| {
        !is_test_file(path)
            && !excused.contains_key(path.as_str())
            && text.lines().count() > MAX_LINES
    });
    let broken: Vec<String> =
        long.map(|(path, text)| format!("{path}: {} lines", text.lines().count())).collect();
    assert_none(&format!("longer than {MAX_LINES} lines"), &broken);
}

#[test]
fn modules_are_named_by_their_files() {
    let broken: Vec<String> =
        rust_files().into_keys().filter(|path| path.ends_with("/mod.rs")).collect();
    assert_none("foo.rs and foo/ instead of foo/mod.rs", &broken);
}

#[test]
fn banned_words_are_not_used() {
    let mut broken = Vec::new();
    for (path, text) in rust_files() {
        if path == "xtask/tests/tidy.rs" {
            continue;
        }
        for (number, line) in code_lines(&text) {
            let banned = BANNED_WORDS.iter().filter(|(word, _)| line.contains(word));
            broken.extend(banned.map(|(word, why)| format!("{path}:{number}: {word}: {why}")));
        }
    }
    assert_none("words without a place in code", &broken);
}

#[test]
fn tests_wait_for_events_and_never_for_time() {
    let mut broken = Vec::new();
    for (path, text) in rust_files() {
        if path == "xtask/tests/tidy.rs" {
            continue;
        }
        let part = test_part(&path, &text);
        let first = text.lines().count() - part.lines().count();
        let sleeping = code_lines(part).filter(|(_, line)| line.contains("sleep("));
        broken.extend(
            sleeping.map(|(number, line)| format!("{path}:{}: {}", first + number, line.trim())),
        );
    }
    assert_none("tests that sleep", &broken);
}

#[test]
fn every_crate_and_file_begins_with_what_it_is_for() {
    let mut broken = Vec::new();
    for (path, text) in rust_files() {
        let is_tests_module = path.ends_with("/tests.rs") || path.contains("/tests/");
        if !text.starts_with("//!") && !is_tests_module {
            broken.push(format!("{path}: does not begin with //!"));
        }
    }
    for package in &metadata().packages {
        let target = package.targets.iter().find(|target| target.is_lib());
        let target = target.or_else(|| package.targets.iter().find(|target| target.is_bin()));
        let source = &target.expect("a library or a program").src_path;
        let text = fs::read_to_string(source).expect("a source file");
        let page = text.lines().take_while(|line| line.starts_with("//!")).count();
        if page < 3 {
            broken.push(format!("{}: its //! has {page} lines, of at least 3", package.name));
        }
    }
    assert_none("pages missing", &broken);
}

#[test]
fn decision_records_have_their_three_parts_and_follow_one_another() {
    let records = files("docs/adr", ".md");
    let mut broken = Vec::new();
    for (number, (path, text)) in (1..).zip(&records) {
        if !path.starts_with(&format!("docs/adr/{number:04}-")) {
            broken.push(format!("{path}: the next number is {number:04}"));
        }
        let missing = ["## Context", "## Decision", "## Consequences"]
            .into_iter()
            .filter(|part| !text.lines().any(|line| line.trim_end() == *part));
        broken.extend(missing.map(|part| format!("{path}: no '{part}'")));
    }
    assert!(!records.is_empty(), "docs/adr holds no record");
    assert_none("decision records", &broken);
}

#[test]
fn every_invariant_names_a_test_that_exists() {
    let page = root().join("docs/ARCHITECTURE.md");
    let page = fs::read_to_string(page).expect("docs/ARCHITECTURE.md is there");
    let tests: BTreeSet<String> = rust_files()
        .iter()
        .flat_map(|(path, text)| function_names(test_part(path, text)))
        .collect();
    let invariants: Vec<String> = paragraphs(&page)
        .into_iter()
        .filter(|paragraph| paragraph.contains("Invariant:"))
        .collect();
    assert!(!invariants.is_empty(), "docs/ARCHITECTURE.md states no invariant");
    let mut broken = Vec::new();
    for invariant in &invariants {
        // A name in backquotes with several underscores is meant to be a test.
        let named: Vec<&str> = invariant.split('`').skip(1).step_by(2).collect();
        let bare = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
        if !named.iter().any(|name| tests.contains(&bare(name))) {
            broken.push(format!("names no test: {}", invariant.trim()));
        }
        let missing = named.iter().map(|name| bare(name)).filter(|name| {
            let is_sentence = name.matches('_').count() >= 3
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            is_sentence && !tests.contains(name)
        });
        broken.extend(missing.map(|name| format!("there is no test {name}")));
    }
    assert_none("invariants", &broken);
}

/// Paragraphs and items of lists, each with its lines joined.
fn paragraphs(page: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in page.lines() {
        let starts_new = line.trim().is_empty()
            || line.trim_start().starts_with("- ")
            || line.trim_start().starts_with("* ")
            || line.trim_start().starts_with("**Invariant:");
        if starts_new {
            paragraphs.push(String::new());
        }
        let last = paragraphs.last_mut().expect("there is one");
        last.push_str(line.trim());
        last.push(' ');
    }
    paragraphs
}

fn function_names(text: &str) -> impl Iterator<Item = String> {
    code_lines(text).filter_map(|(_, line)| {
        let (_, rest) = line.split_once("fn ")?;
        let name: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        (!name.is_empty()).then_some(name)
    })
}
