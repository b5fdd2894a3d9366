//! What file tools open, and what they refuse to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentd_domain::{ToolResult, ToolStatus};
use agentd_tools::{BuiltinSettings, Registry};
use serde_json::json;

use crate::harness::{Place, SECRET, assert_refused};

#[tokio::test]
async fn sc_01_no_path_leads_out_of_the_workspace() {
    let place = Place::new();
    place.write("a/inside.txt", "inside");
    place.link(&place.outside, "out");
    place.link(place.outside.join("victim"), "notes.md");
    place.link(place.outside.join("not-yet"), "draft");
    place.link("../outside/victim", "relative");
    place.link("out", "chain");
    let absolute = place.outside.join("victim");
    for path in [
        "out/victim",
        "notes.md",
        "draft",
        "relative",
        "chain/victim",
        "a/../../outside/victim",
        "../outside/victim",
        "..",
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/..",
        "~",
        "~/.bashrc",
        absolute.to_str().expect("UTF-8"),
        &format!("{}/../outside/victim", place.workspace.display()),
        &format!("{}x/victim", place.workspace.display()),
    ] {
        assert_refused(&place.read(path).await, "PATH_OUTSIDE_WORKSPACE");
    }
    for path in ["out", "chain", "..", "a/../..", "/", "/proc/self/root", "~", "../outside"] {
        assert_refused(&place.list(path).await, "PATH_OUTSIDE_WORKSPACE");
    }
    assert!(!place.outside.join("not-yet").exists());
}

#[tokio::test]
async fn sc_01_links_of_the_process_file_system_are_not_followed() {
    let place = Place::new();
    place.link("/proc/self/root/etc/passwd", "magic");
    place.link("/proc/self/cwd", "cwd");
    assert_refused(&place.read("magic").await, "PATH_OUTSIDE_WORKSPACE");
    assert_refused(&place.list("cwd").await, "PATH_OUTSIDE_WORKSPACE");
    // Even where the file system of processes is in the workspace itself.
    let result =
        place.call_in("/proc".as_ref(), "read_file", json!({"path": "self/root/etc/passwd"})).await;
    assert_eq!(result.status, ToolStatus::FatalError, "{result:?}");
    assert!(!result.output.contains("root:"), "{result:?}");
}

#[tokio::test]
async fn sc_01_links_and_paths_that_stay_inside_work() {
    let place = Place::new();
    place.write("a/inside.txt", "inside");
    place.link("a/inside.txt", "relative");
    place.link(place.workspace.join("a/inside.txt"), "absolute");
    place.link(place.workspace.join("a"), "directory");
    place.link(&place.workspace, "round");
    let absolute = place.workspace.join("a/inside.txt");
    for path in [
        "a/inside.txt",
        "./a//inside.txt",
        "a/../a/inside.txt",
        "relative",
        "absolute",
        "directory/inside.txt",
        "round/round/a/inside.txt",
        absolute.to_str().expect("UTF-8"),
    ] {
        assert_eq!(place.read(path).await, ToolResult::success("inside"), "{path}");
    }
    let whole = place.workspace.to_str().expect("UTF-8");
    assert_eq!(place.list(whole).await, place.list(".").await);
}

#[tokio::test]
async fn sc_01_a_workspace_that_is_a_link_itself_works() {
    let place = Place::new();
    place.write("a.txt", "inside");
    let link = place.outside.join("to-w");
    std::os::unix::fs::symlink(&place.workspace, &link).expect("make a link");
    for path in ["a.txt".into(), link.join("a.txt"), place.workspace.join("a.txt")] {
        let result = place.call_in(&link, "read_file", json!({"path": path})).await;
        assert_eq!(result, ToolResult::success("inside"), "{}", path.display());
    }
    let result = place.call_in(&link, "read_file", json!({"path": "../outside/victim"})).await;
    assert_refused(&result, "PATH_OUTSIDE_WORKSPACE");
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_01_a_directory_swapped_for_a_link_never_leads_out() {
    let place = Place::new();
    place.write("d/victim", "inside");
    place.link(&place.outside, "swap");
    let ended = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (workspace, ended) = (place.workspace.clone(), Arc::clone(&ended));
        std::thread::spawn(move || {
            let [d, swap, spare] = ["d", "swap", "spare"].map(|name| workspace.join(name));
            while !ended.load(Ordering::Relaxed) {
                for (from, to) in [(&d, &spare), (&swap, &d), (&spare, &swap)] {
                    std::fs::rename(from, to).expect("rename");
                }
            }
        })
    };
    for _round in 0..500 {
        let result = place.read("d/victim").await;
        assert!(!result.output.contains(SECRET), "{result:?}");
    }
    ended.store(true, Ordering::Relaxed);
    swapping.join().expect("the swapping thread");
}

#[tokio::test]
async fn only_plain_files_are_read() {
    let place = Place::new();
    place.write("d/x", "");
    let pipe = place.workspace.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .expect("make a pipe");
    let _socket =
        std::os::unix::net::UnixListener::bind(place.workspace.join("s")).expect("make a socket");
    assert_refused(&place.read("pipe").await, "NOT_A_FILE");
    assert_refused(&place.read("d").await, "NOT_A_FILE");
    assert_eq!(place.read("s").await.status, ToolStatus::FatalError);
    assert_refused(&place.read("nothing").await, "NOT_FOUND");
    assert_refused(&place.read("d/x/y").await, "NOT_A_DIRECTORY");
    assert_refused(&place.read("a\0b").await, "INVALID_PATH");
    assert_refused(&place.list("d/x").await, "NOT_A_DIRECTORY");
    assert_eq!(
        place.list(".").await.output,
        "d/\npipe  (device, pipe or socket)\ns  (device, pipe or socket)"
    );
}

#[tokio::test]
async fn sc_03_files_that_hold_secrets_are_not_read() {
    let place = Place::new();
    for name in [".env", "sub/.env.local", "id_rsa", "keys/server.pem", ".ssh/config"] {
        place.write(name, SECRET);
        assert_refused(&place.read(name).await, "PROTECTED_FILE");
    }
    // Another name for the same file does not help.
    place.link(".env", "notes.txt");
    assert_refused(&place.read("notes.txt").await, "PROTECTED_FILE");
    place.link(".ssh", "plain");
    assert_refused(&place.read("plain/config").await, "PROTECTED_FILE");
    assert_refused(&place.list("plain").await, "PROTECTED_FILE");
    place.write(".env.example", "KEY=");
    assert_eq!(place.read(".env.example").await, ToolResult::success("KEY="));
}

#[tokio::test]
async fn sc_03_the_daemons_own_files_are_not_read() {
    let mut place = Place::new();
    place.write("home/config.toml", SECRET);
    place.write("homework.txt", "mine");
    place.link("home", "other");
    place.registry = Registry::builtin_with(BuiltinSettings {
        private: vec![place.workspace.join("home"), place.outside.join("not-there")],
        ..BuiltinSettings::default()
    });
    assert_refused(&place.read("home/config.toml").await, "PROTECTED_FILE");
    assert_refused(&place.read("other/config.toml").await, "PROTECTED_FILE");
    assert_refused(&place.list("home").await, "PROTECTED_FILE");
    assert_eq!(place.read("homework.txt").await, ToolResult::success("mine"));
}

#[tokio::test]
async fn pages_follow_one_another() {
    let place = Place::new();
    place.write("numbers", "1\n2\n3\n");
    let page = |offset: u32| {
        place.call("read_file", json!({"path": "numbers", "offset": offset, "limit": "2"}))
    };
    assert_eq!(page(1).await.output, "1\n2\n[Lines 1 to 2 of 3. Go on with offset 3.]");
    assert_eq!(page(3).await.output, "3\n[Lines 3 to 3 of 3.]");
    assert_refused(&page(4).await, "OFFSET_BEYOND_END");
    assert_refused(&page(0).await, "TOOL_ARGUMENT_VALIDATION_FAILED");
}

#[tokio::test]
async fn odd_contents_are_told() {
    let place = Place::new();
    place.write("empty", "");
    place.write("image", b"\x89PNG\r\n\x1a\n\0\0");
    let empty = place.read("empty").await;
    assert_eq!((empty.status, empty.output.as_str()), (ToolStatus::Empty, "[The file is empty.]"));
    let image = place.read("image").await;
    assert_eq!(image.output, "[Not text but a PNG image, 10 bytes. Not shown.]");
}

#[tokio::test]
async fn a_listing_is_sorted_and_tells_kinds_and_sizes() {
    let place = Place::new();
    place.write("b.txt", "12345");
    place.write("a/x", "");
    place.link("b.txt", "c");
    place.write("世界.md", "");
    let listing = "a/\nb.txt  5 bytes\nc -> b.txt\n世界.md  0 bytes";
    assert_eq!(place.list(".").await, ToolResult::success(listing));
    assert_eq!(place.call("list_dir", json!({})).await, ToolResult::success(listing));
    assert_eq!(place.list("").await, ToolResult::success(listing));
    std::fs::create_dir(place.workspace.join("none")).expect("create none");
    assert_eq!(place.list("none").await.status, ToolStatus::Empty);
}

#[tokio::test]
async fn names_never_carry_control_characters() {
    let place = Place::new();
    place.write("a\x1b[2J\nb\u{202e}c", "");
    place.link("t\x07", "z");
    assert_eq!(place.list(".").await.output, "a\\u{1b}[2J\\nb\\u{202e}c  0 bytes\nz -> t\\u{7}");
    let missing = place.read("no\x1b[31m").await;
    assert!(!missing.output.contains('\x1b'), "{missing:?}");
}

#[tokio::test]
async fn a_long_listing_counts_the_rest() {
    let place = Place::new();
    for number in 0..503 {
        place.write(&format!("{number:04}"), "");
    }
    let output = place.list(".").await.output;
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 501);
    assert_eq!(lines[0], "0000  0 bytes");
    assert_eq!(lines[499], "0499  0 bytes");
    assert_eq!(lines[500], "[3 more of 503 entries are not shown.]");
}

#[tokio::test]
async fn a_missing_workspace_is_told() {
    let place = Place::new();
    let gone = place.outside.join("gone");
    let result = place.call_in(&gone, "list_dir", json!({})).await;
    assert_refused(&result, "WORKSPACE_UNAVAILABLE");
}
