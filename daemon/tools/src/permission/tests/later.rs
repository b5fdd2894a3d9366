use super::*;

#[test]
fn a_write_to_what_runs_later_is_asked_for_where_edits_are_not() {
    let path = |glob: &str| {
        let glob = glob.to_owned();
        RuleMatcher::Path { glob, access: PathAccess::Write }
    };
    let check = |action: &Action, rules: &[PermissionRule], expect: &str| {
        let got = decide(PermissionMode::AutoEdit, WorkMode::Develop, rules, action);
        assert_eq!(got, expect, "{}", action.summary);
    };
    for named in
        [".bashrc", "a/.husky/pre-commit", "Jenkinsfile", ".GitHub/x", ".vscode/tasks.json"]
    {
        check(&write(named), &[], "ask");
    }
    for named in ["bashrc", "src/github/x.rs", "docs/jenkinsfile.md"] {
        check(&write(named), &[], "allow");
    }
    // One such file among others is asked for with them.
    let mut both = write("src/a.rs");
    both.targets.extend(write(".zshrc").targets);
    check(&both, &[], "ask");
    let allow = rule(RuleEffect::Allow, path(".github/**"));
    check(&write(".github/workflows/ci.yml"), std::slice::from_ref(&allow), "allow");
    check(&write(".bashrc"), &[allow], "ask");
}
