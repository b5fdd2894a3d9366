//! Remote connections that misbehave: silent, half-open, idle, too many, in the wrong protocol.

use agentd_proto::v1;
use agentd_shared::{Client, Endpoint, Remote, RemoteOptions, RemoteProblem};
use agentd_testkit::{Daemon, Gate, LlmServer, PATIENCE, Pace, Reply};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::Code;
use v1::TokenScope::Chat;
use v1::event_service_client::EventServiceClient;

use crate::remote_world::{World, address_of, list, refused};
use crate::support::check_error;

/// What is left to read, until the other side closes; a reset counts as its end.
async fn read_out(mut from: impl tokio::io::AsyncRead + Unpin) -> Vec<u8> {
    let mut heard = Vec::new();
    let _reset_or_end =
        tokio::time::timeout(PATIENCE, from.read_to_end(&mut heard)).await.expect("it is closed");
    heard
}

const POST: &[u8] = b"POST /agentd.v1.TurnService/SubmitMessage HTTP/1.1\r\nHost: evil.test\r\n\
    Origin: https://evil.test\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi";
/// The start of HTTP/2 with empty settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[tokio::test]
async fn dl_04_requests_in_http_1_are_not_answered_with_or_without_tls() {
    let world = World::start().await;
    let mut offered = world.raw_tls(&[b"h2"]).await.unwrap();
    offered.write_all(POST).await.unwrap();
    let heard = read_out(offered).await;
    assert!(!heard.windows(5).any(|part| part == b"HTTP/"), "{heard:?}");
    // Without an offer of HTTP/2 there is not even a handshake, or nothing after it.
    for alpn in [&[b"http/1.1".as_slice()][..], &[]] {
        if let Ok(mut tls) = world.raw_tls(alpn).await {
            // It may be closed already.
            let _closed = tls.write_all(POST).await;
            assert_eq!(read_out(tls).await, b"");
        }
    }
    world.daemon.stop().await;

    let daemon = Daemon::builder()
        .set("remote.listen", vec!["127.0.0.1:0"])
        .set("remote.insecure_loopback", true)
        .start()
        .await;
    let mut plain = TcpStream::connect(address_of(&daemon).await).await.unwrap();
    plain.write_all(POST).await.unwrap();
    let heard = read_out(plain).await;
    assert!(!heard.windows(5).any(|part| part == b"HTTP/"), "{heard:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn what_is_not_encrypted_is_refused_where_tls_is_asked_for() {
    let world = World::start().await;
    let mut plain = TcpStream::connect(world.address).await.unwrap();
    plain.write_all(PREFACE).await.unwrap();
    let heard = read_out(plain).await;
    // An alert of TLS (21) at most, and no frame of HTTP/2.
    assert!(heard.first().is_none_or(|first| *first == 21), "{heard:?}");
    let options =
        RemoteOptions { server: format!("http://{}", world.address), ..world.options("x") };
    let (error, _) = refused(&Endpoint::remote(Remote::new(options).unwrap())).await;
    assert!(error.to_string().contains("cannot"), "{error}");
    world.daemon.stop().await;
}

#[tokio::test]
async fn tls_towards_a_port_without_it_is_explained() {
    let daemon = Daemon::builder()
        .set("remote.listen", vec!["127.0.0.1:0"])
        .set("remote.insecure_loopback", true)
        .start()
        .await;
    let home = agentd_testkit::Home::new();
    let ca = crate::remote_world::tls_files(&home).ca;
    let options = RemoteOptions {
        server: format!("https://{}", address_of(&daemon).await),
        ca: Some(ca),
        ..Default::default()
    };
    let (error, _) = refused(&Endpoint::remote(Remote::new(options).unwrap())).await;
    assert!(error.to_string().contains("does not speak TLS"), "{error}");
    daemon.stop().await;
}

#[tokio::test]
async fn handshakes_that_stand_still_hold_up_nobody() {
    let world = World::start().await;
    let mut silent = Vec::new();
    // From two machines, more than are served at once of all that stand still.
    for n in 0..80 {
        let from = if n < 40 { "127.0.0.2:0" } else { "127.0.0.3:0" };
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(from.parse().unwrap()).unwrap();
        let mut tcp = socket.connect(world.address).await.unwrap();
        if n % 2 == 0 {
            // The first bytes of a handshake, and no more.
            // It may be closed already.
            let _closed = tcp.write_all(b"\x16\x03\x01\x02\0\x01").await;
        }
        silent.push(tcp);
    }
    let client = world.chat_client("phone").await;
    list(&client).await.unwrap();
    // It asserts that the stop was not cut off.
    world.daemon.stop().await;
    drop(silent);
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_the_next_call_makes_another() {
    let world = World::start_with(|builder, _| builder.set("remote.idle_timeout_ms", 200)).await;
    let (_, secret) = world.token("phone", Chat).await;
    let client = world.client(&secret).await;
    list(&client).await.unwrap();
    let admin = world.daemon.client().await;
    let connections = async || {
        let status = admin.admin().get_status(v1::GetStatusRequest {}).await.unwrap();
        status.into_inner().connections
    };
    // What is left is the connection that asks.
    while connections().await > 1 {
        tokio::task::yield_now().await;
    }
    list(&client).await.unwrap();
    // An open stream is a call: such a connection is not idle.
    let mut ann = world.daemon.driver("ann").await;
    let mut bob = world.attach(&secret, "bob", ann.session_id()).await;
    // What is left is the one that asks, Ann's two, and Bob's stream.
    while connections().await > 4 {
        tokio::task::yield_now().await;
    }
    ann.ask("what is 2 + 3?").await;
    assert!(bob.wait_answer().await.contains('5'));
    let lost =
        bob.seen().iter().any(|event| matches!(event, agentd_shared::AttachEvent::Lost { .. }));
    assert!(!lost, "its stream was kept");
    drop(bob);
    world.daemon.stop().await;
}

#[tokio::test]
async fn there_are_no_more_connections_than_allowed() {
    let world =
        World::start_with(|builder, _| builder.set("remote.max_connections_per_ip", 2)).await;
    let (_, secret) = world.token("phone", Chat).await;
    let one = world.client(&secret).await;
    let two = world.client(&secret).await;
    let (error, rpc) = refused(&world.endpoint(&secret)).await;
    assert!(
        matches!(error, agentd_shared::ConnectError::Remote { problem: RemoteProblem::Closed, .. }),
        "{error:?}"
    );
    assert!(error.hint().contains("limit of connections"));
    assert!(rpc.kind().is_retryable());
    list(&one).await.unwrap();
    drop(one);
    let freed = async {
        loop {
            if let Ok(client) = Client::connect(&world.endpoint(&secret)).await {
                break client;
            }
        }
    };
    let three = tokio::time::timeout(PATIENCE, freed).await.expect("a place comes free");
    list(&three).await.unwrap();
    list(&two).await.unwrap();
    world.daemon.stop().await;
}

#[tokio::test]
async fn who_fails_too_often_has_to_wait_and_who_is_in_does_not() {
    let world = World::start().await;
    let client = world.chat_client("phone").await;
    list(&client).await.unwrap();
    let stranger = world.client("agentd_0_guess").await;
    for _ in 0..10 {
        check_error(&list(&stranger).await.unwrap_err(), Code::Unauthenticated, "not known");
    }
    let status = list(&stranger).await.unwrap_err();
    check_error(&status, Code::ResourceExhausted, "too many failed attempts");
    assert!(agentd_shared::RpcError::from(status).retry_after.is_some());
    list(&client).await.unwrap();
    world.daemon.stop().await;
}

#[tokio::test]
async fn gr_01_a_message_past_the_limit_is_refused_over_tls_and_the_stream_goes_on() {
    let world = World::start().await;
    let (_, secret) = world.token("phone", Chat).await;
    let ann = world.daemon.driver("ann").await;
    let mut bob = world.attach(&secret, "bob", ann.session_id()).await;
    let channel = bob.client().open_stream_channel().await.unwrap();
    let request = v1::SubmitMessageRequest {
        session_id: bob.session_id().to_owned(),
        client_message_id: "m".to_owned(),
        text: "x".repeat(5 * 1024 * 1024),
        author: Some(bob.author()),
        ..Default::default()
    };
    let mut turns = v1::turn_service_client::TurnServiceClient::new(channel);
    let status = turns.submit_message(request).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status:?}");
    assert!(status.message().contains("4194304"), "{status:?}");
    assert!(bob.ask("what is 2 + 3?").await.contains('5'));
    world.daemon.stop().await;
}

#[tokio::test]
async fn gr_03_unread_streams_over_tls_do_not_hold_up_commands() {
    let llm = LlmServer::start().await;
    let world = World::start_with(|builder, _| builder.llm(&llm)).await;
    let (_, secret) = world.token("phone", Chat).await;
    let mut ann = world.daemon.driver("ann").await;
    let mut bob = world.attach(&secret, "bob", ann.session_id()).await;
    let shared = bob.client().open_stream_channel().await.unwrap();
    let mut unread = Vec::new();
    for name in ["one", "two", "three"] {
        let request = v1::AttachRequest {
            session_id: ann.session_id().to_owned(),
            author: Some(v1::Author { client_id: name.to_owned(), name: name.to_owned() }),
            position: Some(v1::attach_request::Position::FromSeq(1)),
        };
        let stream = EventServiceClient::new(shared.clone()).attach(request).await.unwrap();
        unread.push(stream.into_inner());
    }
    let piece = "0123456789abcdef".repeat(64);
    for _ in 0..4 {
        let reply = Reply::sse().deltas(1536, &piece, Pace::Coalesced).finish("stop");
        llm.push(reply.usage(1, 1).done());
        bob.ask("much").await;
    }
    let gate = Gate::new();
    llm.push(Reply::sse().text_delta("running").wait(&gate));
    ann.submit("run").await;
    bob.wait_live_text("running").await;
    assert!(bob.interrupt().await);
    bob.wait_turn_end().await;
    ann.wait_turn_end().await;
    drop(unread);
    world.daemon.stop().await;
}

#[tokio::test]
async fn gr_04_a_stop_ends_remote_streams_with_the_reason_and_waits_for_no_half_open_connection() {
    let world = World::start().await;
    let client = world.chat_client("phone").await;
    let session = client
        .session()
        .create_session(v1::CreateSessionRequest::default())
        .await
        .unwrap()
        .into_inner();
    let request = v1::AttachRequest {
        session_id: session.session.unwrap().session_id,
        author: Some(v1::Author { client_id: "bob".to_owned(), name: "bob".to_owned() }),
        position: None,
    };
    let channel = client.open_stream_channel().await.unwrap();
    let mut idle = EventServiceClient::new(channel).attach(request).await.unwrap().into_inner();
    let half_open = world.raw_tls(&[b"h2"]).await.unwrap();
    let silent = TcpStream::connect(world.address).await.unwrap();
    // It asserts that the stop was not cut off.
    world.daemon.stop().await;
    let ended = loop {
        match idle.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended without a reason"),
            Err(status) => break status,
        }
    };
    assert_eq!(ended.code(), Code::Unavailable, "{ended:?}");
    assert!(ended.message().contains("stopping"), "{ended:?}");
    drop((half_open, silent));
}

#[tokio::test]
async fn gr_05_a_remote_client_that_gives_no_sign_of_life_is_dropped() {
    let world = World::start_with(|builder, _| builder.set("remote.keepalive_ms", 100)).await;
    let mut dead = world.raw_tls(&[b"h2"]).await.unwrap();
    dead.write_all(PREFACE).await.unwrap();
    let heard = read_out(dead).await;
    let pings = heard.windows(5).filter(|frame| frame == b"\0\0\x08\x06\0").count();
    assert!(pings > 0, "it was asked before: {heard:?}");
    world.daemon.stop().await;
}

#[tokio::test]
async fn a_remote_terminal_goes_on_where_it_was_after_a_restart() {
    let mut world = World::start().await;
    let (_, secret) = world.token("phone", Chat).await;
    let mut ann = world.daemon.driver("ann").await;
    let mut bob = world.attach(&secret, "bob", ann.session_id()).await;
    ann.ask("what is 2 + 3?").await;
    bob.wait_answer().await;
    // The same port again, as a configuration would have it.
    let address = world.address.to_string();
    world.daemon.home_mut().set("remote.listen", vec![address]);
    world.daemon.restart().await;
    bob.wait_until("restored", |bob| {
        bob.seen().iter().any(|event| matches!(event, agentd_shared::AttachEvent::Restored))
    })
    .await;
    assert!(bob.ask("what is 4 + 4?").await.contains('8'));
    ann.wait_answer().await;
    let seqs: Vec<u64> = bob.events().map(|event| event.seq).filter(|seq| *seq > 0).collect();
    let last = *seqs.last().unwrap();
    assert_eq!(seqs, (1..=last).collect::<Vec<_>>(), "a gap or a repetition");
    world.daemon.stop().await;
}
