//! Bad requests: each gets the right code, names the field, and says what to do.

use agentd_proto::v1;
use agentd_shared::client_ids;
use agentd_testkit::Daemon;
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

#[tokio::test]
async fn malformed_and_unknown_ids_are_told_apart_on_every_method() {
    let daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let client = ann.client();
    let unknown = client_ids::new_ulid();
    for (session_id, code, part) in [
        ("nonsense", Code::InvalidArgument, "'nonsense' is not a ULID"),
        ("", Code::InvalidArgument, "is not a ULID"),
        ("../../etc/passwd", Code::InvalidArgument, "is not a ULID"),
        (unknown.as_str(), Code::NotFound, "there is no session"),
    ] {
        let id = || session_id.to_owned();
        let author = || Some(ann.author());
        let field = Some("session_id");
        let mut session = client.session();
        let mut turn = client.turn();
        let mut event = client.event();
        check(
            session.get_session(v1::GetSessionRequest { session_id: id() }).await,
            code,
            field,
            part,
        );
        check(
            session.delete_session(v1::DeleteSessionRequest { session_id: id() }).await,
            code,
            field,
            part,
        );
        check(
            session
                .update_session(v1::UpdateSessionRequest {
                    session_id: id(),
                    title: Some("t".to_owned()),
                    ..Default::default()
                })
                .await,
            code,
            field,
            part,
        );
        check(
            session
                .fork_session(v1::ForkSessionRequest { session_id: id(), ..Default::default() })
                .await,
            code,
            field,
            part,
        );
        check(
            session
                .export_session(v1::ExportSessionRequest {
                    session_id: id(),
                    from_seq: 1,
                    from_byte: 0,
                })
                .await,
            code,
            field,
            part,
        );
        check(
            turn.submit_message(v1::SubmitMessageRequest {
                unattended: false,
                priority: 0,
                ttl_ms: 0,
                session_id: id(),
                client_message_id: "m".to_owned(),
                text: "t".to_owned(),
                delivery: 0,
                author: author(),
            })
            .await,
            code,
            field,
            part,
        );
        check(
            turn.interrupt_turn(v1::InterruptTurnRequest {
                session_id: id(),
                turn_id: String::new(),
                author: author(),
            })
            .await,
            code,
            field,
            part,
        );
        check(
            turn.withdraw_message(v1::WithdrawMessageRequest {
                session_id: id(),
                item_id: unknown.clone(),
                author: author(),
            })
            .await,
            code,
            field,
            part,
        );
        check(
            turn.answer_question(v1::AnswerQuestionRequest {
                session_id: id(),
                question_id: unknown.clone(),
                choice: "continue".to_owned(),
                author: author(),
            })
            .await,
            code,
            field,
            part,
        );
        check(
            event
                .list_events(v1::ListEventsRequest { session_id: id(), ..Default::default() })
                .await,
            code,
            field,
            part,
        );
        check(
            event
                .set_read_cursor(v1::SetReadCursorRequest {
                    session_id: id(),
                    client_id: "ann".to_owned(),
                    seq: 1,
                })
                .await,
            code,
            field,
            part,
        );
        check(
            event
                .attach(v1::AttachRequest { session_id: id(), author: author(), position: None })
                .await,
            code,
            field,
            part,
        );
    }
    daemon.stop().await;
}

#[tokio::test]
async fn what_a_message_may_not_be_is_refused_by_field() {
    let daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let good = || v1::SubmitMessageRequest {
        unattended: false,
        priority: 0,
        ttl_ms: 0,
        session_id: ann.session_id().to_owned(),
        client_message_id: "m".to_owned(),
        text: "t".to_owned(),
        delivery: 0,
        author: Some(ann.author()),
    };
    let rows = [
        (v1::SubmitMessageRequest { text: " \n\t".to_owned(), ..good() }, "text", "no text"),
        (
            v1::SubmitMessageRequest { client_message_id: String::new(), ..good() },
            "client_message_id",
            "empty",
        ),
        (
            v1::SubmitMessageRequest { client_message_id: "x".repeat(65), ..good() },
            "client_message_id",
            "65 bytes; at most 64",
        ),
        (
            v1::SubmitMessageRequest { client_message_id: "a\u{1b}[2J".to_owned(), ..good() },
            "client_message_id",
            "control character",
        ),
        (v1::SubmitMessageRequest { delivery: 77, ..good() }, "delivery", "77 is not a delivery"),
        (v1::SubmitMessageRequest { author: None, ..good() }, "author", "missing"),
        (
            v1::SubmitMessageRequest {
                author: Some(v1::Author { client_id: "x".repeat(200), name: String::new() }),
                ..good()
            },
            "author",
            "200 bytes",
        ),
    ];
    for (request, field, part) in rows {
        let outcome = ann.client().turn().submit_message(request).await;
        check(outcome, Code::InvalidArgument, Some(field), part);
    }
    assert_eq!(ann.log().await.len(), 1, "nothing was changed");
    daemon.stop().await;
}

#[tokio::test]
async fn what_a_session_may_not_be_is_refused_by_field() {
    let daemon = Daemon::builder().start().await;
    let client = daemon.client().await;
    let workspace = daemon.workspace().display().to_string();
    let file = daemon.workspace().join("file");
    std::fs::write(&file, "").unwrap();
    let good = || v1::CreateSessionRequest { workspace: workspace.clone(), ..Default::default() };
    let rows = [
        (
            v1::CreateSessionRequest { workspace: "relative/path".to_owned(), ..good() },
            "workspace",
            "relative/path",
        ),
        (
            v1::CreateSessionRequest { workspace: "/no/such/folder".to_owned(), ..good() },
            "workspace",
            "/no/such/folder",
        ),
        (
            v1::CreateSessionRequest { workspace: file.display().to_string(), ..good() },
            "workspace",
            "file",
        ),
        (v1::CreateSessionRequest { session_id: "x".to_owned(), ..good() }, "session_id", "ULID"),
        (v1::CreateSessionRequest { title: "t".repeat(201), ..good() }, "title", "200"),
        (v1::CreateSessionRequest { model: "m".repeat(300), ..good() }, "model", "300 bytes"),
    ];
    for (request, field, part) in rows {
        let outcome = client.session().create_session(request).await;
        check(outcome, Code::InvalidArgument, Some(field), part);
    }
    for (request, field, part) in [
        (
            v1::ListSessionsRequest { page_size: 1001, page_token: String::new() },
            "page_size",
            "1001",
        ),
        (
            v1::ListSessionsRequest { page_size: 1, page_token: "zz".to_owned() },
            "page_token",
            "page token",
        ),
    ] {
        let outcome = client.session().list_sessions(request).await;
        check(outcome, Code::InvalidArgument, Some(field), part);
    }
    daemon.stop().await;
}
