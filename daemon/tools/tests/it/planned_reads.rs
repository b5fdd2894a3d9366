//! What tools plan to read: the file that it really is, so that rules about it hold.

use agentd_domain::{
    Action, ActionTarget, PathAccess, PermissionMode, PermissionRule, RuleEffect, RuleMatcher,
    RuleScope, TimestampMs, WorkMode,
};
use agentd_tools::{Permission, PermissionRequest, permit};
use serde_json::{Value, json};

use crate::harness::{Place, context};

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

/// What a session is answered whose rule denies to read the directory.
async fn permission(place: &Place, tool: &str, arguments: &Value) -> Permission {
    let action = planned(place, tool, arguments).await;
    let glob = "private/**".to_owned();
    let matcher = RuleMatcher::Path { glob, access: PathAccess::Read };
    let rule = PermissionRule {
        rule_id: "1".to_owned(),
        effect: RuleEffect::Deny,
        matcher,
        scope: RuleScope::User,
        by: None,
        at: TimestampMs(0),
    };
    let tool = place.registry.find(tool).expect(tool);
    permit(&PermissionRequest {
        mode: PermissionMode::Full,
        work_mode: WorkMode::default(),
        rules: &[rule],
        tool: &tool.spec().name,
        mcp_server: None,
        capabilities: tool.spec().capabilities,
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
