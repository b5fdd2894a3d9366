//! The terminal is as it was, however the client ends, and it is ours again after a stop.

use std::process::{Command, Stdio};

use agentd_testkit::{Daemon, LlmServer, Pty, Reply};
use rustix::process::{Pid, Signal, kill_process};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-tui");

/// What the empty composer of an open session stands above.
pub(crate) const READY: &str = "ready";

async fn started(daemon: &Daemon) -> Pty {
    let terminal = Pty::builder(PROGRAM)
        .arg("--socket")
        .arg(daemon.endpoint().socket())
        .env("AGENTD_HOME", daemon.home().dir())
        .current_dir(&daemon.workspace())
        .spawn();
    terminal.wait_until("an open session", |_| terminal.screen().contains(READY)).await;
    assert!(terminal.is_alternate_screen());
    assert_ne!(terminal.modes(), terminal.modes_at_start());
    terminal
}

/// What is left on a terminal after its program has ended.
async fn left(terminal: &Pty) -> (u32, String) {
    let code = terminal.wait_exit().await;
    let told = "come back with: agent-tui --session ";
    terminal.wait_for(told).await;
    assert!(!terminal.is_alternate_screen());
    assert_eq!(terminal.modes(), terminal.modes_at_start());
    (code, terminal.text())
}

#[tokio::test]
async fn who_leaves_gets_the_terminal_back_and_is_told_how_to_come_back() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    llm.push(Reply::text("four hundred and eight"));
    let terminal = started(&daemon).await;
    terminal.send("what is 17% of 2400?\r");
    terminal.wait_for("four hundred and eight").await;
    terminal.send("\x03");
    let (code, text) = left(&terminal).await;
    assert_eq!(code, 0, "{text}");
}

#[tokio::test]
async fn a_signal_ends_it_in_order() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    for (signal, expect) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let terminal = started(&daemon).await;
        let pid = Pid::from_raw(i32::try_from(terminal.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        let (code, text) = left(&terminal).await;
        assert_eq!(code, expect, "{signal:?}\n{text}");
    }
}

#[tokio::test]
async fn after_a_stop_it_has_the_terminal_again() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let shell = Pty::builder("/bin/bash")
        .arg("--norc")
        .env("PS1", "shell> ")
        .env("AGENTD_HOME", daemon.home().dir())
        .current_dir(&daemon.workspace())
        .spawn();
    shell.wait_for("shell>").await;
    let socket = daemon.endpoint().socket().display().to_string();
    shell.send(&format!("{PROGRAM} --socket {socket}\r"));
    shell.wait_until("an open session", |_| shell.screen().contains(READY)).await;
    shell.send("\x1a");
    shell.wait_until("the shell", |_| shell.screen().contains("Stopped")).await;
    assert!(!shell.is_alternate_screen());
    shell.send("fg\r");
    shell.wait_until("the session again", |_| shell.screen().contains(READY)).await;
    assert!(shell.is_alternate_screen());
    // Keys come one by one, and none was lost to whoever asks the terminal something.
    shell.send("typed after the stop");
    shell.wait_until("what is typed", |_| shell.screen().contains("typed after the stop")).await;
    // Drawing all anew asks nothing of the terminal either.
    shell.send("\x1b[15~");
    shell.send(", and more");
    shell.wait_until("more", |_| shell.screen().contains("stop, and more")).await;
    shell.send("\x03");
    shell.wait_until("the shell again", |_| shell.screen().contains("come back with")).await;
    assert!(!shell.is_alternate_screen());
}

#[tokio::test]
async fn a_session_that_does_not_exist_ends_it_before_it_takes_the_terminal() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let terminal = Pty::builder(PROGRAM)
        .arg("--socket")
        .arg(daemon.endpoint().socket())
        .arg("--session")
        .arg("01X0")
        .env("AGENTD_HOME", daemon.home().dir())
        .spawn();
    assert_eq!(terminal.wait_exit().await, 4);
    terminal.wait_for("hint: ").await;
    let text = terminal.text();
    assert!(text.contains("error: no session begins with \"01X0\""), "{text}");
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    let output = Command::new(PROGRAM).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("agentctl send") && told.contains("agentctl chat"), "{told}");
}
