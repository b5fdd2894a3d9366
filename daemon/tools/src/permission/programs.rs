//! What is known of programs by their names and arguments.

/// Programs that run what their arguments say. A rule for one of them holds for exactly its words:
/// "further arguments" would mean any program at all.
const LAUNCHERS: [&str; 56] = [
    "at", "awk", "bash", "builtin", "busybox", "chroot", "chrt", "command", "coproc", "dash",
    "doas", "docker", "env", "eval", "exec", "expect", "find", "fish", "flock", "gawk", "gdb",
    "ionice", "kubectl", "ld.so", "ltrace", "make", "nice", "node", "nohup", "npx", "nsenter",
    "parallel", "perl", "php", "podman", "python", "python3", "ruby", "runuser", "script",
    "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo", "taskset", "terminal",
    "time", "timeout", "trap", "watch", "xargs", "zsh",
];

/// Programs that run the one that their arguments name, once, and end as it does.
const AROUND: [&str; 5] = ["env", "nice", "stdbuf", "time", "timeout"];

/// True when arguments can make the program run others.
pub(super) fn is_launcher(program: &str) -> bool {
    LAUNCHERS.binary_search(&base_name(program)).is_ok()
}

/// True when the command, or the one that is run around it, begins with these words.
pub(super) fn begins_with(command: &[Option<String>], words: &str) -> bool {
    let known: Vec<&str> = command.iter().map_while(Option::as_deref).collect();
    let wanted: Vec<&str> = words.split_whitespace().collect();
    let is_around = known.first().is_some_and(|program| AROUND.contains(&base_name(program)));
    known.starts_with(&wanted)
        || (is_around && known.windows(wanted.len().max(1)).any(|window| window == wanted))
}

/// The last part of a program's path.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Programs that read what they are told to and write nothing but their output, with the options
/// that would make them do more.
const READERS: &[(&str, &[&str])] = &[
    ("basename", &[]),
    ("cat", &[]),
    ("cksum", &[]),
    ("cmp", &[]),
    ("comm", &[]),
    ("cut", &[]),
    ("date", &["-s", "--set"]),
    ("df", &[]),
    ("diff", &[]),
    ("dirname", &[]),
    ("du", &[]),
    ("echo", &[]),
    ("expand", &[]),
    ("false", &[]),
    ("fold", &[]),
    ("grep", &[]),
    ("head", &[]),
    ("hexdump", &[]),
    ("id", &[]),
    ("ls", &[]),
    ("md5sum", &[]),
    ("nl", &[]),
    ("nproc", &[]),
    ("od", &[]),
    ("paste", &[]),
    ("printf", &["-v"]),
    ("pwd", &[]),
    ("readlink", &[]),
    ("realpath", &[]),
    ("rev", &[]),
    ("seq", &[]),
    ("sha1sum", &[]),
    ("sha256sum", &[]),
    ("sha512sum", &[]),
    ("stat", &[]),
    ("strings", &[]),
    ("tac", &[]),
    ("tail", &[]),
    ("test", &[]),
    ("tr", &[]),
    ("true", &[]),
    ("type", &[]),
    ("uname", &[]),
    ("wc", &[]),
    ("which", &[]),
    ("whoami", &[]),
];

/// Subcommands of git that only look. Options before the subcommand change what git runs, so there
/// must be none; an option that writes or starts something is refused.
const GIT_READERS: [&str; 12] = [
    "blame",
    "cat-file",
    "describe",
    "diff",
    "log",
    "ls-files",
    "ls-tree",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

/// Subcommands of git that change its own files and run nothing but what the repository's settings and
/// hooks name, which no command can change. Those that ask other repositories do so over HTTP alone:
/// the sandbox refuses all other ways.
const GIT_WRITERS: [&str; 19] = [
    "add",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "fetch",
    "merge",
    "mv",
    "pull",
    "push",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
];

/// Options of these that name a program, or go into repositories in this one.
const GIT_WRITERS_REFUSED: [&str; 7] =
    ["--exec", "-x", "--strategy", "-s", "--receive-pack", "--recurse-submodules", "--upload-pack"];

const GIT_REFUSED: [&str; 5] =
    ["--output", "--ext-diff", "--textconv", "--open-files-in-pager", "-O"];

/// True when the command only reads files and writes to its output.
pub(super) fn only_reads(argv: &[&str]) -> bool {
    let Some((program, arguments)) = argv.split_first() else { return false };
    if *program == "git" {
        return arguments.split_first().is_some_and(|(subcommand, rest)| {
            GIT_READERS.contains(subcommand) && !uses_any(rest, &GIT_REFUSED)
        });
    }
    READERS
        .binary_search_by_key(program, |(name, _)| name)
        .ok()
        .and_then(|index| READERS.get(index))
        .is_some_and(|(_, refused)| !uses_any(arguments, refused))
}

/// True when the command is git changing its own files, and starts no other program.
pub(super) fn is_plain_git(argv: &[&str]) -> bool {
    matches!(argv, ["git", subcommand, rest @ ..]
        if GIT_WRITERS.contains(subcommand) && !uses_any(rest, &GIT_WRITERS_REFUSED))
}

/// True when an argument is one of the options, a longer or shorter spelling of one, or holds its
/// letter among others.
fn uses_any(arguments: &[&str], options: &[&str]) -> bool {
    arguments.iter().any(|argument| {
        options.iter().any(|option| {
            let name = argument.split('=').next().unwrap_or(argument);
            let is_long = option.starts_with("--");
            if is_long {
                // Programs take a long option by any beginning of its name.
                name.starts_with("--")
                    && name.len() > 2
                    && (option.starts_with(name) || name.starts_with(option))
            } else {
                let letter = option.trim_start_matches('-');
                argument.starts_with('-')
                    && !argument.starts_with("--")
                    && argument.contains(letter)
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(LAUNCHERS.is_sorted());
        assert!(AROUND.iter().all(|program| is_launcher(program)));
        assert!(READERS.is_sorted_by_key(|(name, _)| *name));
        assert!(GIT_READERS.is_sorted());
        assert!(GIT_WRITERS.is_sorted());
    }

    #[test]
    fn programs_that_only_read_are_known_with_their_options() {
        let check = |command: &str, expect: bool| {
            let argv: Vec<&str> = command.split(' ').collect();
            assert_eq!(only_reads(&argv), expect, "{command}");
        };
        for command in
            ["ls -la", "git status --short", "git log -3 --oneline", "grep -rn x .", "date -u"]
        {
            check(command, true);
        }
        for command in [
            "rm x",
            "./ls",
            "/tmp/ls",
            "git push",
            "git -c core.pager=x status",
            "git -C / status",
            "git --git-dir=x log",
            "git",
            "git diff --output=x",
            "git diff --outpu=x",
            "git log --ext-diff",
            "git grep -Oless x",
            "date -s x",
            "date --se=x",
            "date -us x",
            "printf -v x y",
            "find . -delete",
            "sort -o x y",
            "sed -i x",
            "tee x",
        ] {
            check(command, false);
        }
    }

    #[test]
    fn git_that_names_no_program_may_change_its_own_files() {
        let check = |command: &str, expect: bool| {
            let argv: Vec<&str> = command.split(' ').collect();
            assert_eq!(is_plain_git(&argv), expect, "{command}");
        };
        for command in [
            "git fetch",
            "git fetch --all --prune --tags --no-recurse-submodules",
            "git pull --rebase origin main",
            "git push -u origin HEAD:refs/heads/x",
            "git push --force-with-lease",
            "git push --set-upstream origin x",
            "git commit -m x",
        ] {
            check(command, true);
        }
        for command in [
            "git -c core.sshCommand=x fetch",
            "git --config-env=core.sshCommand=X fetch",
            "git fetch --upload-pack=x origin",
            "git fetch --upl x origin",
            "git pull --upload-pack x",
            "git pull --strategy=x",
            "git pull -s x",
            "git push --receive-pack=x",
            "git push --rece=x",
            "git push --exec=x",
            "git push --exe x",
            "git fetch --recurse-submodules",
            "git push --recurse-submodules=on-demand",
            "git rebase -x y",
            "git remote add x y",
            "git submodule update",
            "git clone x",
            "git config x y",
            "./git fetch",
        ] {
            check(command, false);
        }
    }

    #[test]
    fn launchers_are_known_by_any_path() {
        assert!(is_launcher("env"));
        assert!(is_launcher("/usr/bin/env"));
        assert!(!is_launcher("cargo"));
    }
}
