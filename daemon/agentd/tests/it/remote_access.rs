//! Remote clients: who comes in, what they may do, and what others see of them.

use std::sync::Arc;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::{
    AttachEvent, AttachPosition, AttachTarget, Attachment, Endpoint, Identity, Recovery, Remote,
    RemoteOptions, RemoteProblem,
};
use agentd_testkit::{Daemon, Driver, FakeClock, Gate, Home, LlmServer, PATIENCE, Reply};
use tonic::{Code, Request};
use v1::TokenScope::{Admin, Chat, Read};

use crate::remote_world::{
    World, address_of, list, make_token, refused, revoke, tls_files, with_tls,
};
use crate::support::check_error;

/// What the terminals in the session are called.
fn names(driver: &Driver) -> Vec<&str> {
    let authors = driver.transcript().participants().iter().filter_map(|one| one.author.as_ref());
    authors.map(|author| author.name.as_str()).collect()
}

#[tokio::test]
async fn a_local_and_a_remote_terminal_share_a_session_and_see_who_is_who() {
    let llm = LlmServer::start().await;
    let world = World::start_with(|builder, _| builder.llm(&llm)).await;
    let (_, secret) = world.token("phone", Chat).await;
    let mut ann = world.daemon.driver("ann").await;
    let mut bob = world.attach(&secret, "bob", ann.session_id()).await;
    ann.wait_until("bob is there", |ann| names(ann).contains(&"bob [phone]")).await;
    let gate = Gate::new();
    llm.push(
        Reply::sse().text_delta("one ").wait(&gate).text_delta("answer").finish("stop").done(),
    );
    bob.submit("from afar").await;
    ann.wait_live_text("one ").await;
    bob.wait_live_text("one ").await;
    gate.release();
    assert_eq!(ann.wait_answer().await, "one answer");
    assert_eq!(bob.wait_answer().await, "one answer");
    let authors: Vec<String> = ann
        .bodies()
        .filter_map(|body| match body {
            Body::MessageAccepted(accepted) => accepted.author.clone().map(|by| by.name),
            _ => None,
        })
        .collect();
    assert_eq!(authors, ["bob [phone]"]);
    assert_eq!(ann.transcript().items(), bob.transcript().items());
    drop(bob);
    world.daemon.stop().await;
}

#[tokio::test]
async fn dl_04_without_a_good_token_nothing_is_answered_and_no_token_is_repeated() {
    let world = World::start().await;
    let (id, secret) = world.token("phone", Chat).await;
    let (other_id, _) = world.token("other", Admin).await;
    let forged = secret.replace(&id, &other_id);
    let bare = RemoteOptions { token: None, ..world.options("x") };
    let bare = agentd_shared::Client::connect(&Endpoint::remote(Remote::new(bare).unwrap())).await;
    check_error(&list(&bare.unwrap()).await.unwrap_err(), Code::Unauthenticated, "needs a token");
    for wrong in ["nonsense", "agentd_0_x", forged.as_str()] {
        let status = list(&world.client(wrong).await).await.unwrap_err();
        check_error(&status, Code::Unauthenticated, "not known");
        assert!(!format!("{status:?}").contains(wrong), "{status:?}");
    }
    let client = world.client(&secret).await;
    list(&client).await.unwrap();
    revoke(&world.daemon, &id).await;
    let status = list(&world.client(&secret).await).await.unwrap_err();
    check_error(&status, Code::Unauthenticated, "revoked");
    world.daemon.stop().await;
}

#[tokio::test]
async fn a_token_is_good_until_it_expires_and_its_use_is_seen() {
    let clock = Arc::new(FakeClock::at(1_700_000_000_000));
    let shared = Arc::clone(&clock);
    let world = World::start_with(|builder, _| builder.clock(shared)).await;
    let (_, secret) = make_token(&world.daemon, "guest", Read, 3_600_000).await;
    let client = world.client(&secret).await;
    list(&client).await.unwrap();
    let admin = world.daemon.client().await;
    let tokens = admin.access().list_tokens(v1::ListTokensRequest {}).await.unwrap().into_inner();
    let [token] = tokens.tokens.as_slice() else { panic!("{tokens:?}") };
    assert_eq!((token.name.as_str(), token.scope()), ("guest", Read));
    assert_eq!(token.expires_at_ms, 1_700_003_600_000);
    assert_eq!(token.last_used_at_ms, 1_699_999_980_000, "to the minute");
    clock.advance(3_600_000);
    check_error(&list(&client).await.unwrap_err(), Code::Unauthenticated, "expired");
    world.daemon.stop().await;
}

#[tokio::test]
async fn a_scope_that_is_too_small_is_named_with_the_one_that_is_needed() {
    let world = World::start().await;
    let (_, read) = world.token("reader", Read).await;
    let (_, chat) = world.token("talker", Chat).await;
    let (_, admin) = world.token("boss", Admin).await;
    let reader = world.client(&read).await;
    list(&reader).await.unwrap();
    let create = || v1::CreateSessionRequest::default();
    let status = reader.session().create_session(create()).await.unwrap_err();
    check_error(&status, Code::PermissionDenied, "this needs chat");
    let talker = world.client(&chat).await;
    let session = talker.session().create_session(create()).await.unwrap().into_inner();
    let id = session.session.unwrap().session_id;
    let delete = || v1::DeleteSessionRequest { session_id: id.clone() };
    let status = talker.session().delete_session(delete()).await.unwrap_err();
    check_error(&status, Code::PermissionDenied, "this needs admin");
    let status = talker.access().list_tokens(v1::ListTokensRequest {}).await.unwrap_err();
    check_error(&status, Code::PermissionDenied, "this needs admin");
    // A rule of the workspace holds for the turns of others, however it is made.
    let approval_id = "01JZ3V8QK5RD3V8QK5RD3V8QK5".to_owned();
    let for_all = v1::AnswerApprovalRequest {
        session_id: id.clone(),
        approval_id,
        decision: v1::ApprovalDecision::Allow.into(),
        scope: v1::ApprovalScope::Workspace.into(),
        reason: String::new(),
        author: Some(v1::Author { client_id: "t".to_owned(), name: "t".to_owned() }),
    };
    let status = talker.approval().answer_approval(for_all.clone()).await.unwrap_err();
    check_error(&status, Code::PermissionDenied, "needs a token of the scope admin");
    let boss = world.client(&admin).await;
    let status = boss.approval().answer_approval(for_all).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound, "there is none, but he might");
    boss.session().delete_session(delete()).await.unwrap();
    assert_eq!(
        boss.access()
            .list_tokens(v1::ListTokensRequest {})
            .await
            .unwrap()
            .into_inner()
            .tokens
            .len(),
        3
    );
    world.daemon.stop().await;
}

#[tokio::test]
async fn revoking_a_token_ends_the_streams_that_use_it_and_no_others() {
    let world = World::start().await;
    let (lost, lost_secret) = world.token("lost", Chat).await;
    let (_, kept_secret) = world.token("kept", Chat).await;
    let mut ann = world.daemon.driver("ann").await;
    let target = AttachTarget {
        session_id: ann.session_id().to_owned(),
        identity: Identity { client_id: "thief".to_owned(), name: "thief".to_owned() },
        position: AttachPosition::OnlyNew,
    };
    let mut thief = Attachment::open(world.endpoint(&lost_secret), target, Recovery::Wait);
    ann.wait_until("the thief is there", |ann| names(ann).contains(&"thief [lost]")).await;
    let mut bob = world.attach(&kept_secret, "bob", ann.session_id()).await;
    revoke(&world.daemon, &lost).await;
    let refusal = loop {
        let event = tokio::time::timeout(PATIENCE, thief.next()).await.expect("an event");
        if let AttachEvent::Failed(error) = event.expect("the stream goes on") {
            break error;
        }
    };
    assert_eq!(refusal.code, Code::Unauthenticated, "{refusal:?}");
    ann.wait_until("the thief is gone", |ann| !names(ann).contains(&"thief [lost]")).await;
    assert!(bob.ask("what is 2 + 3?").await.contains('5'));
    world.daemon.stop().await;
}

#[tokio::test]
async fn with_a_ca_for_clients_a_token_alone_is_not_enough() {
    let world = World::start_with(|builder, files| {
        builder.set("remote.client_ca", files.ca.to_str().unwrap())
    })
    .await;
    let (_, secret) = world.token("phone", Chat).await;
    let (error, rpc) = refused(&world.endpoint(&secret)).await;
    assert!(error.to_string().contains("wants one"), "{error}");
    assert!(error.hint().contains("--client-cert"), "{error}");
    assert!(rpc.ends_attachment(), "trying again does not help: {rpc:?}");
    let (cert, key) = world.files.clients[0].clone();
    let options =
        RemoteOptions { client_cert: Some(cert), client_key: Some(key), ..world.options(&secret) };
    let endpoint = Endpoint::remote(Remote::new(options).unwrap());
    list(&agentd_shared::Client::connect(&endpoint).await.unwrap()).await.unwrap();
    world.daemon.stop().await;
}

#[tokio::test]
async fn a_certificate_that_is_not_believed_is_explained() {
    let world = World::start().await;
    let stranger = Home::new();
    let other = tls_files(&stranger);
    let check = async |options: RemoteOptions, problem: &str, hint: &str| {
        let (error, rpc) = refused(&Endpoint::remote(Remote::new(options).unwrap())).await;
        assert!(error.to_string().contains(problem), "{error}");
        assert!(error.hint().contains(hint), "{}", error.hint());
        assert_eq!(rpc.code, Code::FailedPrecondition);
    };
    let good = world.options("x");
    check(RemoteOptions { ca: Some(other.ca), ..good.clone() }, "not of a CA", "--ca").await;
    let name = Some("box.lan".to_owned());
    check(RemoteOptions { server_name: name, ..good }, "another name", "--server-name").await;
    world.daemon.stop().await;
}

#[tokio::test]
async fn dl_04_web_pages_and_requests_for_other_hosts_are_refused() {
    let daemon = Daemon::builder()
        .set("remote.listen", vec!["127.0.0.1:0"])
        .set("remote.insecure_loopback", true)
        .start()
        .await;
    let address = address_of(&daemon).await;
    let (_, secret) = make_token(&daemon, "tunnel", Chat, 0).await;
    let call = async |authority: &str, origin: Option<&'static str>| {
        let channel = tonic::transport::Endpoint::from_shared(format!("http://{authority}"))
            .unwrap()
            .connect_with_connector(tower::service_fn(move |_| async move {
                let tcp = tokio::net::TcpStream::connect(address).await?;
                Ok::<_, std::io::Error>(hyper_util::rt::TokioIo::new(tcp))
            }))
            .await
            .unwrap();
        let mut request = Request::new(v1::ListSessionsRequest::default());
        let bearer = format!("Bearer {secret}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        if let Some(origin) = origin {
            request.metadata_mut().insert("origin", origin.parse().unwrap());
        }
        v1::session_service_client::SessionServiceClient::new(channel).list_sessions(request).await
    };
    call("localhost:1", None).await.unwrap();
    call("[::1]:1", None).await.unwrap();
    for foreign in ["evil.test", "127.0.0.1.evil.test:80", "192.0.2.1"] {
        let status = call(foreign, None).await.unwrap_err();
        check_error(&status, Code::PermissionDenied, "another host");
    }
    let status = call("localhost", Some("https://evil.test")).await.unwrap_err();
    check_error(&status, Code::PermissionDenied, "web pages");
    daemon.stop().await;
}

#[tokio::test]
async fn certificates_are_read_again_on_a_reload_and_bad_ones_change_nothing() {
    let world = World::start().await;
    let (_, secret) = world.token("phone", Chat).await;
    let before = world.client(&secret).await;
    list(&before).await.unwrap();
    let admin = world.daemon.client().await;
    let reload = async || {
        admin.admin().reload_config(v1::ReloadConfigRequest {}).await.unwrap();
    };
    let warnings = async || {
        let status = admin.admin().get_status(v1::GetStatusRequest {}).await.unwrap();
        status.into_inner().warnings.join("\n")
    };

    let key = std::fs::read(&world.files.key).unwrap();
    std::fs::write(&world.files.key, "nonsense").unwrap();
    reload().await;
    while !warnings().await.contains("remote.tls_key") {
        tokio::task::yield_now().await;
    }
    list(&world.client(&secret).await).await.unwrap();

    let stranger = Home::new();
    let other = tls_files(&stranger);
    std::fs::write(&world.files.key, key).unwrap();
    for (new, old) in [(&other.cert, &world.files.cert), (&other.key, &world.files.key)] {
        std::fs::copy(new, old).unwrap();
    }
    reload().await;
    while warnings().await.contains("remote.tls_key") {
        tokio::task::yield_now().await;
    }
    let (error, _) = refused(&world.endpoint(&secret)).await;
    assert!(error.to_string().contains("not of a CA"), "{error}");
    let options = RemoteOptions { ca: Some(other.ca), ..world.options(&secret) };
    let endpoint = Endpoint::remote(Remote::new(options).unwrap());
    list(&agentd_shared::Client::connect(&endpoint).await.unwrap()).await.unwrap();
    // Who is in stays in.
    list(&before).await.unwrap();
    world.daemon.stop().await;
}

#[tokio::test]
async fn the_daemon_does_not_start_with_files_that_it_cannot_use() {
    let mut home = Home::new();
    let files = tls_files(&home);
    with_tls(&mut home, &files);
    let check = async |key: &str, value: &str, problem: &str| {
        let builder = Daemon::builder().home(&home).set(key, value);
        let error = builder.try_start().await.unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
        assert!(!error.hint().is_empty());
    };
    check("remote.tls_cert", "/nonexistent/cert.pem", "remote.tls_cert: /nonexistent").await;
    let stranger = Home::new();
    let other = tls_files(&stranger);
    let other = other.cert.to_str().unwrap().to_owned();
    check("remote.tls_cert", &other, "remote.tls_cert").await;
    check("remote.client_ca", files.key.to_str().unwrap(), "holds no certificate").await;
    check("remote.tls_cert", "", "remote.tls_cert: it is empty although remote.tls_key").await;
    std::fs::set_permissions(&files.key, std::os::unix::fs::PermissionsExt::from_mode(0o640))
        .unwrap();
    check("log.level", "info", "remote.tls_key").await;
}

#[tokio::test]
async fn status_tells_where_it_listens_who_is_connected_and_that_a_token_is_missing() {
    let world = World::start().await;
    let admin = world.daemon.client().await;
    let status =
        async || admin.admin().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner();
    let before = status().await;
    assert_eq!(before.listen_addresses, [world.address.to_string()]);
    assert!(before.warnings.iter().any(|one| one.contains("there is no token")), "{before:?}");
    let client = world.chat_client("phone").await;
    list(&client).await.unwrap();
    let after = status().await;
    assert!(after.warnings.is_empty(), "{after:?}");
    assert!(after.connections > before.connections, "{} {}", before.connections, after.connections);
    world.daemon.stop().await;
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_named() {
    let world = World::start().await;
    let endpoint = world.endpoint("x");
    world.daemon.stop().await;
    let (error, rpc) = refused(&endpoint).await;
    assert!(
        matches!(
            error,
            agentd_shared::ConnectError::Remote { problem: RemoteProblem::Refused, .. }
        ),
        "{error:?}"
    );
    assert!(rpc.is_outage(), "an attachment waits for it: {rpc:?}");
}
