use super::*;

fn about(effect: RuleEffect, glob: &str) -> PermissionRule {
    let glob = glob.to_owned();
    rule(effect, RuleMatcher::Path { glob, access: PathAccess::Write })
}

/// What a session that works in `/w` and `/o` is answered that asks for each change.
#[track_caller]
fn check(rule: &PermissionRule, path: &str, expect: &str) {
    let action = write(path);
    let answer = permit(&PermissionRequest {
        mode: PermissionMode::Ask,
        work_mode: WorkMode::Develop,
        rules: std::slice::from_ref(rule),
        tool: "write_file",
        mcp_server: None,
        capabilities: Capabilities::WORKSPACE_WRITE,
        roots: &["/w".into(), "/o".into()],
        action: &action,
    });
    let got = match answer {
        Permission::Allow => "allow",
        Permission::Ask { .. } => "ask",
        Permission::Deny { .. } => "deny",
    };
    assert_eq!(got, expect, "{rule:?} {path}");
}

#[test]
fn what_forbids_in_the_workspace_forbids_in_each_root_and_what_allows_does_not() {
    for (path, expect) in [("a/x", "deny"), ("/o/a/x", "deny"), ("/o/b", "ask"), ("b", "ask")] {
        check(&about(RuleEffect::Deny, "a/**"), path, expect);
    }
    for (path, expect) in [("a/x", "allow"), ("/o/a/x", "ask"), ("/w/a/x", "ask")] {
        check(&about(RuleEffect::Allow, "a/**"), path, expect);
        check(&about(RuleEffect::Allow, "**"), path, expect);
        check(&about(RuleEffect::Allow, "**/x"), path, expect);
    }
}

#[test]
fn a_whole_path_is_about_what_is_there_wherever_a_session_works() {
    for (path, expect) in [("/o/a/x", "allow"), ("/o/b", "ask"), ("a/x", "ask")] {
        check(&about(RuleEffect::Allow, "/o/a/**"), path, expect);
    }
    check(&about(RuleEffect::Deny, "/w/a/*"), "a/x", "deny");
    check(&about(RuleEffect::Allow, "/w/a/*"), "a/x", "allow");
    let RuleMatcher::Path { glob, .. } = &rules_for(&write("/o/a[1]"))[0] else { panic!() };
    check(&about(RuleEffect::Allow, glob), "/o/a[1]", "allow");
    check(&about(RuleEffect::Allow, glob), "/o/a1", "ask");
}
