//! What a log becomes, step by step, with what users pinned and what tools put out.

use std::fmt::Write as _;

use agentd_domain::{
    AssistantMessage, CompactionReason, Completeness, ContextCompacted, ContextTrimmed, Event,
    EventBody, ItemId, MessageAccepted, MessageExpired, PinsChanged, Priority, Seq, SummaryMethod,
    TimestampMs, ToolCall, ToolCallFinished, ToolResult, TrimKind, TurnCompleted, TurnEnd, TurnId,
    TurnStarted, Usage,
};
use agentd_llm::Message;

use super::*;

/// A log that is written by hand.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
    turns: u64,
}

impl Log {
    fn push(&mut self, turn_id: Option<TurnId>, body: impl Into<EventBody>) {
        let seq = Seq(self.events.len() as u64 + 1);
        let at = TimestampMs(1_000 * i64::try_from(seq.0).unwrap());
        self.events.push(Event { seq, at, turn_id, body: body.into() });
    }

    /// A turn with one call for each output.
    fn turn(&mut self, said: &str, outputs: &[&str], answer: &str) {
        self.turns += 1;
        let turn_id = Some(TurnId::from_parts(1, self.turns.into()));
        let item_id = ItemId::from_parts(2, self.turns.into());
        self.push(None, accepted(item_id, said));
        let started = TurnStarted {
            item_ids: vec![item_id],
            provider: "p".to_owned(),
            model: "m".to_owned(),
            effort: None,
            reminder: String::new(),
        };
        self.push(turn_id, started);
        for (number, output) in outputs.iter().enumerate() {
            let call = ToolCall {
                call_id: format!("c{}_{number}", self.turns).parse().unwrap(),
                name: "read_file".to_owned(),
                arguments_json: r#"{"path":"src/lib.rs"}"#.to_owned(),
            };
            self.push(turn_id, said_by_model("", vec![call.clone()]));
            self.push(turn_id, ToolCallFinished::not_run(&call, ToolResult::success(*output)));
        }
        self.push(turn_id, said_by_model(answer, Vec::new()));
        let (usage, elapsed_ms) = (Usage::default(), 1);
        self.push(turn_id, TurnCompleted { end: TurnEnd::Answered, rounds: 1, usage, elapsed_ms });
    }

    fn read(&self) -> Conversation {
        let mut conversation = Conversation::default();
        self.events.iter().for_each(|event| conversation.apply(event));
        conversation
    }
}

fn accepted(item_id: ItemId, text: &str) -> MessageAccepted {
    MessageAccepted {
        item_id,
        client_message_id: format!("m{item_id}").parse().unwrap(),
        text: text.to_owned(),
        delivery: agentd_domain::Delivery::Queue,
        author: agentd_domain::Author::new("ann", "ann").unwrap(),
        priority: Priority::Normal,
        expires_at: None,
        unattended: false,
    }
}

fn said_by_model(text: &str, tool_calls: Vec<ToolCall>) -> AssistantMessage {
    AssistantMessage {
        native: None,
        item_id: ItemId::from_parts(9, 9),
        reasoning: "thoughts".to_owned(),
        text: text.to_owned(),
        tool_calls,
        completeness: Completeness::Complete,
    }
}

/// All messages in a text.
fn shown(conversation: &Conversation) -> String {
    let mut shown = String::new();
    for message in conversation.messages() {
        match message {
            Message::User { text, .. } => writeln!(shown, "user: {text}"),
            Message::Assistant { text, reasoning, tool_calls, .. } => {
                writeln!(shown, "model: {text} ({reasoning}) {}", tool_calls.len())
            }
            Message::Tool { output, .. } => writeln!(shown, "tool: {output}"),
            Message::System(text) => writeln!(shown, "system: {text}"),
        }
        .unwrap();
    }
    shown
}

fn policy(room: u64) -> Policy {
    Policy::new(ContextConfig::default(), 8_192, room)
}

fn pinned(pins: &[&str]) -> PinsChanged {
    PinsChanged { pins: pins.iter().map(ToString::to_string).collect(), by: None }
}

#[test]
fn outputs_of_older_turns_give_way_first_and_can_be_read_again() {
    let mut log = Log::default();
    let output = "line of a file\n".repeat(100);
    for number in 1..=5 {
        log.turn(&format!("read {number}"), &[&output, "short"], "done");
    }
    let mut conversation = log.read();
    assert_eq!(conversation.trim(&policy(10_000)), None, "there is room");
    let trimmed = conversation.trim(&policy(2_000)).unwrap();
    let kinds: Vec<TrimKind> = trimmed.steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [TrimKind::Outputs, TrimKind::Reasoning]);
    let after = shown(&conversation);
    assert_eq!(after.matches("tool: line of a file").count(), 3, "those of the newest three turns");
    assert!(
        after.contains(
            "[tool result omitted: 1500 characters; recall_output shows it: call_id c1_0]"
        )
    );
    assert_eq!(after.matches("tool: short").count(), 5, "a placeholder would be as long");
    assert_eq!(after.matches("(thoughts)").count(), 3, "those of the newest turn");
    assert_eq!(trimmed.first_kept, Seq(1));

    // The log that has it as an event gives the same.
    let turn_id = log.events.last().unwrap().turn_id;
    let Trimmed { first_kept, dropped, steps } = trimmed;
    log.push(
        turn_id,
        ContextTrimmed { first_kept_seq: first_kept, dropped_tokens: dropped, steps },
    );
    assert_eq!(shown(&log.read()), after);
    assert_eq!(conversation.trim(&policy(2_000)), None, "nothing is worth a changed beginning");
}

#[test]
fn the_rounds_of_a_turn_give_way_when_it_fills_the_window_alone() {
    let mut log = Log::default();
    let output = "x".repeat(4_000);
    let outputs: Vec<&str> = (0..8).map(|_| output.as_str()).collect();
    log.turn("read all of it", &outputs, "done");
    let mut conversation = log.read();
    let squeezed = conversation.squeeze(&policy(5_000)).unwrap();
    assert_eq!(squeezed.steps[0].kind, TrimKind::EarlierRounds);
    assert!(conversation.tokens() <= policy(5_000).compact_above);
    let after = shown(&conversation);
    assert!(after.contains("user: read all of it"), "what the user asked stays");
    assert_eq!(after.matches("tool: [tool result omitted").count(), 6);
}

#[test]
fn one_output_that_is_larger_than_the_window_loses_its_middle() {
    let mut log = Log::default();
    log.turn("read it", &[&format!("head {} tail", "x".repeat(100_000))], "");
    let mut conversation = log.read();
    let trimmed = conversation.trim(&policy(2_000)).unwrap();
    assert_eq!(trimmed.steps[0].kind, TrimKind::LongOutputs);
    assert!(conversation.tokens() <= policy(2_000).room);
    let after = shown(&conversation);
    assert!(after.contains("tool: head x") && after.contains("x tail"));
}

#[test]
fn long_arguments_stay_json_when_they_are_cut() {
    let mut log = Log::default();
    log.turn("write", &[], "ok");
    log.turn("and now?", &[], "ok");
    let text = "é".repeat(3_000);
    let call = ToolCall {
        call_id: "c9".parse().unwrap(),
        name: "write_file".to_owned(),
        arguments_json: serde_json::json!({"path": "a", "lines": [text], "n": 3}).to_string(),
    };
    log.events[2].body = said_by_model("", vec![call]).into();
    let mut conversation = log.read();
    let step = agentd_domain::TrimStep { kind: TrimKind::LongTexts, keep: 4_096 };
    assert!(conversation.trim_step(step));
    let arguments = conversation.messages().find_map(|message| match message {
        Message::Assistant { tool_calls, .. } => {
            tool_calls.first().map(|it| it.arguments_json.clone())
        }
        _ => None,
    });
    let arguments: serde_json::Value = serde_json::from_str(&arguments.unwrap()).unwrap();
    assert_eq!((&arguments["path"], &arguments["n"]), (&"a".into(), &3.into()));
    assert!(arguments["lines"][0].as_str().unwrap().len() < 1_200);
}

/// Ten turns of which nine are folded, asked of a model.
fn asked(log: &Log) -> (Conversation, Policy, SummaryRequest) {
    let conversation = log.read();
    let policy = policy(6_000);
    let cut = conversation.cut(&policy, Keep::Turns(1)).unwrap();
    let asked = conversation.summary_request(&cut, CompactionReason::Asked, 10_000).unwrap();
    (conversation, policy, asked)
}

fn ten_turns() -> Log {
    let mut log = Log::default();
    for number in 1..=10 {
        log.turn(&format!("question {number} {}", "word ".repeat(50)), &["out"], "an answer");
    }
    log
}

#[test]
fn a_summary_that_loses_what_was_pinned_is_refused() {
    let mut log = ten_turns();
    log.push(None, pinned(&["Never touch the production database"]));
    let (conversation, policy, asked) = asked(&log);
    assert!(asked.text.contains("[P1] (pinned) Never touch the production database"));
    let answer = |line: &str| {
        let answer = format!(
            r#"{{"lines": [{line}, {{"section": "done", "text": "Nine questions", "from": ["T1","T9"]}}]}}"#
        );
        conversation.summary_answer(&policy, &asked, &answer, "m")
    };
    let lost = answer(r#"{"section": "done", "text": "All went well", "from": ["T1"]}"#);
    assert!(matches!(lost, Err(Rejected::LostPin(_))), "{lost:?}");
    let kept = answer(
        r#"{"section": "constraints", "text": "Never touch the production database", "from": ["P1"]}"#,
    );
    let kept = kept.unwrap();
    assert_eq!(kept.pins, ["Never touch the production database"]);
    assert_eq!(kept.lines.len(), 1, "it is told once, in front");
    // Without a model it is there word by word as well.
    let cut = conversation.cut(&policy, Keep::Turns(1)).unwrap();
    let extract = conversation.extract(&policy, &cut, CompactionReason::Asked);
    let mut folded = conversation.clone();
    folded.compacted(&extract);
    assert!(
        shown(&folded).contains("Pinned by the user, to be kept to:\n- Never touch the production")
    );
}

#[test]
fn answers_are_read_in_any_dress_and_lines_from_nowhere_are_left_out() {
    let log = ten_turns();
    let (conversation, policy, asked) = asked(&log);
    let check = |answer: &str, expect: Result<usize, Rejected>| {
        let got = conversation.summary_answer(&policy, &asked, answer, "m");
        assert_eq!(got.map(|it| it.lines.len()), expect, "{answer}");
    };
    let line = r#"{"section":"Done","text":"x","from":["[t2]"]}"#;
    check(&format!("```json\n{{\"lines\":[{line}]}}\n```"), Ok(1));
    check(&format!("Think {{hard}}. {{\"lines\":[{line},{line}]}} and so on"), Ok(2));
    check("no JSON", Err(Rejected::Unreadable));
    check(r#"{"lines":[]}"#, Err(Rejected::Empty));
    check(r#"{"lines":[{"text":" "}]}"#, Err(Rejected::Empty));
    check(r#"{"lines":[{"text":"x","from":["T77"]}]}"#, Err(Rejected::Unlinked));
    // What tools put out is not shown to it.
    assert!(asked.text.contains("called read_file") && !asked.text.contains("out\n"));
}

#[test]
fn a_message_that_expired_keeps_no_turn_from_being_folded() {
    let mut log = Log::default();
    let item_id = ItemId::from_parts(7, 7);
    log.push(None, accepted(item_id, "too late"));
    log.push(None, MessageExpired { item_id });
    for number in 1..=4 {
        log.turn(&format!("question {number}"), &[], "an answer");
    }
    let cut = log.read().cut(&policy(4_000), Keep::Turns(1)).unwrap();
    assert_eq!(cut.turns(), 3);
}

#[test]
fn what_no_summary_had_room_for_stays_counted() {
    let log = ten_turns();
    let mut conversation = log.read();
    let first = conversation.turns[2].first_seq;
    conversation.begin_at(first, first, Vec::new(), 7);
    let policy = policy(6_000);
    let cut = conversation.cut(&policy, Keep::Turns(1)).unwrap();
    let asked = conversation.summary_request(&cut, CompactionReason::Asked, 10_000).unwrap();
    let answer = r#"{"lines":[{"section":"done","text":"x","from":["T1"]}]}"#;
    let folded = conversation.summary_answer(&policy, &asked, answer, "m").unwrap();
    assert_eq!(folded.untold_turns, 7);
}

#[test]
fn an_output_that_has_to_be_cut_is_cut_once() {
    let mut log = Log::default();
    let output = (0..9_000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    log.turn("read it", &[&output], "");
    let mut conversation = log.read();
    let Trimmed { first_kept, dropped, steps } = conversation.squeeze(&policy(2_000)).unwrap();
    let turn_id = log.events.last().unwrap().turn_id;
    log.push(
        turn_id,
        ContextTrimmed { first_kept_seq: first_kept, dropped_tokens: dropped, steps },
    );
    assert_eq!(shown(&log.read()), shown(&conversation));
}

#[test]
fn the_ring_of_turns_that_may_be_recalled_is_bounded() {
    let mut log = Log::default();
    for number in 1..=130 {
        log.turn(&format!("question {number} about foxes"), &[], "an answer");
        let conversation = log.read();
        if conversation.turns() > 10 {
            let policy = policy(4_000);
            let cut = conversation.cut(&policy, Keep::Turns(5)).unwrap();
            let compacted = conversation.extract(&policy, &cut, CompactionReason::Turns);
            assert!(compacted.tokens_after <= policy.compact_above);
            log.push(None, compacted);
        }
    }
    let conversation = log.read();
    let ring = conversation.pairs.ranges().count();
    assert!((20..50).contains(&ring), "{ring}");
    let last: Vec<&ContextCompacted> = log
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ContextCompacted(compacted) => Some(compacted),
            _ => None,
        })
        .collect();
    let last = last.last().unwrap();
    assert_eq!(last.method, SummaryMethod::Extract);
    let ranges = last.lines.iter().map(|line| line.from[0]);
    assert!(ranges.is_sorted(), "in the order of the log");
    assert!(last.untold_turns > 0, "what no longer fits is counted");
}

#[test]
fn chinese_and_paths_of_files_are_recalled_by_what_they_share() {
    let recalled = |asked: &str| {
        let mut log = Log::default();
        log.turn("部署服务器的端口是什么？", &[], "部署服务器使用端口八千。");
        log.turn("look at src/parser/mod.rs", &[], "It parses.");
        log.turn("something else entirely", &[], "Yes.");
        let conversation = log.read();
        let policy = policy(4_000);
        let cut = conversation.cut(&policy, Keep::Turns(1)).unwrap();
        log.push(None, conversation.extract(&policy, &cut, CompactionReason::Asked));
        log.turn(asked, &[], "");
        log.read().recall(&policy).map(|recalled| recalled.text).unwrap_or_default()
    };
    assert!(recalled("服务器的端口再说一遍").contains("端口八千"));
    assert!(recalled("what is wrong in `src/parser/mod.rs`?").contains("It parses."));
    assert_eq!(recalled("thanks"), "");
}

#[test]
fn what_is_pinned_is_told_when_the_next_turn_begins() {
    let mut log = Log::default();
    log.turn("one", &[], "ok");
    log.push(None, pinned(&["Use tabs"]));
    log.turn("two", &[], "ok");
    log.push(None, pinned(&[]));
    log.turn("three", &[], "ok");
    let shown = shown(&log.read());
    assert_eq!(shown.matches("[pinned by the user: keep to this] Use tabs\nuser: two").count(), 1);
    assert_eq!(shown.matches("[no longer pinned by the user] Use tabs\nuser: three").count(), 1);
    // What is taken back before it was told is not told at all.
    log.push(None, pinned(&["Use spaces"]));
    log.push(None, pinned(&["Use spaces", "Use tabs"]));
    log.push(None, pinned(&["Use tabs"]));
    log.turn("four", &[], "ok");
    let shown = self::shown(&log.read());
    assert!(!shown.contains("Use spaces"), "{shown}");
    assert_eq!(shown.matches("keep to this] Use tabs").count(), 2);
}
