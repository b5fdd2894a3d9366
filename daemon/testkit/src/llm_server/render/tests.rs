//! One reply in three languages.

use super::*;

fn rendered(api: Api, reply: &Reply) -> String {
    let about = About { api, model: "m".to_owned(), serial: 7 };
    String::from_utf8(render(reply, &about).bytes()).expect("text")
}

fn events(api: Api, reply: &Reply) -> Vec<Value> {
    let body = rendered(api, reply);
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap_or(Value::Null)).collect()
}

fn types(api: Api, reply: &Reply) -> Vec<String> {
    let events = events(api, reply);
    events.iter().map(|event| text(event, "type").replace("response.", "")).collect()
}

fn reply() -> Reply {
    Reply::sse()
        .reasoning("R")
        .text_delta("A")
        .text_delta("B")
        .call_deltas(&[("f", "{\"a\":1}"), ("g", "{}")])
        .finish("tool_calls")
        .usage_with_cache(10, 5, 4)
        .done()
}

#[test]
fn messages_opens_and_closes_blocks() {
    let expect = [
        ["message_start", "ping"].as_slice(),
        &[
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
        ],
        &[
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
        ],
        &[
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
        ],
        &[
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
        ],
        &["message_delta", "message_stop"],
    ]
    .concat();
    assert_eq!(types(Api::Messages, &reply()), expect);
    let all = events(Api::Messages, &reply());
    assert_eq!(all[0]["message"]["usage"]["input_tokens"], 6);
    assert_eq!(all[0]["message"]["usage"]["cache_read_input_tokens"], 4);
    assert_eq!(all[4]["delta"]["signature"], "sig_7_1");
    assert_eq!(all[18]["delta"]["stop_reason"], "tool_use");
}

#[test]
fn responses_opens_and_closes_items() {
    let item = |more: &[&str]| {
        let mut types = vec!["output_item.added".to_owned()];
        types.extend(more.iter().map(|name| (*name).to_owned()));
        types.push("output_item.done".to_owned());
        types
    };
    let mut expect = vec!["created".to_owned(), "in_progress".to_owned()];
    expect.extend(item(&[
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
    ]));
    expect.extend(item(&[
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
    ]));
    for _ in 0..2 {
        expect.extend(item(&["function_call_arguments.delta", "function_call_arguments.done"]));
    }
    expect.push("completed".to_owned());
    assert_eq!(types(Api::Responses, &reply()), expect);
    let all = events(Api::Responses, &reply());
    let response = &all.last().expect("an end")["response"];
    let output = response["output"].as_array().expect("a list");
    let kinds: Vec<&str> = output.iter().map(|item| text(item, "type")).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call", "function_call"]);
    assert_eq!(output[1]["content"][0]["text"], "AB");
    assert_eq!(output[2]["arguments"], "{\"a\":1}");
    assert_eq!(response["usage"]["input_tokens_details"]["cached_tokens"], 4);
    let numbers: Vec<u64> =
        all.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..all.len() as u64).collect::<Vec<_>>());
}

#[test]
fn an_end_of_the_stream_alone_ends_it_in_every_api() {
    let reply = Reply::sse().text_delta("A").done();
    assert!(rendered(Api::Chat, &reply).ends_with("data: [DONE]\n\n"));
    assert_eq!(types(Api::Messages, &reply).last().expect("one"), "message_stop");
    assert_eq!(types(Api::Responses, &reply).last().expect("one"), "completed");
    let cut = Reply::sse().text_delta("A").finish("length").done();
    assert_eq!(types(Api::Responses, &cut).last().expect("one"), "incomplete");
}

#[test]
fn errors_and_whole_answers_have_the_form_of_their_api() {
    let body = |api: Api, reply: &Reply| -> Value {
        serde_json::from_str(&rendered(api, reply)).expect("JSON")
    };
    let error = Reply::error(429, "rate_limit_exceeded", "m");
    assert_eq!(body(Api::Chat, &error)["error"]["code"], "rate_limit_exceeded");
    assert_eq!(body(Api::Responses, &error)["error"]["code"], "rate_limit_exceeded");
    assert_eq!(body(Api::Messages, &error)["error"]["type"], "rate_limit_error");
    let whole = Reply::whole_json("hi");
    assert_eq!(body(Api::Chat, &whole)["choices"][0]["message"]["content"], "hi");
    assert_eq!(body(Api::Messages, &whole)["content"][0]["text"], "hi");
    assert_eq!(body(Api::Responses, &whole)["output"][0]["content"][0]["text"], "hi");
}
