//! `agentctl search`, with the real programs.

use agentd_testkit::{LlmServer, Reply};
use serde_json::Value;

use crate::tools::{run, stderr, stdout};
use crate::two_terminals::{agentd, chat, leave};

#[tokio::test]
async fn what_was_said_in_two_sessions_is_found_after_a_sigkill_in_english_and_chinese() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("session.titles", "first_message").start().await;
    llm.push(Reply::text("It is on the host anvil.\u{1b}[2J"));
    let said = run(daemon.home(), &["send", "where is the staging database?"]).await;
    assert!(said.status.success(), "{said:?}");
    llm.push(Reply::text("数据库的密码在保险箱里。"));
    let said = run(daemon.home(), &["send", "--json", "密码在哪里"]).await;
    let chinese: Value = serde_json::from_str(stdout(&said).lines().next().unwrap()).unwrap();
    let chinese = chinese["session_id"].as_str().unwrap().to_owned();
    let home = daemon.kill().await;

    let daemon = agentd().home(&home).llm(&llm).start().await;
    let found = run(&home, &["search", "which", "host", "has", "the", "databases"]).await;
    let lines: Vec<&str> = stdout(&found).lines().collect();
    assert_eq!(lines.len(), 4, "two messages of two lines: {found:?}");
    assert!(lines[0].contains("  where is the staging database?  ("), "{found:?}");
    assert!(
        stdout(&found).contains("(the model, just now)") || stdout(&found).contains("(the model, "),
        "{found:?}"
    );
    assert!(stdout(&found).contains("    It is on the host anvil."), "{found:?}");
    assert!(!stdout(&found).contains('\u{1b}'), "{found:?}");
    let json =
        run(&home, &["search", "--json", "保险箱", "--role", "assistant", "--since", "7d"]).await;
    let json: Value = serde_json::from_str(stdout(&json)).unwrap();
    assert_eq!(json["messages"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(json["messages"][0]["session_id"], chinese);
    assert_eq!(json["messages"][0]["by"], "assistant");
    assert_eq!((&json["sessions"], &json["sessions_unread"]), (&2.into(), &0.into()), "{json}");
    // What was found is opened by its number.
    let seq = json["messages"][0]["seq"].as_u64().unwrap();
    let exported = run(&home, &["sessions", "export", &chinese, "--format", "jsonl"]).await;
    let line = stdout(&exported).lines().nth(usize::try_from(seq).unwrap()).unwrap();
    assert!(line.contains("保险箱"), "{line}");
    let elsewhere = run(&home, &["search", "anvil", "--session", &chinese]).await;
    assert_eq!((stdout(&elsewhere), elsewhere.status.code()), ("", Some(0)), "{elsewhere:?}");
    assert!(stderr(&elsewhere).contains("nothing such was said"), "{elsewhere:?}");
    let empty = run(&home, &["search", "?!"]).await;
    assert_eq!(empty.status.code(), Some(1), "{empty:?}");
    assert!(stderr(&empty).contains("the question has no word to look for"), "{empty:?}");
    assert!(stderr(&empty).contains("hint: name a word that was said"), "{empty:?}");

    let ann = chat(&home, "ann", &["--new"]);
    ann.wait_for("❯").await;
    ann.send("/search anvil\r");
    ann.wait_for("It is on the host anvil.").await;
    leave(ann).await;
    daemon.terminate().await;
}
