//! Events as servers really send them.

use agentd_domain::Usage;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::stream::sse::SseDecoder;
use crate::{AssembledCall, StreamPart};

/// Reasoning, text, and the end: a completion or the code of an error.
type Outcome = (String, String, Result<Completion, &'static str>);

fn decoder() -> MessagesDecoder {
    MessagesDecoder::new(ErrorText::default(), "m", 10_000)
}

/// Reads pieces of a body.
fn read(pieces: &[&[u8]], end: BodyEnd) -> Outcome {
    let (mut events, mut decoder) = (SseDecoder::default(), decoder());
    let mut end_of = || {
        for piece in pieces {
            events.push(piece, |event| decoder.on_event(event))?;
        }
        events.finish(|event| decoder.on_event(event))?;
        decoder.end(end)
    };
    let result = end_of().map_err(|error| error.code());
    taken(decoder, result)
}

fn taken(mut decoder: MessagesDecoder, end: Result<Completion, &'static str>) -> Outcome {
    let (mut reasoning, mut text) = (String::new(), String::new());
    while let Some(part) = decoder.parts.take() {
        match part {
            StreamPart::Reasoning(part) => reasoning.push_str(&part),
            StreamPart::Text(part) => text.push_str(&part),
            other => panic!("the decoder queues {other:?}"),
        }
    }
    assert_eq!(decoder.parts.queued_bytes(), 0);
    (reasoning, text, end)
}

fn body(events: &[Value]) -> String {
    let event = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or("message");
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(event).collect()
}

fn fold(events: &[Value]) -> Outcome {
    read(&[body(events).as_bytes()], BodyEnd::Clean)
}

fn code(events: &[Value]) -> &'static str {
    fold(events).2.err().unwrap_or_default()
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage":
        {"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}}})
}

fn block(index: u32, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn closed(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn text_block(index: u32) -> Value {
    block(index, &json!({"type": "text", "text": ""}))
}

fn text(index: u32, text: &str) -> Value {
    delta(index, &json!({"type": "text_delta", "text": text}))
}

fn tool(index: u32, id: &str) -> Value {
    block(index, &json!({"type": "tool_use", "id": id, "name": "f", "input": {}}))
}

fn input(index: u32, piece: &str) -> Value {
    delta(index, &json!({"type": "input_json_delta", "partial_json": piece}))
}

fn stopped(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
           "usage": {"output_tokens": 15}})
}

fn stop() -> Value {
    json!({"type": "message_stop"})
}

fn hi(reason: &str) -> Vec<Value> {
    vec![start(), text_block(0), text(0, "hi"), closed(0), stopped(reason), stop()]
}

fn call(arguments: &str, is_whole: bool) -> AssembledCall {
    AssembledCall { name: "f".to_owned(), arguments_json: arguments.to_owned(), is_whole }
}

fn calls(events: &[Value]) -> Vec<AssembledCall> {
    fold(events).2.expect("an answer").tool_calls
}

/// An answer with everything in it.
fn rich() -> Vec<Value> {
    vec![
        start(),
        json!({"type": "ping"}),
        block(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "想一"})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "想"})),
        delta(0, &json!({"type": "signature_delta", "signature": "EqQB"})),
        closed(0),
        block(1, &json!({"type": "redacted_thinking", "data": "xyz"})),
        closed(1),
        text_block(2),
        text(2, "使用"),
        text(2, " 😀"),
        closed(2),
        block(
            3,
            &json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}}),
        ),
        input(3, ""),
        input(3, "{\"q\": \"世"),
        input(3, "界😀\"}"),
        closed(3),
        stopped("tool_use"),
        stop(),
    ]
}

#[test]
fn ps_13_thinking_is_shown_and_kept_as_it_came() {
    let (reasoning, text, end) = fold(&rich());
    assert_eq!((reasoning.as_str(), text.as_str()), ("想一想", "使用 😀"));
    let end = end.expect("an answer");
    assert_eq!(end.finish, Finish::Done);
    assert_eq!(end.tool_calls, [call("{\"q\": \"世界😀\"}", true)]);
    assert_eq!(
        end.native.expect("native blocks"),
        NativeBlocks {
            api: "anthropic".to_owned(),
            model: "m".to_owned(),
            blocks: vec![
                r#"{"type":"thinking","thinking":"想一想","signature":"EqQB"}"#.to_owned(),
                r#"{"type":"redacted_thinking","data":"xyz"}"#.to_owned(),
                r#"{"type":"text","text":"使用 😀"}"#.to_owned(),
                r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{"q": "世界😀"},"caller":{"type":"direct"}}"#
                    .to_owned(),
            ],
        }
    );
}

#[test]
fn the_prompt_includes_what_was_cached() {
    let usage = |events: &[Value]| fold(events).2.expect("an answer").usage;
    let counts = Usage {
        prompt_tokens: 127,
        completion_tokens: 15,
        reasoning_tokens: 0,
        cached_prompt_tokens: 100,
        cache_write_tokens: 20,
        estimated: false,
    };
    assert_eq!(usage(&hi("end_turn")), Some(counts));
    // Some servers count only at the end.
    let late = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage":
        {"input_tokens": 9, "output_tokens": 15, "output_tokens_details": {"thinking_tokens": 4}}});
    let early = json!({"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}});
    assert_eq!(
        usage(&[early, text_block(0), text(0, "hi"), late, stop()]),
        Some(Usage {
            prompt_tokens: 9,
            completion_tokens: 15,
            reasoning_tokens: 4,
            ..Usage::default()
        })
    );
    let none =
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": null});
    assert_eq!(usage(&[text_block(0), text(0, "hi"), none, stop()]), None);
}

#[test]
fn every_reason_to_stop_is_understood() {
    for (reason, expect) in [
        ("end_turn", Finish::Done),
        ("tool_use", Finish::Done),
        ("stop_sequence", Finish::Done),
        ("pause_turn", Finish::Done),
        ("something_new", Finish::Done),
        ("max_tokens", Finish::OutputLimit),
        ("model_context_window_exceeded", Finish::OutputLimit),
        ("refusal", Finish::Refused),
    ] {
        let (_, text, end) = fold(&hi(reason));
        assert_eq!((text.as_str(), end.expect("an answer").finish), ("hi", expect), "{reason}");
    }
}

#[test]
fn ps_05_only_whole_answers_are_whole() {
    let all = hi("end_turn");
    assert_eq!(code(&[]), "PROVIDER_EMPTY_ANSWER");
    assert_eq!(code(&[json!({"type": "ping"})]), "PROVIDER_EMPTY_ANSWER");
    assert_eq!(code(&[stop()]), "PROVIDER_EMPTY_ANSWER");
    assert_eq!(code(&[start(), stopped("end_turn"), stop()]), "PROVIDER_EMPTY_ANSWER");
    assert_eq!(
        code(&[start(), text_block(0), closed(0), stopped("end_turn"), stop()]),
        "PROVIDER_EMPTY_ANSWER"
    );
    for end in 1..=4 {
        assert_eq!(code(&all[..end]), "PROVIDER_STREAM_CUT", "{end}");
    }
    // The reason to stop is the end, and so is the last event.
    assert_eq!(code(&all[..5]), "");
    let without_reason: Vec<Value> = [&all[..4], &all[5..]].concat();
    assert_eq!(code(&without_reason), "");
    let broken = |events: &[Value]| read(&[body(events).as_bytes()], BodyEnd::Broken).2;
    assert_eq!(broken(&all[..5]).map(|end| end.finish), Ok(Finish::Done));
    assert_eq!(broken(&all[..4]), Err("PROVIDER_STREAM_CUT"));
    assert_eq!(broken(&[]), Err("PROVIDER_STREAM_CUT"));
}

#[test]
fn errors_in_the_stream_end_the_answer() {
    for (kind, expect) in [
        ("overloaded_error", "PROVIDER_ERROR"),
        ("api_error", "PROVIDER_ERROR"),
        ("rate_limit_error", "PROVIDER_RATE_LIMITED"),
        ("authentication_error", "PROVIDER_AUTH"),
        ("invalid_request_error", "PROVIDER_REFUSED_REQUEST"),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "m"}});
        let (_, text, end) = fold(&[start(), text_block(0), text(0, "hi"), error]);
        assert_eq!((text.as_str(), end), ("hi", Err(expect)), "{kind}");
    }
    assert_eq!(code(&[json!({"error": {"message": "m", "code": 429}})]), "PROVIDER_RATE_LIMITED");
    let raw = |data: &str| read(&[format!("data: {data}\n\n").as_bytes()], BodyEnd::Clean).2;
    assert_eq!(raw("hello"), Err("PROVIDER_PROTOCOL"));
    assert_eq!(raw("{\"type\":\"content_block_delta\",\"delta\":7}"), Err("PROVIDER_PROTOCOL"));
}

#[test]
fn what_is_new_is_passed_over() {
    let mut events = hi("end_turn");
    events.insert(1, json!({"type": "something_new", "delta": 7, "index": {}}));
    events.insert(2, block(9, &json!({"type": "server_tool_use", "id": "x", "name": "y"})));
    events.insert(3, delta(9, &json!({"type": "new_delta", "stuff": 1})));
    events.insert(1, json!({"something": "without a type"}));
    events.insert(4, json!({"type": "message_delta", "delta": {"container": {}}, "usage": {}}));
    let (_, text, end) = fold(&events);
    assert_eq!(text, "hi");
    let end = end.expect("an answer");
    assert_eq!((end.tool_calls, end.native), (Vec::new(), None));
    // None of it is an end.
    assert_eq!(code(&events[..events.len() - 2]), "PROVIDER_STREAM_CUT");
}

#[test]
fn thoughts_and_texts_are_kept_apart_and_parts_of_one_text_are_not() {
    let think = |index: u32, text: &str| {
        [
            block(index, &json!({"type": "thinking", "thinking": ""})),
            delta(index, &json!({"type": "thinking_delta", "thinking": text})),
        ]
    };
    let mut events = vec![start()];
    events.extend(think(0, "a"));
    events.extend([text_block(1), text(1, "b"), text_block(2), text(2, "c")]);
    events.extend(think(3, "d"));
    events.extend([text_block(4), text(4, "e"), stopped("end_turn")]);
    let (reasoning, text, end) = fold(&events);
    assert_eq!((reasoning.as_str(), text.as_str()), ("a\n\nd", "bc\n\ne"));
    // Thinking without signature cannot go back.
    assert_eq!(end.expect("an answer").native, None);
}

#[test]
fn ta_01_calls_of_every_gateway_are_put_together() {
    let end = || [stopped("tool_use"), stop()];
    let bare = [
        start(),
        tool(0, "a"),
        json!({"type": "content_block_delta", "delta":
        {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
    ];
    assert_eq!(calls(&[&bare[..], &end()].concat()), [call(r#"{"a":1}"#, true)]);
    let at_once = [
        start(),
        block(0, &json!({"type": "tool_use", "id": "a", "name": " f ", "input": {"a": 1}})),
    ];
    assert_eq!(calls(&[&at_once[..], &end()].concat()), [call(r#"{"a":1}"#, true)]);
    let none = [start(), tool(0, ""), closed(0)];
    assert_eq!(calls(&[&none[..], &end()].concat()), [call("{}", true)]);
    let mixed = [
        start(),
        tool(0, "a"),
        tool(1, "b"),
        input(1, "{\"b\""),
        input(0, "{\"a\""),
        input(1, ":2}"),
        input(0, ":1}"),
    ];
    assert_eq!(
        calls(&[&mixed[..], &end()].concat()),
        [call(r#"{"a":1}"#, true), call(r#"{"b":2}"#, true)]
    );
    // A text that is shown beside a call of the same number.
    let shared = [start(), text_block(0), tool(0, "a"), text(0, "hi"), input(0, "{}")];
    let (_, text, end) = fold(&[&shared[..], &end()].concat());
    assert_eq!((text.as_str(), end.expect("an answer").tool_calls), ("hi", vec![call("{}", true)]));
}

#[test]
fn ta_02_calls_that_share_an_index_are_kept_apart() {
    let events = [
        start(),
        tool(0, "a"),
        input(0, r#"{"path":"1"}"#),
        closed(0),
        tool(0, "b"),
        input(0, r#"{"path":"#),
        input(0, r#""2"}"#),
        stopped("tool_use"),
    ];
    assert_eq!(calls(&events), [call(r#"{"path":"1"}"#, true), call(r#"{"path":"2"}"#, true)]);
}

#[test]
fn ta_04_arguments_are_kept_as_the_model_wrote_them() {
    for arguments in [r#"{"offset":10.0,"all":"true"}"#, r#""{\"a\":1}""#, "[1]", r#"{"a":1"b"}"#] {
        let events = [start(), tool(0, "a"), input(0, arguments), stopped("tool_use")];
        assert_eq!(calls(&events)[0].arguments_json, arguments);
    }
    let halves = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"s\":\"\ud83d"}}"#;
    let rest = halves.replace(r#"{\"s\":\"\ud83d"#, r#"\ude00\"}"#);
    let pieces = [
        body(&[start(), tool(0, "a")]),
        format!("data: {halves}\n\ndata: {rest}\n\n"),
        body(&[stopped("tool_use")]),
    ];
    let pieces: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
    let end = read(&pieces, BodyEnd::Clean).2.expect("an answer");
    assert_eq!(end.tool_calls, [call("{\"s\":\"😀\"}", true)]);
}

#[test]
fn ta_05_a_call_cut_by_the_output_limit_is_not_whole() {
    let cut = r#"{"path":"README.md","content":"use it"#;
    for (arguments, reason) in [(cut, "max_tokens"), (cut, "tool_use"), ("{}", "max_tokens")] {
        let events = [
            start(),
            block(0, &json!({"type": "thinking", "thinking": "T", "signature": "s"})),
            tool(1, "a"),
            input(1, arguments),
            stopped(reason),
        ];
        let end = fold(&events).2.expect("an answer");
        assert_eq!(end.tool_calls, [call(arguments, false)]);
        let native = end.native.expect("native blocks");
        assert_eq!(native.blocks[1], r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#);
    }
}

#[test]
fn a_whole_message_is_one_answer() {
    let whole = |body: &str| {
        let mut decoder = decoder();
        let end = decoder.on_whole_body(body.as_bytes()).and_then(|()| decoder.end(BodyEnd::Clean));
        taken(decoder, end.map_err(|error| error.code()))
    };
    let thinking = r#"{"type":"thinking",  "signature":"s","thinking":"T"}"#;
    let message = format!(
        r#"{{"id":"x","type":"message","role":"assistant","model":"m","content":[{thinking},
            {{"type":"text","text":"hi"}},{{"type":"tool_use","id":"a","name":"f","input":{{"a": 1}}}}],
            "stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":3,"output_tokens":2}}}}"#
    );
    let (reasoning, text, end) = whole(&message);
    assert_eq!((reasoning.as_str(), text.as_str()), ("T", "hi"));
    let end = end.expect("an answer");
    assert_eq!((end.finish, end.tool_calls), (Finish::Done, vec![call(r#"{"a": 1}"#, true)]));
    assert_eq!(end.usage.expect("usage").prompt_tokens, 3);
    // Byte for byte.
    assert_eq!(end.native.expect("native blocks").blocks[0], thinking);
    assert_eq!(whole(r#"{"type":"message","content":[]}"#).2, Err("PROVIDER_EMPTY_ANSWER"));
    assert_eq!(whole("{}").2, Err("PROVIDER_EMPTY_ANSWER"));
    assert_eq!(whole("[").2, Err("PROVIDER_PROTOCOL"));
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#;
    assert_eq!(whole(error).2, Err("PROVIDER_ERROR"));
}

#[test]
fn too_long_an_answer_is_refused_whatever_makes_it_long() {
    let long = "x".repeat(6000);
    let signature = delta(0, &json!({"type": "signature_delta", "signature": long}));
    for event in [text(0, &long), input(0, &long), signature, tool(0, &long)] {
        assert_eq!(code(&[start(), event.clone(), event]), "PROVIDER_ANSWER_TOO_LARGE");
    }
    let many: Vec<Value> = (0..100).map(|index| tool(index, "a")).collect();
    assert_eq!(code(&many), "PROVIDER_ANSWER_TOO_LARGE");
}

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|at| at % bytes.len()).collect();
    cuts.sort_unstable();
    cuts.push(bytes.len());
    let mut from = 0;
    let piece = |at: usize| &bytes[std::mem::replace(&mut from, at)..at];
    cuts.into_iter().map(piece).collect()
}

#[test]
fn ps_01_one_byte_at_a_time_gives_the_whole_answer() {
    let body = body(&rich());
    let pieces: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
    assert_eq!(read(&pieces, BodyEnd::Clean), fold(&rich()));
}

proptest! {
    #[test]
    fn ps_01_any_way_of_cutting_gives_the_same_answer(
        cuts in prop::collection::vec(0_usize..10_000, 0..40),
    ) {
        let body = body(&rich());
        prop_assert_eq!(read(&cut(body.as_bytes(), &cuts), BodyEnd::Clean), fold(&rich()));
    }

    #[test]
    fn ps_05_a_stream_cut_anywhere_is_never_a_whole_answer(at in 0_usize..10_000) {
        let body = body(&rich());
        let end = body.find("event: message_delta").expect("the reason to stop");
        let outcome = read(&[&body.as_bytes()[..at % end]], BodyEnd::Broken);
        // Half a line is what a cut leaves behind.
        let code = outcome.2.expect_err("a cut answer");
        prop_assert!(matches!(code, "PROVIDER_STREAM_CUT" | "PROVIDER_PROTOCOL"), "{}", code);
    }
}
