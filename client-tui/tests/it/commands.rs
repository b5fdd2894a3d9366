//! Commands that are typed, against a daemon that does them.

use agentd_testkit::{Home, LlmServer, Pty, Reply};
use serde_json::json;

use crate::support::{
    READY, agentctl, agentd, events, json as show, leave, misses, opened, sees, tui,
};

/// Types a command. The blank behind it closes what is offered for its name.
async fn command(terminal: &Pty, text: &str) {
    terminal.send(&format!("{text} "));
    sees(terminal, &format!("› {text}")).await;
    terminal.send("\r");
}

/// Closes the text that lies on top.
async fn close(terminal: &Pty, title: &str) {
    terminal.send("\x1b");
    misses(terminal, title).await;
}

async fn context(home: &Home) -> serde_json::Value {
    show(home, &["context", "last"]).await
}

#[tokio::test]
async fn older_turns_are_folded_and_a_line_of_the_summary_is_expanded() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let ann = opened(tui(daemon.home(), "ann")).await;
    for turn in 0..4 {
        let long = format!("the ship {turn} waits before bridge {turn}; ").repeat(40);
        llm.push(Reply::text(&format!("{long} end of answer {turn}")));
        ann.paste(&format!("question {turn}: when does bridge {turn} open? {long}"));
        ann.send("\r");
        sees(&ann, &format!("end of answer {turn}")).await;
        sees(&ann, READY).await;
    }
    assert_eq!(context(daemon.home()).await["turns"], 4);
    command(&ann, "/compact").await;
    sees(&ann, "◆ folded").await;
    let after = context(daemon.home()).await;
    let lines = after["summary"]["lines"].as_array().unwrap().clone();
    assert!(after["turns"].as_u64().unwrap() < 4 && !lines.is_empty(), "{after}");
    let kinds: Vec<_> = events(daemon.home()).await.iter().map(|it| it["kind"].clone()).collect();
    assert!(kinds.contains(&json!("context_compacted")), "{kinds:?}");

    command(&ann, "/expand").await;
    sees(&ann, "╭ summary ").await;
    close(&ann, "╭ summary ").await;
    command(&ann, "/expand 1").await;
    sees(&ann, "line 1 of the summary").await;
    sees(&ann, "bridge").await;
    close(&ann, "line 1 of the summary").await;
    command(&ann, "/expand 999").await;
    sees(&ann, "× cannot").await;
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn texts_are_pinned_shown_and_let_go() {
    let daemon = agentd().start().await;
    let ann = opened(tui(daemon.home(), "ann")).await;
    command(&ann, "/pin 橋は番号で keep to tabs").await;
    sees(&ann, "1 pinned").await;
    assert_eq!(context(daemon.home()).await["pins"], json!(["橋は番号で keep to tabs"]));
    command(&ann, "/pins").await;
    sees(&ann, "╭ pinned ").await;
    sees(&ann, "橋は番号で keep to tabs").await;
    close(&ann, "╭ pinned ").await;
    command(&ann, "/unpin 7").await;
    sees(&ann, "there is no pin 7").await;
    command(&ann, "/unpin 1").await;
    sees(&ann, "0 pinned").await;
    assert_eq!(context(daemon.home()).await["pins"], json!([]));
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn what_a_turn_changed_is_shown_and_taken_back() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let file = daemon.home().workspace().join("a.txt");
    std::fs::write(&file, "zero\n").unwrap();
    let arguments = json!({ "path": "a.txt", "content": "one 使用\n", "overwrite": true });
    llm.push(Reply::tool_call("read_file", r#"{"path":"a.txt"}"#));
    llm.push(Reply::tool_call("write_file", &arguments.to_string()));
    llm.push(Reply::text("answer done"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("change it\r");
    sees(&ann, "answer done").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one 使用\n");
    command(&ann, "/diff").await;
    sees(&ann, "╭ changes ").await;
    let screen = sees(&ann, "one 使用").await;
    assert!(screen.contains("zero"), "{}", screen.text());
    close(&ann, "╭ changes ").await;
    command(&ann, "/undo").await;
    sees(&ann, "by hand: undo a.txt").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "zero\n");
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_session_is_written_to_a_file_as_agentctl_writes_it_and_never_over_another() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let file = |name: &str| daemon.home().workspace().join(name);
    llm.push(Reply::text("答え: **four** hundred and eight"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("what is 17% of 2400?\r");
    sees(&ann, "答え: four").await;
    sees(&ann, READY).await;
    command(&ann, "/export talk.jsonl").await;
    sees(&ann, "wrote ").await;
    let exported = agentctl(daemon.home(), &["sessions", "export", "last"]).await;
    assert_eq!(std::fs::read_to_string(file("talk.jsonl")).unwrap(), exported);
    command(&ann, "/export talk.md").await;
    sees(&ann, "talk.md").await;
    ann.wait_screen("the second file", |_| file("talk.md").exists()).await;
    let markdown = std::fs::read_to_string(file("talk.md")).unwrap();
    assert!(markdown.contains("## ann\n\nwhat is 17% of 2400?\n"), "{markdown}");
    assert!(markdown.contains("答え: **four** hundred and eight"), "{markdown}");
    command(&ann, "/export talk.md").await;
    sees(&ann, "× cannot write the session to a file").await;
    assert_eq!(std::fs::read_to_string(file("talk.md")).unwrap(), markdown);
    leave(ann).await;
    daemon.terminate().await;
}
