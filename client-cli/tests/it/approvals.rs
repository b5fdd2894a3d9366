//! Answers to approvals while the connection is gone: the real `agentctl` in a pty, the real `agentd`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agentd_testkit::{Home, LlmServer, Passage, Pty, PtyBuilder, Reply};

use crate::two_terminals::{agentd, agentd_program, leave};

fn chat(home: &Home, name: &str, value: &Path, arguments: &[&str]) -> Pty {
    let builder = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env(name, value)
        .env("AGENTCTL_CLIENT", "ann")
        .current_dir(&home.workspace())
        .size(90, 40)
        .arg("chat");
    arguments.iter().fold(builder, PtyBuilder::arg).spawn()
}

fn writes() -> Reply {
    Reply::tool_call("write_file", r#"{"path":"a.txt","content":"one"}"#)
}

/// What users said, as the model was told last.
fn said(llm: &LlmServer) -> Vec<String> {
    let requests = llm.requests();
    let messages = requests.last().unwrap().messages().iter();
    let users = messages.filter(|message| message["role"] == "user");
    users.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A program that is `agentd` once somebody writes into the pipe beside it.
fn waiting_agentd(dir: &Path) -> (PathBuf, PathBuf) {
    let (program, pipe) = (dir.join("agentd-later"), dir.join("agentd-later.go"));
    let text =
        format!("#!/bin/sh\nread -r _ < \"$0.go\"\nexec {} \"$@\"\n", agentd_program().display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    (program, pipe)
}

#[tokio::test]
async fn a_yes_that_is_typed_while_a_killed_daemon_returns_is_told_and_never_a_message() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    let dir = tempfile::tempdir().unwrap();
    let (program, pipe) = waiting_agentd(dir.path());
    llm.push(writes());
    let ann = chat(daemon.home(), "AGENTD_BIN", &program, &["--new"]);
    ann.wait_for("❯").await;
    ann.send("write it\r");
    ann.wait_for("y) allow once").await;
    let home = daemon.kill().await;
    ann.wait_for("connection lost").await;
    // Long after it was asked, so that it is meant for what is on the screen.
    ann.send("y 1\r");
    ann.wait_for("kept: #1").await;
    tokio::task::spawn_blocking(move || std::fs::write(pipe, "go\n").unwrap()).await.unwrap();
    ann.wait_for("your answer to #1 was not given: its turn was cut off").await;
    ann.wait_for("Go on with it?").await;
    // Nor is it one for the question that stands there now.
    ann.send("y\r");
    ann.wait_for("was not sent").await;
    assert!(!home.workspace().join("a.txt").exists());

    llm.push(Reply::text("answer whole\n"));
    ann.send("continue\r");
    ann.wait_for("? #2").await;
    ann.send("y 2\r");
    ann.wait_for("answer whole").await;
    assert_eq!(std::fs::read_to_string(home.workspace().join("a.txt")).unwrap(), "one");
    assert_eq!(said(&llm), ["write it"]);
    leave(ann).await;
    let ended = tokio::process::Command::new(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .arg("shutdown")
        .output()
        .await
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

#[tokio::test]
async fn a_yes_that_is_typed_while_the_connection_is_gone_is_given_when_the_approval_still_waits() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut passage = Passage::open(dir.path().join("s"), daemon.home().paths().socket());
    llm.push(writes());
    llm.push(Reply::text("answer whole\n"));
    let arguments = ["--new", "--socket", passage.socket().to_str().unwrap()];
    let ann = chat(daemon.home(), "AGENTD_BIN", &agentd_program(), &arguments);
    ann.wait_for("❯").await;
    ann.send("write it\r");
    ann.wait_for("y) allow once").await;
    passage.cut().await;
    ann.wait_for("connection lost").await;
    ann.send("n 1\r");
    ann.wait_for("kept: #1").await;
    // Another answer to the same replaces the one that was kept.
    ann.send("y 1\r");
    ann.wait_until("two answers", |text| text.matches("kept: #1").count() == 2).await;
    assert!(!daemon.home().workspace().join("a.txt").exists());

    passage.reopen();
    ann.wait_for("answer whole").await;
    assert_eq!(std::fs::read_to_string(daemon.home().workspace().join("a.txt")).unwrap(), "one");
    assert_eq!(said(&llm), ["write it"]);
    leave(ann).await;
    passage.cut().await;
    daemon.terminate().await;
}
