//! Connections that misbehave: unread, half-open, gone in the middle of a request.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::attach_response::Payload;
use agentd_proto::v1::event_service_client::EventServiceClient;
use agentd_shared::{Client, DaemonChannel, Transcript, client_ids};
use agentd_testkit::{Daemon, Gate, LlmServer, PATIENCE, Pace, Reply};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Streaming;

use crate::support::{check_gap_free, kinds};

async fn raw_attach(
    channel: DaemonChannel,
    session_id: &str,
    name: &str,
) -> Streaming<v1::AttachResponse> {
    let request = v1::AttachRequest {
        session_id: session_id.to_owned(),
        author: Some(v1::Author { client_id: name.to_owned(), name: name.to_owned() }),
        position: Some(v1::attach_request::Position::FromSeq(1)),
    };
    EventServiceClient::new(channel)
        .max_decoding_message_size(agentd_shared::connect::MAX_MESSAGE_BYTES)
        .attach(request)
        .await
        .expect("attach")
        .into_inner()
}

fn large_answer(bytes: usize) -> Reply {
    let piece = "0123456789abcdef".repeat(64);
    let reply = Reply::sse().deltas(bytes / piece.len(), &piece, Pace::Coalesced);
    reply.finish("stop").usage(1, 1).done()
}

#[tokio::test]
async fn dl_03_a_terminal_that_does_not_read_delays_nobody_and_misses_nothing() {
    const ANSWER: usize = 1536 * 1024;
    const TURNS: usize = 8;
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let channel = ann.client().open_stream_channel().await.unwrap();
    let mut unread = raw_attach(channel, ann.session_id(), "bob").await;
    for turn in 0..TURNS {
        llm.push(large_answer(ANSWER));
        assert_eq!(ann.ask(&format!("turn {turn}")).await.len(), ANSWER);
    }
    // Now it reads. What waited for it is bounded: long before the first lag is told, the live text
    // of all turns would have passed.
    let mut transcript = Transcript::default();
    let mut seqs = Vec::new();
    let mut live_bytes = 0;
    let mut lagged = None;
    let last = ann.transcript().last_seq();
    let reading = async {
        while transcript.last_seq() < last {
            match unread.message().await.unwrap().expect("the stream goes on").payload.unwrap() {
                Payload::Events(batch) => {
                    for event in &batch.events {
                        if event.seq > 0 {
                            seqs.push(event.seq);
                        } else if let Some(v1::event::Body::ItemDelta(delta)) = &event.body {
                            live_bytes += delta.text.len();
                        }
                        transcript.apply(event);
                    }
                }
                Payload::Lagged(told) => {
                    let next = seqs.last().map_or(1, |seq| seq + 1);
                    assert_eq!(told.resume_seq, next, "it resumes where it stopped");
                    lagged.get_or_insert(told.resume_seq);
                }
                Payload::Attached(_) | Payload::CaughtUp(_) => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("the slow terminal catches up");
    assert!(lagged.is_some(), "a lag is told");
    assert!(live_bytes < TURNS * ANSWER / 2, "{live_bytes} bytes were kept for it");
    assert_eq!(seqs, (1..=last).collect::<Vec<_>>(), "a gap or a repetition");
    assert_eq!(transcript.items(), ann.transcript().items());
    daemon.stop().await;
}

#[tokio::test]
async fn gr_03_unread_streams_on_one_connection_do_not_hold_up_commands_on_another() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let shared = ann.client().open_stream_channel().await.unwrap();
    let mut unread = Vec::new();
    for name in ["one", "two", "three"] {
        unread.push(raw_attach(shared.clone(), ann.session_id(), name).await);
    }
    for _ in 0..4 {
        llm.push(large_answer(1536 * 1024));
        ann.ask("much").await;
    }
    let gate = Gate::new();
    llm.push(Reply::sse().text_delta("running").wait(&gate));
    ann.submit("run").await;
    ann.wait_live_text("running").await;
    // Commands have a connection of their own, and get through.
    assert!(ann.interrupt().await);
    ann.wait_turn_end().await;
    assert_eq!(ann.ask("still there?").await, "still there?");
    assert_eq!(ann.session().await.participants.len(), 4);
    drop(unread);
    ann.wait_until("the unread ones are gone", |ann| ann.transcript().participants().len() == 1)
        .await;
    daemon.stop().await;
}

#[tokio::test]
async fn gr_04_a_stop_ends_idle_streams_and_does_not_wait_for_half_open_connections() {
    let daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let channel = ann.client().open_stream_channel().await.unwrap();
    let mut idle = raw_attach(channel, ann.session_id(), "bob").await;
    let half_open = tokio::net::UnixStream::connect(daemon.endpoint().socket()).await.unwrap();
    let socket = daemon.endpoint().socket().to_owned();
    // It asserts that the stop was not cut off.
    daemon.stop().await;
    let ended = loop {
        match idle.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended without a reason"),
            Err(status) => break status,
        }
    };
    assert_eq!(ended.code(), tonic::Code::Unavailable, "{ended:?}");
    assert!(ended.message().contains("stopping"), "{ended:?}");
    assert!(!socket.exists());
    drop(half_open);
}

/// Starts `request` and drops it after each of many short times, so that it is cut at every await.
async fn dropped<T>(delays: std::ops::Range<u64>, request: impl AsyncFn(u64) -> T) {
    for n in delays {
        // Whether it was in time does not matter: that is the point.
        let _whichever =
            tokio::time::timeout(Duration::from_micros(n * 40), request(n)).await.is_err();
    }
}

fn create(session_id: &str, daemon: &Daemon) -> v1::CreateSessionRequest {
    v1::CreateSessionRequest {
        session_id: session_id.to_owned(),
        workspace: daemon.workspace().display().to_string(),
        ..Default::default()
    }
}

async fn log_kinds(client: &Client, session_id: &str) -> Option<Vec<&'static str>> {
    let request =
        v1::ListEventsRequest { session_id: session_id.to_owned(), from_seq: 1, page_size: 1000 };
    match client.event().list_events(request).await {
        Ok(page) => {
            let page = page.into_inner();
            check_gap_free(&page.events);
            let bodies: Vec<_> = page.events.into_iter().filter_map(|event| event.body).collect();
            Some(kinds(&bodies))
        }
        Err(status) if status.code() == tonic::Code::NotFound => None,
        Err(status) => panic!("{status:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gr_07_a_session_whose_creator_left_is_there_whole_or_not_at_all() {
    let daemon = Daemon::builder().start().await;
    let client = daemon.client().await;
    let ids: Vec<String> = (0..40).map(|_| client_ids::new_ulid()).collect();
    dropped(0..40, async |n| {
        let request = create(&ids[usize::try_from(n).unwrap()], &daemon);
        client.session().create_session(request).await
    })
    .await;
    for id in &ids {
        if let Some(log) = log_kinds(&client, id).await {
            assert_eq!(log, ["created"]);
        }
        // The retry gives one session, whatever had happened.
        client.session().create_session(create(id, &daemon)).await.unwrap();
        assert_eq!(log_kinds(&client, id).await.unwrap(), ["created"]);
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gr_07_a_message_whose_sender_left_is_accepted_once_or_not_at_all() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    dropped(0..30, async |n| {
        ann.try_submit(&format!("m{n}"), &format!("message {n}"), v1::Delivery::Queue).await
    })
    .await;
    for n in 0..30 {
        ann.try_submit(&format!("m{n}"), &format!("message {n}"), v1::Delivery::Queue)
            .await
            .unwrap();
    }
    for _ in 0..30 {
        ann.wait_answer().await;
    }
    let log = log_kinds(ann.client(), ann.session_id()).await.unwrap();
    let count = |kind| log.iter().filter(|found| **found == kind).count();
    assert_eq!((count("accepted"), count("started"), count("completed")), (30, 30, 30));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gr_07_a_fork_whose_client_left_is_made_whole_or_not_at_all() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    for n in 0..5 {
        ann.ask(&format!("question {n}")).await;
    }
    let original = log_kinds(ann.client(), ann.session_id()).await.unwrap();
    let ids: Vec<String> = (0..30).map(|_| client_ids::new_ulid()).collect();
    let fork = |id: &str| v1::ForkSessionRequest {
        session_id: ann.session_id().to_owned(),
        new_session_id: id.to_owned(),
        author: Some(ann.author()),
        ..Default::default()
    };
    dropped(0..30, async |n| {
        ann.client().session().fork_session(fork(&ids[usize::try_from(n).unwrap()])).await
    })
    .await;
    for id in &ids {
        ann.client().session().fork_session(fork(id)).await.unwrap();
        let log = log_kinds(ann.client(), id).await.unwrap();
        assert_eq!(log[..original.len()], original[..]);
    }
    daemon.stop().await;
}

#[tokio::test]
async fn gr_07_a_turn_goes_on_when_all_terminals_have_left() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let gate = Gate::new();
    llm.push(
        Reply::sse().text_delta("left ").wait(&gate).text_delta("alone").finish("stop").done(),
    );
    ann.submit("go on without me").await;
    ann.wait_live_text("left").await;
    let session_id = ann.session_id().to_owned();
    drop(ann);
    gate.release();
    let mut bob = daemon.attach("bob", &session_id).await;
    assert_eq!(bob.wait_answer().await, "left alone");
    daemon.stop().await;
}

#[tokio::test]
async fn reflection_names_every_service() {
    use tonic_reflection::pb::v1::ServerReflectionRequest;
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let client = daemon.client().await;
    let channel = client.open_stream_channel().await.unwrap();
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let answers = ServerReflectionClient::new(channel)
        .server_reflection_info(tokio_stream::once(request))
        .await
        .unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}")
    };
    let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
    for name in ["SessionService", "TurnService", "EventService", "AdminService"] {
        assert!(names.contains(&format!("agentd.v1.{name}").as_str()), "{name}: {names:?}");
    }
    assert!(names.contains(&"grpc.health.v1.Health"), "{names:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn gr_05_a_client_that_gives_no_sign_of_life_is_dropped() {
    let daemon = Daemon::builder().set("daemon.keepalive_ms", 100).start().await;
    let socket = daemon.endpoint().socket().to_owned();
    let mut dead = tokio::net::UnixStream::connect(&socket).await.unwrap();
    // The start of HTTP/2 with empty settings; no ping will be answered.
    dead.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut heard = Vec::new();
    tokio::time::timeout(PATIENCE, dead.read_to_end(&mut heard)).await.unwrap().unwrap();
    let pings = heard.windows(5).filter(|frame| frame == b"\0\0\x08\x06\0").count();
    assert!(pings > 0, "it was asked before: {heard:?}");

    // One that answers stays, however long it has nothing to say.
    let mut ann = daemon.driver("ann").await;
    assert!(ann.ask("what is 2 + 3?").await.contains('5'));
    daemon.stop().await;
}
