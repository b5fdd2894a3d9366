use agentd_domain::{
    AssistantMessage, Author, ClientMessageId, Completeness, Delivery, MessageAccepted,
    MessageWithdrawn, MessagesDelivered, Priority,
};

use super::*;

const DAY_MS: i64 = 86_400_000;

fn session(n: u128) -> SessionId {
    SessionId::from_parts(0, n)
}

fn item(n: u64) -> ItemId {
    ItemId::from_parts(0, n.into())
}

fn event(seq: u64, at: i64, body: impl Into<EventBody>) -> Event {
    Event { seq: Seq(seq), at: TimestampMs(at), turn_id: None, body: body.into() }
}

fn asked(seq: u64, at: i64, name: &str, text: &str) -> Event {
    let accepted = MessageAccepted {
        item_id: item(seq),
        client_message_id: format!("m{seq}").parse::<ClientMessageId>().unwrap(),
        text: text.to_owned(),
        delivery: Delivery::default(),
        author: Author { client_id: "c".to_owned(), name: name.to_owned() },
        priority: Priority::default(),
        expires_at: None,
        unattended: false,
    };
    event(seq, at, accepted)
}

fn answered(seq: u64, at: i64, text: &str) -> Event {
    let message = AssistantMessage {
        item_id: item(seq),
        reasoning: String::new(),
        text: text.to_owned(),
        tool_calls: Vec::new(),
        completeness: Completeness::Complete,
        native: None,
    };
    event(seq, at, message)
}

fn query(question: &str) -> HistoryQuery {
    HistoryQuery {
        question: question.to_owned(),
        session: None,
        since: None,
        by: None,
        most: 10,
        without_turn_of: None,
    }
}

fn found(texts: &Texts, query: &HistoryQuery) -> Vec<(SessionId, u64)> {
    let found = texts.search(query, query.most).into_iter();
    found.map(|found| (found.session, found.seq.0)).collect()
}

fn limits(messages: usize, bytes: usize) -> HistoryLimits {
    HistoryLimits { messages, bytes, ..HistoryLimits::default() }
}

#[test]
fn messages_are_found_by_their_words_in_any_script_and_filters_hold() {
    let mut texts = Texts::new(HistoryLimits::default());
    let (one, two) = (session(1), session(2));
    texts.take(one, &asked(2, 0, "ann@pts/1", "where is the staging database?"));
    texts.take(one, &answered(3, 1, "On the host anvil."));
    texts.take(two, &asked(2, 5 * DAY_MS, "bob", "数据库的密码在哪里"));
    texts.take(two, &answered(3, 5 * DAY_MS, "在保险箱里"));
    assert_eq!(found(&texts, &query("staging databases")), [(one, 2), (one, 3)]);
    assert_eq!(found(&texts, &query("密码"))[0], (two, 2));
    assert_eq!(found(&texts, &query("what did ann say"))[0], (one, 2));
    assert_eq!(found(&texts, &query("6 january 1970"))[0].0, two);
    let by = HistoryQuery { by: Some(Speaker::Assistant), ..query("anvil") };
    assert_eq!(found(&texts, &by), [(one, 3)]);
    let since = HistoryQuery { since: Some(TimestampMs(1)), ..query("staging anvil") };
    assert_eq!(found(&texts, &since), [(one, 3)]);
    let elsewhere = HistoryQuery { session: Some(two), ..query("anvil") };
    assert_eq!(found(&texts, &elsewhere), []);
    assert_eq!(found(&texts, &query("zebra")), []);
}

#[test]
fn what_was_taken_back_before_its_turn_was_not_said() {
    let mut texts = Texts::new(HistoryLimits::default());
    let one = session(1);
    texts.take(one, &asked(2, 0, "ann", "alder"));
    texts.take(one, &asked(3, 0, "ann", "birch"));
    texts.take(one, &event(4, 0, MessagesDelivered { item_ids: vec![item(2)] }));
    let by = Author { client_id: "c".to_owned(), name: "ann".to_owned() };
    let withdrawn = |n| MessageWithdrawn { item_id: item(n), by: by.clone() };
    texts.take(one, &event(5, 0, withdrawn(3)));
    // Its turn has begun: a log that says so all the same changes nothing.
    texts.take(one, &event(6, 0, withdrawn(2)));
    assert_eq!(found(&texts, &query("birch")), []);
    assert_eq!(found(&texts, &query("alder")), [(one, 2)]);
    assert_eq!((texts.len(), texts.left_out(), texts.through(one)), (1, 0, Seq(6)));
}

#[test]
fn the_newest_messages_are_held_and_the_others_are_counted() {
    let mut texts = Texts::new(limits(2, 1_000));
    let (one, two) = (session(1), session(2));
    texts.take(one, &asked(2, 20, "ann", "alder"));
    texts.take(one, &asked(3, 30, "ann", "birch"));
    texts.take(two, &asked(2, 10, "ann", "cedar"));
    assert_eq!(found(&texts, &query("cedar")), [], "it is older than those that are held");
    texts.take(two, &asked(3, 40, "ann", "dogwood"));
    assert_eq!(found(&texts, &query("alder")), []);
    assert_eq!(found(&texts, &query("dogwood")), [(two, 3)]);
    assert_eq!((texts.len(), texts.left_out()), (2, 2));
    let long = "elm ".repeat(249);
    texts.take(one, &asked(4, 50, "ann", &long));
    assert_eq!((texts.len(), texts.left_out()), (1, 4), "its bytes leave room for no other");
    texts.forget(one);
    assert_eq!((texts.len(), texts.left_out(), texts.bytes), (0, 2, 0));
}

#[test]
fn a_session_that_is_forgotten_is_found_no_more_and_its_place_is_used_again() {
    let mut texts = Texts::new(HistoryLimits::default());
    let (one, two) = (session(1), session(2));
    texts.take(one, &asked(2, 0, "ann", "alder"));
    texts.forget(one);
    assert_eq!((found(&texts, &query("alder")), texts.through(one)), (vec![], Seq::ZERO));
    texts.take(two, &asked(2, 0, "ann", "birch"));
    assert_eq!(texts.slots.len(), 1);
    assert_eq!(found(&texts, &query("birch alder")), [(two, 2)]);
}

#[test]
fn a_long_message_is_indexed_up_to_a_bound_between_characters() {
    let text = "世".repeat(INDEXED);
    assert!(indexed(&text).len() <= INDEXED);
    assert!(indexed(&text).len() > INDEXED - 4);
    assert_eq!(indexed("short"), "short");
}
