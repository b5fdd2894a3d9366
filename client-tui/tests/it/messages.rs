//! Messages: typed, pasted, taken back and broken off, on terminals of any size.

use agentd_testkit::{Gate, LlmServer, Reply};

use crate::support::{READY, WITHDRAW, agentd, events, json, leave, misses, opened, sees, tui};

/// What the user said last, as the model was told.
fn said(llm: &LlmServer) -> String {
    llm.requests().last().map_or(String::new(), |request| request.last_user_text())
}

#[tokio::test]
async fn what_is_typed_in_any_script_is_shown_in_its_cells_and_sent_as_it_is() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::text("答え: 四百八 **strong** 👩‍👩‍👧 e\u{301}nd"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("数える: 你好 e\u{301} 😀!");
    // Behind the last of them, by cells: the prompt has 2, the words 7, 1, 4, and so on.
    let column = 2 + 7 + 1 + 4 + 1 + 1 + 1 + 2 + 1;
    let screen = ann
        .wait_screen("the message with its cursor", |screen| {
            let found = screen.find("› 数える: 你好 e\u{301} 😀!");
            found.is_some_and(|(row, _)| screen.cursor() == (row, column))
        })
        .await;
    assert!(screen.cell_of("好").unwrap().is_wide);
    // The cursor goes by characters, not by cells or bytes.
    ann.send("\x1b[D\x7f\x1b[D\x1b[D");
    ann.send("?");
    sees(&ann, "› 数える: 你好 ?e\u{301} !").await;
    ann.send("\r");
    let screen = sees(&ann, "答え: 四百八 strong").await;
    assert!(screen.cell_of("strong").unwrap().bold);
    assert_eq!(said(&llm), "数える: 你好 ?e\u{301} !");
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_paste_is_one_piece_and_sends_nothing_by_itself() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::text("read"));
    llm.push(Reply::text("read again"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("look: ");
    ann.paste("使用\nthis; /quit\n\x1b[2Jend");
    let screen = sees(&ann, "this; /quit").await;
    assert!(screen.contains("› look: 使用"), "{}", screen.text());
    ann.send("\r");
    sees(&ann, "● read").await;
    let sent = said(&llm);
    let lines: Vec<&str> = sent.lines().collect();
    assert_eq!(lines[..2], ["look: 使用", "this; /quit"], "{sent:?}");

    // Much of it stands in the message as a word, which one key deletes and undoing brings back.
    let long: Vec<String> = (1..=200).map(|line| format!("line {line} 使用")).collect();
    ann.paste(&long.join("\n"));
    sees(&ann, "[pasted 200 lines]").await;
    ann.send(" tell\r");
    sees(&ann, "● read again").await;
    assert_eq!(said(&llm), format!("{} tell", long.join("\n")));
    assert_eq!(llm.requests().len(), 2);
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn any_size_is_borne_while_an_answer_streams() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let gates = [Gate::new(), Gate::new(), Gate::new(), Gate::new()];
    llm.push(
        Reply::sse()
            .text_delta("answer begins\n\n")
            .wait(&gates[0])
            .text_delta("| a | 使用 😀 |\n|---|---|\n| one | two |\n\n")
            .wait(&gates[1])
            .text_delta(&format!("{}\n\n", "long 言葉 ".repeat(100)))
            .wait(&gates[2])
            .text_delta("```rust\nfn main() {}\n```\n\n")
            .wait(&gates[3])
            .text_delta("answer ends\n")
            .finish("stop")
            .done(),
    );
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("go\r");
    sees(&ann, "answer begins").await;
    for (gate, (cols, rows)) in gates.iter().zip([(1, 1), (300, 90), (13, 4), (40, 12)]) {
        ann.resize(cols, rows);
        gate.release();
    }
    sees(&ann, "answer ends").await;
    ann.resize(120, 60);
    let all = ["answer begins", "使用 😀", "one", "fn main() {}", "answer ends", READY];
    ann.wait_screen("all of it", |screen| all.iter().all(|text| screen.contains(text))).await;
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn escape_breaks_the_turn_off_and_the_next_message_is_answered() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::sse().text_delta("answer begun\n\n").stall());
    llm.push(Reply::text("answer two"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("a long one\r");
    sees(&ann, "answer begun").await;
    ann.send("\x1b");
    let screen = sees(&ann, "■ interrupted").await;
    assert!(!screen.contains("by ann"), "who did it knows\n{}", screen.text());
    sees(&ann, READY).await;
    let ended =
        events(daemon.home()).await.into_iter().rev().find(|it| it["kind"] == "turn_interrupted");
    assert_eq!(ended.unwrap()["body"]["by"]["name"], "ann");
    ann.send("another\r");
    sees(&ann, "answer two").await;
    llm.wait_for_disconnects(1).await;
    leave(ann).await;
    daemon.terminate().await;
}

#[tokio::test]
async fn a_message_that_waits_is_chosen_and_taken_back_into_the_composer() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let gate = Gate::new();
    llm.push(Reply::sse().text_delta("answer one").wait(&gate).finish("stop").done());
    llm.push(Reply::text("answer two"));
    let ann = opened(tui(daemon.home(), "ann")).await;
    ann.send("first\r");
    sees(&ann, "answer one").await;
    ann.send("second 使用\r");
    sees(&ann, "1. second 使用").await;
    ann.send("third\r");
    sees(&ann, "2. third").await;
    ann.send(WITHDRAW);
    sees(&ann, "take a message back").await;
    // The newest stands first.
    ann.send("\x1b[B\r");
    sees(&ann, "› second 使用").await;
    sees(&ann, "1. third").await;
    let shown = json(daemon.home(), &["sessions", "show", "last"]).await;
    assert_eq!(shown["queue"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(shown["queue"][0]["preview"], "third", "{shown}");
    // The only one that is left needs no choice, and does not replace what is written.
    ann.send("!");
    ann.send(WITHDRAW);
    misses(&ann, "1. third").await;
    sees(&ann, "› second 使用!").await;
    gate.release();
    sees(&ann, READY).await;
    ann.send("\r");
    sees(&ann, "answer two").await;
    assert_eq!(said(&llm), "second 使用!");
    leave(ann).await;
    daemon.terminate().await;
}
