//! Events as servers really send them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{AssembledCall, StreamPart};

/// Reasoning, text, and the end: a completion or the error.
type Outcome = (String, String, Result<Completion, LlmError>);

fn fold(events: &[Value], end: BodyEnd) -> Outcome {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    let mut decoder = ResponsesDecoder::new(ErrorText::default(), "m", 4000);
    let result = events
        .iter()
        .try_for_each(|event| decoder.on_data(b"", event.as_bytes()))
        .and_then(|()| decoder.end(end));
    let (reasoning, text) = said(&mut decoder);
    (reasoning, text, result)
}

fn said(decoder: &mut ResponsesDecoder) -> (String, String) {
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
    (reasoning, text)
}

fn check(events: &[Value], reasoning: &str, text: &str, error: &str) -> Option<Completion> {
    let outcome = fold(events, BodyEnd::Clean);
    assert_eq!((outcome.0.as_str(), outcome.1.as_str()), (reasoning, text), "{events:?}");
    match outcome.2 {
        Ok(completion) => {
            assert_eq!(error, "", "{completion:?}");
            Some(completion)
        }
        Err(found) => {
            assert_eq!(found.code(), error, "{found}");
            None
        }
    }
}

fn event(kind: &str, more: &Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}")});
    event.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
    event
}

fn text_delta(text: &str) -> Value {
    let more = json!({"item_id": "msg", "output_index": 0, "content_index": 0, "delta": text});
    event("output_text.delta", &more)
}

fn completed() -> Value {
    event("completed", &json!({"response": {"status": "completed"}}))
}

fn ended(status: &str, response: &Value) -> Value {
    event(status, &json!({ "response": response }))
}

fn added(index: u64, item: &Value) -> Value {
    event("output_item.added", &json!({"output_index": index, "item": item}))
}

fn item_done(index: u64, item: &Value) -> Value {
    event("output_item.done", &json!({"output_index": index, "item": item}))
}

fn call_item(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": format!("call_{id}"), "name": name,
           "arguments": arguments})
}

fn arguments(index: u64, id: &str, delta: &str) -> Value {
    let more = json!({"output_index": index, "item_id": id, "delta": delta});
    event("function_call_arguments.delta", &more)
}

fn calls(completion: Option<Completion>) -> Vec<(String, String, bool)> {
    let calls = completion.map(|completion| completion.tool_calls).unwrap_or_default();
    let call = |AssembledCall { name, arguments_json, is_whole }| (name, arguments_json, is_whole);
    calls.into_iter().map(call).collect()
}

fn whole(name: &str, arguments: &str) -> (String, String, bool) {
    (name.to_owned(), arguments.to_owned(), true)
}

#[test]
fn ps_05_only_an_answer_with_its_last_event_is_whole() {
    let hi = || text_delta("hi");
    check(&[hi()], "", "hi", "PROVIDER_STREAM_CUT");
    check(&[hi(), json!("[DONE]")], "", "hi", "PROVIDER_PROTOCOL");
    let done = check(&[hi(), completed()], "", "hi", "").expect("an end");
    assert_eq!(done.finish, Finish::Done);
    check(&[], "", "", "PROVIDER_EMPTY_ANSWER");
    check(&[completed()], "", "", "PROVIDER_EMPTY_ANSWER");
    let created = event("created", &json!({"response": {"status": "in_progress", "output": []}}));
    check(&[created], "", "", "PROVIDER_STREAM_CUT");
    assert!(matches!(fold(&[hi()], BodyEnd::Broken).2, Err(LlmError::Cut)));
    // What comes after the end changes nothing.
    check(&[hi(), completed(), text_delta("!")], "", "hi", "");
    let mut decoder = ResponsesDecoder::new(ErrorText::default(), "m", 4000);
    decoder.on_data(b"", hi().to_string().as_bytes()).expect("understood");
    decoder.on_data(b"", b"[DONE]").expect("understood");
    assert!(decoder.is_done());
    assert!(matches!(decoder.end(BodyEnd::Clean), Err(LlmError::Cut)));
}

#[test]
fn the_reason_to_end_is_passed_on() {
    let finish = |kind: &str, response: Value| {
        check(&[text_delta("A"), ended(kind, &response)], "", "A", "").expect("an end").finish
    };
    let incomplete =
        |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
    assert_eq!(finish("incomplete", incomplete("max_output_tokens")), Finish::OutputLimit);
    assert_eq!(finish("incomplete", incomplete("content_filter")), Finish::Refused);
    assert_eq!(finish("incomplete", json!({})), Finish::OutputLimit);
    // Some servers send every end under one name.
    assert_eq!(finish("completed", incomplete("max_output_tokens")), Finish::OutputLimit);
    let refusal = event("refusal.delta", &json!({"output_index": 0, "delta": "I will not"}));
    let end = check(&[refusal, completed()], "", "I will not", "").expect("an end");
    assert_eq!(end.finish, Finish::Refused);
}

#[test]
fn errors_in_the_stream_have_their_meaning() {
    let failed = |code: &str, message: &str, expect: &str| {
        let error = json!({"code": code, "message": message});
        let response = json!({"status": "failed", "error": error});
        check(&[text_delta("A"), ended("failed", &response)], "", "A", expect);
        check(&[json!({"type": "error", "code": code, "message": message})], "", "", expect);
        let nested =
            json!({"type": "error", "error": {"type": "x", "code": code, "message": message}});
        check(&[nested], "", "", expect);
    };
    failed("rate_limit_exceeded", "slow down", "PROVIDER_RATE_LIMITED");
    failed("server_error", "it broke", "PROVIDER_ERROR");
    failed("insufficient_quota", "You exceeded your current quota", "PROVIDER_QUOTA");
    failed("context_length_exceeded", "exceeds the context window", "CONTEXT_OVERFLOW");
    failed("invalid_prompt", "flagged", "PROVIDER_CONTENT_REFUSED");
    failed("something_new", "whatever", "PROVIDER_ERROR");
    check(&[ended("failed", &json!({"error": null}))], "", "", "PROVIDER_ERROR");
    check(&[json!({"error": {"message": "overloaded", "code": 503}})], "", "", "PROVIDER_ERROR");
    let message = "This model's maximum context length is 8192 tokens.";
    let response = json!({"error": {"code": "context_length_exceeded", "message": message}});
    let error = fold(&[ended("failed", &response)], BodyEnd::Clean).2.expect_err("an error");
    assert!(
        matches!(error, LlmError::ContextOverflow { limit_tokens: Some(8192), .. }),
        "{error:?}"
    );
}

#[test]
fn ta_01_calls_are_put_together_however_they_come() {
    let read = vec![whole("read", "{\"path\":\"a\"}")];
    let (start, end) = ("{\"path\":", "\"a\"}");
    let found = |events: &[Value]| {
        let mut events = events.to_vec();
        events.push(completed());
        calls(check(&events, "", "", ""))
    };
    let begun = added(0, &call_item("a", "read", ""));
    let deltas = [arguments(0, "a", start), arguments(0, "a", end)];
    assert_eq!(found(&[begun.clone(), deltas[0].clone(), deltas[1].clone()]), read);
    let all_at_once = call_item("a", "read", "{\"path\":\"a\"}");
    assert_eq!(found(&[item_done(0, &all_at_once)]), read, "only done");
    assert_eq!(found(&[begun.clone(), item_done(0, &all_at_once)]), read, "no deltas");
    assert_eq!(
        found(&[begun.clone(), deltas[0].clone(), deltas[1].clone(), item_done(0, &all_at_once)]),
        read,
        "all of it"
    );
    let done = json!({"output_index": 0, "item_id": "a", "arguments": "{\"path\":\"a\"}"});
    let done = event("function_call_arguments.done", &done);
    assert_eq!(found(&[begun.clone(), deltas[0].clone(), done]), read, "done mends");
    let other_id = [begun.clone(), arguments(0, "x", start), arguments(0, "y", end)];
    assert_eq!(found(&other_id), read, "ids that do not match");
    let bare = |delta: &str| event("function_call_arguments.delta", &json!({"delta": delta}));
    assert_eq!(found(&[begun.clone(), bare(start), bare(end)]), read, "neither id nor index");
    let object = json!({"type": "function_call", "name": "read", "arguments": {"path": "a"}});
    assert_eq!(found(&[item_done(0, &object)]), read, "arguments as an object");
    let late_name = json!({"type": "function_call", "id": "a"});
    let named = json!({"type": "function_call", "id": "a", "name": "read"});
    let events = [added(0, &late_name), deltas[0].clone(), deltas[1].clone(), item_done(0, &named)];
    assert_eq!(found(&events), read, "late name");
}

#[test]
fn ta_02_calls_that_share_an_index_are_kept_apart_and_others_are_in_order() {
    let three = vec![whole("f", "{\"n\":1}"), whole("f", "{\"n\":2}"), whole("g", "{\"n\":3}")];
    let mut events = Vec::new();
    for (id, name, number) in [("a", "f", 1), ("b", "f", 2), ("c", "g", 3)] {
        events.push(added(0, &call_item(id, name, "")));
        events.push(arguments(0, id, &json!({"n": number}).to_string()));
    }
    events.push(completed());
    assert_eq!(calls(check(&events, "", "", "")), three, "one index");
    let mut events = vec![
        added(2, &call_item("c", "g", "")),
        added(0, &call_item("a", "f", "")),
        added(1, &call_item("b", "f", "")),
    ];
    // Interleaved, and the last one first.
    for piece in ["{\"n\"", ":"] {
        events.extend([("b", 1), ("a", 0), ("c", 2)].map(|(id, at)| arguments(at, id, piece)));
    }
    events.extend(
        [("b", 1, "2}"), ("a", 0, "1}"), ("c", 2, "3}")]
            .map(|(id, at, piece)| arguments(at, id, piece)),
    );
    events.push(completed());
    assert_eq!(calls(check(&events, "", "", "")), three, "interleaved");
}

#[test]
fn ta_05_a_call_cut_by_the_limit_is_not_whole() {
    let cut = "{\"path\":\"README.md\",\"content\":\"# T";
    let begun = || vec![added(0, &call_item("a", "write", "")), arguments(0, "a", cut)];
    let incomplete = ended("incomplete", &json!({"status": "incomplete"}));
    let mut events = begun();
    events.push(incomplete.clone());
    assert_eq!(calls(check(&events, "", "", "")), [("write".to_owned(), cut.to_owned(), false)]);
    // The server says that all is well.
    let mut events = begun();
    events.push(completed());
    assert!(!calls(check(&events, "", "", ""))[0].2);
    // What it says of the item counts too, whatever the text looks like.
    let mut item = call_item("a", "write", "{\"path\":\"a\"}");
    item["status"] = json!("incomplete");
    assert!(!calls(check(&[item_done(0, &item), completed()], "", "", ""))[0].2);
    let whole = item_done(0, &call_item("a", "write", "{\"path\":\"a\"}"));
    assert!(!calls(check(&[whole, incomplete], "", "", ""))[0].2);
}

#[test]
fn thoughts_and_texts_keep_their_distance() {
    let summary = |part: u64, text: &str| {
        let more =
            json!({"item_id": "rs", "output_index": 0, "summary_index": part, "delta": text});
        event("reasoning_summary_text.delta", &more)
    };
    let text = |index: u64, text: &str| {
        event(
            "output_text.delta",
            &json!({"output_index": index, "content_index": 0, "delta": text}),
        )
    };
    let events = [
        summary(0, "R"),
        summary(0, "1"),
        summary(1, "R2"),
        text(1, "A"),
        text(1, "B"),
        text(2, "C"),
        completed(),
    ];
    check(&events, "R1\n\nR2", "AB\n\nC", "");
    // Models whose thoughts are open.
    let open = event("reasoning_text.delta", &json!({"output_index": 0, "delta": "open"}));
    check(&[open, text(1, "A"), completed()], "open", "A", "");
}

#[test]
fn what_was_said_only_at_the_end_is_said_once() {
    let part = json!([{"type": "output_text", "text": "hi"}]);
    let item = json!({"type": "message", "id": "msg", "content": part});
    check(&[item_done(0, &item), completed()], "", "hi", "");
    check(&[text_delta("hi"), item_done(0, &item), completed()], "", "hi", "");
    let done = json!({"item_id": "msg", "output_index": 0, "content_index": 0, "text": "hi"});
    let done = event("output_text.done", &done);
    check(&[done.clone(), completed()], "", "hi", "");
    check(&[text_delta("hi"), done, item_done(0, &item), completed()], "", "hi", "");
    let output = ended("completed", &json!({"status": "completed", "output": [item]}));
    check(std::slice::from_ref(&output), "", "hi", "");
    check(&[text_delta("hi"), output], "", "hi", "");
}

#[test]
fn ps_13_items_with_encrypted_reasoning_are_kept_as_they_came() {
    let thought = json!({"type": "reasoning", "id": "rs", "encrypted_content": "e",
                         "summary": [{"type": "summary_text", "text": "R"}], "unknown": 1.50});
    let call = call_item("fc", "f", "{}");
    let native = |events: &[Value]| fold(events, BodyEnd::Clean).2.expect("an answer").native;
    // In the order of their indexes.
    let events = [item_done(1, &call), item_done(0, &thought), completed()];
    let kept = native(&events).expect("native items");
    assert_eq!((kept.api.as_str(), kept.model.as_str()), ("openai-responses", "m"));
    assert_eq!(kept.blocks, [thought.to_string(), call.to_string()]);
    let plain = json!({"type": "reasoning", "id": "rs", "summary": []});
    assert_eq!(native(&[item_done(0, &plain), item_done(1, &call), completed()]), None);
    // A cut answer, an item without end, and a message without words.
    let incomplete = ended("incomplete", &json!({}));
    assert_eq!(native(&[item_done(0, &thought), item_done(1, &call), incomplete]), None);
    assert_eq!(native(&[item_done(0, &thought), added(1, &call), completed()]), None);
    let silent = json!({"type": "message", "content": []});
    let events = [item_done(0, &thought), item_done(1, &silent), item_done(2, &call), completed()];
    assert_eq!(native(&events), None);
}

#[test]
fn usage_is_read() {
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 15,
    });
    let end = ended("completed", &json!({"status": "completed", "usage": usage}));
    let usage = check(&[text_delta("A"), end], "", "A", "").expect("an end").usage.expect("usage");
    assert_eq!((usage.prompt_tokens, usage.cached_prompt_tokens), (10, 4));
    assert_eq!((usage.completion_tokens, usage.reasoning_tokens), (5, 3));
    assert!(!usage.estimated);
    let end = ended("completed", &json!({"usage": null}));
    assert_eq!(check(&[text_delta("A"), end], "", "A", "").expect("an end").usage, None);
}

#[test]
fn what_is_not_known_is_passed_over_and_what_is_must_be_right() {
    let new = json!({"type": "response.something.new", "item": 7, "delta": {"a": 1}});
    let search = json!({"type": "web_search_call", "id": "ws", "status": "completed"});
    let odd_index = json!({"type": "response.ping", "output_index": "x"});
    let events = [new, odd_index, item_done(0, &search), text_delta("A"), completed()];
    let end = check(&events, "", "A", "").expect("an end");
    assert!(end.tool_calls.is_empty());
    let odd = json!({"type": "response.output_item.done", "item": {"content": 7}});
    check(&[odd], "", "", "PROVIDER_PROTOCOL");
    check(&[json!("hello")], "", "", "PROVIDER_PROTOCOL");
    let mut decoder = ResponsesDecoder::new(ErrorText::default(), "m", 4000);
    // The name of the event says the type where the data does not.
    decoder.on_data(b"response.output_text.delta", b"{\"delta\":\"A\"}").expect("understood");
    let half = "{\"type\":\"response.output_text.delta\",\"delta\":\"\\ud83d\"}";
    let rest = "{\"type\":\"response.output_text.delta\",\"delta\":\"\\ude00\"}";
    let both = format!("{half}\n{rest}");
    decoder.on_data(b"", both.as_bytes()).expect("understood");
    assert_eq!(said(&mut decoder).1, "A😀");
}

#[test]
fn an_answer_is_bounded() {
    let long = "x".repeat(4001);
    check(&[text_delta(&long)], "", "", "PROVIDER_ANSWER_TOO_LARGE");
    check(&[arguments(0, "a", &long)], "", "", "PROVIDER_ANSWER_TOO_LARGE");
    check(&[item_done(0, &call_item("a", "f", &long))], "", "", "PROVIDER_ANSWER_TOO_LARGE");
    let many: Vec<Value> = (0..100).map(|index| added(index, &call_item("a", "f", ""))).collect();
    check(&many, "", "", "PROVIDER_ANSWER_TOO_LARGE");
    // What is kept to be sent back is bounded too, and then nothing is.
    let thought = json!({"type": "reasoning", "id": "rs", "encrypted_content": "e".repeat(5000)});
    let events = [item_done(0, &thought), item_done(1, &call_item("a", "f", "{}")), completed()];
    assert_eq!(check(&events, "", "", "").expect("an end").native, None);
}

#[test]
fn a_whole_response_is_understood() {
    let fold = |body: &Value| {
        let mut decoder = ResponsesDecoder::new(ErrorText::default(), "m", 4000);
        let end = decoder
            .on_whole_body(body.to_string().as_bytes())
            .and_then(|()| decoder.end(BodyEnd::Clean));
        (said(&mut decoder), end)
    };
    let output = json!([
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "R"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "hi"}]},
        call_item("a", "f", "{}"),
    ]);
    let body = json!({"object": "response", "status": "completed", "output": output, "error": null,
                      "usage": {"input_tokens": 1, "output_tokens": 2}});
    let (said, end) = fold(&body);
    assert_eq!(said, ("R".to_owned(), "hi".to_owned()));
    let end = end.expect("an end");
    assert_eq!(end.usage.expect("usage").completion_tokens, 2);
    assert_eq!(calls(Some(end)), [whole("f", "{}")]);
    let error = json!({"error": {"message": "slow down", "code": "rate_limit_exceeded"}});
    assert!(matches!(fold(&error).1, Err(LlmError::RateLimited { .. })));
    assert!(matches!(fold(&json!({"choices": []})).1, Err(LlmError::Empty)));
    let failed =
        json!({"object": "response", "status": "failed", "error": {"code": "server_error"}});
    assert!(matches!(fold(&failed).1, Err(LlmError::Server { .. })));
}

proptest! {
    #[test]
    fn any_bytes_are_taken_without_panic(
        events in prop::collection::vec(
            prop_oneof![
                any::<Vec<u8>>(),
                "\\{\"type\":\"response\\.(output_item\\.(added|done)|output_text\\.(delta|done)|function_call_arguments\\.(delta|done)|completed|failed)\",\"(output_index|item_id|item|delta|arguments|response)\":(0|-1|\"a\"|null|\\{\\}|\\[\\]|\\{\"type\":\"(message|function_call|reasoning)\"\\})\\}"
                    .prop_map(String::into_bytes),
            ],
            0..12,
        ),
    ) {
        let mut decoder = ResponsesDecoder::new(ErrorText::default(), "m", 4000);
        for event in &events {
            if decoder.on_data(b"", event).is_err() {
                break;
            }
        }
        drop(decoder.end(BodyEnd::Clean));
        prop_assert!(decoder.parts().content_bytes() <= 4000 + 1000);
    }
}

#[test]
fn ta_01_ids_that_are_numbers_name_their_items() {
    let item = json!({"type": "function_call", "id": 5, "call_id": 9, "name": "f"});
    let added = json!({"output_index": "0", "item": item.clone()});
    let delta = json!({"item_id": 5, "output_index": "0", "delta": "{\"a\":1}"});
    let events = [
        event("output_item.added", &added),
        event("function_call_arguments.delta", &delta),
        event("output_item.done", &json!({"output_index": 0, "item": item})),
        ended("completed", &json!({"status": "completed"})),
    ];
    let calls = check(&events, "", "", "").expect("an end").tool_calls;
    assert_eq!((calls.len(), calls[0].arguments_json.as_str()), (1, "{\"a\":1}"));
}
