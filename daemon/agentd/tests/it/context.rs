//! What requests are made of, over the wire: layers, folding, what a summary's lines are from, pins.

use agentd_proto::v1;
use agentd_shared::client_ids;
use agentd_testkit::{Daemon, Driver, LlmServer, Reply};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::support::check_error;

#[track_caller]
fn check<T: std::fmt::Debug>(
    outcome: Result<T, Status>,
    code: Code,
    field: Option<&str>,
    part: &str,
) {
    let status = outcome.expect_err(part);
    check_error(&status, code, part);
    let details = status.get_error_details();
    let named = details.bad_request().and_then(|bad| bad.field_violations.first());
    assert_eq!(named.map(|violation| violation.field.as_str()), field, "{status:?}");
}

fn id(driver: &Driver) -> String {
    driver.session_id().to_owned()
}

async fn pin(driver: &Driver, text: &str) -> Result<Vec<String>, Status> {
    let request = v1::PinTextRequest {
        session_id: id(driver),
        text: text.to_owned(),
        author: Some(driver.author()),
    };
    driver.client().context().pin_text(request).await.map(|answer| answer.into_inner().pins)
}

async fn context(driver: &Driver) -> v1::GetContextResponse {
    let request = v1::GetContextRequest { session_id: id(driver) };
    driver.client().context().get_context(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn layers_add_up_and_what_is_folded_leads_back_to_the_log() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).start().await;
    let mut ann = daemon.driver("ann").await;
    for turn in 0..4 {
        let long =
            format!("the ship {turn} waits before bridge {turn} until it opens; ").repeat(40);
        llm.push(Reply::text(&format!(
            "answer {turn}: the bridge opens at {turn} o'clock: {long}"
        )));
        ann.ask(&format!("question {turn}: when does bridge {turn} open? {long}")).await;
    }
    pin(&ann, "bridges are told by number").await.unwrap();

    let before = context(&ann).await;
    let tokens = |context: &v1::GetContextResponse, kind: v1::ContextLayerKind| {
        context.layers.iter().find(|layer| layer.kind() == kind).map_or(0, |layer| layer.tokens)
    };
    assert!(tokens(&before, v1::ContextLayerKind::System) > 0, "{before:?}");
    assert!(tokens(&before, v1::ContextLayerKind::User) > 0, "{before:?}");
    let used: u64 = before.layers.iter().map(|layer| layer.tokens).sum();
    assert!(used + before.answer_tokens <= before.window_tokens, "{before:?}");
    assert_eq!((before.turns, before.summary.is_none()), (4, true), "{before:?}");
    assert_eq!(before.pins, ["bridges are told by number"]);

    let compact = v1::CompactContextRequest { session_id: id(&ann) };
    let done = ann.client().context().compact_context(compact).await.unwrap().into_inner();
    let compacted = done.compacted.expect(&done.why_not);
    assert!(compacted.folded_turns > 0 && !compacted.lines.is_empty(), "{compacted:?}");
    let after = context(&ann).await;
    assert!(after.turns < before.turns, "{after:?}");
    assert_eq!(after.summary.as_ref(), Some(&compacted));

    let mut said = String::new();
    for line in 1..=u32::try_from(compacted.lines.len()).unwrap() {
        let request = v1::ExpandSummaryRequest { session_id: id(&ann), line };
        let expanded = ann.client().context().expand_summary(request).await.unwrap().into_inner();
        said.extend(expanded.messages.into_iter().map(|message| message.text));
    }
    assert!(said.contains("question 0: when does bridge 0 open?"), "{said}");
    daemon.stop().await;
}

#[tokio::test]
async fn wrong_requests_name_the_field_and_say_what_to_do() {
    let daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let mut client = ann.client().context();
    let unknown = client_ids::new_ulid();
    for (session_id, code, part) in [
        ("nonsense", Code::InvalidArgument, "'nonsense' is not a ULID"),
        (unknown.as_str(), Code::NotFound, "there is no session"),
    ] {
        let id = || session_id.to_owned();
        let field = Some("session_id");
        let get = client.get_context(v1::GetContextRequest { session_id: id() }).await;
        check(get, code, field, part);
        let compact = client.compact_context(v1::CompactContextRequest { session_id: id() }).await;
        check(compact, code, field, part);
        let expand = v1::ExpandSummaryRequest { session_id: id(), line: 1 };
        check(client.expand_summary(expand).await, code, field, part);
        let author = Some(ann.author());
        let pin = v1::PinTextRequest { session_id: id(), text: "x".to_owned(), author };
        check(client.pin_text(pin.clone()).await, code, field, part);
        let unpin = v1::UnpinTextRequest { session_id: id(), number: 1, author: pin.author };
        check(client.unpin_text(unpin).await, code, field, part);
    }
    check(pin(&ann, " \n").await, Code::InvalidArgument, Some("text"), "no text to pin");
    let long = "x".repeat(501);
    check(pin(&ann, &long).await, Code::InvalidArgument, Some("text"), "501 characters");
    for number in 0..20 {
        pin(&ann, &number.to_string()).await.unwrap();
    }
    check(pin(&ann, "more").await, Code::ResourceExhausted, None, "20 texts are pinned");
    let author = Some(ann.author());
    let unpin = v1::UnpinTextRequest { session_id: id(&ann), number: 21, author };
    check(client.unpin_text(unpin).await, Code::NotFound, Some("number"), "no pin 21");
    let expand = v1::ExpandSummaryRequest { session_id: id(&ann), line: 1 };
    let none = client.expand_summary(expand).await;
    check(none, Code::FailedPrecondition, Some("session_id"), "no turns");
    let nobody = v1::PinTextRequest { session_id: id(&ann), text: "x".to_owned(), author: None };
    check(client.pin_text(nobody).await, Code::InvalidArgument, Some("author"), "missing");
    daemon.stop().await;
}
