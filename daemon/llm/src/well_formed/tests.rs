use proptest::prelude::*;

use super::*;
use crate::Image;

const SEES: Capabilities = Capabilities { vision: true, max_images: 4 };
const BLIND: Capabilities = Capabilities { vision: false, max_images: 4 };

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        call_id: id.parse().expect("an id"),
        name: name.to_owned(),
        arguments_json: arguments.to_owned(),
    }
}

fn said(text: &str, calls: &[ToolCall]) -> Message {
    Message::Assistant {
        native: None,
        reasoning: String::new(),
        text: text.to_owned(),
        tool_calls: calls.to_vec(),
    }
}

fn calling(id: &str) -> Message {
    said("", &[call(id, "f", "{}")])
}

fn result(id: &str, output: &str) -> Message {
    Message::Tool {
        call_id: id.parse().expect("an id"),
        name: "f".to_owned(),
        output: output.to_owned(),
    }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn shown(text: &str, images: usize) -> Message {
    let image = Image { media_type: "image/png".to_owned(), data_base64: "AA==".into() };
    Message::User { text: text.to_owned(), images: vec![image; images] }
}

fn native(api: &str, blocks: &[&str]) -> Arc<NativeBlocks> {
    Arc::new(NativeBlocks {
        api: api.to_owned(),
        model: "m".to_owned(),
        blocks: blocks.iter().map(|&block| block.to_owned()).collect(),
    })
}

#[track_caller]
fn expect(messages: &[Message], expected: &[Message]) {
    assert_eq!(repair(messages.to_vec(), SEES), expected);
}

#[test]
fn what_is_well_formed_stays_as_it_is() {
    let messages = [
        Message::System("be".to_owned()),
        shown("hi", 1),
        said("a", &[call("c1", "f", r#"{"x": 1}"#), call("c2", "g", " {}")]),
        result("c1", "1"),
        Message::Tool {
            call_id: "c2".parse().expect("an id"),
            name: "g".to_owned(),
            output: " 2\n".to_owned(),
        },
        user("steer"),
        said("done", &[]),
        user("next"),
    ];
    assert_eq!(check(&messages, SEES), Ok(()));
    expect(&messages, &messages);
}

#[test]
fn calls_and_results_are_paired_in_order() {
    let two = said("", &[call("a", "f", "{}"), call("b", "f", "{}")]);
    let lost = |id: &str| result(id, "[no result: whether this call had effects is unknown]");
    // A result is missing, results come in another order, twice, late, or answer nothing.
    expect(
        &[user("u"), two.clone(), result("b", "2")],
        &[user("u"), two.clone(), lost("a"), result("b", "2")],
    );
    expect(
        &[user("u"), two.clone(), result("b", "2"), result("a", "1"), result("a", "3")],
        &[user("u"), two.clone(), result("a", "1"), result("b", "2")],
    );
    expect(
        &[user("u"), calling("a"), user("v"), result("a", "late"), result("z", "0")],
        &[user("u"), calling("a"), lost("a"), user("v")],
    );
    expect(&[result("a", "1"), user("u")], &[user("u")]);
    // A system message between them does not part them.
    expect(
        &[user("u"), calling("a"), Message::System("s".to_owned()), result("a", "1")],
        &[Message::System("s".to_owned()), user("u"), calling("a"), result("a", "1")],
    );
}

#[test]
fn an_id_that_comes_again_gets_a_number_in_call_and_result() {
    let twice = said("", &[call("c", "f", "{}"), call("c", "f", "{}")]);
    expect(
        &[user("u"), twice, result("c", "1"), result("c", "2"), calling("c"), result("c", "3")],
        &[
            user("u"),
            said("", &[call("c", "f", "{}"), call("c-2", "f", "{}")]),
            result("c", "1"),
            result("c-2", "2"),
            calling("c-3"),
            result("c-3", "3"),
        ],
    );
    // The number may be taken, by an earlier call or by a later one.
    expect(
        &[user("u"), calling("c-2"), calling("c"), calling("c"), calling("c-3")]
            .map(|message| message)
            .into_iter()
            .flat_map(|message| match &message {
                Message::Assistant { tool_calls, .. } => {
                    let id = tool_calls[0].call_id.to_string();
                    vec![message, result(&id, "x")]
                }
                _ => vec![message],
            })
            .collect::<Vec<_>>(),
        &[
            user("u"),
            calling("c-2"),
            result("c-2", "x"),
            calling("c"),
            result("c", "x"),
            calling("c-3"),
            result("c-3", "x"),
            calling("c-3-2"),
            result("c-3-2", "x"),
        ],
    );
}

#[test]
fn ids_and_names_become_such_that_every_api_takes() {
    let long = "x".repeat(64);
    expect(
        &[user("u"), said("", &[call("functions.f:0", "a b/ü", "{}"), call(&long, "", "{}")])]
            .into_iter()
            .chain([result("functions.f:0", "1"), result(&long, "2")])
            .collect::<Vec<_>>(),
        &[
            user("u"),
            said(
                "",
                &[call("functions_f_0", "a_b__", "{}"), call(&"x".repeat(40), "unnamed", "{}")],
            ),
            Message::Tool {
                call_id: "functions_f_0".parse().expect("an id"),
                name: "a_b__".to_owned(),
                output: "1".to_owned(),
            },
            Message::Tool {
                call_id: "x".repeat(40).parse().expect("an id"),
                name: "unnamed".to_owned(),
                output: "2".to_owned(),
            },
        ],
    );
}

#[test]
fn ta_05_arguments_become_one_object() {
    let check = |arguments: &str, expect: &str| {
        let messages = vec![user("u"), said("", &[call("c", "f", arguments)]), result("c", "x")];
        let repaired = repair(messages, SEES);
        let Message::Assistant { tool_calls, .. } = &repaired[1] else { panic!("{repaired:?}") };
        assert_eq!(tool_calls[0].arguments_json, expect, "{arguments}");
    };
    for same in ["{}", " {\"a\": 1}\n", r#"{"a":"\ud83d\ude00","b":"\n\t"}"#] {
        check(same, same);
    }
    for none in ["", "x", "[1]", "null", r#"{"path":"README.md","content":""#, r#"{"a":1}{"b":2}"#]
    {
        check(none, "{}");
    }
    check(r#""{\"a\":1}""#, r#"{"a":1}"#);
    check(r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#);
    check(r#"{"a\u0000":["\u001b[0m",1]}"#, "{\"a\u{FFFD}\":[\"\u{FFFD}[0m\",1]}");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    check(&deep, "{}");
}

#[test]
fn ps_14_no_text_is_blank_and_no_message_empty() {
    for blank in ["", " \n", "\t"] {
        // (a) tool calls only, (c) a silent tool.
        expect(
            &[user("u"), said(blank, &[call("c", "f", "{}")]), result("c", blank)],
            &[user("u"), calling("c"), result("c", "(no output)")],
        );
        // (b) reasoning only, (d) blank text: it is left out and roles still alternate.
        let thought = Message::Assistant {
            native: Some(native(
                "anthropic",
                &[r#"{"type":"thinking","thinking":"t","signature":"s"}"#],
            )),
            reasoning: "t".to_owned(),
            text: blank.to_owned(),
            tool_calls: Vec::new(),
        };
        expect(&[user("a"), thought.clone(), user("b")], &[user("a\n\nb")]);
        expect(
            &[user("a"), calling("c"), result("c", "1"), thought, user("b")],
            &[user("a"), calling("c"), result("c", "1"), user("b")],
        );
        // (e) an empty summary or prompt.
        expect(&[Message::System(blank.to_owned()), user("u"), user(blank)], &[user("u")]);
        expect(&[shown(blank, 1)], &[shown("", 1)]);
    }
}

#[test]
fn the_user_speaks_first_and_the_model_never_last() {
    let beginning = user("[what was said before is left out]");
    expect(&[], std::slice::from_ref(&beginning));
    expect(
        &[Message::System("s".to_owned()), said("a", &[]), user("u")],
        &[Message::System("s".to_owned()), beginning.clone(), said("a", &[]), user("u")],
    );
    expect(&[user("u"), said("a", &[])], &[user("u"), said("a", &[]), user("[go on]")]);
    expect(&[said("a", &[])], &[beginning, said("a", &[]), user("[go on]")]);
}

#[test]
fn neighbours_of_one_side_share_a_message() {
    expect(
        &[user("a"), shown("b", 1), said("c", &[]), calling("d"), result("d", "x")],
        &[shown("a\n\nb", 1), said("c", &[call("d", "f", "{}")]), result("d", "x")],
    );
    expect(
        &[Message::System("a".to_owned()), user("u"), Message::System("b".to_owned())],
        &[Message::System("a\n\nb".to_owned()), user("u")],
    );
}

#[test]
fn control_characters_are_replaced_everywhere() {
    expect(
        &[
            Message::System("s\0".to_owned()),
            user("u\u{1b}\r\n\t"),
            calling("c"),
            result("c", "\u{7f}"),
        ],
        &[
            Message::System("s\u{FFFD}".to_owned()),
            user("u\u{FFFD}\r\n\t"),
            calling("c"),
            result("c", "\u{FFFD}"),
        ],
    );
}

#[test]
fn pictures_are_left_out_where_the_model_does_not_take_them() {
    let blind = "[an image was left out: this model sees no images]";
    assert_eq!(repair(vec![shown("look", 1)], BLIND), [user(&format!("look\n\n{blind}"))]);
    assert_eq!(repair(vec![shown("", 1)], BLIND), [user(blind)]);
    let one = |at: usize| [shown(&at.to_string(), 1), said("ok", &[])];
    let many = |count: usize| {
        let mut messages: Vec<_> = (0..count).flat_map(one).collect();
        messages.pop();
        repair(messages, SEES)
    };
    let left = |messages: &[Message]| {
        messages.iter().filter(|it| matches!(it, Message::User { .. })).map(images::count).collect()
    };
    let counts: Vec<Vec<usize>> = [4, 5, 6, 7].map(|count| left(&many(count))).into();
    // The cut moves every second time.
    assert_eq!(counts[0], [1, 1, 1, 1]);
    assert_eq!(counts[1], [0, 0, 1, 1, 1]);
    assert_eq!(counts[2], [0, 0, 1, 1, 1, 1]);
    assert_eq!(counts[3], [0, 0, 0, 0, 1, 1, 1]);
}

const THINKING: &str = r#"{"type":"thinking","thinking":"t","signature":"sig1"}"#;
const REDACTED: &str = r#"{"type":"redacted_thinking","data":"=="}"#;
const TEXT: &str = r#"{"type":"text","text":"hm"}"#;
const USE: &str = r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{"a": 1}}"#;

/// What becomes of native blocks beside this text and these calls.
fn kept(api: &str, blocks: &[&str], text: &str, calls: &[ToolCall]) -> Option<Vec<String>> {
    let message = Message::Assistant {
        native: Some(native(api, blocks)),
        reasoning: "t".to_owned(),
        text: text.to_owned(),
        tool_calls: calls.to_vec(),
    };
    let results = calls.iter().map(|call| result(call.call_id.as_str(), "x"));
    let messages = [user("u"), message].into_iter().chain(results).collect();
    match &repair(messages, SEES)[1] {
        Message::Assistant { native, .. } => native.as_ref().map(|native| native.blocks.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ps_13_native_blocks_are_kept_verbatim_or_dropped_whole() {
    let whole = [THINKING, REDACTED, TEXT, USE];
    let arguments = r#"{"a":1}"#;
    let one = [call("c", "f", arguments)];
    let kept =
        |blocks: &[&str], text: &str, calls: &[ToolCall]| kept("anthropic", blocks, text, calls);
    assert_eq!(kept(&whole, "hm", &one), Some(whole.map(str::to_owned).to_vec()));
    assert_eq!(kept(&[THINKING, TEXT], "hm", &[]), Some(vec![THINKING.into(), TEXT.into()]));
    // Only a blank text goes, as a whole block.
    let blank = r#"{"type":"text","text":" \n"}"#;
    assert_eq!(kept(&[THINKING, blank, USE], "", &one), Some(vec![THINKING.into(), USE.into()]));
    // They do not fit the message.
    assert_eq!(kept(&whole, "hm", &[]), None);
    assert_eq!(kept(&whole, "hm", &[call("c", "g", arguments)]), None);
    assert_eq!(kept(&[THINKING, TEXT], "hm", &one), None);
    assert_eq!(kept(&[THINKING, USE], "hm", &one), None);
    assert_eq!(kept(&whole, "", &one), None);
    assert_eq!(kept(&[USE, USE], "", &[one.clone(), one.clone()].concat()), None);
    assert_eq!(kept(&[], "hm", &[]), None);
    // They are not what the API sends.
    assert_eq!(kept(&["{", USE], "", &one), None);
    assert_eq!(kept(&["[]", USE], "", &one), None);
    assert_eq!(kept(&["{}", USE], "", &one), None);
    assert_eq!(kept(&[r#"{"type":"tool_use","id":"t","name":"f","input":1}"#], "", &one), None);
    assert_eq!(kept(&[r#"{"type":"tool_use","id":"","name":"f","input":{}}"#], "", &one), None);
    // The message was repaired.
    assert_eq!(kept(&whole, "hm\0", &one), None);
    assert_eq!(kept(&whole, "hm", &[call("c", "f", "{\"a\":")]), None);
    assert_eq!(kept(&whole, "hm", &[call("c.1", "f", arguments)]), None);
}

#[test]
fn ps_13_an_id_in_native_blocks_stands_for_one_call_only() {
    let message = |id: &str| Message::Assistant {
        native: Some(native("anthropic", &[USE])),
        reasoning: String::new(),
        text: String::new(),
        tool_calls: vec![call(id, "f", "{}")],
    };
    let messages = vec![
        user("u"),
        message("c1"),
        result("c1", "1"),
        message("c2"),
        result("c2", "2"),
        calling("toolu_1"),
        result("toolu_1", "3"),
    ];
    let repaired = repair(messages, SEES);
    let natives: Vec<bool> = repaired
        .iter()
        .filter_map(|message| match message {
            Message::Assistant { native, .. } => Some(native.is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(natives, [true, false, false]);
    assert_eq!(repaired[5..], [calling("toolu_1-2"), result("toolu_1-2", "3")]);
    // Unless both name the same call.
    let repaired = repair(vec![user("u"), message("toolu_1"), result("toolu_1", "1")], SEES);
    assert!(matches!(&repaired[1], Message::Assistant { native: Some(_), .. }));
}

#[test]
fn native_items_of_responses_are_checked_like_blocks() {
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}"#;
    let call_item = r#"{"type":"function_call","call_id":"call_9","name":"f","arguments":"{}"}"#;
    let text = r#"{"type":"message","content":[{"type":"output_text","text":"hm"}]}"#;
    let blank = r#"{"type":"message","content":[{"type":"output_text","text":""}]}"#;
    let one = [call("c", "f", "{}")];
    let kept = |blocks: &[&str], text: &str| kept("openai-responses", blocks, text, &one);
    let all = [reasoning, text, call_item];
    assert_eq!(kept(&all, "hm"), Some(all.map(str::to_owned).to_vec()));
    assert_eq!(kept(&[reasoning, blank, call_item], ""), None, "reasoning must be followed");
    assert_eq!(kept(&[reasoning, text], "hm"), None);
    let cut = r#"{"type":"function_call","call_id":"call_9","name":"f","arguments":"{\"a"}"#;
    assert_eq!(kept(&[reasoning, cut], ""), None);
    assert_eq!(kept(&[reasoning, reasoning, call_item], ""), None, "an item twice");
}

#[test]
fn each_violation_is_found() {
    let found = |messages: &[Message]| check(messages, BLIND).expect_err("a violation");
    let system = || Message::System("s".to_owned());
    let with = |text: &str| [user(text), user(text)];
    assert_eq!(found(&[]), Violation::Empty);
    assert_eq!(found(&[system()]), Violation::Empty);
    assert_eq!(found(&[user("u"), system()]), Violation::LateSystem { at: 1 });
    assert_eq!(found(&[system(), said("a", &[])]), Violation::FirstIsNotUser { at: 1 });
    assert_eq!(found(&[user("u"), said("a", &[])]), Violation::LastIsModel);
    assert_eq!(found(&with("a")), Violation::RoleTwice { at: 1 });
    let twice = [user("u"), said("a", &[]), said("b", &[]), user("u")];
    assert_eq!(found(&twice), Violation::RoleTwice { at: 2 });
    assert_eq!(found(&with(" ")), Violation::Blank { at: 0 });
    let blank = [user("u"), said("", &[]), user("u")];
    assert_eq!(found(&blank), Violation::Blank { at: 1 });
    assert_eq!(found(&with("\0")), Violation::ControlCharacter { at: 0 });
    let open = [user("u"), calling("c"), user("v")];
    assert_eq!(found(&open), Violation::OrphanCall { at: 1, call_id: "c".to_owned() });
    assert_eq!(found(&open[..2]), Violation::OrphanCall { at: 1, call_id: "c".to_owned() });
    let other = [user("u"), calling("c"), result("d", "x")];
    assert_eq!(found(&other), Violation::OrphanResult { at: 2 });
    assert_eq!(found(&[user("u"), result("d", "x")]), Violation::OrphanResult { at: 1 });
    let again = [user("u"), calling("c"), result("c", "1"), calling("c"), result("c", "1")];
    assert_eq!(found(&again), Violation::IdTwice { at: 3, call_id: "c".to_owned() });
    let illegal = |call: ToolCall| found(&[user("u"), said("", &[call])]);
    let expect = |what| Violation::IllegalCall { at: 1, what };
    assert_eq!(illegal(call("c.", "f", "{}")), expect("id"));
    assert_eq!(illegal(call("c", "", "{}")), expect("name"));
    assert_eq!(illegal(call("c", "f", "")), expect("arguments"));
    assert_eq!(found(&[shown("u", 1)]), Violation::Images { count: 1, most: 0 });
    let message = Message::Assistant {
        native: Some(native("anthropic", &["1"])),
        reasoning: String::new(),
        text: "a".to_owned(),
        tool_calls: Vec::new(),
    };
    assert_eq!(found(&[user("u"), message, user("v")]), Violation::NativeBlock { at: 1 });
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c世😀]{1,4}",
        1 => Just(String::new()),
        1 => Just(" \n".to_owned()),
        1 => "[a\\x00\\x1b\\n\u{fffd}]{1,3}",
    ]
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[ab]", 1 => "a-[23]", 1 => Just("a.b:0".to_owned()), 1 => "x{38,64}"]
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let name = prop_oneof![4 => "[fg]", 1 => Just(String::new()), 1 => "[a ü]{1,70}"];
    let arguments = prop::sample::select(vec![
        "{}",
        r#"{"a":1}"#,
        "",
        "{\"a",
        "[]",
        "\"{}\"",
        r#"{"a":"\ud83d"}"#,
        r#"{"a":"\u0000"}"#,
    ]);
    (any_id(), name, arguments).prop_map(|(id, name, arguments)| call(&id, &name, arguments))
}

fn any_native() -> impl Strategy<Value = Option<Arc<NativeBlocks>>> {
    let blocks = prop::sample::select(vec![
        THINKING,
        REDACTED,
        TEXT,
        USE,
        r#"{"type":"text","text":""}"#,
        "{",
        "{}",
        "3",
    ]);
    let api = prop::sample::select(vec!["anthropic", "openai-responses", "openai-compatible"]);
    prop::option::of((api, prop::collection::vec(blocks, 0..4)))
        .prop_map(|it| it.map(|(api, blocks)| native(api, &blocks)))
}

fn any_message() -> impl Strategy<Value = Message> {
    prop_oneof![
        4 => any_text().prop_map(|text| user(&text)),
        1 => (any_text(), 0_usize..3).prop_map(|(text, images)| shown(&text, images)),
        5 => (any_text(), any_text(), prop::collection::vec(any_call(), 0..3), any_native())
            .prop_map(|(reasoning, text, tool_calls, native)| Message::Assistant {
                reasoning, text, tool_calls, native,
            }),
        5 => (any_id(), any_text()).prop_map(|(id, output)| result(&id, &output)),
    ]
}

/// Any messages after any system messages.
fn any_messages() -> impl Strategy<Value = Vec<Message>> {
    let system = prop::collection::vec(any_text().prop_map(Message::System), 0..2);
    (system, prop::collection::vec(any_message(), 0..16))
        .prop_map(|(system, rest)| system.into_iter().chain(rest).collect())
}

/// Sees more pictures than there are.
const ROOMY: Capabilities = Capabilities { vision: true, max_images: 1000 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn ps_14_whatever_the_history_holds_the_request_is_well_formed(
        messages in any_messages(),
        capabilities in prop::sample::select(vec![SEES, BLIND, ROOMY]),
    ) {
        let repaired = repair(messages.clone(), capabilities);
        prop_assert_eq!(check(&repaired, capabilities), Ok(()));
        prop_assert_eq!(repair(messages, capabilities), repaired.clone(), "the same each time");
        prop_assert_eq!(repair(repaired.clone(), capabilities), repaired, "nothing is left to repair");
    }

    #[test]
    fn a_longer_history_begins_with_the_request_of_the_shorter(messages in any_messages()) {
        let whole = repair(messages.clone(), ROOMY);
        let is_user = |message: &Message| match message {
            Message::User { text, images } => !is_blank(text) || !images.is_empty(),
            _ => false,
        };
        for open_from in (0..messages.len()).filter(|&at| is_user(&messages[at])) {
            let closed = repair(messages[..open_from].to_vec(), ROOMY);
            // What the user says at the end may go on.
            let shared = closed.len() - usize::from(closed.last().is_some_and(is_user));
            prop_assert_eq!(&whole[..shared], &closed[..shared]);
        }
    }

    #[test]
    fn no_word_of_the_user_is_lost(messages in any_messages()) {
        let repaired = repair(messages.clone(), ROOMY);
        let mut said = repaired.iter().filter_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let mut rest = said.next().unwrap_or_default();
        for message in &messages {
            let Message::User { text, .. } = message else { continue };
            let text = clean(text.clone()).0;
            if is_blank(&text) {
                continue;
            }
            while !rest.contains(&text) {
                rest = said.next().expect("each text, in order");
            }
            rest = rest.split_once(&text).expect("it is there").1;
        }
    }
}
