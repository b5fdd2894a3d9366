use proptest::prelude::*;

use super::*;
use crate::session::test_log::{Log, any_log, fold, session_id};

proptest! {
    #[test]
    fn a_snapshot_at_any_event_and_the_rest_of_the_log_give_the_same_state(
        log in any_log(),
        at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(log.events.len()) + 1;
        let before = fold(&log.events[..at]);
        let snapshot = encode(&before);
        prop_assert_eq!(snapshot.seq, log.events[at - 1].seq);
        let mut state = decode(&snapshot, session_id());
        prop_assert_eq!(&state, &before);
        log.events[at..].iter().for_each(|event| state.apply(event));
        prop_assert_eq!(state, log.state);
    }
}

#[test]
fn a_snapshot_that_does_not_fit_is_passed_over() {
    let log = Log::new();
    let good = encode(&log.state);
    let text = String::from_utf8(good.bytes.clone()).unwrap();
    let check = |snapshot: Snapshot, id: SessionId| {
        assert_eq!(decode(&snapshot, id), SessionState::new(id));
    };
    let other = SessionId::from_parts(9, 9);
    check(good.clone(), other);
    check(Snapshot { seq: good.seq.next(), ..good.clone() }, session_id());
    let newer = text.replacen(r#""v":1"#, r#""v":2"#, 1);
    check(Snapshot { bytes: newer.into_bytes(), ..good.clone() }, session_id());
    check(Snapshot { bytes: good.bytes[..40].to_vec(), ..good.clone() }, session_id());
    check(Snapshot { bytes: Vec::new(), ..good }, session_id());
}
