//! Rules that deny commands, and scripts that shells are handed.

use super::*;

fn decided(script: &str) -> &'static str {
    let rules = [
        command(RuleEffect::Deny, "rm", true),
        command(RuleEffect::Deny, "git push", true),
        rule(RuleEffect::Allow, RuleMatcher::Tool { name: "tool".to_owned() }),
    ];
    decide(PermissionMode::Full, WorkMode::Develop, &rules, &run(script, None))
}

#[test]
fn a_script_that_a_shell_is_handed_is_denied_for_what_it_runs() {
    for script in [
        "bash <<E\nrm x\nE",
        "bash <<'E'\nls\nrm \"$x\"\nE",
        "bash -s a <<-E\n\trm x\n\tE",
        "sudo sh <<E && ls\nrm x\nE",
        "a | bash <<E\nrm x\nE",
        "{ ls; bash; } <<E\nrm x\nE",
        "while true; do sh; done <<E\nrm x\nE",
        "bash <<E\nbash <<F\nrm x\nF\nE",
        "bash <<E\nrm $x\nE",
        "bash <<< 'rm x'",
        "bash <<< \"rm $x\"",
        "(sh) <<E\nrm x\nE",
        "bash -lc 'ls && rm x'",
        "bash -ec 'sh -c \"rm x\"'",
        "env A=b sh -c 'git push'",
        "eval rm x",
        "eval 'ls; rm x'",
        "trap 'rm x' EXIT",
        "shopt -s expand_aliases\nalias x=rm\nx y",
        "echo push | xargs git",
        "xargs -n 1 rm",
        "find . -exec rm {} +",
        "find . -exec sh -c 'rm \"$1\"' _ {} ;",
        "su -c 'rm x'",
        "ssh host rm x",
    ] {
        assert_eq!(decided(script), "deny", "{script}");
    }
}

#[test]
fn a_script_that_cannot_be_read_is_asked_for_where_commands_are_denied() {
    for script in [
        "echo x | sh",
        "cat <<E | sh\nls\nE",
        "curl x | sudo bash",
        "curl x | tee >(bash)",
        "ls | (cat; sh)",
        "ls | while read x; do sh; done",
        "ls | xargs -I{} sh -c '{}'",
        "ls | xargs env",
        "xargs sh < list",
        "sh < script",
        "{ sh; } < script",
        "exec < script; sh",
        "f() { sh; }; ls | f",
        "bash <<E\nls $x\nE",
        "bash <<< \"$x\"",
        "sh script.sh",
        "bash ./script",
        "./script.sh",
        ". ./script",
        "source script",
        "source <(curl x)",
        "bash <(curl x)",
        "bash -c \"$x\"",
        "eval \"$x\"",
        "env $x",
        "timeout 5 $x",
        "BASH_ENV=script bash -c ls",
        "export BASH_ENV=script; bash -c ls",
        "find . -exec sh {} ;",
        "git <<E pull\nx\nE",
        "echo x | at now",
        "parallel < list",
    ] {
        assert_eq!(decided(script), "ask", "{script}");
    }
    // A program that is started without a shell is looked at in the same way.
    let argv = |words: &[&str]| Action {
        summary: "run".to_owned(),
        targets: vec![ActionTarget::Run {
            argv: words.iter().map(|word| (*word).to_owned()).collect(),
            cwd: String::new(),
            confinement: None,
        }],
    };
    let rules = [command(RuleEffect::Deny, "rm", true)];
    let decided =
        |words: &[&str]| decide(PermissionMode::Full, WorkMode::Develop, &rules, &argv(words));
    assert_eq!(decided(&["sh", "script.sh"]), "ask");
    assert_eq!(decided(&["bash", "-c", "rm x", "name"]), "deny");
    assert_eq!(decided(&["bash"]), "allow");
    assert_eq!(decided(&["python3", "script.py"]), "allow");
}

#[test]
fn what_hands_no_shell_anything_unknown_is_let_through_where_commands_are_denied() {
    for script in [
        "cat file | grep x",
        "cat script.sh | grep rm",
        "python script.py",
        "python3 <<E\nrm = 1\nE",
        "cat <<E > file\nrm x\nE",
        "cat <<< 'rm x'",
        "grep -r \"$x\" . | head",
        "ls | xargs grep \"$x\"",
        "ls | xargs -n 1 wc -l",
        "bash -c 'ls | wc'",
        "bash <<'E'\nls\nE",
        "bash <<< 'ls'",
        "bash < /dev/null",
        "sh -c ls | cat",
        "echo sh | cat",
        "which bash",
        "command -v sh | cat",
        "find . -name '*.sh'",
        "timeout 60 cargo test 2>&1 | tail",
        "for f in *.rs; do wc -l \"$f\"; done",
        "exec 2>&1; ls",
        "make install",
        "git pull",
        "echo rm | wc",
    ] {
        assert_eq!(decided(script), "allow", "{script}");
    }
    // Without rules about commands nothing is asked for that was not before.
    let action = run("curl x | sh; . ./script", None);
    assert_eq!(decide(PermissionMode::Full, WorkMode::Develop, &[], &action), "allow");
}

#[test]
fn scripts_in_scripts_are_bounded() {
    let many = "{ sh; sh; sh; sh; } <<A\n".repeat(20);
    for script in [
        "bash -c ls; ".repeat(100),
        format!("{many}ls\n{}", "A\n".repeat(20)),
        format!("{}sh{}", "( ".repeat(2_000), " )".repeat(2_000)),
        format!("xargs {}", "--x xargs ".repeat(1_000)),
        format!("{}ls", "nice ".repeat(1_000)),
    ] {
        assert_eq!(decided(&script), "ask", "{script:.40}");
    }
}

#[test]
fn what_shells_are_handed_is_no_part_of_what_a_rule_allows() {
    let approved = run("bash -c 'make test'", None);
    let kept: Vec<String> = rules_for(&approved).iter().map(ToString::to_string).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let allow = [command(RuleEffect::Allow, "ls", true)];
    for script in ["bash -c ls", "bash <<< ls", "eval ls", "ls | sh", "xargs ls"] {
        let action = run(script, None);
        assert_eq!(decide(PermissionMode::Ask, WorkMode::Develop, &allow, &action), "ask");
    }
}
