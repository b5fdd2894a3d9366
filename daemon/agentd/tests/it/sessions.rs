//! Sessions as things: made, listed, changed, copied, carried elsewhere, removed.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::{AttachEvent, Client, Transcript, client_ids};
use agentd_testkit::{Daemon, Driver, Gate, LlmServer, PATIENCE, Reply};
use tonic::{Code, Status};

use crate::support::{check_error, check_gap_free, kinds};

async fn get(client: &Client, session_id: &str) -> Result<v1::GetSessionResponse, Status> {
    let request = v1::GetSessionRequest { session_id: session_id.to_owned() };
    Ok(client.session().get_session(request).await?.into_inner())
}

async fn fork(
    driver: &Driver,
    up_to_seq: u64,
    new_session_id: &str,
) -> Result<v1::Session, Status> {
    let request = v1::ForkSessionRequest {
        session_id: driver.session_id().to_owned(),
        new_session_id: new_session_id.to_owned(),
        up_to_seq,
        title: String::new(),
        author: Some(driver.author()),
    };
    let forked = driver.client().session().fork_session(request).await?;
    Ok(forked.into_inner().session.unwrap())
}

pub(crate) async fn export(client: &Client, session_id: &str) -> Vec<u8> {
    let mut lines = Vec::new();
    let (mut from_seq, mut from_byte) = (1, 0);
    while from_seq != 0 {
        let request =
            v1::ExportSessionRequest { session_id: session_id.to_owned(), from_seq, from_byte };
        let page = client.session().export_session(request).await.unwrap().into_inner();
        lines.extend(page.lines);
        (from_seq, from_byte) = (page.next_seq, page.next_byte);
    }
    lines
}

/// Imports in chunks of `size` bytes, each sent twice as after a lost answer.
pub(crate) async fn import(
    client: &Client,
    session_id: &str,
    lines: &[u8],
    size: usize,
) -> Result<v1::Session, Status> {
    let mut offset = 0;
    let mut session = None;
    for chunk in lines.chunks(size) {
        let end = offset + chunk.len();
        for _ in 0..2 {
            let request = v1::ImportSessionRequest {
                session_id: session_id.to_owned(),
                offset: offset as u64,
                chunk: chunk.to_vec(),
                last: end == lines.len(),
                author: Some(v1::Author { client_id: "importer".to_owned(), name: String::new() }),
            };
            let response = client.session().import_session(request).await?.into_inner();
            assert_eq!(response.staged_bytes, end as u64);
            session = response.session;
        }
        offset = end;
    }
    Ok(session.unwrap())
}

#[tokio::test]
async fn creating_a_session_twice_under_one_id_makes_one() {
    let daemon = Daemon::builder().start().await;
    let client = daemon.client().await;
    let request = |title: &str| v1::CreateSessionRequest {
        permission_mode: 0,
        work_mode: 0,
        effort: 0,
        session_id: "01JZ0000000000000000000000".to_owned(),
        title: title.to_owned(),
        workspace: daemon.workspace().display().to_string(),
        further_roots: Vec::new(),
        model: String::new(),
    };
    let first = client.session().create_session(request("one")).await.unwrap().into_inner();
    let second = client.session().create_session(request("two")).await.unwrap().into_inner();
    assert_eq!(first.session, second.session);
    let session = first.session.unwrap();
    assert_eq!((session.title.as_str(), session.last_seq), ("one", 1));
    assert_eq!(session.title_source(), v1::TitleSource::Manual);
    daemon.stop().await;
}

#[tokio::test]
async fn sessions_are_listed_in_pages_the_most_recently_used_first() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let client = daemon.client().await;
    let mut made = Vec::new();
    for n in 0..5 {
        let request = v1::CreateSessionRequest {
            permission_mode: 0,
            work_mode: 0,
            title: format!("session {n}"),
            workspace: daemon.workspace().display().to_string(),
            ..Default::default()
        };
        let created = client.session().create_session(request).await.unwrap().into_inner();
        made.push(created.session.unwrap().session_id);
    }
    let mut first = daemon.attach("ann", &made[0]).await;
    first.ask("hello").await;
    let mut listed = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListSessionsRequest { page_size: 2, page_token };
        let page = client.session().list_sessions(request).await.unwrap().into_inner();
        assert!(page.sessions.len() <= 2);
        listed.extend(page.sessions);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let mut ids: Vec<_> = listed.iter().map(|session| session.session_id.clone()).collect();
    assert_eq!(ids[0], made[0], "the one that was used last");
    ids.sort();
    let mut wanted = made.clone();
    wanted.sort();
    assert_eq!(ids, wanted);
    assert_eq!((listed[0].turns, listed[0].attached_clients), (1, 1));
    daemon.stop().await;
}

#[tokio::test]
async fn a_change_of_title_or_model_is_seen_by_all_and_counts_from_the_next_turn() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let request = v1::UpdateSessionRequest {
        permission_mode: None,
        work_mode: None,
        effort: None,
        session_id: ann.session_id().to_owned(),
        title: Some("A good name".to_owned()),
        model: Some("other-model".to_owned()),
        author: Some(ann.author()),
    };
    let updated = ann.client().session().update_session(request).await.unwrap().into_inner();
    assert_eq!(updated.session.unwrap().model, "other-model");
    ann.wait_for("the model", |body| matches!(body, Body::ModelChanged(_))).await;
    ann.ask("hello").await;
    assert_eq!(llm.requests()[0].model(), "other-model");
    assert_eq!(ann.transcript().title(), "A good name");
    assert_eq!(ann.transcript().title_source(), v1::TitleSource::Manual);
    daemon.stop().await;
}

#[tokio::test]
async fn a_fork_has_the_log_up_to_its_point_and_goes_its_own_way() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("one").await;
    let end_of_first = ann.transcript().last_seq();
    ann.ask("two").await;
    let end_of_second = ann.transcript().last_seq();
    let gate = Gate::new();
    llm.push(Reply::sse().text_delta("running").wait(&gate).finish("stop").done());
    ann.submit("three").await;
    ann.wait_live_text("running").await;

    // By default: up to the end of the last finished turn.
    let whole = fork(&ann, 0, "").await.unwrap();
    assert_eq!(whole.origin.as_ref().unwrap().seq, end_of_second);
    assert_eq!(whole.origin.as_ref().unwrap().session_id, ann.session_id());
    assert_eq!(whole.title, "Fork of one");
    let id = client_ids::new_ulid();
    let part = fork(&ann, end_of_first, &id).await.unwrap();
    assert_eq!(part.session_id, id);
    let past = fork(&ann, 9_999, "").await.unwrap_err();
    check_error(&past, Code::InvalidArgument, "past the end");

    let mut bob = daemon.attach("bob", &part.session_id).await;
    bob.skip_seen();
    assert_eq!(bob.ask("another two").await, "another two");
    let sent = llm.requests().last().unwrap().clone();
    let texts: Vec<_> =
        sent.messages().iter().filter_map(|message| message["content"].as_str()).collect();
    assert_eq!(texts[1..], ["one", "one", "another two"]);
    check_gap_free(&bob.log().await);
    gate.release();
    assert_eq!(ann.wait_answer().await, "running");
    daemon.stop().await;
}

#[tokio::test]
async fn a_fork_in_the_middle_of_a_turn_is_at_rest_and_usable() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("calculator", r#"{"expression":"1+1"}"#));
    llm.push(Reply::text("2"));
    ann.ask("count").await;
    let last = ann.transcript().last_seq();
    for seq in 1..=last {
        let forked = fork(&ann, seq, "").await.unwrap();
        assert_eq!(forked.status(), v1::SessionStatus::Idle, "at {seq}");
        assert_eq!(forked.queued_messages, 0, "at {seq}");
        let mut bob = daemon.attach("bob", &forked.session_id).await;
        bob.skip_seen();
        llm.push(Reply::text("gone on"));
        assert_eq!(bob.ask("next").await, "gone on", "at {seq}");
    }
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn an_exported_session_is_the_same_in_another_daemon() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().reasoning("hm").text_delta("使用").finish("stop").usage(3, 4).done());
    ann.ask("one").await;
    llm.push(Reply::tool_call("calculator", r#"{"expression":"2+3"}"#));
    llm.push(Reply::text("5"));
    ann.ask("two and three").await;
    let lines = export(ann.client(), ann.session_id()).await;
    let id = ann.session_id().to_owned();
    let log = ann.log().await;
    // Its workspace stays.
    let _home = daemon.stop().await;

    let elsewhere = Daemon::start(&llm).await;
    let client = elsewhere.client().await;
    let imported = import(&client, &id, &lines, 100).await.unwrap();
    assert_eq!((imported.session_id.as_str(), imported.title.as_str()), (id.as_str(), "one"));
    let mut bob = elsewhere.attach("bob", &id).await;
    assert_eq!(bob.log().await, log);
    let mut original = Transcript::default();
    for event in &log {
        original.apply(event);
    }
    assert_eq!(bob.transcript().items(), original.items());
    assert_eq!(export(&client, &id).await, lines, "a copy of the copy is the same");
    bob.skip_seen();
    assert_eq!(bob.ask("go on").await, "go on");
    elsewhere.stop().await;
}

#[tokio::test]
async fn a_file_that_is_no_export_is_refused_and_leaves_nothing() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("one").await;
    let client = ann.client().clone();
    let lines = String::from_utf8(export(&client, ann.session_id()).await).unwrap();
    let all: Vec<&str> = lines.lines().collect();
    let without_third = [&all[..2], &all[3..]].concat().join("\n");
    for (file, part) in [
        ("hello\n".to_owned(), "not the header"),
        (all[0].replace("\"version\":1", "\"version\":99"), "version 99"),
        (all[0].to_owned(), "no events"),
        (without_third, "where event 2 should be"),
        (format!("{}\n{{}}\n", all[0]), "line 2 is not an event"),
        (lines[..lines.len() - 20].to_owned(), "is not an event"),
    ] {
        let id = client_ids::new_ulid();
        let refused = import(&client, &id, file.as_bytes(), 1_000_000).await.unwrap_err();
        check_error(&refused, Code::InvalidArgument, part);
        assert_eq!(get(&client, &id).await.unwrap_err().code(), Code::NotFound, "{part}");
    }
    let request = v1::ImportSessionRequest {
        session_id: client_ids::new_ulid(),
        offset: 10,
        chunk: b"x".to_vec(),
        ..Default::default()
    };
    let gap = client.session().import_session(request).await.unwrap_err();
    check_error(&gap, Code::InvalidArgument, "past the 0 bytes");
    daemon.stop().await;
}

#[tokio::test]
async fn sl_03_deleting_a_session_cancels_its_turn_and_ends_its_streams() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("never ").stall());
    ann.submit("work").await;
    ann.wait_live_text("never").await;
    let client = daemon.client().await;
    let delete = || v1::DeleteSessionRequest { session_id: ann.session_id().to_owned() };
    client.session().delete_session(delete()).await.unwrap();
    llm.wait_for_disconnects(1).await;
    let gone = get(&client, ann.session_id()).await.unwrap_err();
    check_error(&gone, Code::NotFound, "no session");
    let again = client.session().delete_session(delete()).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
    let late = ann.try_submit("late", "late", v1::Delivery::Queue).await.unwrap_err();
    assert_eq!(late.code(), Code::NotFound);
    daemon.restart().await;
    let client = daemon.client().await;
    assert_eq!(get(&client, ann.session_id()).await.unwrap_err().code(), Code::NotFound);
    let list = v1::ListSessionsRequest::default();
    assert!(client.session().list_sessions(list).await.unwrap().into_inner().sessions.is_empty());
    daemon.stop().await;
}

#[tokio::test]
async fn the_streams_of_a_deleted_session_say_that_it_was_deleted() {
    let daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let identity = agentd_shared::Identity { client_id: "bob".to_owned(), name: String::new() };
    let target = agentd_shared::AttachTarget {
        session_id: ann.session_id().to_owned(),
        identity,
        position: agentd_shared::AttachPosition::FromSeq(1),
    };
    let mut stream =
        agentd_shared::Attachment::open(daemon.endpoint(), target, agentd_shared::Recovery::Wait);
    let caught_up =
        async { while !matches!(stream.next().await, Some(AttachEvent::CaughtUp { .. })) {} };
    tokio::time::timeout(PATIENCE, caught_up).await.expect("it attaches");
    let request = v1::DeleteSessionRequest { session_id: ann.session_id().to_owned() };
    ann.client().session().delete_session(request).await.unwrap();
    let failed = async {
        loop {
            match stream.next().await {
                Some(AttachEvent::Failed(error)) => break error,
                Some(_) => {}
                None => panic!("it ended without a reason"),
            }
        }
    };
    let error = tokio::time::timeout(PATIENCE, failed).await.expect("the stream ends");
    assert!(error.to_string().contains("deleted"), "{error}");
    daemon.stop().await;
}

#[tokio::test]
async fn a_log_read_in_pages_is_whole() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("one").await;
    ann.ask("two").await;
    let mut events = Vec::new();
    let mut from_seq = 0;
    loop {
        let request = v1::ListEventsRequest {
            session_id: ann.session_id().to_owned(),
            from_seq,
            page_size: 3,
        };
        let page = ann.client().event().list_events(request).await.unwrap().into_inner();
        assert!(page.events.len() <= 3);
        events.extend(page.events);
        from_seq = page.next_seq;
        if from_seq == 0 {
            break;
        }
    }
    assert_eq!(events, ann.log().await);
    let bodies: Vec<_> = events.into_iter().filter_map(|event| event.body).collect();
    assert_eq!(kinds(&bodies).last(), Some(&"completed"));
    daemon.stop().await;
}
