use agentd_domain::{
    Author, Delivery, ErrorReport, InterruptReason, MessageAccepted, Notice, NoticeLevel, Priority,
    QuestionAnswered, QuestionAsked, QuestionKind, TurnFailed, TurnInterrupted, TurnStarted, Usage,
};
use agentd_store::{Batch, MemoryStore, Write};

use super::*;
use crate::session::test_log::{Log, answer, finished, item, question, session_id};

fn said(name: &str) -> EventBody {
    let author = Author::new(name, name).unwrap();
    let client_message_id = "m".parse().unwrap();
    let (item_id, text, delivery) = (item(1), "hello".to_owned(), Delivery::Queue);
    MessageAccepted {
        unattended: false,
        expires_at: None,
        priority: Priority::Normal,
        item_id,
        client_message_id,
        text,
        delivery,
        author,
    }
    .into()
}

fn turn_started() -> EventBody {
    let (provider, model) = (String::new(), String::new());
    TurnStarted { reminder: String::new(), effort: None, item_ids: Vec::new(), provider, model }
        .into()
}

fn answered(text: &str) -> EventBody {
    answer(item(2), text, &[]).into()
}

fn asked() -> EventBody {
    let (prompt, choices) = (String::new(), Vec::new());
    QuestionAsked {
        question_id: question(1),
        kind: QuestionKind::ResumeTurn,
        prompt,
        choices,
        free_text: false,
        default_choice: String::new(),
        expires_at: None,
    }
    .into()
}

fn asked_and_answered() -> Vec<EventBody> {
    let choice = "stop".to_owned();
    vec![asked(), QuestionAnswered { question_id: question(1), choice, by: None }.into()]
}

fn ended() -> Vec<EventBody> {
    let usage = Usage::default();
    let failed = TurnFailed { error: ErrorReport::default(), usage };
    let interrupted = TurnInterrupted { reason: InterruptReason::User, by: None, usage };
    vec![failed.into(), interrupted.into(), finished("a", "").into(), finished("b", "").into()]
}

#[test]
fn a_digest_counts_what_a_terminal_missed() {
    let check = |bodies: Vec<EventBody>, complete: bool, expect: &str| {
        let mut missed = Missed::default();
        for body in &bodies {
            missed.count(body);
        }
        assert_eq!(missed.line(complete), expect);
    };
    let notice = Notice { level: NoticeLevel::Info, text: String::new() };
    check(Vec::new(), true, "");
    check(vec![notice.into(), answered(" \n")], true, "");
    check(vec![said("ann"), turn_started()], true, "1 message, 1 turn (from ann)");
    check(
        vec![said("bob"), said("ann"), said("bob"), turn_started(), turn_started()],
        true,
        "3 messages, 2 turns (from ann, bob)",
    );
    check(
        ["d", "c", "b", "a"].map(said).into(),
        false,
        "at least 4 messages (from a, b, c and others)",
    );
    check(ended(), true, "1 failed, 1 interrupted, 2 tool calls");
    check(
        vec![turn_started(), answered("first"), answered("# The\n\x1b[2Jlast  one")],
        true,
        "1 turn; last answer: # The [2Jlast one",
    );
    // The terminal left in the middle of the turn.
    check(vec![answered("the answer")], true, "last answer: the answer");
    check(vec![asked()], true, "a question waits for an answer");
    check(asked_and_answered(), true, "");
}

#[tokio::test]
async fn a_digest_covers_exactly_the_events_asked_for() {
    let mut log = Log::new();
    for number in 1..=1500 {
        log.submit(item(number), "hello", Delivery::Queue);
    }
    let store = MemoryStore::new();
    let last = log.state.record.last_seq;
    let append = Write::Append { session_id: session_id(), events: log.events };
    store.commit(Batch::of(append)).await.unwrap();
    let check = async |from: Seq, until: Seq, expect: &str| {
        assert_eq!(since(&store, session_id(), from, until).await.unwrap(), expect);
    };
    // The first message brings the title.
    check(Seq(4), last, "1499 messages (from ann)").await;
    check(Seq(4), Seq(5), "2 messages (from ann)").await;
    check(last.next(), last, "").await;
}
