//! Programs that may reach some hosts.

use super::*;

fn reaching(hosts: &[&str]) -> Action {
    let confinement = Confinement {
        backend: "test".to_owned(),
        writes: true,
        network: true,
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
    };
    let argv = ["bash", "-c", "cargo fetch"].map(str::to_owned).to_vec();
    let cwd = ".".to_owned();
    Action {
        summary: "run cargo fetch".to_owned(),
        targets: vec![ActionTarget::Run { argv, cwd, confinement: Some(confinement) }],
    }
}

fn host(effect: RuleEffect, host: &str) -> PermissionRule {
    rule(effect, RuleMatcher::Host { host: host.to_owned() })
}

#[test]
fn a_program_is_let_through_to_hosts_that_rules_allow_and_asked_about_for_others() {
    use RuleEffect::{Allow, Ask, Deny};
    let check = |mode, rules: &[PermissionRule], hosts: &[&str], expect: &str| {
        let got = decide(mode, WorkMode::Develop, rules, &reaching(hosts));
        assert_eq!(got, expect, "{mode} {hosts:?}");
    };
    let io = "crates.io";
    check(PermissionMode::AutoEdit, &[], &[io], "ask");
    check(PermissionMode::Full, &[], &[io], "allow");
    check(PermissionMode::AutoEdit, &[host(Allow, io)], &[io], "allow");
    check(PermissionMode::Ask, &[host(Allow, io)], &[io], "ask");
    check(PermissionMode::AutoEdit, &[host(Allow, io)], &[io, "evil.org"], "ask");
    check(PermissionMode::AutoEdit, &[host(Allow, "*.crates.io")], &["*.crates.io"], "allow");
    check(PermissionMode::AutoEdit, &[host(Allow, "a.crates.io")], &["*.crates.io"], "ask");
    check(PermissionMode::Full, &[host(Deny, "evil.org")], &[io, "evil.org"], "deny");
    check(PermissionMode::Full, &[host(Deny, "a.crates.io")], &["*.crates.io"], "deny");
    check(PermissionMode::Full, &[host(Ask, io)], &[io], "ask");
}

#[test]
fn all_of_the_network_is_no_less_than_any_host_that_a_rule_is_about() {
    let anywhere = reaching(&[]);
    let rules = |effect| [host(effect, "crates.io"), command(RuleEffect::Allow, "cargo", true)];
    let check = |mode, effect, expect: &str| {
        assert_eq!(decide(mode, WorkMode::Develop, &rules(effect), &anywhere), expect, "{mode}");
    };
    check(PermissionMode::AutoEdit, RuleEffect::Allow, "ask");
    check(PermissionMode::Full, RuleEffect::Deny, "deny");
    check(PermissionMode::Full, RuleEffect::Allow, "allow");
    assert_eq!(rules_for(&anywhere), [], "no rule is about all of the network");
}

#[test]
fn an_approval_can_be_kept_for_the_command_with_its_hosts() {
    let kept: Vec<String> = rules_for(&reaching(&["crates.io", "*.crates.io"]))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(kept, ["command cargo fetch", "host crates.io", "host *.crates.io"]);
}
