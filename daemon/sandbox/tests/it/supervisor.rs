//! The first process of a container, tried in a process namespace of its own: it needs no engine.

use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::boxes::PATIENCE;

const SUPERVISOR: &str = include_str!("../../src/container/supervisor.sh");

/// Runs a program as the first of a process namespace.
fn first(program: &str) -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--pid", "--fork", "--mount-proc", "--kill-child", program]).kill_on_drop(true);
    command
}

fn supervised(mounts: &[&str], script: &str) -> Command {
    let mut command = first("sh");
    command
        .args(["-c", SUPERVISOR, "sh", "2000000", "4000000"])
        .args(mounts)
        .args(["--", "bash", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// False, and said, where nobody may make a process namespace.
async fn is_possible() -> bool {
    let tried = first("true").output().await;
    let is_possible = tried.as_ref().is_ok_and(|tried| tried.status.success());
    if !is_possible {
        println!("supervisor of containers: skipped: no process namespace: {tried:?}");
    }
    is_possible
}

/// A program that says `ready` and goes on.
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    async fn ready(script: &str) -> Self {
        let mut child = supervised(&[], script).spawn().expect("it starts");
        let input = child.stdin.take().expect("input");
        let mut output = BufReader::new(child.stdout.take().expect("output"));
        let mut line = String::new();
        let read = timeout(PATIENCE, output.read_line(&mut line)).await;
        read.expect("in time").expect("a line");
        assert_eq!(line, "ready\n", "{script}");
        Self { child, input, output }
    }

    /// Its end, once the input has ended, and what it wrote until then.
    async fn ended(mut self) -> (ExitStatus, String) {
        drop(self.input);
        let mut text = String::new();
        let read = timeout(PATIENCE, self.output.read_to_string(&mut text)).await;
        read.expect("it ends").expect("text");
        (self.child.wait().await.expect("a status"), text)
    }
}

#[tokio::test]
async fn sh_02_the_end_of_the_input_ends_a_program_that_has_signalled_all_that_it_can() {
    if !is_possible().await {
        return;
    }
    for signal in ["kill 0", "kill -TERM -1", "true"] {
        let script = format!("trap '' TERM; {signal}; echo ready; sleep 600; echo late");
        let (status, text) = Running::ready(&script).await.ended().await;
        assert!(!status.success(), "{signal}");
        assert_eq!(text, "", "{signal}");
    }
}

#[tokio::test]
async fn a_program_that_is_asked_to_end_may_say_goodbye() {
    if !is_possible().await {
        return;
    }
    let script = "trap 'echo bye; exit 4' TERM; echo ready; sleep 600 & wait";
    let mut running = Running::ready(script).await;
    running.input.write_all(b"T\n").await.expect("a line");
    let mut text = String::new();
    let read = timeout(PATIENCE, running.output.read_to_string(&mut text)).await;
    read.expect("it ends").expect("text");
    assert_eq!(text, "bye\n");
    assert_eq!(running.child.wait().await.expect("a status").code(), Some(4));
}

#[tokio::test]
async fn sh_01_the_code_is_the_programs_and_what_it_leaves_running_is_ended() {
    if !is_possible().await {
        return;
    }
    for code in [0, 5, 127, 145] {
        let script = format!("echo ready; sleep 600 & exit {code}");
        let mut running = Running::ready(&script).await;
        let status = timeout(PATIENCE, running.child.wait()).await.expect("it ends");
        assert_eq!(status.expect("a status").code(), Some(code));
    }
}

#[tokio::test]
async fn nothing_runs_where_a_mount_is_not_what_was_looked_at() {
    if !is_possible().await {
        return;
    }
    let output = supervised(&["1:1", "/"], "echo run").stdin(Stdio::null()).output().await;
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(output.stdout, b"");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(errors, "agentd: / was exchanged while the container was made; nothing was run\n");
}
