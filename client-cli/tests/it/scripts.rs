//! Commands as scripts use them: the real `agentctl` without a terminal, the real `agentd`.

use std::process::{Output, Stdio};

use agentd_testkit::{Home, LlmServer, Reply};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::two_terminals::{agentd, agentd_program, chat, leave};

fn agentctl(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command.env("AGENTD_HOME", home.dir()).env("AGENTD_BIN", agentd_program());
    command.current_dir(home.workspace()).stdin(Stdio::null()).args(arguments);
    command
}

async fn run(home: &Home, arguments: &[&str]) -> Output {
    agentctl(home, arguments).output().await.unwrap()
}

fn json_lines(output: &Output) -> Vec<serde_json::Value> {
    let text = str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn json_names_the_session_before_the_events() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::text("hello"));
    let sent = run(daemon.home(), &["send", "--json", "hi"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let lines = json_lines(&sent);
    let listed = run(daemon.home(), &["sessions", "list", "--json"]).await;
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let session_id = &listed[0]["session_id"];
    assert_eq!(lines[0], serde_json::json!({ "kind": "session", "session_id": session_id }));
    assert_eq!(lines.last().unwrap()["kind"], "turn_completed");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_list_that_stops_at_the_limit_says_so() {
    let daemon = agentd().start().await;
    for _ in 0..2 {
        let sent = run(daemon.home(), &["send", "--no-wait", "hi"]).await;
        assert!(sent.status.success(), "{sent:?}");
    }
    for json in [&[][..], &["--json"]] {
        for (limit, note) in [("1", "1 shown; more with --limit\n"), ("2", ""), ("0", "")] {
            let arguments = [&["sessions", "list", "--limit", limit], json].concat();
            let listed = run(daemon.home(), &arguments).await;
            assert_eq!(str::from_utf8(&listed.stderr).unwrap(), note, "{arguments:?}");
        }
    }
    daemon.terminate().await;
}

#[tokio::test]
async fn a_message_behind_a_turn_that_a_crash_cut_does_not_wait_for_ever() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::sse().text_delta("answer begun\n\n").stall());
    let ann = chat(daemon.home(), "ann", &["--new"]);
    ann.wait_for("❯").await;
    ann.send("a long one\r");
    ann.wait_for("answer begun").await;
    let mut send = agentctl(daemon.home(), &["send", "--session", "last", "and after that"]);
    let send = send.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    ann.wait_for("and after that").await;
    // A terminal that is still looking for the daemon would undo the shutdown below.
    leave(ann).await;

    let home = daemon.kill().await;
    let ended = send.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(6), "{ended:?}");
    let told = str::from_utf8(&ended.stderr).unwrap();
    assert!(told.contains("Go on with it?"), "{told}");
    assert!(told.contains("agentctl chat --session"), "{told}");
    let ended = run(&home, &["shutdown"]).await;
    assert!(ended.status.success(), "{ended:?}");
}

#[tokio::test]
async fn ps_05_an_answer_that_is_cut_off_again_and_again_ends_with_an_exit_code() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("provider.retry_base_ms", 1).start().await;
    for _attempt in 0..5 {
        llm.push(Reply::sse().text_delta("half an ans"));
    }
    let sent = run(daemon.home(), &["send", "hi"]).await;
    assert_eq!(sent.status.code(), Some(1), "{sent:?}");
    assert_eq!(llm.requests().len(), 3, "attempts are bounded");
    let said = str::from_utf8(&sent.stderr).unwrap();
    assert!(said.contains("cut off before its end"), "{said}");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_message_with_priority_and_ttl_expires_behind_a_turn_that_takes_too_long() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::sse().text_delta("busy").stall());
    let first = run(daemon.home(), &["send", "--no-wait", "first"]).await;
    assert!(first.status.success(), "{first:?}");
    llm.wait_for_request(1).await;
    let arguments =
        ["send", "--continue", "--priority", "high", "--ttl", "200ms", "--json", "second"];
    let second = run(daemon.home(), &arguments).await;
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    let lines = json_lines(&second);
    let accepted = lines.iter().find(|line| line["kind"] == "message_accepted").unwrap();
    assert_eq!(accepted["body"]["priority"], "high");
    let lasts =
        accepted["body"]["expires_at_ms"].as_i64().unwrap() - accepted["at_ms"].as_i64().unwrap();
    // It is counted from when the daemon had the message, which is a moment before it was accepted.
    assert!((100..=200).contains(&lasts), "{lasts}");
    assert_eq!(lines.last().unwrap()["kind"], "message_expired");
    daemon.terminate().await;
}

#[tokio::test]
async fn ap_02_a_script_that_says_yes_lets_its_own_calls_run_and_one_that_does_not_is_denied() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    let write = |path: &str| {
        Reply::tool_call("write_file", &format!(r#"{{"path":"{path}","content":"x"}}"#))
    };
    llm.push(write("no.txt"));
    llm.push(Reply::text("done"));
    let output = run(daemon.home(), &["send", "write it"]).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!daemon.home().workspace().join("no.txt").exists());
    llm.push(write("yes.txt"));
    llm.push(Reply::text("done"));
    let output = run(daemon.home(), &["send", "--yes", "write it"]).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let written = std::fs::read_to_string(daemon.home().workspace().join("yes.txt"));
    assert_eq!(written.unwrap(), "x", "{output:?}");
    daemon.terminate().await;
}

/// Runs a chat whose stdin is a script.
async fn script(home: &Home, arguments: &[&str], lines: &str) -> Output {
    let mut chat = agentctl(home, &[&["chat"], arguments].concat());
    chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut chat = chat.spawn().unwrap();
    chat.stdin.take().unwrap().write_all(lines.as_bytes()).await.unwrap();
    chat.wait_with_output().await.unwrap()
}

#[tokio::test]
async fn ap_02_a_chat_that_says_yes_goes_on_saying_it_after_its_turn_has_asked_something() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask");
    let daemon = daemon.set("session.rounds_limit", 2).start().await;
    let write = |path: &str| {
        Reply::tool_call("write_file", &format!(r#"{{"path":"{path}","content":"x"}}"#))
    };
    for reply in [write("one.txt"), write("two.txt"), write("three.txt"), Reply::text("done")] {
        llm.push(reply);
    }
    let output = script(daemon.home(), &["--new", "--yes"], "write it\ncontinue\n").await;
    let said = str::from_utf8(&output.stderr).unwrap();
    assert!(said.contains("type a choice: 1) continue"), "{said}");
    for path in ["one.txt", "two.txt", "three.txt"] {
        assert!(daemon.home().workspace().join(path).exists(), "{path}: {output:?}");
    }
    assert_eq!(str::from_utf8(&output.stdout).unwrap(), "done\n", "it waits for the end");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.terminate().await;
}
