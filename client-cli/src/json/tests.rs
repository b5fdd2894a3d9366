use agentd_proto::v1::event::Body;
use agentd_shared::format::trace;

use super::*;

fn check(turn_id: &str, seq: u64, body: Body, expect: &str) {
    let event = v1::Event { seq, at_ms: 1_700, turn_id: turn_id.to_owned(), body: Some(body) };
    let view = EventView::new(&event).expect("an event with a body has a view");
    assert_eq!(serde_json::to_string(&view).unwrap(), expect);
}

fn author() -> v1::Author {
    v1::Author { client_id: "pts".into(), name: "ann".into() }
}

#[test]
fn events_keep_the_names_of_the_contract() {
    check(
        "",
        3,
        Body::MessageAccepted(v1::MessageAccepted {
            unattended: false,
            expires_at_ms: 0,
            priority: 0,
            item_id: "I".into(),
            client_message_id: "C".into(),
            text: "hi \u{1b}[2J".into(),
            delivery: v1::Delivery::Queue.into(),
            author: Some(author()),
        }),
        r#"{"seq":3,"at_ms":1700,"turn_id":"","kind":"message_accepted","body":{"item_id":"I","client_message_id":"C","text":"hi \u001b[2J","delivery":"queue","author":{"client_id":"pts","name":"ann"},"priority":"unspecified","expires_at_ms":0,"unattended":false}}"#,
    );
    check(
        "T",
        0,
        Body::ItemDelta(v1::ItemDelta {
            item_id: "I".into(),
            channel: v1::DeltaChannel::Reasoning.into(),
            offset: 7,
            text: "x".into(),
        }),
        r#"{"seq":0,"at_ms":1700,"turn_id":"T","kind":"item_delta","body":{"item_id":"I","channel":"reasoning","offset":7,"text":"x"}}"#,
    );
    check(
        "T",
        9,
        Body::TurnCompleted(v1::TurnCompleted {
            end: v1::TurnEnd::OutputLimit.into(),
            rounds: 2,
            usage: None,
            elapsed_ms: 12,
        }),
        r#"{"seq":9,"at_ms":1700,"turn_id":"T","kind":"turn_completed","body":{"end":"output_limit","rounds":2,"usage":null,"elapsed_ms":12}}"#,
    );
    check(
        "T",
        5,
        Body::ApprovalResolved(v1::ApprovalResolved {
            approval_id: "A".into(),
            decision: v1::ApprovalDecision::Allow.into(),
            scope: v1::ApprovalScope::Session.into(),
            rules: vec![v1::RuleMatcher {
                matcher: Some(v1::rule_matcher::Matcher::Host("docs.rs".into())),
            }],
            ..Default::default()
        }),
        r#"{"seq":5,"at_ms":1700,"turn_id":"T","kind":"approval_resolved","body":{"approval_id":"A","decision":"allow","scope":"session","reason":"","by":null,"rules":[{"kind":"host","host":"docs.rs"}]}}"#,
    );
    check(
        "T",
        4,
        Body::QuestionAsked(v1::QuestionAsked {
            question_id: "Q".into(),
            kind: v1::QuestionKind::ResumeTurn.into(),
            prompt: "go on?".into(),
            choices: vec!["resume".into(), "stop".into()],
            ..Default::default()
        }),
        r#"{"seq":4,"at_ms":1700,"turn_id":"T","kind":"question_asked","body":{"question_id":"Q","kind":"resume_turn","prompt":"go on?","choices":["resume","stop"],"free_text":false,"default_choice":"","expires_at_ms":0}}"#,
    );
    check(
        "",
        5,
        Body::Unknown(v1::UnknownEvent { kind: "later".into(), record_json: "{}".into() }),
        r#"{"seq":5,"at_ms":1700,"turn_id":"","kind":"unknown","body":{"kind":"later","record_json":"{}"}}"#,
    );
    check(
        "",
        0,
        Body::Presence(v1::Presence {
            participants: vec![v1::Participant { author: Some(author()), attached_at_ms: 5 }],
        }),
        r#"{"seq":0,"at_ms":1700,"turn_id":"","kind":"presence","body":{"participants":[{"author":{"client_id":"pts","name":"ann"},"attached_at_ms":5}]}}"#,
    );
    check(
        "",
        2,
        Body::SessionRenamed(v1::SessionRenamed {
            title: "t".into(),
            source: v1::TitleSource::FirstMessage.into(),
            by: None,
        }),
        r#"{"seq":2,"at_ms":1700,"turn_id":"","kind":"session_renamed","body":{"title":"t","source":"first_message","by":null}}"#,
    );
}

#[test]
fn a_trace_names_each_kind_as_programs_know_it() {
    macro_rules! bodies {
        ($($kind:ident)*) => { [$(Body::$kind(Default::default())),*] };
    }
    let bodies = bodies!(
        SessionCreated SessionRenamed ModelChanged EffortChanged MessageAccepted MessageWithdrawn
        MessagesDelivered MessageExpired TurnStarted TurnSuspended TurnResumed TurnCompleted
        TurnFailed TurnInterrupted AssistantMessage AttemptRestarted ToolCallStarted
        ToolCallFinished QuestionAsked QuestionAnswered UsageRecorded ContextTrimmed
        ContextCompacted TurnsRecalled PinsChanged ProjectDocumentChanged Notice TodoListChanged
        PlanChanged ApprovalRequested ApprovalResolved PermissionModeChanged WorkModeChanged
        PermissionRuleRevoked MemoriesTold MemoriesExtracted Unknown ItemDelta Presence
    );
    for body in bodies {
        let (kind, _) = trace::told(&body);
        let event = v1::Event { body: Some(body), ..v1::Event::default() };
        let view = serde_json::to_value(EventView::new(&event).unwrap()).unwrap();
        assert_eq!(view["kind"], kind);
    }
}

#[test]
fn an_event_of_a_newer_daemon_without_a_known_body_has_no_view() {
    assert!(EventView::new(&v1::Event::default()).is_none());
}

#[test]
fn an_unknown_enum_value_is_given_as_its_number() {
    assert_eq!(delivery(77), "77");
    assert_eq!(delivery(0), "unspecified");
    assert_eq!(tool_status(v1::ToolStatus::RetryableError.into()), "retryable_error");
}
