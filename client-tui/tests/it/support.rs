//! The program in a terminal beside the real daemon, and what else looks at the same sessions.

use std::path::PathBuf;
use std::process::Stdio;

use agentd_testkit::{Home, ProcessDaemon, ProcessDaemonBuilder, Pty, PtyBuilder, Screen};
use serde_json::Value;
use tokio::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-tui");

/// What the status bar says of a session in which nothing happens.
pub(crate) const READY: &str = "ready";
/// Alt-W.
pub(crate) const WITHDRAW: &str = "\x1bw";

/// Another program of ours, which a build of the workspace puts beside this one.
fn beside(name: &str) -> PathBuf {
    let program = PathBuf::from(PROGRAM).with_file_name(name);
    assert!(program.is_file(), "{} is missing: cargo build --workspace", program.display());
    program
}

/// The real daemon.
pub(crate) fn agentd() -> ProcessDaemonBuilder {
    ProcessDaemon::builder(beside("agentd"))
}

fn client(program: PathBuf, home: &Home, name: &str) -> PtyBuilder {
    Pty::builder(program)
        .env("AGENTD_HOME", home.dir())
        .env("AGENTCTL_CLIENT", name)
        .current_dir(&home.workspace())
        // Narrow enough for the transcript to have the whole width.
        .size(98, 40)
}

/// The program for somebody of this name; it starts no daemon by itself.
pub(crate) fn tui(home: &Home, name: &str) -> PtyBuilder {
    client(PathBuf::from(PROGRAM), home, name).arg("--no-start")
}

/// `agentctl chat` for somebody of this name; it starts no daemon by itself.
pub(crate) fn chat(home: &Home, name: &str) -> PtyBuilder {
    client(beside("agentctl"), home, name).arg("chat").arg("--no-start")
}

/// Waits until the visible screen shows a text within one row.
pub(crate) async fn sees(terminal: &Pty, text: &str) -> Screen {
    terminal.wait_screen(&format!("'{text}' on the screen"), |screen| screen.contains(text)).await
}

/// Waits until the visible screen shows a text no more.
pub(crate) async fn misses(terminal: &Pty, text: &str) -> Screen {
    let what = format!("a screen without '{text}'");
    terminal.wait_screen(&what, |screen| !screen.contains(text)).await
}

/// Starts it in a new session, or as the arguments say, and waits until the session is there.
pub(crate) async fn opened(builder: PtyBuilder) -> Pty {
    let terminal = builder.spawn();
    sees(&terminal, READY).await;
    terminal
}

/// Leaves, and sees that the terminal is as it was.
pub(crate) async fn leave(terminal: Pty) {
    terminal.send("\x03");
    assert_eq!(terminal.wait_exit().await, 0, "{}", terminal.text());
    terminal.assert_restored("after Ctrl-C");
}

/// What `agentctl` prints.
pub(crate) async fn agentctl(home: &Home, arguments: &[&str]) -> String {
    let mut command = Command::new(beside("agentctl"));
    command.env("AGENTD_HOME", home.dir()).env("TZ", "UTC").arg("--no-start");
    command.current_dir(home.workspace()).stdin(Stdio::null()).args(arguments);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The same as JSON.
pub(crate) async fn json(home: &Home, arguments: &[&str]) -> Value {
    let text = agentctl(home, &[arguments, &["--json"]].concat()).await;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
}

/// The events of the session that was used last, as JSON, in order.
pub(crate) async fn events(home: &Home) -> Vec<Value> {
    let text = agentctl(home, &["tail", "last", "-n", "100000", "--json"]).await;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A program that prints the events of a session as they come, from the first on.
pub(crate) fn follower(home: &Home, session_id: &str) -> Command {
    let mut command = Command::new(beside("agentctl"));
    command.env("AGENTD_HOME", home.dir()).env("AGENTCTL_CLIENT", "dan").arg("--no-start");
    command.args(["attach", session_id, "--from", "1", "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    command
}
