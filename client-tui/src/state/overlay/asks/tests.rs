use agentd_proto::v1::event::Body;

use super::*;

fn transcript(ids: &[&str]) -> Transcript {
    let mut transcript = Transcript::default();
    for (at, id) in ids.iter().enumerate() {
        let asked = v1::ApprovalRequested { approval_id: (*id).into(), ..Default::default() };
        transcript.apply(&v1::Event {
            seq: u64::try_from(at).unwrap() + 1,
            turn_id: "T".into(),
            body: Some(Body::ApprovalRequested(asked)),
            ..Default::default()
        });
    }
    transcript
}

fn waiting(ids: &[&str]) -> Asks {
    let mut asks = Asks::default();
    asks.sync(&transcript(ids), 100);
    asks
}

fn current(asks: &Asks) -> &str {
    asks.shown.as_ref().map_or("", |(id, _)| id)
}

#[test]
fn who_writes_when_something_is_asked_goes_on_writing() {
    let mut asks = waiting(&["A"]);
    asks.typed(98);
    assert!(!asks.has_focus(true, 103), "the last key was just now");
    assert!(asks.has_focus(true, 104));
    assert!(!asks.has_focus(false, 200), "something is written");
    assert!(asks.focus(200));
    assert!(asks.has_focus(false, 200));
    asks.typed(201);
    assert!(!asks.has_focus(false, 300));
}

#[test]
fn nothing_can_have_been_read_before_a_second_and_what_takes_its_place_begins_anew() {
    let mut asks = waiting(&["A", "B"]);
    assert!(!asks.can_have_been_read(110));
    assert!(asks.can_have_been_read(111));
    asks.sync(&transcript(&["B"]), 120);
    assert_eq!(current(&asks), "B");
    assert!(!asks.can_have_been_read(130));
    assert!(asks.moves(130));
    assert!(asks.can_have_been_read(131));
    assert!(!asks.moves(131));
}

#[test]
fn several_are_numbered_for_as_long_as_they_wait_and_turned_over() {
    let mut asks = waiting(&["A", "B", "C"]);
    asks.turn(false, 200);
    assert_eq!((current(&asks), asks.count()), ("B", (2, 3)));
    assert!(!asks.can_have_been_read(202), "a key that turns is no key that answers");
    assert!(asks.can_have_been_read(203));
    asks.sync(&transcript(&["B", "C"]), 210);
    assert_eq!((current(&asks), asks.count()), ("B", (2, 2)));
    assert_eq!((asks.named(3), asks.named(1)), (Some("C"), None));
    asks.turn(true, 220);
    assert_eq!(current(&asks), "C");
}

#[test]
fn what_is_put_away_waits_and_comes_back_with_the_next() {
    let mut asks = waiting(&["A"]);
    asks.hide();
    assert!(!asks.has_focus(true, 200));
    assert_eq!(asks.hidden(), 1);
    asks.sync(&transcript(&["A", "B"]), 210);
    assert_eq!(asks.hidden(), 0);
    asks.hide();
    assert!(asks.focus(220));
    assert!(!asks.can_have_been_read(221), "it is seen again only now");
}

#[test]
fn an_answer_that_was_held_is_given_if_it_still_waits_and_told_of_if_not() {
    let answer = |id: &str, decision| Held {
        approval_id: id.to_owned(),
        decision,
        scope: v1::ApprovalScope::Once,
        reason: String::new(),
    };
    let (allow, deny) = (v1::ApprovalDecision::Allow, v1::ApprovalDecision::Deny);
    let mut asks = waiting(&["A", "B", "C"]);
    asks.hold(answer("A", allow), 0);
    asks.hold(answer("A", deny), 0);
    asks.hold(answer("B", allow), 0);
    asks.hold(answer("C", allow), 0);
    let denied = v1::ApprovalResolved {
        approval_id: "B".into(),
        decision: deny.into(),
        ..Default::default()
    };
    asks.resolved(&denied, "me");
    asks.sync(&transcript(&["A"]), 300);
    let (given, told) = asks.release();
    assert_eq!(given, [answer("A", deny)], "the last answer counts");
    assert_eq!(
        told,
        [
            "your answer was not given: it was denied meanwhile",
            "your answer was not given: its turn was cut off"
        ]
    );
    assert_eq!(asks.release(), (Vec::new(), Vec::new()));
}
