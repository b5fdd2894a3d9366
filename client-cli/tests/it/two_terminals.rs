//! Two terminals on one session: the real `agentctl` in two ptys, the real `agentd`.

use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use agentd_testkit::{Gate, Home, LlmServer, ProcessDaemon, ProcessDaemonBuilder, Pty, Reply};

const PROMPT: &str = "❯";

/// The daemon's program, which a build of the workspace puts beside ours.
pub(crate) fn agentd_program() -> PathBuf {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_agentctl")).with_file_name("agentd");
    assert!(program.is_file(), "{} is missing: cargo build -p agentd", program.display());
    program
}

pub(crate) fn agentd() -> ProcessDaemonBuilder {
    ProcessDaemon::builder(agentd_program())
}

pub(crate) fn chat(home: &Home, name: &str, arguments: &[&str]) -> Pty {
    let mut builder = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", agentd_program())
        .env("AGENTCTL_CLIENT", name)
        .current_dir(&home.workspace())
        .size(90, 40)
        .arg("chat");
    for argument in arguments {
        builder = builder.arg(argument);
    }
    builder.spawn()
}

/// Leaves a chat, so that it starts no daemon that outlives the test.
pub(crate) async fn leave(terminal: Pty) {
    terminal.wait_for(PROMPT).await;
    terminal.send("\x04");
    assert_eq!(terminal.wait_exit().await, 0);
}

/// The answers that a terminal shows, without what it says about others and itself.
fn answers(terminal: &Pty) -> Vec<String> {
    let text = terminal.text();
    let is_answer = |line: &&str| line.starts_with("answer ");
    text.lines().map(str::trim_end).filter(is_answer).map(str::to_owned).collect()
}

/// An answer of three lines that stops after each until its gate opens.
fn gated_answer(name: &str, gates: &[Gate; 2]) -> Reply {
    Reply::sse()
        .text_delta(&format!("answer {name} 使用 one\n\n"))
        .wait(&gates[0])
        .text_delta(&format!("answer {name} 😀 two\n\n"))
        .wait(&gates[1])
        .text_delta(&format!("answer {name} three\n"))
        .finish("stop")
        .done()
}

#[tokio::test]
async fn two_terminals_share_a_session_and_end_with_the_same_text() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let first = [Gate::new(), Gate::new()];
    let second = [Gate::new(), Gate::new()];
    llm.push(gated_answer("first", &first));
    llm.push(gated_answer("second", &second));
    llm.push(Reply::text("answer third\n"));

    let ann = chat(daemon.home(), "ann", &["--new"]);
    ann.wait_for(PROMPT).await;
    ann.send("question of ann\r");
    ann.wait_for("answer first 使用 one").await;

    // Bob comes in the middle of the stream and gets it from its start.
    let bob = chat(daemon.home(), "bob", &["--continue"]);
    bob.wait_for("answer first 使用 one").await;
    ann.wait_for("bob joined").await;
    first[0].release();
    bob.wait_for("answer first 😀 two").await;
    ann.wait_for("answer first 😀 two").await;
    first[1].release();
    bob.wait_for("answer first three").await;
    ann.wait_for("answer first three").await;

    // Ann sends while Bob's turn runs.
    bob.send("question of bob\r");
    bob.wait_for("answer second 使用 one").await;
    ann.wait_for("question of bob").await;
    ann.send("ann once more\r");
    bob.wait_for("ann once more").await;
    ann.wait_for("queued").await;
    second[0].release();
    second[1].release();
    for terminal in [&ann, &bob] {
        terminal.wait_for("answer third").await;
    }

    let expect = [
        "answer first 使用 one",
        "answer first 😀 two",
        "answer first three",
        "answer second 使用 one",
        "answer second 😀 two",
        "answer second three",
        "answer third",
    ];
    assert_eq!(answers(&ann), expect);
    assert_eq!(answers(&bob), expect);
    assert_eq!(llm.violations(), Vec::<String>::new());
    leave(ann).await;
    leave(bob).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn who_interrupts_is_seen_by_the_other_terminal() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::sse().text_delta("answer begun\n\n").stall());
    let ann = chat(daemon.home(), "ann", &["--new"]);
    ann.wait_for(PROMPT).await;
    ann.send("a long one\r");
    ann.wait_for("answer begun").await;
    let bob = chat(daemon.home(), "bob", &["--continue"]);
    bob.wait_for("answer begun").await;
    bob.send("\x03");
    for terminal in [&ann, &bob] {
        terminal.wait_for("interrupted").await;
    }
    ann.wait_for("by bob").await;
    leave(ann).await;
    leave(bob).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_killed_daemon_is_started_again_and_the_stream_goes_on_where_it_stopped() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let gates = [Gate::new(), Gate::new()];
    llm.push(gated_answer("first", &gates));
    let ann = chat(daemon.home(), "ann", &["--new"]);
    ann.wait_for(PROMPT).await;
    ann.send("survive this\r");
    ann.wait_for("answer first 使用 one").await;
    let home = daemon.kill().await;

    // The chat starts another daemon by itself, which asks about the turn.
    ann.wait_for("connection lost").await;
    ann.wait_for("Go on with it?").await;
    llm.push(Reply::text("answer whole\n"));
    ann.send("continue\r");
    ann.wait_for("answer whole").await;
    leave(ann).await;
    // Enough to see that the session lives: the daemon that the chat started is told to end.
    let ended = tokio::process::Command::new(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .arg("shutdown")
        .output()
        .await
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

/// Leaves the chat in some way and compares the terminal's modes with those before.
async fn check_restored(home: &Home, what: &str, leave: impl FnOnce(&Pty)) {
    let terminal = chat(home, "ann", &["--new"]);
    terminal.wait_for(PROMPT).await;
    assert_ne!(terminal.modes(), terminal.modes_at_start(), "{what}: the editor is on");
    leave(&terminal);
    terminal.wait_exit().await;
    assert_eq!(terminal.modes(), terminal.modes_at_start(), "{what}");
}

#[tokio::test]
async fn tu_02_the_terminal_is_as_before_however_the_chat_ends() {
    let daemon = agentd().start().await;
    let signal = |signal: Signal| {
        move |terminal: &Pty| {
            let pid = i32::try_from(terminal.pid()).ok().and_then(Pid::from_raw).unwrap();
            kill_process(pid, signal).unwrap();
        }
    };
    check_restored(daemon.home(), "Ctrl-D", |terminal| terminal.send("\x04")).await;
    check_restored(daemon.home(), "/quit", |terminal| terminal.send("/quit\r")).await;
    check_restored(daemon.home(), "SIGTERM", signal(Signal::TERM)).await;
    check_restored(daemon.home(), "SIGHUP", signal(Signal::HUP)).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_script_whose_daemon_is_stopped_ends_and_a_waiting_chat_does_not_undo_it() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::sse().text_delta("answer begun\n\n").stall());
    let ann = chat(daemon.home(), "ann", &["--new"]);
    ann.wait_for(PROMPT).await;
    let mut send = tokio::process::Command::new(env!("CARGO_BIN_EXE_agentctl"));
    send.env("AGENTD_HOME", daemon.home().dir()).env("AGENTD_BIN", agentd_program());
    send.args(["send", "--session", "last", "a long one"]);
    let send = send.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    ann.wait_for("answer begun").await;

    let home = daemon.terminate().await;
    let ended = send.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    ann.wait_for("was stopped").await;
    // Its message starts a daemon, which knows of the turn.
    assert!(!home.paths().socket().exists());
    llm.push(Reply::text("answer anew\n"));
    ann.send("go on then\r");
    ann.wait_for("answer anew").await;
    leave(ann).await;
    let ended = tokio::process::Command::new(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .arg("shutdown")
        .output()
        .await
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}
