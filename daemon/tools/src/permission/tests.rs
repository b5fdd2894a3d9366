mod hosts;
mod later;
mod proofs;
mod roots;
mod shells;

use agentd_domain::{RuleScope, TimestampMs};
use proptest::prelude::*;

use super::*;

fn run(script: &str, confinement: Option<(bool, bool)>) -> Action {
    Action {
        summary: format!("run {script}"),
        targets: vec![ActionTarget::Run {
            argv: ["bash", "-c", script].map(str::to_owned).to_vec(),
            cwd: ".".to_owned(),
            confinement: confinement.map(|(writes, network)| Confinement {
                backend: "test".to_owned(),
                writes,
                network,
                hosts: Vec::new(),
            }),
        }],
    }
}

#[test]
fn what_is_typed_into_a_terminal_is_never_understood_and_its_commands_can_be_forbidden() {
    let typing = |text: &str, writes| {
        let argv = ["terminal", "abcd1", text, "enter"].map(str::to_owned).to_vec();
        let backend = "test".to_owned();
        let confinement = Some(Confinement { backend, writes, network: false, hosts: Vec::new() });
        let targets = vec![ActionTarget::Run { argv, cwd: String::new(), confinement }];
        Action { summary: "type".to_owned(), targets }
    };
    let decide = |action: &Action, mode, rules: &[PermissionRule]| {
        permit(&PermissionRequest {
            mode,
            work_mode: WorkMode::Develop,
            rules,
            tool: "terminal",
            mcp_server: None,
            capabilities: Capabilities::PROCESS,
            roots: &[],
            action,
        })
    };
    // It may be the end of a longer line, so that what looks harmless is asked for.
    let ls = typing("ls", true);
    assert!(matches!(decide(&ls, PermissionMode::Ask, &[]), Permission::Ask { .. }));
    assert_eq!(decide(&ls, PermissionMode::AutoEdit, &[]), Permission::Allow);
    assert!(matches!(decide(&ls, PermissionMode::Plan, &[]), Permission::Deny { .. }));
    assert_eq!(decide(&typing("ls", false), PermissionMode::Plan, &[]), Permission::Allow);
    assert_eq!(rules_for(&ls), Vec::new());
    let deny = PermissionRule {
        rule_id: "1".to_owned(),
        effect: RuleEffect::Deny,
        matcher: RuleMatcher::Command { argv: vec!["rm".to_owned()], more: true },
        scope: RuleScope::User,
        by: None,
        at: TimestampMs(0),
    };
    let allow_ls = PermissionRule {
        effect: RuleEffect::Allow,
        matcher: RuleMatcher::Command { argv: vec!["ls".to_owned()], more: true },
        ..deny.clone()
    };
    let denied =
        decide(&typing("cd x && rm -r y", true), PermissionMode::Full, std::slice::from_ref(&deny));
    assert!(matches!(denied, Permission::Deny { .. }), "{denied:?}");
    assert!(matches!(decide(&ls, PermissionMode::Full, &[deny]), Permission::Ask { .. }));
    assert!(matches!(decide(&ls, PermissionMode::Ask, &[allow_ls]), Permission::Ask { .. }));
}

#[test]
fn looking_at_what_was_started_before_asks_nobody_and_a_plan_that_says_nothing_does() {
    let looks = Action { summary: "read job 1".to_owned(), targets: Vec::new() };
    let asks = |action: &Action, mode| {
        permit(&PermissionRequest {
            mode,
            work_mode: WorkMode::Review,
            rules: &[],
            tool: "job",
            mcp_server: None,
            capabilities: Capabilities::PROCESS,
            roots: &[],
            action,
        })
    };
    for mode in [PermissionMode::Plan, PermissionMode::Ask, PermissionMode::Full] {
        assert_eq!(asks(&looks, mode), Permission::Allow, "{mode}");
    }
    assert!(matches!(asks(&Action::default(), PermissionMode::Plan), Permission::Deny { .. }));
    assert!(matches!(asks(&Action::default(), PermissionMode::Ask), Permission::Ask { .. }));
}

fn write(path: &str) -> Action {
    Action {
        summary: format!("write {path}"),
        targets: vec![ActionTarget::Write {
            path: path.to_owned(),
            base_sha256: None,
            new_sha256: None,
            diff: String::new(),
        }],
    }
}

fn get(host: &str) -> Action {
    Action {
        summary: format!("get {host}"),
        targets: vec![ActionTarget::Request {
            method: "GET".to_owned(),
            url: format!("https://{host}/"),
            host: host.to_owned(),
        }],
    }
}

fn rule(effect: RuleEffect, matcher: RuleMatcher) -> PermissionRule {
    PermissionRule {
        rule_id: "1".to_owned(),
        effect,
        matcher,
        scope: RuleScope::User,
        by: None,
        at: TimestampMs(0),
    }
}

fn command(effect: RuleEffect, words: &str, more: bool) -> PermissionRule {
    let argv = words.split(' ').map(str::to_owned).collect();
    rule(effect, RuleMatcher::Command { argv, more })
}

fn effect_of(action: &Action) -> Capabilities {
    match action.targets.first() {
        Some(ActionTarget::Run { .. }) => Capabilities::PROCESS,
        Some(ActionTarget::Write { .. }) => Capabilities::WORKSPACE_WRITE,
        Some(ActionTarget::Request { .. }) => Capabilities::NETWORK_READ,
        Some(ActionTarget::Read { .. }) => Capabilities::WORKSPACE_READ,
        None => Capabilities::PURE,
    }
}

fn decide(
    mode: PermissionMode,
    work_mode: WorkMode,
    rules: &[PermissionRule],
    action: &Action,
) -> &'static str {
    let request = PermissionRequest {
        mode,
        work_mode,
        rules,
        tool: "tool",
        mcp_server: None,
        capabilities: effect_of(action),
        roots: &[],
        action,
    };
    match permit(&request) {
        Permission::Allow => "allow",
        Permission::Ask { .. } => "ask",
        Permission::Deny { .. } => "deny",
    }
}

const MODES: [PermissionMode; 4] =
    [PermissionMode::Plan, PermissionMode::Ask, PermissionMode::AutoEdit, PermissionMode::Full];

#[test]
fn each_mode_lets_more_happen_than_the_one_before() {
    let check = |action: Action, expect: [&str; 4]| {
        for (mode, expect) in MODES.into_iter().zip(expect) {
            let got = decide(mode, WorkMode::Develop, &[], &action);
            assert_eq!(got, expect, "{} in {mode}", action.summary);
        }
    };
    check(Action::default(), ["allow", "allow", "allow", "allow"]);
    check(Action::read("r", ["a".to_owned()]), ["allow", "allow", "allow", "allow"]);
    check(write("src/a.rs"), ["deny", "ask", "allow", "allow"]);
    check(write(".github/workflows/ci.yml"), ["deny", "ask", "ask", "allow"]);
    check(get("example.org"), ["ask", "ask", "ask", "allow"]);
    check(run("cargo test", Some((true, false))), ["deny", "ask", "allow", "allow"]);
    check(run("git status", Some((true, false))), ["deny", "allow", "allow", "allow"]);
    check(run("cargo test", Some((false, false))), ["allow", "allow", "allow", "allow"]);
    check(run("cargo fetch", Some((true, true))), ["deny", "ask", "ask", "allow"]);
    // What nothing keeps in could read every secret, also with a program that only reads.
    check(run("cat /root/.ssh/id_rsa", None), ["deny", "ask", "ask", "allow"]);
}

#[test]
fn a_work_mode_takes_away_and_no_rule_gives_back() {
    let all = [
        rule(RuleEffect::Allow, RuleMatcher::Tool { name: "tool".to_owned() }),
        rule(
            RuleEffect::Allow,
            RuleMatcher::Path { glob: "**".to_owned(), access: PathAccess::Write },
        ),
    ];
    let check = |work_mode: WorkMode, action: &Action, expect: &str| {
        let got = decide(PermissionMode::Full, work_mode, &all, action);
        assert_eq!(got, expect, "{} in {work_mode}", action.summary);
    };
    for mode in [WorkMode::Develop, WorkMode::Test, WorkMode::Devops] {
        check(mode, &write("src/a.rs"), "allow");
        check(mode, &run("make", Some((true, false))), "allow");
    }
    for mode in [WorkMode::Design, WorkMode::Docs] {
        check(mode, &write("src/a.rs"), "deny");
        check(mode, &write("docs/a.md"), "allow");
        check(mode, &write("CMakeLists.txt"), "deny");
        check(mode, &write(".md"), "deny");
    }
    check(WorkMode::Review, &write("docs/a.md"), "deny");
    for mode in [WorkMode::Design, WorkMode::Docs, WorkMode::Review] {
        check(mode, &run("make", Some((true, false))), "deny");
        check(mode, &run("make", None), "deny");
        check(mode, &run("grep x y", Some((false, false))), "allow");
    }
}

#[test]
fn ap_03_a_rule_allows_the_command_it_names_and_nothing_beside_it() {
    let rules =
        [command(RuleEffect::Allow, "ls", true), command(RuleEffect::Allow, "make test", false)];
    let check = |script: &str, expect: &str| {
        let action = run(script, None);
        assert_eq!(
            decide(PermissionMode::Ask, WorkMode::Develop, &rules, &action),
            expect,
            "{script}"
        );
    };
    check("ls -la", "allow");
    check("make test", "allow");
    check("make test && ls x", "allow");
    check("make test; rm -rf ~", "ask");
    check("ls; rm -rf ~", "ask");
    check(&format!("ls{}; rm -rf ~", " ".repeat(200)), "ask");
    check("ls $(rm -rf ~)", "ask");
    check("ls `rm -rf ~`", "ask");
    check("ls > ~/.bashrc", "ask");
    check("ls & rm x", "ask");
    check("ls\nrm x", "ask");
    check("ls | sh", "ask");
    check("LD_PRELOAD=x ls", "ask");
    check("lsof", "ask");
    check("./ls", "ask");
    check("make test x", "ask");
    check("ls\rrm x", "ask");
    check("ls \u{202e}x", "ask");
    check("ls\u{a0}x", "ask");
}

#[test]
fn a_rule_that_denies_finds_the_command_wherever_it_hides() {
    let rules = [
        command(RuleEffect::Deny, "rm", true),
        command(RuleEffect::Deny, "git push", true),
        rule(RuleEffect::Allow, RuleMatcher::Tool { name: "tool".to_owned() }),
    ];
    let check = |script: &str, expect: &str| {
        let action = run(script, None);
        assert_eq!(
            decide(PermissionMode::Full, WorkMode::Develop, &rules, &action),
            expect,
            "{script}"
        );
    };
    for script in [
        "rm x",
        "/bin/rm x",
        "ls && rm x",
        "echo $(rm x)",
        "for i in *; do rm \"$i\"; done",
        "f() { rm x; }",
        "git push",
        "git push origin",
        "git $X",
        "(rm x)",
        "env rm x",
        "sudo -n rm x",
        "xargs rm",
        "find . -name x -exec rm {} +",
        "sh -c 'ls; rm x'",
        "timeout 5 bash -c \"rm x\"",
    ] {
        check(script, "deny");
    }
    for script in ["$CMD x", "r\\m x", "ls\rrm x", "if", &"ls;".repeat(300)] {
        check(script, "ask");
    }
    for script in ["ls", "git pull", "rmdir x"] {
        check(script, "allow");
    }
}

#[test]
fn rules_that_deny_come_before_those_that_ask_and_these_before_those_that_allow() {
    let host = |effect| rule(effect, RuleMatcher::Host { host: "example.org".to_owned() });
    let check = |effects: &[RuleEffect], expect: &str| {
        let rules: Vec<_> = effects.iter().map(|effect| host(*effect)).collect();
        let got = decide(PermissionMode::Full, WorkMode::Develop, &rules, &get("example.org"));
        assert_eq!(got, expect, "{effects:?}");
    };
    check(&[RuleEffect::Allow, RuleEffect::Ask], "ask");
    check(&[RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny], "deny");
    check(&[RuleEffect::Allow], "allow");
    check(&[RuleEffect::Ask], "ask");
}

#[test]
fn the_strictest_answer_to_a_part_holds_for_the_whole_call() {
    let mut action = write("src/a.rs");
    action.targets.extend(write("secret/b").targets);
    let deny = rule(
        RuleEffect::Deny,
        RuleMatcher::Path { glob: "secret/**".to_owned(), access: PathAccess::Write },
    );
    assert_eq!(decide(PermissionMode::Full, WorkMode::Develop, &[deny], &action), "deny");
}

#[test]
fn a_rule_made_of_an_approval_allows_the_same_thing_and_nothing_more() {
    let made = |action: &Action| -> Vec<PermissionRule> {
        let rule_of = |matcher| rule(RuleEffect::Allow, matcher);
        rules_for(action).into_iter().map(rule_of).collect()
    };
    let in_ask = |rules: &[PermissionRule], action: &Action| {
        decide(PermissionMode::Ask, WorkMode::Develop, rules, action)
    };
    let approved = run("make test && cargo build", None);
    assert_eq!(in_ask(&made(&approved), &approved), "allow");
    assert_eq!(in_ask(&made(&approved), &run("make install", None)), "ask");
    assert_eq!(in_ask(&made(&approved), &run("make test -j", None)), "ask");
    let odd = write("src/[a].rs");
    assert_eq!(in_ask(&made(&odd), &odd), "allow");
    assert_eq!(in_ask(&made(&odd), &write("src/a.rs")), "ask");
    assert_eq!(in_ask(&made(&get("a.org")), &get("b.org")), "ask");
    assert_eq!(made(&run("echo $X", None)), Vec::new());
}

proptest! {
    /// Whatever stands around it, a denied command never runs by a rule that allows others.
    #[test]
    fn a_denied_command_is_never_allowed(
        before in "[a-z $;&|(){}'\"`<>\\\\\n]{0,12}",
        after in "[a-z $;&|(){}'\"`<>\\\\\n]{0,12}",
    ) {
        let rules = [command(RuleEffect::Deny, "rm", true), command(RuleEffect::Allow, "ls", true)];
        let action = run(&format!("{before}\nrm x\n{after}"), None);
        prop_assert_ne!(decide(PermissionMode::Ask, WorkMode::Develop, &rules, &action), "allow");
    }

    /// A call that only the mode `full` lets through is never let through by a stricter one.
    #[test]
    fn stricter_modes_allow_less(
        script in "[a-z ;&|$./-]{0,20}", writes: bool, network: bool, confined: bool,
    ) {
        let action = run(&script, confined.then_some((writes, network)));
        let ranks: Vec<_> = MODES
            .into_iter()
            .map(|mode| decide(mode, WorkMode::Develop, &[], &action) == "allow")
            .collect();
        prop_assert!(ranks.is_sorted(), "{script:?} {ranks:?}");
    }
}

#[test]
fn what_runs_alone_is_asked_for_even_where_edits_are_not() {
    let action = run("git commit", Some((true, false)));
    let decided = MODES.map(|mode| {
        let request = PermissionRequest {
            mode,
            work_mode: WorkMode::Develop,
            rules: &[],
            tool: "git_commit",
            mcp_server: None,
            capabilities: Capabilities::EXCLUSIVE,
            roots: &[],
            action: &action,
        };
        match permit(&request) {
            Permission::Allow => "allow",
            Permission::Ask { .. } => "ask",
            Permission::Deny { .. } => "deny",
        }
    });
    assert_eq!(decided, ["deny", "ask", "ask", "allow"]);
}
