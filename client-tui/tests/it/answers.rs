//! What waits for a person: approvals and questions.

use agentd_testkit::{LlmServer, Passage, Reply};
use serde_json::{Value, json};

use crate::support::{READY, agentd, events, json as show, leave, misses, opened, sees, tui};

fn writes(name: &str) -> Reply {
    let arguments = json!({ "path": name, "content": "one 使用\n" });
    Reply::tool_call("write_file", &arguments.to_string())
}

/// The last event of a kind.
fn last(events: &[Value], kind: &str) -> Value {
    let found = events.iter().rev().find(|event| event["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}: {events:?}"))["body"].clone()
}

#[tokio::test]
async fn one_key_allows_a_call_that_can_have_been_read_and_another_denies_it_with_a_reason() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    let file = |name: &str| daemon.home().workspace().join(name);
    llm.push(writes("a.txt"));
    llm.push(Reply::text("answer one"));
    llm.push(writes("b.txt"));
    llm.push(Reply::text("answer two"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("write it\r");
    let screen = sees(&ann, "y once").await;
    assert!(screen.contains("approval #1") && screen.contains("| +one 使用"), "{}", screen.text());
    let waiting = show(daemon.home(), &["approvals", "list"]).await;
    assert_eq!(waiting.as_array().map(Vec::len), Some(1), "{waiting}");
    assert!(!file("a.txt").exists());
    ann.send("y");
    sees(&ann, "answer one").await;
    assert_eq!(std::fs::read_to_string(file("a.txt")).unwrap(), "one 使用\n");
    misses(&ann, "approval #").await;

    ann.send("and that\r");
    sees(&ann, "y once").await;
    ann.send("d");
    sees(&ann, "why not: ").await;
    ann.send("y は駄目, use c.txt");
    sees(&ann, "why not: y は駄目, use c.txt").await;
    ann.send("\r");
    sees(&ann, "answer two").await;
    assert!(!file("b.txt").exists());
    let told = llm.requests().last().unwrap().tool_outputs();
    assert!(told.last().unwrap().contains("y は駄目, use c.txt"), "the model is told: {told:?}");
    let resolved = last(&events(daemon.home()).await, "approval_resolved");
    assert_eq!(resolved["decision"], "deny", "{resolved}");
    assert_eq!(resolved["reason"], "y は駄目, use c.txt", "{resolved}");
    assert_eq!(resolved["by"]["name"], "ann", "{resolved}");
    let waiting = show(daemon.home(), &["approvals", "list"]).await;
    assert_eq!(waiting.as_array().map(Vec::len), Some(0), "{waiting}");
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_question_is_answered_by_its_number_and_by_a_text() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let asks = |question: &str, options: &[&str]| {
        let arguments = json!({ "question": question, "options": options });
        Reply::tool_call("ask_user", &arguments.to_string())
    };
    llm.push(asks("どちら? left or right", &["left", "右"]));
    llm.push(Reply::text("answer one"));
    llm.push(Reply::tool_call("ask_user", r#"{"question":"What is it called?"}"#));
    llm.push(Reply::text("answer two"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("which way?\r");
    let screen = sees(&ann, "number or Enter chooses").await;
    for text in ["どちら? left or right", "1. left", "2. 右", "? waits for you"] {
        assert!(screen.contains(text), "{text}\n{}", screen.text());
    }
    ann.send("2");
    sees(&ann, "answer one").await;
    let outputs = llm.requests().last().unwrap().tool_outputs();
    assert!(outputs.last().unwrap().contains('右'), "{outputs:?}");

    ann.send("and now?\r");
    sees(&ann, "What is it called?").await;
    sees(&ann, "any other answer: write it as a message").await;
    ann.send("a 橋, I think\r");
    sees(&ann, "answer two").await;
    let outputs = llm.requests().last().unwrap().tool_outputs();
    assert!(outputs.last().unwrap().contains("a 橋, I think"), "{outputs:?}");
    let answered = last(&events(daemon.home()).await, "question_answered");
    assert_eq!(answered["by"]["name"], "ann", "{answered}");
    sees(&ann, READY).await;
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn an_answer_that_did_not_arrive_is_given_although_the_session_was_followed_all_along() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut passage = Passage::open(dir.path().join("s"), daemon.home().paths().socket());
    llm.push(writes("a.txt"));
    llm.push(Reply::text("answer whole"));
    let builder = tui(daemon.home(), "ann").arg("--socket").arg(passage.socket());
    let ann = opened(builder).await;
    ann.send("write it\r");
    sees(&ann, "y once").await;
    passage.cut_commands();
    ann.send("y");
    let screen = sees(&ann, "your answer is kept until the daemon is back").await;
    assert!(!screen.contains("reconnecting"), "{}", screen.text());
    assert!(!daemon.home().workspace().join("a.txt").exists());
    passage.reopen();
    sees(&ann, "answer whole").await;
    assert!(daemon.home().workspace().join("a.txt").exists());
    assert!(!ann.screen().contains("not given"), "{}", ann.screen());
    leave(ann).await;
    daemon.terminate().await;
}
