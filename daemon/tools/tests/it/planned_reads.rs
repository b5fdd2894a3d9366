//! What tools plan to read: the file that it really is, so that rules about it hold.

use std::path::PathBuf;

use agentd_domain::{
    Action, ActionTarget, Capabilities, PathAccess, PermissionMode, PermissionRule, RuleEffect,
    RuleMatcher, RuleScope, TimestampMs, ToolResult, WorkMode,
};
use agentd_tools::{
    BuiltinSettings, CallLimits, Permission, PermissionRequest, Registry, ToolContext, permit,
    readable, run_call,
};
use serde_json::{Value, json};

use crate::harness::{Place, SECRET, assert_refused, context};

fn place() -> Place {
    let place = Place::new();
    place.write("private/x", "hush");
    place.write("a/b", "");
    place.link("private", "link");
    place.link("private/x", "other");
    place.link(place.workspace.join("private/x"), "absolute");
    place
}

async fn planned(place: &Place, tool: &str, arguments: &Value) -> Action {
    let call = place.registry.prepare(tool, &arguments.to_string()).expect(tool);
    call.plan(&context(&place.workspace)).await.expect(tool)
}

fn rule(effect: RuleEffect, glob: &str) -> PermissionRule {
    PermissionRule {
        rule_id: "1".to_owned(),
        effect,
        matcher: RuleMatcher::Path { glob: glob.to_owned(), access: PathAccess::Read },
        scope: RuleScope::User,
        by: None,
        at: TimestampMs(0),
    }
}

/// What a session is answered whose rule denies to read the directory.
async fn permission(place: &Place, tool: &str, arguments: &Value) -> Permission {
    let action = planned(place, tool, arguments).await;
    let rule = rule(RuleEffect::Deny, "private/**");
    let tool = place.registry.find(tool).expect(tool);
    permit(&PermissionRequest {
        mode: PermissionMode::Full,
        work_mode: WorkMode::default(),
        rules: &[rule],
        tool: &tool.spec().name,
        mcp_server: None,
        capabilities: tool.spec().capabilities,
        roots: &[],
        action: &action,
    })
}

#[tokio::test]
async fn sc_03_a_rule_about_a_file_holds_by_whatever_name_it_is_read() {
    let place = place();
    let whole = place.workspace.join("private/x").display().to_string();
    for tool in ["read_file", "view_image", "hash_file", "list_archive", "query_sqlite"] {
        for path in
            ["private/x", "./private/x", "a/../private/x", &whole, "link/x", "other", "absolute"]
        {
            let answer = permission(&place, tool, &json!({ "path": path })).await;
            assert!(matches!(answer, Permission::Deny { .. }), "{tool} {path}: {answer:?}");
        }
        let answer = permission(&place, tool, &json!({ "path": "a/b" })).await;
        assert_eq!(answer, Permission::Allow, "{tool}");
    }
}

#[tokio::test]
async fn the_state_of_a_file_is_planned_too() {
    let place = place();
    for tool in ["read_file", "view_image", "hash_file", "list_archive", "query_sqlite"] {
        let arguments = json!({ "path": "a/b" });
        let before = planned(&place, tool, &arguments).await;
        place.write("a/b", tool);
        let after = planned(&place, tool, &arguments).await;
        assert_ne!(before.targets, after.targets, "{tool}");
        assert_eq!(before.summary, after.summary, "{tool}");
    }
    // The answers of a database stand in its log too.
    let sqlite = place.registry.find("query_sqlite").expect("the tool");
    assert!(!sqlite.spec().capabilities.cacheable);
}

#[tokio::test]
async fn packages_are_looked_for_in_files_that_are_planned() {
    let place = place();
    place.write("package-lock.json", "{}");
    place.link("private/x", "Cargo.lock");
    place.write("venv/lib/python3.12/site-packages/a-1.dist-info/METADATA", "");
    let reads = async |arguments: Value| {
        let targets = planned(&place, "query_packages", &arguments).await.targets;
        let path = |target| match target {
            ActionTarget::Read { path, .. } => path,
            other => panic!("{other:?}"),
        };
        targets.into_iter().map(path).collect::<Vec<String>>()
    };
    assert_eq!(reads(json!({"source": "npm"})).await, ["package-lock.json"]);
    assert_eq!(reads(json!({"source": "cargo"})).await, ["private/x"]);
    let python = ["venv/lib", "venv/lib/python3.12/site-packages"];
    assert_eq!(reads(json!({"source": "python"})).await, python);
    assert!(reads(json!({"source": "system"})).await.is_empty());
    assert_eq!(reads(json!({})).await.len(), 4);
    let answer = permission(&place, "query_packages", &json!({})).await;
    assert!(matches!(answer, Permission::Deny { .. }), "{answer:?}");
}

/// What comes of a call in a session that has these rules.
async fn called(
    place: &Place,
    rules: &[PermissionRule],
    tool: &str,
    arguments: &Value,
) -> ToolResult {
    let ctx = ToolContext {
        readable: readable(rules).map(PathBuf::from).collect(),
        ..context(&place.workspace)
    };
    let call = place.registry.prepare(tool, &arguments.to_string()).expect(tool);
    match call.plan(&ctx).await {
        Ok(planned) => run_call(call, &planned, &ctx, CallLimits::default()).await.result,
        Err(refused) => refused,
    }
}

#[tokio::test]
async fn sc_03_a_rule_that_names_a_secret_file_opens_it_and_nothing_weaker_does() {
    let mut place = Place::new();
    for name in [".env", ".env.local", "keys/[1].pem", ".ssh/config", ".ssh/id_rsa", "own/state"] {
        place.write(name, SECRET);
    }
    place.link(".env", "plain");
    place.link("../.env", "keys/.env");
    place.link(".ssh", "dir");
    let private = vec![place.workspace.join("own")];
    place.registry = Registry::builtin_with(BuiltinSettings { private, ..Default::default() });
    for (glob, names) in [
        (".env", &[".env", "./keys/../.env", "plain"] as &[&str]),
        ("keys/[[]1[]].pem", &["keys/[1].pem"]),
        (r"keys/\[1\].pem", &["keys/[1].pem"]),
        (".ssh/config", &[".ssh/config", "dir/config"]),
        ("own/state", &["own/state"]),
    ] {
        let rules = [rule(RuleEffect::Allow, glob)];
        for name in names {
            let path = json!({ "path": name });
            let read = called(&place, &rules, "read_file", &path).await;
            assert_eq!(read, ToolResult::success(SECRET), "{glob} {name}");
            let hashed = called(&place, &rules, "hash_file", &path).await;
            assert!(hashed.error_code.is_empty(), "{glob} {name}: {hashed:?}");
        }
        // Others are as they were, and this one is only read.
        let others = [".env.local", "keys/.env", ".ssh/id_rsa", "dir/id_rsa"];
        for name in others {
            let read = called(&place, &rules, "read_file", &json!({ "path": name })).await;
            assert_refused(&read, "PROTECTED_FILE");
        }
        let write = json!({"path": names[0], "content": "x", "overwrite": true});
        assert_refused(&called(&place, &rules, "write_file", &write).await, "PROTECTED_FILE");
        let found = called(&place, &rules, "grep_files", &json!({"pattern": "model"})).await;
        assert!(!found.output.contains(SECRET), "{found:?}");
    }
    for (effect, glob) in [
        (RuleEffect::Allow, "**"),
        (RuleEffect::Allow, "**/.env"),
        (RuleEffect::Allow, ".en[v]*"),
        (RuleEffect::Allow, ".env?"),
        (RuleEffect::Allow, "{.env,own/state}"),
        (RuleEffect::Allow, "plain"),
        (RuleEffect::Allow, ".env.local"),
        (RuleEffect::Ask, ".env"),
        (RuleEffect::Deny, ".env"),
    ] {
        let rules = [rule(effect, glob)];
        for name in [".env", "plain", "own/state"] {
            let read = called(&place, &rules, "read_file", &json!({ "path": name })).await;
            assert_refused(&read, "PROTECTED_FILE");
        }
    }
    let mut of_writing = rule(RuleEffect::Allow, ".env");
    of_writing.matcher = RuleMatcher::Path { glob: ".env".to_owned(), access: PathAccess::Write };
    assert_eq!(readable(&[of_writing]).count(), 0);
}

#[test]
fn sc_03_a_read_of_secrets_is_permitted_by_no_mode_and_no_pattern() {
    let action = Action::read("read .env", [".env".to_owned()]);
    let decide = |rules: &[PermissionRule]| {
        permit(&PermissionRequest {
            mode: PermissionMode::Full,
            work_mode: WorkMode::default(),
            rules,
            tool: "read_file",
            mcp_server: None,
            capabilities: Capabilities::WORKSPACE_READ,
            roots: &[],
            action: &action,
        })
    };
    let mut tool = rule(RuleEffect::Allow, "");
    tool.matcher = RuleMatcher::Tool { name: "read_file".to_owned() };
    let exact = rule(RuleEffect::Allow, ".env");
    for rules in [
        vec![],
        vec![rule(RuleEffect::Allow, "**")],
        vec![tool],
        vec![rule(RuleEffect::Allow, "a")],
    ] {
        assert!(matches!(decide(&rules), Permission::Deny { .. }), "{rules:?}");
    }
    assert_eq!(decide(std::slice::from_ref(&exact)), Permission::Allow);
    let denied = decide(&[exact.clone(), rule(RuleEffect::Deny, "**")]);
    assert!(matches!(denied, Permission::Deny { .. }), "{denied:?}");
    let asked = decide(&[exact, rule(RuleEffect::Ask, ".env")]);
    assert!(matches!(asked, Permission::Ask { .. }), "{asked:?}");
}
