//! SL-04: sessions so long that nobody may read all of them at once.

use agentd_domain::{
    AssistantMessage, Author, Completeness, Delivery, Event, EventBody, ItemId, MessageAccepted,
    Priority, Seq, SessionCreated, SessionId, SessionRecord, TimestampMs, TurnCompleted, TurnEnd,
    TurnId, TurnStarted, Usage,
};
use agentd_proto::v1;
use agentd_shared::AttachPosition;
use agentd_store::{Batch, SledOptions, SledStore, Store, Write};
use agentd_testkit::{Daemon, Home, LlmServer};

use crate::support::check_gap_free;

const TURNS: u64 = 12_500;
const EVENTS: u64 = TURNS * 4 + 1;
const OTHERS: u128 = 500;

fn id(n: u128) -> SessionId {
    SessionId::from_parts(1_700_000_000_000, n)
}

fn turn(n: u64) -> [(Option<TurnId>, EventBody); 4] {
    let turn_id = Some(TurnId::from_parts(n, 1));
    let (question, answer) = (ItemId::from_parts(n, 2), ItemId::from_parts(n, 3));
    [
        (
            None,
            EventBody::MessageAccepted(MessageAccepted {
                unattended: false,
                expires_at: None,
                priority: Priority::Normal,
                item_id: question,
                client_message_id: format!("m{n}").parse().unwrap(),
                text: format!("question {n}"),
                delivery: Delivery::Queue,
                author: Author { client_id: "ann".to_owned(), name: "ann".to_owned() },
            }),
        ),
        (
            turn_id,
            EventBody::TurnStarted(TurnStarted {
                reminder: String::new(),
                effort: None,
                item_ids: vec![question],
                provider: "openai-compatible".to_owned(),
                model: "scripted".to_owned(),
            }),
        ),
        (
            turn_id,
            EventBody::AssistantMessage(AssistantMessage {
                native: None,
                item_id: answer,
                reasoning: String::new(),
                text: format!("answer {n} {}", "x".repeat(200)),
                tool_calls: Vec::new(),
                completeness: Completeness::Complete,
            }),
        ),
        (
            turn_id,
            EventBody::TurnCompleted(TurnCompleted {
                end: TurnEnd::Answered,
                rounds: 1,
                usage: Usage::default(),
                elapsed_ms: 1,
            }),
        ),
    ]
}

fn record(session_id: SessionId, workspace: &str, last_seq: u64, turns: u64) -> SessionRecord {
    SessionRecord {
        title: format!("long {turns}"),
        workspace: workspace.to_owned(),
        created_at: TimestampMs(1),
        updated_at: TimestampMs(1_700_000_000_000),
        last_seq: Seq(last_seq),
        turns,
        ..SessionRecord::new(session_id)
    }
}

/// Writes the sessions into a new home's store, as if a daemon had.
async fn write(home: &Home) {
    let options = SledOptions { fsync: false, ..SledOptions::default() };
    std::fs::create_dir_all(home.paths().data_dir).unwrap();
    let store = SledStore::open(&home.paths().store_dir(), options).unwrap().store;
    let workspace = home.workspace().display().to_string();
    let created = || {
        EventBody::SessionCreated(SessionCreated {
            permission_mode: agentd_domain::PermissionMode::Ask,
            work_mode: agentd_domain::WorkMode::Develop,
            further_roots: Vec::new(),
            effort: None,
            workspace: workspace.clone(),
            title: String::new(),
            model: String::new(),
            origin: None,
        })
    };
    let bodies = std::iter::once((None, created())).chain((0..TURNS).flat_map(turn));
    let events: Vec<Event> = bodies
        .zip(1..)
        .map(|((turn_id, body), seq)| Event { seq: Seq(seq), at: TimestampMs(7), turn_id, body })
        .collect();
    assert_eq!(events.len() as u64, EVENTS);
    for chunk in events.chunks(2_000) {
        let write = Write::Append { session_id: id(1), events: chunk.to_vec() };
        store.commit(Batch::of(write)).await.unwrap();
    }
    let mut writes = vec![Write::PutSession(record(id(1), &workspace, EVENTS, TURNS))];
    for n in 2..2 + OTHERS {
        let event = Event { seq: Seq(1), at: TimestampMs(7), turn_id: None, body: created() };
        writes.push(Write::Append { session_id: id(n), events: vec![event] });
        writes.push(Write::PutSession(record(id(n), &workspace, 1, 0)));
    }
    store.commit(Batch::from(writes)).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn sl_04_a_session_of_fifty_thousand_events_is_listed_read_and_continued() {
    let llm = LlmServer::start().await;
    let home = Home::new();
    write(&home).await;
    let daemon = Daemon::builder().home(&home).llm(&llm).start().await;
    let client = daemon.client().await;
    let session_id = id(1).to_string();

    // Listing opens none of them.
    let request = v1::ListSessionsRequest { page_size: 1000, page_token: String::new() };
    let listed = client.session().list_sessions(request).await.unwrap().into_inner().sessions;
    assert_eq!(listed.len() as u128, 1 + OTHERS);
    let long = listed.iter().find(|session| session.session_id == session_id).unwrap();
    assert_eq!((long.last_seq, long.turns), (EVENTS, TURNS));
    let status = client.admin().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner();
    assert_eq!(status.live_sessions, 0);

    // The newest turn alone, then everything, then in pages.
    let newest = daemon.attach_at("bob", &session_id, AttachPosition::LastTurns(1)).await;
    assert_eq!(newest.attached().from_seq, EVENTS - 3);
    let mut all = daemon.attach("ann", &session_id).await;
    let seqs: Vec<u64> = all.events().map(|event| event.seq).filter(|seq| *seq > 0).collect();
    assert_eq!(seqs, (1..=EVENTS).collect::<Vec<_>>());
    let log = all.log().await;
    check_gap_free(&log);
    assert_eq!(log.len() as u64, EVENTS);

    // It goes on; it has rested for long, so the model gets a summary and the newest turns.
    all.skip_seen();
    assert_eq!(all.ask("go on").await, "go on");
    let sent = llm.wait_for_request(1).await;
    let first = sent.messages()[1]["content"].as_str().unwrap();
    assert!(first.starts_with("[Summary of the earlier turns"), "{first:.200}");
    assert!(first.contains("more turns are not told here"), "{first:.200}");
    let bytes = sent.raw.len();
    assert!(bytes < 32_768 * 4, "{bytes} bytes for a window of 32768 tokens");
    assert_eq!(llm.violations(), Vec::<String>::new());

    // A copy, and the end.
    let fork = v1::ForkSessionRequest { session_id: session_id.clone(), ..Default::default() };
    let copy = client.session().fork_session(fork).await.unwrap().into_inner().session.unwrap();
    assert!(copy.last_seq > EVENTS);
    let delete = v1::DeleteSessionRequest { session_id: session_id.clone() };
    client.session().delete_session(delete).await.unwrap();
    let gone = v1::GetSessionRequest { session_id };
    assert_eq!(client.session().get_session(gone).await.unwrap_err().code(), tonic::Code::NotFound);
    drop((newest, all));
    daemon.stop().await;
}
