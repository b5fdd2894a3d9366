//! Several terminals on one session.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::{AttachEvent, AttachPosition, Transcript};
use agentd_testkit::{Daemon, FakeClock, Gate, LlmServer, Reply, SeqIds};
use std::sync::Arc;

use crate::support::{check_gap_free, durable, kinds, live_texts};

#[tokio::test]
async fn a_terminal_that_comes_in_mid_stream_ends_with_the_same_text() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let gate = Gate::new();
    llm.push(
        Reply::sse()
            .reasoning("first I think")
            .text_delta("Once upon ")
            .text_delta("a time ")
            .wait(&gate)
            .text_delta("there was ")
            .text_delta("使用")
            .finish("stop")
            .usage(1, 1)
            .done(),
    );
    ann.submit("tell").await;
    ann.wait_live_text("a time").await;
    let mut bob = daemon.attach("bob", ann.session_id()).await;
    bob.wait_live_text("Once upon a time").await;
    let mut eve = daemon.attach_at("eve", ann.session_id(), AttachPosition::OnlyNew).await;
    eve.wait_live_text("Once upon a time").await;
    gate.release();
    for driver in [&mut ann, &mut bob, &mut eve] {
        assert_eq!(driver.wait_answer().await, "Once upon a time there was 使用");
        // Neither gap nor repetition: the helper checks every offset.
        let live = live_texts(driver, v1::DeltaChannel::Text);
        assert_eq!(live.len(), 1);
        assert_eq!(live[0].1, "Once upon a time there was 使用");
        assert_eq!(live_texts(driver, v1::DeltaChannel::Reasoning)[0].1, "first I think");
        assert!(driver.transcript().live().is_empty());
    }
    assert_eq!(ann.transcript().items(), bob.transcript().items());
    daemon.stop().await;
}

#[tokio::test]
async fn terminals_see_who_comes_and_goes() {
    let daemon = Daemon::builder().start().await;
    let mut ann = daemon.driver("ann").await;
    let names = |driver: &agentd_testkit::Driver| -> Vec<String> {
        let participants = driver.transcript().participants().iter();
        participants.map(|participant| participant.author.clone().unwrap().name).collect()
    };
    let bob = daemon.attach("bob", ann.session_id()).await;
    let attached: Vec<_> = bob.attached().participants;
    assert_eq!(attached.len(), 2);
    ann.wait_until("bob is there", |ann| names(ann) == ["ann", "bob"]).await;
    assert_eq!(ann.session().await.session.unwrap().attached_clients, 2);
    drop(bob);
    ann.wait_until("bob has gone", |ann| names(ann) == ["ann"]).await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_terminal_goes_on_where_it_had_read_to_and_is_told_what_it_missed() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let mut bob = daemon.attach("bob", ann.session_id()).await;
    assert_eq!(bob.attached().digest, "", "there is no cursor yet");
    ann.ask("one").await;
    bob.wait_answer().await;
    let head = bob.transcript().last_seq();
    let set = |seq| v1::SetReadCursorRequest {
        session_id: ann.session_id().to_owned(),
        client_id: "bob".to_owned(),
        seq,
    };
    let moved = bob.client().event().set_read_cursor(set(head)).await.unwrap().into_inner();
    assert_eq!(moved.seq, head);
    // It never goes back, nor past the end.
    assert_eq!(bob.client().event().set_read_cursor(set(1)).await.unwrap().into_inner().seq, head);
    let past = bob.client().event().set_read_cursor(set(99_999)).await.unwrap().into_inner().seq;
    assert_eq!(past, head);
    drop(bob);
    ann.ask("two").await;
    ann.ask("the third question").await;

    daemon.restart().await;
    let bob = daemon.attach_at("bob", ann.session_id(), AttachPosition::ReadCursor).await;
    let attached = bob.attached();
    assert_eq!((attached.cursor_seq, attached.from_seq), (head, head + 1));
    assert!(
        attached.digest.contains("2 messages")
            && attached.digest.contains("2 turns")
            && attached.digest.contains("ann")
            && attached.digest.contains("the third question"),
        "{:?}",
        attached.digest
    );
    assert_eq!(attached.digest.lines().count(), 1);
    let first = bob.events().find(|event| event.seq > 0).unwrap().seq;
    assert_eq!(first, head + 1);
    // A terminal without a cursor starts at the beginning.
    let eve = daemon.attach_at("eve", ann.session_id(), AttachPosition::ReadCursor).await;
    assert_eq!(eve.attached().from_seq, 1);
    daemon.stop().await;
}

#[tokio::test]
async fn a_terminal_can_begin_with_the_newest_turns_at_an_event_or_with_news_only() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    for text in ["one", "two", "three"] {
        ann.ask(text).await;
    }
    let log = ann.log().await;
    check_gap_free(&log);
    let accepted: Vec<u64> = log
        .iter()
        .filter(|event| matches!(event.body, Some(Body::MessageAccepted(_))))
        .map(|event| event.seq)
        .collect();
    let head = log.len() as u64;
    for (position, from) in [
        (AttachPosition::LastTurns(1), accepted[2]),
        (AttachPosition::LastTurns(2), accepted[1]),
        (AttachPosition::LastTurns(50), 1),
        (AttachPosition::FromSeq(0), 1),
        (AttachPosition::FromSeq(7), 7),
        (AttachPosition::FromSeq(9_999), head + 1),
        (AttachPosition::OnlyNew, head + 1),
    ] {
        let bob = daemon.attach_at("bob", ann.session_id(), position).await;
        let attached = bob.attached();
        assert_eq!((attached.from_seq, attached.head_seq), (from, head), "{position:?}");
        let seqs: Vec<u64> = bob.events().map(|event| event.seq).filter(|seq| *seq > 0).collect();
        assert_eq!(seqs, (from..=head).collect::<Vec<_>>(), "{position:?}");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn a_terminal_stays_attached_through_a_restart_of_the_daemon() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("before").await;
    daemon.restart().await;
    ann.pick("the loss", |event| matches!(event, AttachEvent::Lost { .. }).then_some(())).await;
    ann.pick("the return", |event| matches!(event, AttachEvent::Restored).then_some(())).await;
    let bob = daemon.attach("bob", ann.session_id()).await;
    bob.submit("after").await;
    assert_eq!(ann.wait_answer().await, "after");
    let seqs: Vec<u64> = ann.events().map(|event| event.seq).filter(|seq| *seq > 0).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    daemon.stop().await;
}

#[tokio::test]
async fn the_live_events_of_a_session_and_its_log_are_the_same() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("calculator", r#"{"expression":"1/3"}"#));
    llm.push(Reply::text("a third"));
    ann.ask("one third").await;
    let log = ann.log().await;
    check_gap_free(&log);
    let live: Vec<_> = ann.events().filter(|event| event.seq > 0).cloned().collect();
    assert_eq!(live, log);
    let mut folded = Transcript::default();
    for event in &log {
        folded.apply(event);
    }
    assert_eq!(folded.items(), ann.transcript().items());
    daemon.stop().await;
}

#[tokio::test]
async fn the_same_work_with_the_same_clock_and_ids_gives_the_same_log() {
    async fn run() -> Vec<v1::Event> {
        let llm = LlmServer::start().await;
        let clock = Arc::new(FakeClock::at(1_700_000_000_000));
        let daemon = Daemon::builder()
            .llm(&llm)
            .clock(Arc::<FakeClock>::clone(&clock))
            .ids(Arc::new(SeqIds::default()))
            .start()
            .await;
        let mut ann = daemon.driver("ann").await;
        ann.try_submit("m1", "hello", v1::Delivery::Queue).await.unwrap();
        ann.wait_answer().await;
        clock.advance(60_000);
        ann.try_submit("m2", "again", v1::Delivery::Queue).await.unwrap();
        ann.wait_answer().await;
        let mut log = ann.log().await;
        for event in &mut log {
            match &mut event.body {
                // What differs is a folder of the test, and durations that the clock does not give.
                Some(Body::SessionCreated(created)) => created.workspace.clear(),
                Some(Body::UsageRecorded(recorded)) => {
                    (recorded.first_byte_ms, recorded.elapsed_ms) = (0, 0);
                }
                _ => {}
            }
        }
        daemon.stop().await;
        log
    }
    let (one, two) = (run().await, run().await);
    assert_eq!(one, two);
    assert_eq!(one.last().unwrap().at_ms, 1_700_000_060_000);
}

#[tokio::test]
async fn the_offline_engine_answers_when_no_model_is_configured() {
    let daemon = Daemon::builder().start().await;
    let mut ann = daemon.driver("ann").await;
    ann.submit("What is 12 * 12?").await;
    assert!(matches!(ann.wait_turn_end().await, Body::TurnCompleted(_)));
    assert!(ann.last_text().contains("144"), "{}", ann.last_text());
    assert!(kinds(&durable(&ann)).contains(&"tool finished"));
    daemon.stop().await;
}
