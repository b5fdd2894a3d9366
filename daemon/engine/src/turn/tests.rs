//! Conversations of any log that the actor's decisions could write, and of some that they could not.

mod requests;
mod rooms;

use std::sync::Arc;

use agentd_context::{ContextConfig, Conversation, Keep, Policy};
use agentd_domain::{
    AssistantMessage, CompactionReason, Completeness, Delivery, Event, EventBody, Seq,
};
use agentd_llm::Message;
use proptest::prelude::*;

use crate::session::test_log::{Log, Op, answer, any_log, finished, item, turn};

fn conversation(events: &[Event]) -> Conversation {
    let mut conversation = Conversation::default();
    for event in events {
        conversation.apply(event);
    }
    conversation
}

fn messages(conversation: &Conversation) -> Vec<Message> {
    conversation.messages().collect()
}

/// A conversation in short.
fn shown(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| match message {
            Message::System(text) => format!("system {text}"),
            Message::User { text, .. } => format!("user {text}"),
            Message::Assistant { text, tool_calls, .. } => {
                let calls: Vec<_> = tool_calls.iter().map(|call| call.call_id.as_str()).collect();
                format!("model {text}{calls:?}")
            }
            Message::Tool { call_id, output, .. } => format!("{call_id} {output}"),
        })
        .collect()
}

/// What providers refuse: a call without its result right after it, a result without a call, and a
/// user message without text.
fn assert_well_formed(messages: &[Message]) {
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        match message {
            Message::User { text, .. } => assert!(!text.trim().is_empty(), "a blank user message"),
            Message::Assistant { tool_calls, .. } => {
                for call in tool_calls {
                    let Some(Message::Tool { call_id, name, .. }) = rest.next() else {
                        panic!("no result of {call:?} in {:?}", shown(messages))
                    };
                    assert_eq!((call_id, name), (&call.call_id, &call.name));
                }
            }
            Message::Tool { call_id, .. } => {
                panic!("a result without a call, {call_id}, in {:?}", shown(messages))
            }
            Message::System(_) => panic!("a system message in the log"),
        }
    }
}

/// Legal logs with events left out, said twice and moved: what no version should write.
fn any_mangled_log() -> impl Strategy<Value = Vec<Event>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8), 0..12);
    (any_log(), edits).prop_map(|(log, edits)| {
        let mut events = log.events;
        for (at, edit) in edits {
            let at = at.index(events.len());
            match edit {
                0 if events.len() > 1 => drop(events.remove(at)),
                1 => {
                    let again = events[at].clone();
                    events.push(again);
                }
                2 => events.swap(0, at),
                _ => {
                    if let EventBody::MessageAccepted(accepted) = &mut events[at].body {
                        accepted.text = " \n".to_owned();
                    }
                }
            }
        }
        let mut seq = Seq::ZERO;
        for event in &mut events {
            seq = seq.next();
            event.seq = seq;
        }
        events
    })
}

proptest! {
    #[test]
    fn sl_02_whatever_the_log_holds_calls_and_results_are_paired(events in any_mangled_log()) {
        let mut conversation = Conversation::default();
        for event in &events {
            conversation.apply(event);
            assert_well_formed(&messages(&conversation));
        }
    }

    #[test]
    fn co_03_any_cut_keeps_whole_turns_and_the_newest(events in any_mangled_log(), keep in 0_u32..12) {
        let mut cut = conversation(&events);
        let all = messages(&cut);
        let newest = cut.newest();
        let policy = Policy::new(ContextConfig::default(), 8_192, 4_000);
        if let Some(at) = cut.cut(&policy, Keep::Turns(keep)) {
            let compacted = cut.extract(&policy, &at, CompactionReason::Asked);
            prop_assert!(compacted.lines.iter().all(|line| !line.from.is_empty()));
            cut.compacted(&compacted);
            let kept = messages(&cut);
            let Some((Message::User { .. }, rest)) = kept.split_first() else {
                panic!("the summary is first: {:?}", shown(&kept))
            };
            prop_assert!(all.ends_with(rest));
        }
        assert_well_formed(&messages(&cut));
        prop_assert_eq!(cut.newest(), newest);
    }

    #[test]
    fn co_03_no_trimming_parts_calls_from_results(events in any_mangled_log(), room in 0_u64..400) {
        let mut trimmed = conversation(&events);
        let policy = Policy::new(ContextConfig::default(), 8_192, room);
        let before = trimmed.tokens();
        let by_parts = trimmed.trim(&policy);
        assert_well_formed(&messages(&trimmed));
        let squeezed = trimmed.squeeze(&policy);
        assert_well_formed(&messages(&trimmed));
        let dropped: u64 = by_parts.iter().chain(&squeezed).map(|it| it.dropped).sum();
        prop_assert_eq!(trimmed.tokens() + dropped, before);
    }

    #[test]
    fn co_03_a_cut_log_is_read_back_as_it_was_cut(log in any_log(), keep in 0_u32..12) {
        let mut cut = conversation(&log.events);
        let policy = Policy::new(ContextConfig::default(), 8_192, 4_000);
        if let Some(at) = cut.cut(&policy, Keep::Turns(keep)) {
            let compacted = cut.extract(&policy, &at, CompactionReason::Asked);
            cut.compacted(&compacted);
            let mut events = log.events.clone();
            let seq = events.last().map_or(Seq(1), |event| event.seq.next());
            let body = EventBody::from(compacted.clone());
            events.push(Event { seq, turn_id: None, body, ..events[0].clone() });
            let from = compacted.recall_from_seq;
            let from = events.iter().position(|event| event.seq == from).unwrap();
            let again = messages(&conversation(&events[from..]));
            assert_well_formed(&again);
            prop_assert_eq!(shown(&again), shown(&messages(&cut)));
            prop_assert!(
                matches!(again.get(1), None | Some(Message::User { .. })),
                "a turn without its message: {:?}",
                shown(&again)
            );
        }
    }

    #[test]
    fn each_request_begins_with_all_of_the_request_before(log in any_log()) {
        let mut conversation = Conversation::default();
        let mut last = Vec::new();
        for event in &log.events {
            if matches!(event.body, EventBody::ContextTrimmed(_)) {
                last.clear();
            }
            // A whole answer is what came of a request at this point.
            if matches!(&event.body, EventBody::AssistantMessage(message)
                if message.completeness != Completeness::Incomplete)
            {
                let request = messages(&conversation);
                prop_assert!(request.starts_with(&last), "{:?}\n{:?}", shown(&last), shown(&request));
                last = request;
            }
            conversation.apply(event);
        }
    }

    #[test]
    fn what_a_running_turn_adds_is_what_the_log_says(log in any_log()) {
        // The turn's own copy is fed by steps, the next turn's by events.
        let mut by_steps = Conversation::default();
        for event in &log.events {
            match (&event.body, event.turn_id) {
                (EventBody::AssistantMessage(_) | EventBody::ToolCallFinished(_), Some(turn_id)) => {
                    by_steps.apply_step(turn_id, &event.body);
                }
                _ => by_steps.apply(event),
            }
        }
        prop_assert_eq!(messages(&by_steps), messages(&conversation(&log.events)));
    }
}

/// A turn that answers "go" and has asked for a, b and c, of which only a has a result.
fn cut_off() -> Log {
    let mut log = Log::new();
    log.submit(item(1), "go", Delivery::Queue);
    log.start(turn(1));
    log.step(answer(item(2), "look", &["a", "b", "c"]));
    log.step(finished("a", "1"));
    log
}

#[test]
fn sl_02_calls_without_results_get_one_in_their_place() {
    let mut log = cut_off();
    let expect = |shown: Vec<String>, last: &[&str]| {
        assert_eq!(shown[..3], ["user go", r#"model look["a", "b", "c"]"#, "a 1"]);
        let rest: Vec<&str> = shown[3..].iter().map(|line| &line[..line.len().min(15)]).collect();
        assert_eq!(rest, last);
    };
    let open = ["b [interrupted:", "c [interrupted:"];
    expect(shown(&messages(&conversation(&log.events))), &open);
    log.perform(&Op::Interrupt);
    let closed = ["b [not run: the", "c [not run: the"];
    expect(shown(&messages(&conversation(&log.events))), &closed);
    log.submit(item(3), "go on", Delivery::Queue);
    log.start(turn(2));
    let next = [closed[0], closed[1], "user go on"];
    expect(shown(&messages(&conversation(&log.events))), &next);
}

#[test]
fn sl_02_an_id_of_an_earlier_turn_answers_only_the_call_of_its_own() {
    let mut log = cut_off();
    log.perform(&Op::Interrupt);
    log.submit(item(3), "again", Delivery::Queue);
    log.start(turn(2));
    log.step(answer(item(4), "", &["b"]));
    log.step(finished("a", "not asked for"));
    log.step(finished("b", "2"));
    log.step(finished("b", "said twice"));
    let all = shown(&messages(&conversation(&log.events)));
    assert_eq!(all[5..], ["user again", r#"model ["b"]"#, "b 2"]);
}

#[test]
fn results_come_in_the_order_of_the_calls() {
    let mut log = cut_off();
    log.step(finished("c", "3"));
    log.step(finished("b", "2"));
    let all = shown(&messages(&conversation(&log.events)));
    assert_eq!(all[2..], ["a 1", "b 2", "c 3"]);
}

#[test]
fn text_that_broke_off_is_kept_when_its_turn_ended_and_void_when_it_went_on() {
    let go = Log::new();
    let check = |end: &[Op], expect: &[&str]| {
        let mut log = go.clone();
        log.submit(item(1), "go", Delivery::Queue);
        log.start(turn(1));
        for op in end {
            log.perform(op);
        }
        assert_eq!(shown(&messages(&conversation(&log.events))), expect, "{end:?}");
    };
    let crash = |policy| Op::Crash("half".to_owned(), policy);
    let kept = ["user go", "model half\n\n[this answer was interrupted here][]"];
    let (ask, always, never) =
        (crate::AutoResume::Ask, crate::AutoResume::Always, crate::AutoResume::Never);
    check(&[crash(always)], &["user go"]);
    check(&[crash(never)], &kept);
    check(&[crash(ask), Op::Choose(true)], &["user go"]);
    check(&[crash(ask), Op::Choose(false)], &kept);
    check(&[Op::Fail("half".to_owned())], &kept);
    check(&[Op::Fail(" \n".to_owned())], &["user go"]);
    check(
        &[crash(always), Op::Answer("whole".to_owned(), 0, false), Op::Complete],
        &["user go", "model whole[]"],
    );
}

#[test]
fn steering_messages_stand_where_they_were_delivered() {
    let mut log = cut_off();
    log.step(finished("b", "2"));
    log.step(finished("c", "3"));
    log.submit(item(5), "mind the gap", Delivery::Steer);
    log.submit(item(6), "later", Delivery::Queue);
    log.perform(&Op::Steer);
    log.step(answer(item(7), "done", &[]));
    let all = shown(&messages(&conversation(&log.events)));
    assert_eq!(all[2..], ["a 1", "b 2", "c 3", "user mind the gap", "model done[]"]);
}

#[test]
fn ps_13_native_blocks_stay_with_whole_messages_only() {
    let native = agentd_domain::NativeBlocks {
        api: "anthropic".to_owned(),
        model: "m".to_owned(),
        blocks: vec!["x".repeat(1_600)],
    };
    let kept = |completeness| {
        let mut log = Log::new();
        log.submit(item(1), "go", Delivery::Queue);
        log.start(turn(1));
        let message = answer(item(2), "said", &[]);
        log.step(AssistantMessage { native: Some(native.clone()), completeness, ..message });
        log.perform(&Op::Complete);
        let conversation = conversation(&log.events);
        let natives = messages(&conversation).into_iter().filter_map(|message| match message {
            Message::Assistant { native, .. } => native,
            _ => None,
        });
        (natives.collect::<Vec<_>>(), conversation.tokens())
    };
    let (natives, tokens) = kept(Completeness::Complete);
    assert_eq!(natives, [Arc::new(native.clone())]);
    assert!(tokens > 300, "they count when a conversation is kept: {tokens}");
    assert_eq!(kept(Completeness::Cut).0, []);
    assert_eq!(kept(Completeness::Incomplete).0, []);
}
