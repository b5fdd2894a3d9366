//! Events as servers really send them.

use serde_json::json;

use super::*;
use crate::StreamPart;

/// Reasoning, text, and the end: a completion or the code of an error.
type Outcome = (String, String, Result<Completion, &'static str>);

fn fold(events: &[&str], end: BodyEnd) -> Outcome {
    let mut decoder = ChatDecoder::new(ErrorText::default(), 1000);
    let mut end_of = || {
        for event in events {
            decoder.on_data(event.as_bytes())?;
        }
        decoder.end(end)
    };
    let result = end_of().map_err(|error| error.code());
    let (mut reasoning, mut text) = (String::new(), String::new());
    while let Some(part) = decoder.parts_mut().take() {
        match part {
            StreamPart::Reasoning(part) => reasoning.push_str(&part),
            StreamPart::Text(part) => text.push_str(&part),
            StreamPart::Restarted(_) | StreamPart::Finished(_) => {
                panic!("the decoder queues neither")
            }
        }
    }
    assert_eq!(decoder.parts().queued_bytes(), 0);
    (reasoning, text, result)
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside errors")]
fn done(finish: Finish) -> Result<Completion, &'static str> {
    Ok(Completion { native: None, finish, tool_calls: Vec::new(), usage: None })
}

fn check(events: &[&str], reasoning: &str, text: &str, end: Result<Completion, &'static str>) {
    let outcome = fold(events, BodyEnd::Clean);
    assert_eq!(outcome, (reasoning.to_owned(), text.to_owned(), end), "{events:?}");
}

const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn ps_05_only_whole_answers_are_whole() {
    check(&[HI], "", "hi", Err("PROVIDER_STREAM_CUT"));
    check(&[HI, STOP], "", "hi", done(Finish::Done));
    check(&[HI, "[DONE]"], "", "hi", done(Finish::Done));
    check(&[], "", "", Err("PROVIDER_EMPTY_ANSWER"));
    check(&["[DONE]"], "", "", Err("PROVIDER_EMPTY_ANSWER"));
    check(&[STOP, "[DONE]"], "", "", Err("PROVIDER_EMPTY_ANSWER"));
    let broken = fold(&[HI], BodyEnd::Broken);
    assert_eq!(broken, (String::new(), "hi".to_owned(), Err("PROVIDER_STREAM_CUT")));
    assert_eq!(fold(&[], BodyEnd::Broken).2, Err("PROVIDER_STREAM_CUT"));
    // What comes after the end changes nothing.
    assert_eq!(fold(&[HI, STOP], BodyEnd::Broken).2, done(Finish::Done));
}

#[test]
fn every_reason_to_finish_is_understood() {
    for (reason, expect) in [
        ("stop", done(Finish::Done)),
        ("tool_calls", done(Finish::Done)),
        ("something_new", done(Finish::Done)),
        ("length", done(Finish::OutputLimit)),
        ("max_tokens", done(Finish::OutputLimit)),
        ("content_filter", done(Finish::Refused)),
        ("error", Err("PROVIDER_ERROR")),
        ("insufficient_system_resource", Err("PROVIDER_ERROR")),
        ("", Err("PROVIDER_STREAM_CUT")),
    ] {
        let finish = json!({"choices": [{"delta": {}, "finish_reason": reason}]}).to_string();
        check(&[HI, &finish], "", "hi", expect);
    }
    let refusal = r#"{"choices":[{"delta":{"refusal":"No."}}]}"#;
    check(&[refusal, STOP], "", "No.", done(Finish::Refused));
}

#[test]
fn ps_08_either_name_of_reasoning_is_read_and_both_are_not_doubled() {
    for delta in [
        r#"{"reasoning_content":"R1"}"#,
        r#"{"reasoning":"R1"}"#,
        r#"{"reasoning_content":"R1","reasoning":"R1"}"#,
        r#"{"reasoning_content":null,"reasoning":"R1"}"#,
        r#"{"reasoning_content":"","reasoning":"R1","content":""}"#,
    ] {
        let event = format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#);
        check(&[&event, HI, STOP], "R1", "hi", done(Finish::Done));
    }
}

#[test]
fn en_02_lone_surrogates_do_not_fail_the_answer() {
    let event = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let say = |texts: &[&str], expect: &str| {
        let mut events: Vec<String> = texts.iter().map(|text| event(text)).collect();
        events.push(STOP.to_owned());
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        check(&events, "", expect, done(Finish::Done));
    };
    say(&[r"\ud83d", r"\ude00"], "😀");
    say(&[r"a\ud83d", r"\ude00b"], "a😀b");
    say(&[r"\ud83d"], "\u{FFFD}");
    say(&[r"ok \ud800 end"], "ok \u{FFFD} end");
    say(&[r"\ude00", "x"], "\u{FFFD}x");
}

#[test]
fn bytes_that_are_no_utf_8_are_replaced() {
    let mut decoder = ChatDecoder::new(ErrorText::default(), 100);
    decoder.on_data(b"{\"choices\":[{\"delta\":{\"content\":\"a\xED\xA0\x80b\xFF\"}}]}").unwrap();
    let text = decoder.parts_mut().take();
    assert_eq!(text, Some(StreamPart::Text("a\u{FFFD}b\u{FFFD}".to_owned())));
}

#[test]
fn neighbours_of_one_kind_are_merged_and_their_order_is_kept() {
    let mut decoder = ChatDecoder::new(ErrorText::default(), 100);
    for (field, text) in [
        ("reasoning", "a"),
        ("reasoning", "b"),
        ("content", "c"),
        ("content", "d"),
        ("reasoning", "e"),
    ] {
        let event = json!({"choices": [{"delta": {field: text}}]}).to_string();
        decoder.on_data(event.as_bytes()).unwrap();
    }
    let parts: Vec<StreamPart> = std::iter::from_fn(|| decoder.parts_mut().take()).collect();
    assert_eq!(
        parts,
        [
            StreamPart::Reasoning("ab".to_owned()),
            StreamPart::Text("cd".to_owned()),
            StreamPart::Reasoning("e".to_owned()),
        ]
    );
}

#[test]
fn odd_shapes_are_understood() {
    let parts = r#"{"choices":[{"delta":{"content":[{"type":"text","text":"h"},{"type":"x"},{"text":"i"}]}}]}"#;
    check(&[parts, STOP], "", "hi", done(Finish::Done));
    let other_choice = r#"{"choices":[{"index":1,"delta":{"content":"no"}}]}"#;
    check(&[HI, other_choice, STOP], "", "hi", done(Finish::Done));
    let two = format!("{HI}\n{STOP}");
    check(&[&two], "", "hi", done(Finish::Done));
    let nulls = r#"{"choices":[{"delta":null,"finish_reason":null}],"usage":null,"error":null}"#;
    check(&[nulls, HI, STOP], "", "hi", done(Finish::Done));
    check(&["null", HI, "null", STOP], "", "hi", done(Finish::Done));
    check(&[r#"{"type":"ping"}"#, HI, STOP], "", "hi", done(Finish::Done));
}

#[test]
fn ta_01_indexes_and_ids_of_other_types_are_understood() {
    let call = |index: &str, id: &str, arguments: &str| {
        format!(
            r#"{{"choices":[{{"index":"0","delta":{{"tool_calls":[{{"index":{index},"id":{id},"function":{{"name":"f","arguments":{arguments}}}}}]}}}}]}}"#
        )
    };
    let arguments = |events: &[&str]| {
        let completion = fold(events, BodyEnd::Clean).2.expect("an answer");
        completion.tool_calls.into_iter().map(|call| call.arguments_json).collect::<Vec<_>>()
    };
    let (one, two) = (r#""{\"a\":1}""#, r#""{\"a\":2}""#);
    let text = [call(r#""0""#, r#""x""#, one), call(r#""1""#, r#""y""#, two)];
    assert_eq!(arguments(&[&text[0], &text[1], STOP]), [r#"{"a":1}"#, r#"{"a":2}"#]);
    let number = [call("0", "7", one), call("0", "8", two)];
    assert_eq!(arguments(&[&number[0], &number[1], STOP]), [r#"{"a":1}"#, r#"{"a":2}"#]);
    let none = [call("-1", r#""x""#, r#""{\"a\"""#), call("-1", r#""x""#, r#"":3}""#)];
    assert_eq!(arguments(&[&none[0], &none[1], STOP]), [r#"{"a":3}"#]);
    assert_eq!(arguments(&[&call("1.0", "null", one), STOP]), [r#"{"a":1}"#]);
}

#[test]
fn a_great_many_empty_calls_pass_the_limit() {
    let calls: Vec<_> = (0..20).map(|index| json!({"index": index})).collect();
    let event = json!({"choices": [{"delta": {"tool_calls": calls}}]}).to_string();
    assert_eq!(fold(&[&event], BodyEnd::Clean).2, Err("PROVIDER_ANSWER_TOO_LARGE"));
}

#[test]
fn errors_in_the_stream_end_the_answer() {
    for (event, expect) in [
        (r#"{"error":{"message":"overloaded","type":"overloaded_error"}}"#, "PROVIDER_ERROR"),
        (r#"{"error":{"message":"slow down","code":429},"choices":[]}"#, "PROVIDER_RATE_LIMITED"),
        (r#"{"object":"error","message":"maximum context length","code":400}"#, "CONTEXT_OVERFLOW"),
        (r#"{"error":"\ud800 it"}"#, "PROVIDER_ERROR"),
        ("{\"choices\":", "PROVIDER_PROTOCOL"),
        ("hello", "PROVIDER_PROTOCOL"),
        (r#"{"choices":[{"delta":{"content":{"a":1}}}]}"#, "PROVIDER_PROTOCOL"),
    ] {
        check(&[HI, event, STOP], "", "hi", Err(expect));
    }
}

#[test]
fn ta_01_known_mistakes_in_a_chunk_are_put_right() {
    let text = |event: &str| fold(&[event, STOP], BodyEnd::Clean);
    assert_eq!(text(r#"{"choices":[{"delta":{"content":42}}]}"#).1, "42");
    assert_eq!(text(r#"{"choices":[{"delta":{"content":"a","content":"b"}}]}"#).1, "b");
    let call = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#;
    for calls in [call.to_owned(), format!("[null,{call}]")] {
        let event = format!(r#"{{"choices":[{{"delta":{{"tool_calls":{calls}}}}}]}}"#);
        let calls = text(&event).2.expect("an answer").tool_calls;
        assert_eq!((calls.len(), calls[0].name.as_str()), (1, "f"), "{event}");
    }
    let ended = fold(&[HI, r#"{"choices":[{"delta":{},"finish_reason":0}]}"#], BodyEnd::Clean);
    assert_eq!(ended.2, done(Finish::Done));
}

#[test]
fn usage_is_read_in_every_form() {
    let usage = |json: &str| {
        let event = format!(r#"{{"choices":[],"usage":{json}}}"#);
        fold(&[HI, STOP, &event], BodyEnd::Clean).2.expect("an answer").usage
    };
    let counts = |prompt_tokens, completion_tokens, reasoning_tokens, cached_prompt_tokens| {
        Some(agentd_domain::Usage {
            cache_write_tokens: 0,
            prompt_tokens,
            completion_tokens,
            reasoning_tokens,
            cached_prompt_tokens,
            estimated: false,
        })
    };
    assert_eq!(usage(r#"{"prompt_tokens":7,"completion_tokens":3}"#), counts(7, 3, 0, 0));
    assert_eq!(
        usage(
            r#"{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,
                "completion_tokens_details":{"reasoning_tokens":2},
                "prompt_tokens_details":{"cached_tokens":5}}"#
        ),
        counts(7, 3, 2, 5)
    );
    assert_eq!(
        usage(r#"{"prompt_tokens":7,"completion_tokens":3,"prompt_cache_hit_tokens":4}"#),
        counts(7, 3, 0, 4)
    );
    assert_eq!(usage(r#"{"prompt_tokens_details":null}"#), None);
    assert_eq!(usage("null"), None);
    assert_eq!(usage(r#""odd""#), None);
    assert_eq!(usage(r#"{"prompt_tokens":"7","completion_tokens":3.0}"#), counts(7, 3, 0, 0));
    assert_eq!(usage(r#"{"prompt_tokens":-1,"completion_tokens":3}"#), None);
    let details = r#"{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":"none"}"#;
    assert_eq!(usage(details), counts(7, 3, 0, 0));
    let elsewhere = |event: &str| fold(&[HI, event], BodyEnd::Clean).2.expect("an answer").usage;
    assert_eq!(
        elsewhere(
            r#"{"choices":[{"delta":{},"finish_reason":"stop",
                "usage":{"prompt_tokens":7,"completion_tokens":3}}]}"#
        ),
        counts(7, 3, 0, 0)
    );
    assert_eq!(
        elsewhere(
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}],
                "x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":3}}}"#
        ),
        counts(7, 3, 0, 0)
    );
}

#[test]
fn too_long_an_answer_is_refused() {
    let event = json!({"choices": [{"delta": {"content": "x".repeat(600)}}]}).to_string();
    let (_, text, end) = fold(&[&event, &event], BodyEnd::Clean);
    assert_eq!((text.len(), end), (600, Err("PROVIDER_ANSWER_TOO_LARGE")));
}

#[test]
fn ta_04_arguments_are_kept_as_they_came() {
    for (arguments, expect) in [
        (r#"{"path":"a"}"#, r#"{"path":"a"}"#),
        (r#""{\"path\":\"a\"}""#, r#"{"path":"a"}"#),
        (r#""\"{\\\"path\\\":\\\"a\\\"}\"""#, r#""{\"path\":\"a\"}""#),
        (r#"{"offset":10.0,"all":"true"}"#, r#"{"offset":10.0,"all":"true"}"#),
        ("null", "{}"),
        (r#""""#, "{}"),
        (r#""{\"s\":\"\\udf06\"}""#, r#"{"s":"\ufffd"}"#),
    ] {
        let event = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"f","arguments":{arguments}}}}}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        let completion = fold(&[&event], BodyEnd::Clean).2.expect("an answer");
        assert_eq!(
            completion.tool_calls,
            [crate::AssembledCall {
                name: "f".to_owned(),
                arguments_json: expect.to_owned(),
                is_whole: true,
            }],
            "{arguments}"
        );
    }
}

#[test]
fn en_02_arguments_may_hold_escaped_halves_across_deltas() {
    let event = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"name":"f","arguments":"{arguments}"}}}}]}}}}]}}"#
        )
    };
    let (first, second) = (event(r#"{\"s\":\"\ud83d"#), event(r#"\ude00\"}"#));
    let completion = fold(&[&first, &second, STOP], BodyEnd::Clean).2.expect("an answer");
    assert_eq!(completion.tool_calls[0].arguments_json, r#"{"s":"😀"}"#);
    assert!(completion.tool_calls[0].is_whole);
}

#[test]
fn a_whole_body_is_one_answer() {
    let whole = |body: &str| {
        let mut decoder = ChatDecoder::new(ErrorText::default(), 100);
        let result =
            decoder.on_whole_body(body.as_bytes()).and_then(|()| decoder.end(BodyEnd::Clean));
        (decoder.parts_mut().take(), result.map_err(|error| error.code()))
    };
    let hi = || Some(StreamPart::Text("hi".to_owned()));
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"hi"}}]}"#;
    assert_eq!(whole(body), (hi(), done(Finish::Done)));
    let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"length"}]}"#;
    assert_eq!(whole(body), (hi(), done(Finish::OutputLimit)));
    assert_eq!(whole("{}"), (None, Err("PROVIDER_EMPTY_ANSWER")));
    assert_eq!(
        whole(r#"{"error":{"message":"m","code":429}}"#),
        (None, Err("PROVIDER_RATE_LIMITED"))
    );
    assert_eq!(whole("["), (None, Err("PROVIDER_PROTOCOL")));
}
