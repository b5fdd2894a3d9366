//! From any log to a request that every provider takes: whatever the log holds, wherever it ends.

use std::collections::HashMap;

use agentd_domain::{CallId, InterruptReason, ToolCall, UnknownEvent};
use agentd_llm::well_formed::{Capabilities, check, repair};

use super::*;
use crate::AutoResume;
use crate::session::close_turn;
use crate::session::test_log::{author, native_answer};

const CAPABILITIES: Capabilities = Capabilities { vision: false, max_images: 0 };

/// The messages of the request that a turn would make now.
fn request(conversation: &Conversation) -> Vec<Message> {
    let system = Message::System("be".to_owned());
    std::iter::once(system).chain(conversation.messages()).collect()
}

fn repaired(conversation: &Conversation) -> Vec<Message> {
    repair(request(conversation), CAPABILITIES)
}

fn assert_well_formed(conversation: &Conversation) -> Vec<Message> {
    let messages = repaired(conversation);
    assert_eq!(check(&messages, CAPABILITIES), Ok(()));
    assert_eq!(repair(messages.clone(), CAPABILITIES), messages, "nothing is left to repair");
    messages
}

/// What no release writes, and what one may have written all the same.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Lost,
    Twice,
    Moved,
    Blank,
    ControlCharacters,
    SameCallIds,
    OddCalls,
    OrphanResult,
    BrokenNative,
    SameNative,
    ReasoningOnly,
    UnknownKind,
}

const DAMAGES: [Damage; 12] = [
    Damage::Lost,
    Damage::Twice,
    Damage::Moved,
    Damage::Blank,
    Damage::ControlCharacters,
    Damage::SameCallIds,
    Damage::OddCalls,
    Damage::OrphanResult,
    Damage::BrokenNative,
    Damage::SameNative,
    Damage::ReasoningOnly,
    Damage::UnknownKind,
];

fn call_id(text: &str) -> CallId {
    text.parse().unwrap()
}

fn damage(events: &mut Vec<Event>, at: usize, damage: Damage) {
    let other = (at * 7 + 3) % events.len();
    let beside = |body: EventBody| Event { body, ..events[at].clone() };
    match damage {
        Damage::Lost => {
            if events.len() > 1 {
                events.remove(at);
            }
        }
        Damage::Twice => events.push(events[at].clone()),
        Damage::Moved => events.swap(other, at),
        Damage::OrphanResult => {
            let orphan = beside(finished("nobody", "x").into());
            events.insert(at, orphan);
        }
        Damage::UnknownKind => {
            let (kind, record_json) = ("from_the_future".to_owned(), "{}".to_owned());
            let unknown = beside(EventBody::Unknown(UnknownEvent { kind, record_json }));
            events.insert(at, unknown);
        }
        in_body => damage_body(&mut events[at].body, in_body),
    }
}

fn damage_body(body: &mut EventBody, damage: Damage) {
    match (damage, body) {
        (Damage::Blank, EventBody::MessageAccepted(accepted)) => accepted.text = " \n".to_owned(),
        (Damage::Blank, EventBody::AssistantMessage(message)) => message.text = "\t".to_owned(),
        (Damage::Blank, EventBody::ToolCallFinished(finished)) => finished.output.clear(),
        (Damage::ControlCharacters, EventBody::MessageAccepted(it)) => it.text.push_str("\0\u{1b}"),
        (Damage::ControlCharacters, EventBody::AssistantMessage(it)) => it.text.push('\u{7f}'),
        (Damage::ControlCharacters, EventBody::ToolCallFinished(it)) => it.output.push('\0'),
        (Damage::SameCallIds, EventBody::AssistantMessage(message)) => {
            for call in &mut message.tool_calls {
                call.call_id = call_id("c0");
            }
        }
        (Damage::OddCalls, EventBody::AssistantMessage(message)) => {
            message.tool_calls.push(ToolCall {
                call_id: call_id("functions.x:0"),
                name: "no such\ntool".to_owned(),
                arguments_json: "{\"cut".to_owned(),
            });
        }
        (Damage::BrokenNative, EventBody::AssistantMessage(message)) => {
            if let Some(native) = &mut message.native {
                native.blocks.pop();
                native.blocks.push("{\"type\":".to_owned());
            }
        }
        (Damage::SameNative, EventBody::AssistantMessage(message)) => {
            *message = native_answer(message.item_id, "hm", &["c0", "c1"], "same");
        }
        (Damage::ReasoningOnly, EventBody::AssistantMessage(message)) => {
            message.reasoning = "r".to_owned();
            message.text.clear();
            message.tool_calls.clear();
        }
        _ => {}
    }
}

/// Legal logs, damaged in places.
fn any_damaged_log() -> impl Strategy<Value = Vec<Event>> {
    let damages = (any::<prop::sample::Index>(), prop::sample::select(DAMAGES.to_vec()));
    (any_log(), prop::collection::vec(damages, 0..16)).prop_map(|(log, damages)| {
        let mut events = log.events;
        for (at, kind) in damages {
            let at = at.index(events.len());
            damage(&mut events, at, kind);
        }
        for (event, seq) in events.iter_mut().zip(1..) {
            event.seq = Seq(seq);
        }
        events
    })
}

fn says_something(message: &Message) -> bool {
    matches!(message, Message::User { text, .. } if !text.trim().is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sl_02_whatever_the_log_holds_and_wherever_it_ends_the_request_is_well_formed(
        events in any_damaged_log(),
    ) {
        let mut conversation = Conversation::default();
        assert_well_formed(&conversation);
        for event in &events {
            conversation.apply(event);
            assert_well_formed(&conversation);
        }
    }

    #[test]
    fn sl_02_a_turn_cut_off_anywhere_leaves_a_well_formed_request(log in any_log()) {
        for end in 1..=log.events.len() {
            let upto = &log.events[..end];
            let crash = |policy| {
                let mut log = Log::of(upto);
                log.perform(&Op::Crash("half".to_owned(), policy));
                log.events
            };
            let mut interrupted = Log::of(upto);
            let drafts = close_turn(&interrupted.state, InterruptReason::User, Some(&author("b")));
            interrupted.add(drafts);
            let ends = [crash(AutoResume::Always), crash(AutoResume::Never), interrupted.events];
            for mut events in ends {
                assert_well_formed(&conversation(&events));
                // And the next message does not find it broken.
                let mut log = Log::of(&events);
                log.submit(item(7_000_000), "next", Delivery::Queue);
                if log.state.turn.is_none() {
                    log.start(turn(7_000_000));
                }
                events = log.events;
                assert_well_formed(&conversation(&events));
            }
        }
    }

    #[test]
    fn a_request_begins_like_the_one_of_the_turn_before(events in any_damaged_log()) {
        let events = untrimmed(&events);
        let whole = conversation(&events);
        let (request_of_all, repaired_whole) = (request(&whole), repaired(&whole));
        let mut so_far = Conversation::default();
        for event in &events {
            let turns = so_far.turns();
            let (closed, earlier) = (repaired(&so_far), request(&so_far));
            so_far.apply(event);
            // A turn that begins with what a user says closes the ones before it.
            let begins = request_of_all.get(earlier.len()).is_some_and(says_something);
            if so_far.turns() > turns && begins {
                // What the user said last may go on.
                let is_user = matches!(closed.last(), Some(Message::User { .. }));
                let shared = closed.len() - usize::from(is_user);
                prop_assert_eq!(&repaired_whole[..shared], &closed[..shared]);
            }
        }
    }

    #[test]
    fn no_word_of_the_user_is_lost_on_the_way_to_a_request(log in any_log()) {
        let mut accepted = HashMap::new();
        let events = untrimmed(&log.events);
        let messages = repaired(&conversation(&events));
        let mut said = messages.iter().filter_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let mut rest = said.next().unwrap_or_default();
        for event in &events {
            let used = match &event.body {
                EventBody::MessageAccepted(message) => {
                    accepted.insert(message.item_id, message.text.clone());
                    continue;
                }
                EventBody::TurnStarted(started) => &started.item_ids,
                EventBody::MessagesDelivered(delivered) => &delivered.item_ids,
                _ => continue,
            };
            for text in used.iter().map(|item_id| accepted[item_id].as_str()) {
                while !rest.contains(text) {
                    rest = said.next().expect("each text, in order");
                }
                rest = rest.split_once(text).expect("it is there").1;
            }
        }
    }

    #[test]
    fn ps_13_blocks_of_a_log_go_back_verbatim_or_not_at_all(events in any_damaged_log()) {
        let mut written = Vec::new();
        for event in &events {
            if let EventBody::AssistantMessage(message) = &event.body {
                written.extend(message.native.clone().map(|mut native| {
                    // Text without any is refused by the API, and is left out (case PS-14).
                    native.blocks.retain(|block| !says_nothing(block));
                    Arc::new(native)
                }));
            }
        }
        for message in repaired(&conversation(&events)) {
            if let Message::Assistant { native: Some(native), .. } = message {
                prop_assert!(written.contains(&native), "{native:?}");
            }
        }
    }
}

/// A log in which nothing was cut.
fn untrimmed(events: &[Event]) -> Vec<Event> {
    let is_cut = |event: &&Event| matches!(event.body, EventBody::ContextTrimmed(_));
    events.iter().filter(|event| !is_cut(event)).cloned().collect()
}

/// True for a block of text for the user that is blank.
fn says_nothing(block: &str) -> bool {
    let block: serde_json::Value = serde_json::from_str(block).unwrap_or_default();
    let text = block["text"].as_str().filter(|_| block["type"] == "text");
    text.is_some_and(|text| text.trim().is_empty())
}

/// Records as the first release wrote them, with what went wrong in the field.
const V1: &str = include_str!("v1_records.jsonl");

#[test]
fn sl_02_logs_of_the_first_release_give_well_formed_requests() {
    let mut events: Vec<Event> = Vec::new();
    for line in V1.lines() {
        let event = Event::decode(line.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(event.encode()).unwrap(), line, "kept byte for byte");
        assert_eq!(event.seq, Seq(events.len() as u64 + 1));
        events.push(event);
    }
    let mut conversation = Conversation::default();
    for event in &events {
        conversation.apply(event);
        assert_well_formed(&conversation);
    }
    let whole = super::conversation(&untrimmed(&events));
    assert!(repaired(&whole).ends_with(&repaired(&conversation)[2..]), "what is left after a cut");
    let shown: Vec<String> = assert_well_formed(&whole)
        .iter()
        .map(|message| match message {
            Message::System(text) => format!("system: {text}"),
            Message::User { text, .. } => format!("user: {text}"),
            Message::Assistant { text, tool_calls, .. } => {
                let calls = tool_calls
                    .iter()
                    .map(|call| format!(" {}={}{}", call.call_id, call.name, call.arguments_json));
                format!("model: {text}{}", calls.collect::<String>())
            }
            Message::Tool { call_id, output, .. } => format!("{call_id}: {output}"),
        })
        .collect();
    let expect = [
        "system: be",
        "user: what time is it?",
        "model:  call_1=time{}",
        "call_1: (no output)",
        "model: noon",
        "user: write it down",
        "model:  call_1-2=write_file{} call_2=time{}",
        "call_1-2: cut\u{FFFD}",
        "call_2: [not run: the turn was interrupted before this call]",
        "user: are you there?",
        "model: I was\n\n[this answer was interrupted here]",
        "user: go on\n\nbriefly",
        "model: here",
        "user: thanks",
    ];
    assert_eq!(shown, expect);
}
