//! Sizes: what is large is refused clearly, cut, or split, and never ends a stream.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::client_ids;
use agentd_testkit::{Daemon, FixedOutput, LlmServer, Pace, Reply};
use tonic::Code;

use crate::support::{check_error, results};

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn gr_01_a_message_of_one_mebibyte_is_accepted_and_a_longer_one_is_refused_with_both_sizes() {
    let llm = LlmServer::start().await;
    llm.set_default(|request| Reply::text(&request.last_user_text().len().to_string()));
    let daemon =
        Daemon::builder().llm(&llm).set("provider.context_tokens", 4_000_000).start().await;
    let mut ann = daemon.driver("ann").await;
    assert_eq!(ann.ask(&"x".repeat(MIB)).await, MIB.to_string());

    let id = client_ids::new_ulid();
    let refused = ann.try_submit(&id, &"x".repeat(MIB + 1), v1::Delivery::Queue).await.unwrap_err();
    check_error(&refused, Code::InvalidArgument, "1048577 bytes; at most 1048576");

    // Past what a message of the wire may hold, from a client that does not check by itself.
    let channel = ann.client().open_stream_channel().await.unwrap();
    let mut turns = v1::turn_service_client::TurnServiceClient::new(channel);
    let request = v1::SubmitMessageRequest {
        unattended: false,
        priority: 0,
        ttl_ms: 0,
        session_id: ann.session_id().to_owned(),
        client_message_id: id,
        text: "x".repeat(5 * MIB),
        delivery: v1::Delivery::Queue.into(),
        author: Some(ann.author()),
    };
    let refused = turns.submit_message(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange, "{refused:?}");
    assert!(refused.message().contains("4194304"), "{refused:?}");
    // The session goes on, and its stream.
    assert_eq!(ann.ask("short").await, "5");
    daemon.stop().await;
}

#[tokio::test]
async fn gr_01_a_huge_tool_output_is_cut_to_its_bound_and_the_stream_goes_on() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .llm(&llm)
        .tool(FixedOutput::new(format!("head {} tail", "é".repeat(5 * MIB / 2))))
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("fixed_output", "{}"));
    llm.push(Reply::text("long"));
    assert_eq!(ann.ask("go").await, "long");
    let result = &results(&ann)[0];
    // The marker in the middle comes on top.
    assert!(result.output.len() <= 128 * 1024 + 64, "{}", result.output.len());
    assert!(result.output.starts_with("head") && result.output.ends_with("tail"));
    assert!(!result.output.contains('\u{fffd}'));
    assert_eq!(result.output_bytes, (5 * MIB + 10) as u64);
    let sent = &llm.wait_for_request(2).await.tool_outputs()[0];
    assert!(sent.len() <= 128 * 1024 + 64, "{}", sent.len());
    daemon.stop().await;
}

#[tokio::test]
async fn gr_01_an_answer_that_would_not_fit_a_message_of_the_wire_fails_and_keeps_the_stream() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("provider.max_attempts", 1).start().await;
    let mut ann = daemon.driver("ann").await;
    let answer = |mebibytes: usize| {
        let piece = "0123456789abcdef".repeat(64);
        let reply = Reply::sse().deltas(mebibytes * 1024, &piece, Pace::Coalesced);
        reply.finish("stop").usage(1, 1).done()
    };
    llm.push(answer(2));
    assert_eq!(ann.ask("write much").await.len(), 2 * MIB);
    llm.push(answer(6));
    ann.submit("write more").await;
    let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
    let error = failed.error.unwrap();
    assert!(error.message.contains("2097152") && !error.hint.is_empty(), "{error:?}");
    let kept = ann.last_text().len();
    assert!((MIB..3 * MIB).contains(&kept), "{kept} bytes of what came are kept");
    // The session goes on, for a late terminal too.
    let mut bob = daemon.attach("bob", ann.session_id()).await;
    bob.skip_seen();
    llm.push(Reply::text("fine"));
    assert_eq!(bob.ask("short").await, "fine");
    assert_eq!(ann.wait_answer().await, "fine");
    assert_eq!(bob.transcript().items(), ann.transcript().items());
    daemon.stop().await;
}

#[tokio::test]
async fn gr_01_a_page_of_many_large_events_is_split() {
    let llm = LlmServer::start().await;
    llm.set_default(|_| Reply::text("ok"));
    let daemon = Daemon::builder().llm(&llm).set("provider.context_tokens", 8_000).start().await;
    let mut ann = daemon.driver("ann").await;
    for _ in 0..8 {
        ann.ask(&"y".repeat(900 * 1024)).await;
    }
    let request = v1::ListEventsRequest {
        session_id: ann.session_id().to_owned(),
        from_seq: 1,
        page_size: 1000,
    };
    let page = ann.client().event().list_events(request).await.unwrap().into_inner();
    assert_ne!(page.next_seq, 0, "it does not hold everything");
    let log = ann.log().await;
    crate::support::check_gap_free(&log);
    let bob = daemon.attach("bob", ann.session_id()).await;
    assert_eq!(bob.transcript().items(), ann.transcript().items());
    daemon.stop().await;
}
