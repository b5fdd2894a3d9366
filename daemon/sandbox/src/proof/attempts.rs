//! Attempts to get out, as scripts for bash, and what came of them.

use std::path::Path;

use super::stage::{RUN_LATER, SECRET, Stage};
use crate::{Policy, Promise};

/// Runs one attempt and says how it ended; what it writes is of no interest.
const TRY: &str = "try() { if (eval \"$2\") </dev/null >/dev/null 2>&1; then echo \"OUT $1\"; \
                   else echo \"HELD $1\"; fi; }\n";

/// The last line of a script: without it, it was not run to its end.
const END: &str = "END";

/// What came of the attempts of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Those that succeeded.
    pub got_out: Vec<String>,
    /// Those that failed.
    pub held: Vec<String>,
    /// All were made.
    pub is_whole: bool,
}

impl Attempts {
    pub(super) fn read(output: &str) -> Self {
        let with = |word: &str| {
            output.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
        };
        Self {
            got_out: with("OUT "),
            held: with("HELD "),
            is_whole: output.lines().last() == Some(END),
        }
    }
}

/// The attempts against a promise, where it is about attempts.
pub(super) fn script(promise: Promise, stage: &Stage, policy: &Policy) -> Option<String> {
    let attempts = match promise {
        Promise::WriteOutside => write_outside(stage),
        Promise::Modes => modes(stage),
        Promise::Secrets => secrets(stage, policy),
        Promise::Links => links(stage),
        Promise::ReadOnly => read_only(),
        Promise::RunLater => run_later(),
        Promise::Processes => processes(stage.victim()),
        Promise::Signals => {
            let pid = stage.victim();
            vec![("a signal", format!("kill -CONT {pid}"))]
        }
        Promise::ProcessList => {
            let pid = stage.victim();
            vec![("its entry in /proc", format!("test -e /proc/{pid}"))]
        }
        Promise::Network => network(stage),
        Promise::Hosts => hosts(stage),
        Promise::Rights
        | Promise::Environment
        | Promise::ProcessCount
        | Promise::Memory
        | Promise::TotalMemory
        | Promise::CpuTime
        | Promise::CpuShare
        | Promise::FileSize
        | Promise::TemporarySpace
        | Promise::WallTime
        | Promise::Leftovers => return None,
    };
    let tries: Vec<String> = attempts
        .iter()
        .map(|(name, attempt)| format!("try {} {}\n", quoted(name), quoted(attempt)))
        .collect();
    let first = if promise == Promise::Hosts { way_out(stage) } else { String::new() };
    Some(format!("{TRY}{first}{}echo {END}\n", tries.concat()))
}

type Attempt = (&'static str, String);

fn write_outside(stage: &Stage) -> Vec<Attempt> {
    let outside = stage.outside.path();
    let (file, new) = (path(&outside.join("file")), |name: &str| path(&outside.join(name)));
    let beside = outside.file_name().unwrap_or_default().to_string_lossy();
    vec![
        ("a new file beside it", format!("echo x > {}", new("new"))),
        ("a file beside it", format!("echo x >> {file}")),
        ("a way up", format!("echo x > ../{beside}/up")),
        ("the root of its process", format!("echo x > /proc/self/root{}", new("root"))),
        ("cutting off a file", perl(&format!("exit(truncate({file}, 0) ? 0 : 1)"))),
        (
            "cutting off a file that is opened for reading",
            perl(&format!("use Fcntl; exit(sysopen(F, {file}, O_RDONLY | O_TRUNC) ? 0 : 1)")),
        ),
        (
            "cutting off a file that is opened for nothing",
            perl(&format!("use Fcntl; exit(sysopen(F, {file}, 3 | O_TRUNC) ? 0 : 1)")),
        ),
        ("another name for a file", format!("mv {file} {}", new("moved"))),
        ("removing a file", format!("rm {}", new("moved"))),
    ]
}

fn modes(stage: &Stage) -> Vec<Attempt> {
    let outside = stage.outside.path();
    let file = path(&outside.join("file"));
    vec![
        ("the mode of a file", format!("chmod 777 {file}")),
        ("the mode of a directory", format!("chmod 700 {}", path(outside))),
        ("the times of a file", format!("touch -c -d @0 {file} && test -e {file}")),
        (
            "the time of a file by its name",
            perl(&format!("exit(utime(undef, undef, {file}) == 1 ? 0 : 1)")),
        ),
    ]
}

fn secrets(stage: &Stage, policy: &Policy) -> Vec<Attempt> {
    let secret = path(&stage.outside.path().join("secret"));
    let mut attempts = vec![
        ("a file beside it", format!("grep -q {SECRET} {secret}")),
        ("its directory", format!("ls {} | grep -q .", path(stage.outside.path()))),
        ("a copy", format!("cp {secret} copied && grep -q {SECRET} copied")),
    ];
    for hidden in &policy.hidden {
        attempts.push(("the daemon's own files", format!("ls -A {} | grep -q .", path(hidden))));
    }
    if let Some(home) = std::env::home_dir() {
        for name in [".ssh", ".gnupg", ".aws", ".netrc"] {
            let key = path(&home.join(name));
            attempts.push(("keys of the user", format!("ls -A {key} | grep -q . || cat {key}")));
        }
    }
    attempts.push(("passwords of the system", "cat /etc/shadow".to_owned()));
    attempts
}

fn links(stage: &Stage) -> Vec<Attempt> {
    let outside = stage.outside.path();
    let (secret, file) = (path(&outside.join("secret")), path(&outside.join("file")));
    vec![
        (
            "reading through a symbolic link",
            format!("ln -sfn {secret} symbolic && grep -q {SECRET} symbolic"),
        ),
        (
            "reading through a link to the directory",
            format!("ln -sfn {} dir && grep -q {SECRET} dir/secret", path(outside)),
        ),
        ("reading through a hard link", format!("ln -f {secret} hard && grep -q {SECRET} hard")),
        ("writing through a symbolic link", format!("ln -sfn {file} w && echo x >> w")),
        ("writing through a hard link", format!("ln -f {file} h && echo x >> h")),
        (
            "a link that is put in place of a directory",
            format!("mkdir -p d && rmdir d && ln -s {} d && echo x > d/swapped", path(outside)),
        ),
    ]
}

fn read_only() -> Vec<Attempt> {
    [
        ("a file", "echo x >> file"),
        ("a new file", "echo x > new"),
        ("a hard link", "ln file hard"),
        ("another name", "mv file moved"),
        ("the mode", "chmod 700 ."),
        ("the time", "touch file"),
        ("removing a file", "rm -f moved file && test ! -e file"),
    ]
    .map(|(name, attempt)| (name, attempt.to_owned()))
    .into()
}

fn run_later() -> Vec<Attempt> {
    let mut attempts: Vec<Attempt> =
        RUN_LATER.iter().map(|name| (*name, format!("echo x >> {name}"))).collect();
    attempts.extend([
        ("a new hook", "echo x > .git/hooks/post-commit".to_owned()),
        ("other settings of git", "echo ../evil > .git/commondir".to_owned()),
        ("a new workflow", "echo x > .github/workflows/new.yml".to_owned()),
        ("another .git in its place", "mv .git .old && cp -r .old .git".to_owned()),
        ("another .github in its place", "mv .github .old-ci && cp -r .old-ci .github".to_owned()),
    ]);
    attempts
}

fn processes(pid: u32) -> Vec<Attempt> {
    let mut attempts = vec![
        ("its environment", format!("tr '\\0' '\\n' < /proc/{pid}/environ | grep -q {SECRET}")),
        ("its files", format!("ls /proc/{pid}/root/ /proc/{pid}/cwd/")),
        ("its memory", format!("exec 3<> /proc/{pid}/mem")),
    ];
    if cfg!(target_arch = "x86_64") {
        // ptrace(PTRACE_SEIZE).
        let seize = format!("exit(syscall(101, 0x4206, {pid}, 0, 0) == 0 ? 0 : 1)");
        attempts.push(("tracing it", perl(&seize)));
    }
    attempts
}

fn network(stage: &Stage) -> Vec<Attempt> {
    let Stage { tcp_port, abstract_name, .. } = stage;
    let socket = stage.outside.path().join("socket").display().to_string();
    let connect = |address: &str| {
        let script = format!(
            "socket(S, PF_UNIX, SOCK_STREAM, 0) and connect(S, pack_sockaddr_un(\"{address}\")) \
             and exit 0; exit 1"
        );
        format!("command -v perl && perl -MSocket -e {}", quoted(&script))
    };
    vec![
        ("TCP", format!("exec 3<> /dev/tcp/127.0.0.1/{tcp_port}")),
        ("a socket with a path", connect(&socket)),
        ("a socket with a name", connect(&format!("\\0{abstract_name}"))),
    ]
}

/// Asks the proxy for a host and a port, or the host itself where there is no proxy.
const REACH: &str = "reach() { if [ -n \"$HTTP_PROXY\" ]; then \
                     exec 3<> /dev/tcp/127.0.0.1/${HTTP_PROXY##*:} && \
                     printf 'CONNECT %s:%s HTTP/1.1\\r\\n\\r\\n' \"$1\" \"$2\" >&3 && \
                     read -r _ code _ <&3 && [ \"$code\" = 200 ]; \
                     else exec 3<> \"/dev/tcp/$1/$2\"; fi; }\n";

/// Without the granted host nothing is shown by the others.
fn way_out(stage: &Stage) -> String {
    let port = stage.tcp_port;
    format!(
        "{REACH}(reach 127.0.0.1 {port}) || {{ echo 'a granted host is not reached' >&2; exit 1; }}\n"
    )
}

fn hosts(stage: &Stage) -> Vec<Attempt> {
    let port = stage.tcp_port;
    let mut attempts = network(stage);
    attempts.extend([
        ("a granted name of an address that is not public", format!("reach localhost {port}")),
        ("a host that was not granted", format!("reach 127.1 {port}")),
    ]);
    attempts
}

/// A line of perl, where there is one.
fn perl(script: &str) -> String {
    format!("command -v perl && perl -e {}", quoted(script))
}

/// A path as a word of the shell.
fn path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_told_apart_and_a_script_that_broke_off_is_known() {
        let whole = Attempts::read("HELD a file\nOUT a link\nEND\n");
        assert_eq!(whole.got_out, ["a link"]);
        assert_eq!(whole.held, ["a file"]);
        assert!(whole.is_whole);
        assert!(!Attempts::read("HELD a file\n").is_whole);
    }

    #[test]
    fn words_of_the_shell_are_quoted() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
