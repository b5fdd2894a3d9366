//! Sessions that work in several directories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{ActionTarget, ToolResult, ToolStatus};
use agentd_tools::{BuiltinSettings, CallLimits, Registry, ToolContext, run_call};
use serde_json::{Value, json};

use crate::harness::{Place, SECRET, assert_refused, context};

/// A workspace, with a further root `o` beside it and a directory that is none.
struct World {
    place: Place,
    other: PathBuf,
    beside: PathBuf,
}

fn world() -> World {
    let place = Place::new();
    let above = place.outside.parent().expect("a directory").to_owned();
    let (other, beside) = (above.join("o"), above.join("other"));
    for dir in [&other, &beside] {
        std::fs::create_dir(dir).expect("a directory");
        std::fs::write(dir.join("f.txt"), "first\n").expect("a file");
    }
    std::fs::write(beside.join("victim"), SECRET).expect("a file");
    World { place, other, beside }
}

impl World {
    fn context(&self) -> ToolContext {
        let files = Arc::clone(&self.place.files);
        let further_roots = [self.other.clone()].into();
        ToolContext { files, further_roots, ..context(&self.place.workspace) }
    }

    async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        let ctx = self.context();
        let call = match self.place.registry.prepare(tool, &arguments.to_string()) {
            Ok(call) => call,
            Err(refused) => return refused,
        };
        match call.plan(&ctx).await {
            Ok(planned) => run_call(call, &planned, &ctx, CallLimits::default()).await.result,
            Err(refused) => refused,
        }
    }

    async fn done(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.status, ToolStatus::Success, "{tool}: {result:?}");
        result.output
    }

    fn other(&self, name: &str) -> String {
        self.other.join(name).display().to_string()
    }
}

fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).expect("a file")
}

fn link(to: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(to, at).expect("a link");
}

#[tokio::test]
async fn a_session_works_in_each_of_its_roots() {
    let world = world();
    world.place.write("f.txt", "workspace\n");
    let path = world.other("f.txt");
    // Relative paths are below the workspace.
    assert_eq!(world.done("read_file", json!({"path": "f.txt"})).await, "workspace\n");
    assert_eq!(world.done("read_file", json!({"path": path})).await, "first\n");
    assert_eq!(world.done("list_dir", json!({"path": world.other})).await, "f.txt  6 bytes");
    let edit = json!({"path": path, "edits": [{"old": "first", "new": "second"}]});
    world.done("edit_file", edit).await;
    assert_eq!(text(&path), "second\n");
    let made = world.other("a/b/c.txt");
    let told = world.done("write_file", json!({"path": made, "content": "made\n"})).await;
    assert!(told.starts_with(&format!("Made '{made}'")), "{told}");
    assert_eq!(text(&made), "made\n");
    std::fs::write(world.other.join(".gitignore"), "b/\n").expect("a file");
    let found = world.done("glob_files", json!({"path": world.other, "pattern": "**"})).await;
    assert!(found.starts_with(&format!("{path}\n")) && !found.contains("c.txt"), "{found}");
    let found = world.done("grep_files", json!({"path": world.other, "pattern": "sec"})).await;
    assert!(found.starts_with(&format!("{path}\n1: second\n")), "{found}");
    assert!(!world.done("grep_files", json!({"pattern": "w"})).await.contains("second"));
    // Changes of both roots in one call, and what they come to.
    let patch = format!(
        "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-workspace\n+patched\n--- {path}\n+++ {path}\n\
         @@ -1 +1 @@\n-second\n+patched\n"
    );
    world.done("apply_patch", json!({ "patch": patch })).await;
    assert_eq!(text(&path), "patched\n");
    let further: Arc<[PathBuf]> = [world.other.clone()].into();
    let files = &world.place.files;
    let diffs = world.place.registry.net_diffs(&world.place.workspace, &further, files.changes());
    let paths: Vec<String> = diffs.expect("diffs").into_iter().map(|file| file.path).collect();
    assert_eq!(paths, [made, path.clone(), "f.txt".to_owned()]);
    world.done("undo_edit", json!({})).await;
    assert_eq!(
        (text(&path).as_str(), text(world.place.workspace.join("f.txt")).as_str()),
        ("second\n", "workspace\n")
    );
}

#[tokio::test]
async fn what_is_planned_in_a_further_root_is_told_by_its_whole_path() {
    let world = world();
    link("f.txt", world.other.join("link"));
    for (tool, arguments) in [
        ("read_file", json!({"path": world.other("link")})),
        ("hash_file", json!({"path": world.other("./x/../f.txt")})),
    ] {
        std::fs::create_dir_all(world.other.join("x")).expect("a directory");
        let call = world.place.registry.prepare(tool, &arguments.to_string()).expect(tool);
        let action = call.plan(&world.context()).await.expect(tool);
        let [ActionTarget::Read { path, .. }] = &action.targets[..] else { panic!("{action:?}") };
        assert_eq!(*path, world.other("f.txt"), "{tool}");
    }
}

#[tokio::test]
async fn sc_01_no_root_leads_into_another_directory() {
    let world = world();
    let workspace = &world.place.workspace;
    let victim = world.beside.join("victim");
    link(&world.beside, world.other.join("absolute"));
    link("../other", world.other.join("relative"));
    link("../other/victim", world.other.join("file"));
    link("../other/new", world.other.join("dangling"));
    // Neither do the roots lead into each other: each is left by its own name alone.
    link(&world.other, workspace.join("further"));
    link(workspace, world.other.join("workspace"));
    world.place.write("own.txt", SECRET);
    let outside = [
        victim.display().to_string(),
        world.other("../other/victim"),
        world.other("absolute/victim"),
        world.other("relative/victim"),
        world.other("file"),
        world.other("workspace/own.txt"),
        "further/f.txt".to_owned(),
        "../o/f.txt".to_owned(),
        // It only begins like a root.
        format!("{}ther/victim", world.other.display()),
        format!("{}/", world.beside.display()),
    ];
    for path in &outside {
        for tool in ["read_file", "hash_file", "list_archive", "query_sqlite", "view_image"] {
            let refused = world.call(tool, json!({ "path": path })).await;
            assert_refused(&refused, "PATH_OUTSIDE_WORKSPACE");
        }
        for (tool, arguments) in [
            ("list_dir", json!({ "path": path })),
            ("grep_files", json!({ "path": path, "pattern": "model" })),
            ("glob_files", json!({ "path": path, "pattern": "*" })),
            ("write_file", json!({ "path": path, "content": "x", "overwrite": true })),
        ] {
            let refused = world.call(tool, arguments).await;
            assert_refused(&refused, "PATH_OUTSIDE_WORKSPACE");
        }
    }
    for name in ["dangling", "absolute/new", "relative/new"] {
        let path = world.other(name);
        let refused = world.call("write_file", json!({"path": path, "content": "x"})).await;
        assert_eq!(refused.status, ToolStatus::FatalError, "{name}: {refused:?}");
    }
    let found = world.done("grep_files", json!({"path": world.other, "pattern": "first"})).await;
    assert!(!found.contains("other/"), "{found}");
    assert_eq!(text(victim), SECRET);
    assert!(!world.beside.join("new").exists());
    // Without the further root it is no place for a session at all.
    let refused = world.place.call("read_file", json!({"path": world.other("f.txt")})).await;
    assert_refused(&refused, "PATH_OUTSIDE_WORKSPACE");
}

#[tokio::test]
async fn sc_01_a_directory_of_a_further_root_swapped_for_a_link_does_not_lead_out() {
    let world = world();
    let (dir, aside) = (world.other.join("d"), world.other.join("aside"));
    std::fs::create_dir(&dir).expect("a directory");
    std::fs::write(dir.join("victim"), "mine\n").expect("a file");
    let path = world.other("d/victim");
    world.done("read_file", json!({"path": path})).await;
    let edit = json!({"path": path, "edits": [{"old": "mine", "new": "theirs"}]}).to_string();
    let ctx = world.context();
    let call = world.place.registry.prepare("edit_file", &edit).expect("a call");
    let planned = call.plan(&ctx).await.expect("a plan");
    std::fs::rename(&dir, &aside).expect("moved");
    link(&world.beside, &dir);
    let result = run_call(call, &planned, &ctx, CallLimits::default()).await.result;
    assert_refused(&result, "PATH_OUTSIDE_WORKSPACE");
    assert_eq!(text(world.beside.join("victim")), SECRET);
    assert_eq!(text(aside.join("victim")), "mine\n");
}

#[tokio::test]
async fn sc_03_what_is_protected_is_so_in_each_root() {
    let mut world = world();
    for name in [".env", "keys/a.pem", "own/state"] {
        let path = world.other.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, SECRET).expect("a file");
    }
    let private = vec![world.other.join("own")];
    world.place.registry =
        Registry::builtin_with(BuiltinSettings { private, ..Default::default() });
    for name in [".env", "keys/a.pem", "own/state"] {
        let path = world.other(name);
        assert_refused(&world.call("read_file", json!({"path": path})).await, "PROTECTED_FILE");
        let write = json!({"path": path, "content": "x", "overwrite": true});
        assert_refused(&world.call("write_file", write).await, "PROTECTED_FILE");
    }
    let hook = json!({"path": world.other(".git/hooks/pre-commit"), "content": "x"});
    assert_refused(&world.call("write_file", hook).await, "PROTECTED_FILE");
    let found =
        world.done("grep_files", json!({"path": world.other, "pattern": "first|model"})).await;
    assert!(!found.contains(SECRET), "{found}");
    let ctx = ToolContext { readable: [world.other.join(".env")].into(), ..world.context() };
    let arguments = json!({"path": world.other(".env")}).to_string();
    let call = world.place.registry.prepare("read_file", &arguments).expect("a call");
    let planned = call.plan(&ctx).await.expect("a plan");
    let read = run_call(call, &planned, &ctx, CallLimits::default()).await.result;
    assert_eq!(read, ToolResult::success(SECRET));
}

#[tokio::test]
async fn a_further_root_that_is_gone_is_told_and_the_others_are_worked_in() {
    let world = world();
    world.place.write("f.txt", "workspace\n");
    std::fs::remove_dir_all(&world.other).expect("removed");
    let gone = world.call("read_file", json!({"path": world.other("f.txt")})).await;
    assert_refused(&gone, "WORKSPACE_UNAVAILABLE");
    assert_eq!(world.done("read_file", json!({"path": "f.txt"})).await, "workspace\n");
}
