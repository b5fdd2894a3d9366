use super::*;

fn event(body: impl Into<EventBody>) -> Event {
    Event {
        seq: Seq(7),
        at: TimestampMs(1_700_000_000_000),
        turn_id: Some(TurnId::from_parts(1, 2)),
        body: body.into(),
    }
}

#[test]
fn a_record_is_written_as_it_always_was() {
    let record = event(MessageWithdrawn {
        item_id: ItemId::from_parts(5, 6),
        by: Author { client_id: "c".into(), name: "n".into() },
    })
    .encode();
    assert_eq!(
        String::from_utf8(record).unwrap(),
        r#"{"v":1,"seq":7,"at":1700000000000,"turn":"00000000010000000000000002","kind":"message_withdrawn","body":{"item_id":"00000000050000000000000006","by":{"client_id":"c","name":"n"}}}"#
    );
}

#[test]
fn records_come_back_as_they_went() {
    let written = event(AssistantMessage {
        native: None,
        item_id: ItemId::from_parts(1, 1),
        reasoning: "why".into(),
        text: "日本 😀 \u{0}".into(),
        tool_calls: vec![ToolCall {
            call_id: "c1".parse().unwrap(),
            name: "time".into(),
            arguments_json: "{}".into(),
        }],
        completeness: Completeness::Cut,
    });
    assert_eq!(Event::decode(&written.encode()).unwrap(), written);
}

#[test]
fn sl_01_an_unknown_kind_is_kept_byte_for_byte() {
    let record = br#"{"v":2,"seq":9,"at":1,"kind":"from_the_future","body":{"x":[1,2]}}"#;
    let event = Event::decode(record).unwrap();
    assert_eq!(event.seq, Seq(9));
    assert_eq!(event.body.kind(), "from_the_future");
    assert_eq!(event.encode(), record);
}

#[test]
fn sl_01_a_known_kind_with_a_newer_body_is_kept_too() {
    let record =
        br#"{"v":2,"seq":9,"at":1,"kind":"turn_completed","body":{"end":"a_new_way","rounds":1}}"#;
    let event = Event::decode(record).unwrap();
    assert!(matches!(event.body, EventBody::Unknown(_)));
    assert_eq!(event.encode(), record);
}

#[test]
fn a_damaged_body_of_our_version_is_an_error() {
    let record =
        br#"{"v":1,"seq":9,"at":1,"kind":"turn_completed","body":{"end":"a_new_way","rounds":1}}"#;
    assert!(matches!(Event::decode(record), Err(DecodeEventError::Body { seq: Seq(9), .. })));
    assert!(matches!(Event::decode(&record[..20]), Err(DecodeEventError::Envelope(_))));
}

#[test]
fn fields_added_later_have_defaults() {
    let record = br#"{"v":1,"seq":1,"at":1,"kind":"session_created","body":{"workspace":"/w"}}"#;
    let EventBody::SessionCreated(created) = Event::decode(record).unwrap().body else {
        panic!("another kind")
    };
    assert_eq!(
        created,
        SessionCreated {
            effort: None,
            workspace: "/w".into(),
            title: String::new(),
            model: String::new(),
            origin: None,
            permission_mode: PermissionMode::Ask,
            work_mode: WorkMode::Develop,
            further_roots: Vec::new(),
        }
    );
}

#[test]
fn a_record_is_read_alike_in_any_order_of_its_fields() {
    let usual = br#"{"v":1,"seq":3,"at":9,"turn":"00000000010000000000000002","kind":"turn_resumed","body":{}}"#;
    let other = br#"{"body":{},"kind":"turn_resumed","turn":"00000000010000000000000002","later":[1],"at":9,"seq":3,"v":1}"#;
    assert_eq!(Event::decode(usual).unwrap(), Event::decode(other).unwrap());
}
