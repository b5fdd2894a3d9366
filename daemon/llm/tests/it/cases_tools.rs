//! Cases of tool calls, on every API. Shapes that only one API has are tested beside its decoder.

use agentd_domain::ToolCall;
use agentd_llm::{Finish, Message, Request};
use agentd_testkit::{Api, LlmServer, Reply};
use serde_json::{Value, json};

use crate::support::{answer_in, ask, complete, on_every_api, provider_of};

on_every_api! {
    ta_01_fragments_are_put_together,
    ta_01_what_servers_forget_is_not_missed,
    ta_02_calls_that_share_an_index_are_kept_apart,
    ta_04_arguments_may_come_as_an_object,
    ta_04_arguments_go_back_as_one_object,
    ta_05_a_cut_call_is_not_whole_whatever_the_server_says,
}

fn fragment(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
}

fn more(index: u64, arguments: &str) -> Value {
    json!({"index": index, "function": {"arguments": arguments}})
}

async fn ta_01_fragments_are_put_together(api: Api) {
    let reply = Reply::sse()
        .text_delta("I look.")
        .tool_delta(&fragment(0, "c1", "read", "{\"pa"))
        .tool_delta(&more(0, "th\":"))
        .tool_delta(&more(0, "\"a\"}"))
        .tool_delta(&fragment(1, "c2", "read", "{\"path\":\"b\"}"))
        .tool_delta(&fragment(2, "c3", "now", ""))
        .finish("tool_calls")
        .usage(1, 1)
        .done();
    let answer = answer_in(api, reply).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("I look.", ""));
    let expect = [
        ("read", "{\"path\":\"a\"}", true),
        ("read", "{\"path\":\"b\"}", true),
        ("now", "{}", true),
    ];
    assert_eq!(answer.all_calls(), expect);
}

/// Events of Messages or Responses, as they are.
fn raw(events: &[Value]) -> Reply {
    events.iter().fold(Reply::sse(), |reply, event| {
        reply.event(event["type"].as_str().expect("a type"), event)
    })
}

fn block_start(block: &Value) -> Value {
    json!({"type": "content_block_start", "content_block": block})
}

fn block_delta(json: &str) -> Value {
    json!({"type": "content_block_delta",
           "delta": {"type": "input_json_delta", "partial_json": json}})
}

fn item(event: &str, item: &Value) -> Value {
    json!({"type": format!("response.output_item.{event}"), "item": item})
}

fn arguments_delta(delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "delta": delta})
}

async fn ta_01_what_servers_forget_is_not_missed(api: Api) {
    // Neither ids nor indexes.
    let reply = match api {
        Api::Chat => Reply::sse()
            .tool_delta(&json!({"function": {"name": "read", "arguments": "{\"path\":"}}))
            .tool_delta(&json!({"function": {"arguments": "\"a\"}"}}))
            .tool_delta(&json!({"function": {"name": "list", "arguments": "{}"}})),
        Api::Messages => raw(&[
            block_start(&json!({"type": "tool_use", "name": "read", "input": {}})),
            block_delta("{\"path\":"),
            block_delta("\"a\"}"),
            block_start(&json!({"type": "tool_use", "name": "list", "input": {}})),
            block_delta("{}"),
        ]),
        Api::Responses => raw(&[
            item("added", &json!({"type": "function_call", "name": "read"})),
            arguments_delta("{\"path\":"),
            arguments_delta("\"a\"}"),
            item("added", &json!({"type": "function_call", "name": "list"})),
            arguments_delta("{}"),
        ]),
    };
    let answer = answer_in(api, reply.finish("tool_calls").done()).await;
    assert_eq!(answer.error_code(), "");
    assert_eq!(answer.calls(), [("read", "{\"path\":\"a\"}"), ("list", "{}")]);
}

async fn ta_02_calls_that_share_an_index_are_kept_apart(api: Api) {
    let calls = [
        ("a", "read_file", "{\"path\":\"1\"}"),
        ("b", "read_file", "{\"path\":\"2\"}"),
        ("c", "list_dir", "{\"path\":\".\"}"),
    ];
    let mut reply = Reply::sse();
    for (id, name, arguments) in calls {
        let with = |mut event: Value, field: &str| {
            event[field] = json!(0);
            event
        };
        reply = match api {
            Api::Chat => reply.tool_delta(&fragment(0, id, name, arguments)),
            Api::Messages => {
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                reply
                    .event("content_block_start", &with(block_start(&block), "index"))
                    .event("content_block_delta", &with(block_delta(arguments), "index"))
            }
            Api::Responses => {
                let call = json!({"type": "function_call", "id": id, "call_id": id, "name": name});
                let mut delta = with(arguments_delta(arguments), "output_index");
                delta["item_id"] = json!(id);
                reply
                    .event(
                        "response.output_item.added",
                        &with(item("added", &call), "output_index"),
                    )
                    .event("response.function_call_arguments.delta", &delta)
            }
        };
    }
    let answer = answer_in(api, reply.finish("tool_calls").done()).await;
    assert_eq!(answer.calls(), calls.map(|(_, name, arguments)| (name, arguments)));
}

async fn ta_04_arguments_may_come_as_an_object(api: Api) {
    let arguments = json!({"path": "a"});
    let reply = match api {
        Api::Chat => {
            let function = json!({"name": "read", "arguments": arguments});
            Reply::sse().tool_delta(&json!({"index": 0, "id": "c", "function": function}))
        }
        Api::Messages => raw(&[block_start(
            &json!({"type": "tool_use", "id": "c", "name": "read", "input": arguments}),
        )]),
        Api::Responses => raw(&[item(
            "done",
            &json!({"type": "function_call", "call_id": "c", "name": "read", "arguments": arguments}),
        )]),
    };
    let answer = answer_in(api, reply.finish("tool_calls").done()).await;
    assert_eq!(answer.all_calls(), [("read", "{\"path\":\"a\"}", true)]);
}

async fn ta_04_arguments_go_back_as_one_object(api: Api) {
    let llm = LlmServer::start().await;
    let provider = provider_of(api, &llm);
    for (arguments, expect) in [
        ("{\"path\":\"a\"}", json!({"path": "a"})),
        ("\"{\\\"path\\\":\\\"a\\\"}\"", json!({"path": "a"})),
        ("[1]", json!({})),
        ("{\"path\":", json!({})),
    ] {
        let call_id: agentd_domain::CallId = "c".parse().expect("an id");
        let call = ToolCall {
            call_id: call_id.clone(),
            name: "read".to_owned(),
            arguments_json: arguments.to_owned(),
        };
        let messages = vec![
            Message::user("hi"),
            Message::Assistant {
                reasoning: String::new(),
                text: String::new(),
                tool_calls: vec![call],
                native: None,
            },
            Message::Tool { call_id, name: "read".to_owned(), output: "x".to_owned() },
        ];
        let answer = complete(&*provider, Request { messages, ..ask("") }).await;
        assert_eq!(answer.error_code(), "", "{:?}", llm.violations());
        let sent = llm.requests().pop().expect("a request");
        let place = match api {
            Api::Chat => "/messages/1/tool_calls/0/function/arguments",
            Api::Messages => "/messages/1/content/0/input",
            Api::Responses => "/input/1/arguments",
        };
        let found = sent.body.pointer(place).expect(place).clone();
        let found = match found {
            Value::String(text) => serde_json::from_str(&text).expect("JSON"),
            other => other,
        };
        assert_eq!(found, expect, "{arguments}");
    }
}

async fn ta_05_a_cut_call_is_not_whole_whatever_the_server_says(api: Api) {
    let cut = "{\"path\":\"README.md\",\"content\":\"# T\\n## 1";
    let whole = "{\"path\":\"README.md\",\"content\":\"# T\"}";
    for (arguments, reason, finish) in [
        (cut, "length", Finish::OutputLimit),
        (cut, "tool_calls", Finish::Done),
        // What the limit cut may look whole by chance.
        (whole, "length", Finish::OutputLimit),
    ] {
        let reply = Reply::sse().call_deltas(&[("write_file", arguments)]).finish(reason).done();
        let answer = answer_in(api, reply).await;
        assert_eq!(answer.error_code(), "", "{reason}");
        assert_eq!(answer.all_calls(), [("write_file", arguments, false)], "{reason}");
        assert_eq!(answer.end.expect("an end").finish, finish, "{reason}");
    }
}
