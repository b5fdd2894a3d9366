//! The command tree, and what its help says.

mod parity;

use clap::CommandFactory as _;

use super::*;

#[test]
fn the_command_tree_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn session_options_exclude_each_other() {
    let check = |line: &str, good: bool| {
        let parsed = Cli::try_parse_from(line.split(' '));
        assert_eq!(parsed.is_ok(), good, "{line}: {:?}", parsed.err());
    };
    check("agentctl chat", true);
    check("agentctl chat --continue", true);
    check("agentctl chat --session 01JZ --model m", true);
    check("agentctl chat --session 01JZ --new", false);
    check("agentctl chat --continue --new", false);
    check("agentctl send hello world --json --delivery steer", true);
    check("agentctl send --delivery later x", false);
    check("agentctl send --priority critical --ttl 10m x", true);
    check("agentctl send --priority loud x", false);
    check("agentctl send --ttl soon x", false);
    check("agentctl sessions fork 01JZ --at 0", false);
    check("agentctl --home /tmp/x --no-start status --json", true);
    check("agentctl status --socket /tmp/s --color never", true);
    check("agentctl models --json", true);
    check("agentctl send --effort much x", false);
    check("agentctl sessions set last --effort low", true);
    check("agentctl sessions set last", false);
    check("agentctl sessions set last --mode auto-edit --work docs", true);
    check("agentctl chat --mode yolo", false);
    check("agentctl approvals deny 01JZ --reason no", true);
    check("agentctl approvals allow", false);
    check("agentctl tools run calculator expression=1+1 --yes", true);
    check("agentctl tools run calculator a=1 --json-args {}", false);
    check("agentctl tools run time --session last --workspace .", false);
    check("agentctl send --yes hi", true);
    check("agentctl send --yes --no-wait hi", false);
    check("agentctl goals add a b --priority 3", true);
    check("agentctl goals add a --priority 0", false);
    check("agentctl goals add a --everywhere --workspace .", false);
    check("agentctl undo --change 0", false);
    check("agentctl undo last --change 2 --yes", true);
    check("agentctl config show", true);
    check("agentctl status --server https://box:7443 --ca ca.pem --token-file -", true);
    check("agentctl status --server https://box:7443 --context home", false);
    check("agentctl status --socket /s --server https://box:7443", false);
    check("agentctl status --token agentd_a_b", false);
    check("agentctl context add home --server https://box:7443", true);
    check("agentctl token create phone --scope read --expires 30d --json", true);
    check("agentctl token create phone --expires soon", false);
    check("agentctl memory list --status quarantined --priority high --json", true);
    check("agentctl memory add likes tea --workspace . --agent a", false);
    check("agentctl memory add call --remind 2h", true);
    check("agentctl memory add call --remind soon", false);
    check("agentctl memory add x --importance 6", false);
    check("agentctl memory edit 6FAV01XY --tag a --no-tags", false);
    check("agentctl memory forget 6FAV01XY --yes", false);
    check("agentctl memory forget 6FAV01XY --erase --yes", true);
    check("agentctl memory decay --within 30d", false);
    check("agentctl memory decay --dry-run --within 30d", true);
    check("agentctl search where is it --since 7d --role user --limit 5", true);
    check("agentctl search", false);
    check("agentctl search x --since soon", false);
    check("agentctl search x --limit 101", false);
    check("agentctl completions fish", true);
}

#[test]
fn what_is_broken_by_hand_fits_a_narrow_terminal() {
    fn check(command: &clap::Command) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in text.lines() {
            assert!(line.chars().count() <= 78, "{}: {line}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }
    check(&Cli::command());
}

#[test]
fn the_help_lists_every_exit_code_as_the_manual_does() {
    for exit in crate::exit::Exit::ALL {
        let line = format!("  {:>3}  {}", exit.code(), exit.meaning());
        assert!(EXIT_CODES.lines().any(|known| known == line), "{line}");
    }
}
