use std::collections::BTreeSet;

use agentd_domain::Delivery::{Interrupt, Queue, Steer};
use agentd_domain::{
    CompactionReason, ContextCompacted, ContextTrimmed, MemoriesExtracted, PinsChanged,
    ProjectDocumentChanged, SummaryMethod, UsagePurpose, UsageRecorded,
};
use proptest::prelude::*;

use super::*;
use crate::session::decide::Draft;
use crate::session::test_log::{Log, answer, any_log, author, fold, item, question, turn};

/// What every state must satisfy, checked against the events that led to it.
fn check_invariants(state: &SessionState, events: &[Event]) {
    let mut waiting: BTreeSet<ItemId> = BTreeSet::new();
    let mut used: BTreeSet<ItemId> = BTreeSet::new();
    let mut turns = 0;
    for event in events {
        let gone: &[ItemId] = match &event.body {
            EventBody::MessageAccepted(accepted) => {
                waiting.insert(accepted.item_id);
                &[]
            }
            EventBody::MessageWithdrawn(withdrawn) => std::slice::from_ref(&withdrawn.item_id),
            EventBody::MessagesDelivered(delivered) => &delivered.item_ids,
            EventBody::TurnStarted(started) => {
                turns += 1;
                &started.item_ids
            }
            _ => &[],
        };
        for id in gone {
            assert!(waiting.remove(id), "{id} was used without waiting");
            assert!(used.insert(*id), "{id} was used twice");
        }
    }
    let queue: BTreeSet<ItemId> = state.queue.iter().map(|queued| queued.item_id).collect();
    assert_eq!(queue, waiting);
    assert!(state.queue.is_sorted_by_key(|queued| queued.seq));
    assert_eq!(state.record.queued_messages as usize, state.queue.len());
    assert_eq!(state.record.turns, turns);
    assert_eq!(state.record.last_seq, events.last().unwrap().seq);
    assert_eq!(state.is_unfinished(), state.turn.is_some() || !waiting.is_empty());
    let status = match &state.turn {
        None => SessionStatus::Idle,
        Some(turn) if turn.suspended.is_some() => SessionStatus::Waiting,
        Some(_) => SessionStatus::Running,
    };
    assert_eq!(state.record.status, status);
    if let Some(turn) = &state.turn {
        assert!(turn.rounds >= turn.rounds_granted_at);
        assert!(
            turn.question.is_none() || turn.suspended.is_some(),
            "a question in a running turn"
        );
    }
}

proptest! {
    #[test]
    fn every_state_of_a_legal_log_is_consistent(log in any_log()) {
        let mut state = SessionState::new(log.state.record.session_id);
        for (at, event) in log.events.iter().enumerate() {
            state.apply(event);
            check_invariants(&state, &log.events[..=at]);
        }
        prop_assert_eq!(&state, &log.state);
    }

    #[test]
    fn kinds_that_are_not_known_change_nothing_but_the_position(log in any_log()) {
        let mut without: Vec<Event> = log
            .events
            .iter()
            .filter(|event| !matches!(event.body, EventBody::Unknown(_) | EventBody::Notice(_)))
            .cloned()
            .collect();
        let last = log.events.last().unwrap();
        // The last one says where and when the log ends.
        if without.last() != Some(last) {
            without.push(last.clone());
        }
        let mut state = SessionState::new(log.state.record.session_id);
        for event in &without {
            state.apply(event);
        }
        // A notice is news to who was away.
        state.record.news_seq = log.state.record.news_seq;
        prop_assert_eq!(state, log.state);
    }

    #[test]
    fn any_events_in_any_order_fold_without_a_panic(
        log in any_log(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let mut state = SessionState::new(log.state.record.session_id);
        for at in order {
            state.apply(at.get(&log.events));
        }
        prop_assert_eq!(state.record.queued_messages as usize, state.queue.len());
    }
}

#[test]
fn messages_that_interrupt_run_first_and_each_kind_keeps_its_order() {
    let mut log = Log::new();
    for (number, delivery) in [(1, Queue), (2, Steer), (3, Interrupt), (4, Queue), (5, Interrupt)] {
        log.submit(item(number), "text", delivery);
    }
    let order: Vec<_> = log.state.queue_in_order().map(|queued| queued.item_id).collect();
    assert_eq!(order, [item(3), item(5), item(1), item(2), item(4)]);
    for expect in order {
        assert_eq!(log.state.next_message().map(|queued| queued.item_id), Some(expect));
        log.state.queue.retain(|queued| queued.item_id != expect);
    }
}

#[test]
fn time_that_a_turn_stands_still_does_not_count() {
    let mut log = Log::new();
    log.submit(item(1), "text", Queue);
    log.start(turn(1));
    let begun = log.state.record.updated_at;
    log.add(super::super::decide::rounds_used_up(&log.state, question(1)));
    let open = log.state.turn.clone().unwrap();
    assert_eq!(open.suspended, Some(SuspendReason::RoundsLimit));
    let much_later = TimestampMs(1_000_000);
    assert_eq!(open.elapsed_ms(much_later), 100);
    assert_eq!(begun.since(much_later), 0, "a clock that goes backwards counts as standing still");
}

#[test]
fn what_is_done_with_a_session_at_rest_does_not_make_it_look_used() {
    let mut log = Log::new();
    let used_at = log.state.record.updated_at;
    let used = |purpose| UsageRecorded {
        purpose,
        provider: "scripted".to_owned(),
        model: "m".to_owned(),
        usage: Usage { prompt_tokens: 7, ..Usage::default() },
        first_byte_ms: 0,
        elapsed_ms: 0,
        cost: Cost::default(),
    };
    let through = log.state.record.last_seq;
    log.add([
        Draft::plain(used(UsagePurpose::Memory)),
        Draft::plain(MemoriesExtracted {
            through,
            turns_left: 0,
            added: Vec::new(),
            waiting: Vec::new(),
        }),
    ]);
    assert_eq!(log.state.record.updated_at, used_at);
    assert_eq!(log.state.record.last_seq, log.events.last().unwrap().seq);
    assert_eq!(log.state.record.usage.prompt_tokens, 7, "it is counted all the same");
    log.add([Draft::plain(used(UsagePurpose::Turn))]);
    assert!(log.state.record.updated_at > used_at);
}

#[test]
fn rounds_that_were_granted_count_no_more() {
    let mut log = Log::new();
    log.submit(item(1), "text", Queue);
    log.start(turn(1));
    log.step(answer(item(2), "a", &[]));
    log.step(answer(item(3), "b", &[]));
    log.add(super::super::decide::rounds_used_up(&log.state, question(1)));
    log.perform(&crate::session::test_log::Op::Choose(true));
    let open = log.state.turn.clone().unwrap();
    assert_eq!((open.rounds, open.rounds_granted_at, open.suspended), (2, 2, None));
    assert_eq!(fold(&log.events), log.state);
}

#[test]
fn what_requests_are_made_of_is_known_without_reading_the_log() {
    let mut log = Log::new();
    log.step(PinsChanged { pins: vec!["keep to tabs".to_owned()], by: Some(author("ann")) });
    log.step(ContextTrimmed { first_kept_seq: Seq(2), dropped_tokens: 9, steps: Vec::new() });
    assert_eq!((log.state.context_from, log.state.summary), (Seq(2), None));
    let mut compacted = ContextCompacted {
        first_kept_seq: Seq(3),
        recall_from_seq: Seq(1),
        folded_turns: 2,
        tokens_before: 100,
        tokens_after: 10,
        reason: CompactionReason::Asked,
        method: SummaryMethod::Model,
        model: "m".to_owned(),
        prompt: "p".to_owned(),
        pins: Vec::new(),
        lines: Vec::new(),
        untold_turns: 0,
    };
    log.step(compacted.clone());
    let state = &log.state;
    assert_eq!((state.context_from, state.recall_from), (Seq(3), Seq(1)));
    assert_eq!(state.summary, Some(state.record.last_seq));
    assert_eq!(state.pins, ["keep to tabs"]);
    compacted.method = SummaryMethod::Extract;
    log.step(compacted);
    assert_eq!(log.state.summary, Some(log.state.record.last_seq));
}

#[test]
fn a_document_of_the_workspace_is_not_in_the_users_words() {
    let document = |path: &str, sha256: &str| ProjectDocumentChanged {
        path: path.to_owned(),
        sha256: sha256.to_owned(),
        bytes: 10,
        is_cut: false,
    };
    let mut log = Log::new();
    log.step(document("", ""));
    assert!(!log.state.outside_text);
    log.step(document("AGENTS.md", "abc"));
    assert_eq!((log.state.project_sha256.as_str(), log.state.outside_text), ("abc", true));
    log.step(document("", ""));
    assert_eq!((log.state.project_sha256.as_str(), log.state.outside_text), ("", true));
}
