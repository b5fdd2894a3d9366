//! Lists that lie over the session: memories, sessions.

use agentd_testkit::{Home, LlmServer, Pty, Reply};
use serde_json::Value;

use crate::support::{READY, agentctl, agentd, json, leave, misses, opened, sees, tui};

const F2: &str = "\x1bOQ";
const F3: &str = "\x1bOR";

/// The memories that hold, as `agentctl` tells them.
async fn memories(home: &Home) -> Vec<Value> {
    let found = json(home, &["memory", "list"]).await;
    found.as_array().unwrap().iter().map(|found| found["memory"].clone()).collect()
}

/// Writes a line where the pane asks for one, and sends it.
async fn write_line(terminal: &Pty, text: &str) {
    terminal.send(text);
    sees(terminal, text).await;
    terminal.send("\r");
}

#[tokio::test]
async fn memories_are_added_found_pinned_forgotten_and_brought_back() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    agentctl(home, &["memory", "add", "the staging host is called anvil"]).await;
    let ann = opened(tui(home, "ann")).await;
    ann.send(F3);
    sees(&ann, "1 memory").await;
    ann.send("a");
    sees(&ann, "remember: ").await;
    write_line(&ann, "likes 緑茶 without sugar").await;
    sees(&ann, "remembered; u takes it back").await;
    sees(&ann, "2 memories").await;
    ann.send("/");
    sees(&ann, " / ").await;
    write_line(&ann, "緑茶").await;
    sees(&ann, "1 memory · /緑茶").await;
    let screen = sees(&ann, "likes 緑茶 without sugar").await;
    assert!(!screen.contains("anvil"), "{}", screen.text());

    ann.send("p");
    sees(&ann, "pinned · ").await;
    let pinned: Vec<Value> =
        memories(home).await.into_iter().filter(|it| it["pinned"] == true).collect();
    assert_eq!(pinned.len(), 1, "{pinned:?}");
    assert_eq!(pinned[0]["content"], "likes 緑茶 without sugar");
    ann.send("\r");
    sees(&ann, "it is pinned and does not age").await;
    ann.send("\x1b");
    misses(&ann, "it is pinned and does not age").await;

    ann.send("f");
    sees(&ann, "forget \"likes 緑茶 without sugar\"? y/n").await;
    ann.send("n");
    misses(&ann, "? y/n").await;
    assert_eq!(memories(home).await.len(), 2);
    ann.send("f");
    sees(&ann, "? y/n").await;
    ann.send("y");
    sees(&ann, "done; u takes it back").await;
    sees(&ann, "nothing fits").await;
    assert_eq!(memories(home).await.len(), 1);
    ann.send("u");
    sees(&ann, "take back: forgotten \"likes 緑茶 without sugar\"? y/n").await;
    ann.send("y");
    sees(&ann, "taken back: ").await;
    sees(&ann, "1 memory · /緑茶").await;
    assert_eq!(memories(home).await.len(), 2);
    ann.send("\x1b");
    sees(&ann, READY).await;
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn another_session_is_chosen_renamed_and_deleted_in_the_list() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let home = daemon.home();
    for name in ["first", "第二"] {
        llm.push(Reply::text(&format!("answer of {name}")));
        agentctl(home, &["send", &format!("question of {name}")]).await;
    }
    let ann = opened(tui(home, "ann").arg("--continue")).await;
    sees(&ann, "answer of 第二").await;
    ann.send(F2);
    sees(&ann, "sessions 2").await;
    ann.send("/");
    write_line(&ann, "first").await;
    sees(&ann, "sessions 1 · /first").await;
    ann.send("r");
    sees(&ann, "title: question of first").await;
    ann.send(" 改");
    sees(&ann, "title: question of first 改").await;
    ann.send("\r");
    misses(&ann, "title: ").await;
    sees(&ann, "question of first 改").await;
    ann.send("\r");
    sees(&ann, "answer of first").await;
    let listed = json(home, &["sessions", "list"]).await;
    let titles: Vec<&Value> = listed.as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert!(titles.contains(&&Value::from("question of first 改")), "{listed}");

    ann.send(F2);
    sees(&ann, "sessions 1 · /first").await;
    ann.send("\x1b");
    sees(&ann, "sessions 2").await;
    // The other one: keys go to the list, and Home is its top.
    ann.send("/");
    write_line(&ann, "第二").await;
    sees(&ann, "sessions 1 · /第二").await;
    ann.send("D");
    sees(&ann, "delete \"question of 第二\"? y/n").await;
    ann.send("y");
    sees(&ann, "nothing fits").await;
    let listed = json(home, &["sessions", "list"]).await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    leave(ann).await;
    daemon.terminate().await;
}
