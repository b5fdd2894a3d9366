//! The daemon goes away and comes back.

use agentd_testkit::{Gate, LlmServer, Reply};

use crate::support::{READY, agentd, events, leave, opened, sees, tui};

#[tokio::test]
async fn a_killed_daemon_that_comes_back_finds_what_is_written_and_the_turn_goes_on() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let gate = Gate::new();
    llm.push(Reply::sse().text_delta("answer begun 使用\n\n").wait(&gate));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("survive this\r");
    sees(&ann, "answer begun 使用").await;
    ann.send("half a mess");
    sees(&ann, "› half a mess").await;
    let home = daemon.kill().await;
    let screen = sees(&ann, "reconnecting").await;
    assert!(screen.contains("survive this"), "{}", screen.text());
    // Who writes goes on writing.
    ann.send("age");
    sees(&ann, "› half a message").await;

    let daemon = agentd().home(&home).llm(&llm).start().await;
    sees(&ann, "? waits for you").await;
    let screen = sees(&ann, "Go on with it?").await;
    assert!(screen.contains("› half a message"), "{}", screen.text());
    llm.push(Reply::text("answer whole"));
    // The question has keys again once it is looked at.
    ann.send("\t");
    sees(&ann, "number or Enter chooses").await;
    ann.send("1");
    let screen = sees(&ann, "answer whole").await;
    assert!(screen.contains("› half a message"), "{}", screen.text());
    sees(&ann, READY).await;
    let kinds: Vec<String> = events(&home)
        .await
        .iter()
        .map(|event| event["kind"].as_str().unwrap().to_owned())
        .filter(|kind| kind.starts_with("turn_"))
        .collect();
    assert_eq!(kinds, ["turn_started", "turn_suspended", "turn_resumed", "turn_completed"]);
    ann.send("!\r");
    sees(&ann, "▸ half a message!").await;
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_message_that_is_sent_while_the_daemon_is_away_is_answered_once() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let ann = opened(tui(daemon.home(), "ann")).await;
    llm.push(Reply::text("answer one"));
    ann.send("before\r");
    sees(&ann, "answer one").await;
    let home = daemon.kill().await;
    sees(&ann, "reconnecting").await;
    ann.send("meanwhile 使用\r");
    llm.push(Reply::text("answer two"));
    let daemon = agentd().home(&home).llm(&llm).start().await;
    sees(&ann, READY).await;
    // It was sent, or it was given back to be sent by who wrote it: never lost, never twice.
    let screen = ann
        .wait_screen("the message", |screen| {
            screen.contains("answer two") || screen.contains("› meanwhile 使用")
        })
        .await;
    if !screen.contains("answer two") {
        ann.send("\r");
    }
    sees(&ann, "answer two").await;
    let sent = events(&home).await;
    let sent = sent.iter().filter(|event| event["body"]["text"] == "meanwhile 使用").count();
    assert_eq!(sent, 1);
    leave(ann).await;
    daemon.terminate().await;
}
