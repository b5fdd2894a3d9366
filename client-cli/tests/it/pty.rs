//! The chat in a terminal: keys, pastes, sizes, signals, and what is left of the terminal afterwards.

use agentd_testkit::{Gate, Home, LlmServer, Modes, Pty, PtyBuilder, Reply};
use rustix::process::Signal;

use crate::two_terminals::{agentd, agentd_program};

const PROMPT: &str = "❯";

fn chat(home: &Home, arguments: &[&str]) -> PtyBuilder {
    let builder = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", agentd_program())
        .env("AGENTCTL_CLIENT", "ann")
        .current_dir(&home.workspace())
        .size(90, 30)
        .arg("chat");
    arguments.iter().fold(builder, PtyBuilder::arg)
}

/// Leaves the chat and looks at what it has left.
async fn leave(terminal: &Pty) {
    terminal.wait_screen("the prompt", |screen| screen.modes().bracketed_paste).await;
    terminal.send("\x04");
    assert_eq!(terminal.wait_exit().await, 0);
    terminal.assert_restored("Ctrl-D");
}

/// What the user said last, as the model was told.
fn said(llm: &LlmServer) -> String {
    let requests = llm.requests();
    let messages = requests.last().unwrap().messages();
    let last = messages.iter().rev().find(|message| message["role"] == "user").unwrap();
    last["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn keys_and_a_paste_of_several_lines_are_one_message() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::text("answer **strong**\n"));
    let ann = chat(daemon.home(), &["--new"]).spawn();
    ann.wait_screen("an editor that takes pastes", |screen| {
        screen.contains(PROMPT) && screen.modes().bracketed_paste
    })
    .await;
    ann.send("look: ");
    ann.paste("使用\n\tthis; /quit\n");
    let screen = ann.wait_screen("the paste", |screen| screen.contains("this; /quit")).await;
    assert!(screen.contains("look: 使用"), "{}", screen.text());
    assert_eq!(llm.requests().len(), 0, "a paste sends nothing");
    ann.send("\r");
    let screen = ann.wait_screen("the answer", |screen| screen.contains("answer strong")).await;
    assert!(screen.cell_of("strong").unwrap().bold && !screen.cell_of("answer").unwrap().bold);
    assert_eq!(
        said(&llm).split_whitespace().collect::<Vec<_>>(),
        ["look:", "使用", "this;", "/quit"]
    );
    leave(&ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn tab_completes_what_the_daemon_and_the_workspace_have() {
    let daemon = agentd().start().await;
    std::fs::write(daemon.home().workspace().join("notes-of-may.txt"), "").unwrap();
    let ann = chat(daemon.home(), &["--new"]).spawn();
    ann.wait_screen("an editor", |screen| screen.modes().bracketed_paste).await;
    for (typed, expect) in [
        ("look at @not", "❯ look at @notes-of-may.txt"),
        ("look at @may", "❯ look at @notes-of-may.txt"),
        ("/tools write_f", "❯ /tools write_file"),
        ("/model defau", "❯ /model default"),
        ("/titl", "❯ /title"),
    ] {
        ann.send(&format!("{typed}\t"));
        ann.wait_screen(expect, |screen| screen.contains(expect)).await;
        ann.send("\x15");
        ann.wait_screen("an empty line", |screen| !screen.contains(expect)).await;
    }
    leave(&ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn any_size_is_borne_while_an_answer_streams() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    llm.push(
        Reply::sse()
            .text_delta("answer begins\n\n")
            .wait(&gates[0])
            .text_delta("| a | 使用 😀 |\n|---|---|\n| 1 | 2 |\n\n")
            .wait(&gates[1])
            .text_delta(&format!("{}\n\n", "long ".repeat(200)))
            .wait(&gates[2])
            .text_delta("answer ends\n")
            .finish("stop")
            .done(),
    );
    let ann = chat(daemon.home(), &["--new"]).spawn();
    ann.wait_for(PROMPT).await;
    ann.send("go\r");
    ann.wait_for("answer begins").await;
    for (gate, (cols, rows)) in gates.iter().zip([(1, 1), (500, 100), (20, 5)]) {
        ann.resize(cols, rows);
        gate.release();
    }
    ann.resize(80, 24);
    ann.wait_for("answer ends").await;
    leave(&ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn ctrl_c_interrupts_the_turn_and_the_line_goes_on() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::sse().text_delta("answer begun\n\n").stall());
    llm.push(Reply::text("answer two\n"));
    let ann = chat(daemon.home(), &["--new"]).spawn();
    ann.wait_for(PROMPT).await;
    ann.send("a long one\r");
    ann.wait_for("answer begun").await;
    ann.send("\x03");
    ann.wait_for("interrupted").await;
    ann.send("another\r");
    ann.wait_for("answer two").await;
    leave(&ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn an_approval_is_given_with_a_key() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    llm.push(Reply::tool_call("write_file", r#"{"path":"a.txt","content":"one"}"#));
    llm.push(Reply::text("answer done\n"));
    let ann = chat(daemon.home(), &["--new"]).spawn();
    ann.wait_for(PROMPT).await;
    ann.send("write it\r");
    let screen = ann.wait_screen("what it asks", |screen| screen.contains("y) allow once")).await;
    assert!(screen.contains("a.txt"), "{}", screen.text());
    assert!(!daemon.home().workspace().join("a.txt").exists());
    // Right after it was asked a bare key would be taken for a slip.
    ann.send("y 1\r");
    ann.wait_for("answer done").await;
    let written = std::fs::read_to_string(daemon.home().workspace().join("a.txt"));
    assert_eq!(written.unwrap(), "one");
    leave(&ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_chat_that_is_stopped_with_ctrl_z_gives_the_terminal_back_and_goes_on() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::text("answer after it\n"));
    let ann = chat(daemon.home(), &["--new"]).in_shell().spawn();
    ann.wait_for(PROMPT).await;
    ann.send("typed ");
    ann.wait_for("typed").await;
    ann.send("\x1a");
    let screen = ann.wait_shell().await;
    assert_eq!(*screen.modes(), Modes::default());
    ann.send("stty -a | grep -o -- '-\\?icanon'\r");
    ann.wait_until("the shell's own line editing", |text| {
        text.lines().any(|line| line.trim_end() == "icanon")
    })
    .await;
    ann.send("fg\r");
    ann.wait_screen("the editor", |screen| screen.modes().bracketed_paste).await;
    ann.send("before\r");
    ann.wait_for("answer after it").await;
    assert_eq!(said(&llm), "typed before");
    ann.wait_screen("the prompt", |screen| screen.modes().bracketed_paste).await;
    ann.send("\x04");
    let screen = ann.wait_shell().await;
    assert_eq!(*screen.modes(), Modes::default());
    ann.send("exit\r");
    ann.wait_exit().await;
    daemon.terminate().await;
}

#[tokio::test]
async fn the_terminal_is_as_before_when_the_chat_is_ended_while_its_daemon_is_gone() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::sse().text_delta("answer begun\n\n").stall());
    let ann = chat(daemon.home(), &["--new", "--no-start"]).spawn();
    ann.wait_for(PROMPT).await;
    ann.send("a long one\r");
    ann.wait_for("answer begun").await;
    daemon.kill().await;
    ann.wait_for("connection lost").await;
    ann.signal(Signal::TERM);
    ann.wait_exit().await;
    ann.assert_restored("SIGTERM");
}

#[tokio::test]
async fn a_chat_ends_with_its_terminal_and_needs_none_to_read_from() {
    let daemon = agentd().start().await;
    let mut ann = chat(daemon.home(), &["--new"]).spawn();
    ann.wait_for(PROMPT).await;
    ann.hang_up().await;
    ann.wait_exit().await;
    for builder in [
        chat(daemon.home(), &["--new"]).stdin_null(),
        chat(daemon.home(), &["--new"]).stdin_closed(),
    ] {
        let script = builder.spawn();
        script.wait_exit().await;
        script.assert_restored("without input");
    }
    daemon.terminate().await;
}
