//! Tool calls in all their shapes, over the wire.

use agentd_testkit::Reply;
use serde_json::{Value, json};

use crate::support::answer_to;

/// Streams these `tool_calls` arrays and compares names and arguments.
async fn check(name: &str, deltas: &[Value], finish: &str, expect: &[(&str, &str)]) {
    let mut reply = Reply::sse();
    for delta in deltas {
        reply = reply.delta(&json!({ "tool_calls": delta }));
    }
    let answer = answer_to(reply.finish(finish).done()).await;
    assert_eq!(answer.error_code(), "", "{name}");
    assert_eq!(answer.calls(), expect, "{name}");
    let end = answer.end.expect("an end");
    assert_eq!(end.tool_calls.iter().all(|call| call.is_whole), finish != "length", "{name}");
}

fn function(name: &str, arguments: &str) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[tokio::test]
async fn ta_01_fragments_of_every_server_are_put_together() {
    let read = [("read", "{\"path\":\"a\"}")];
    let (start, end) = ("{\"path\":", "\"a\"}");
    let no_index =
        json!([{"id": "c1", "type": "function", "function": function("read", "{\"path\":\"a\"}")}]);
    check("(a) no index", &[no_index], "tool_calls", &read).await;
    let deltas = [
        json!([{"index": 0, "id": "c1", "function": function("read", start)}]),
        json!([{"index": 0, "function": {"arguments": end}}]),
    ];
    check("(b) no id", &deltas, "tool_calls", &read).await;
    let deltas = [
        json!([{"index": 0, "id": "c1", "function": function("", "")}]),
        json!([{"index": 0, "function": function("read", "{\"path\":\"a\"}")}]),
    ];
    check("(c) late name", &deltas, "tool_calls", &read).await;
    let deltas = [
        json!([{"index": 0, "id": "c1", "function": function("read", start)}]),
        json!([{"index": 0, "id": "c1", "function": function("read", end)}]),
    ];
    check("(d) repeated name", &deltas, "tool_calls", &read).await;
    let two = [("read", "{\"path\":\"a\"}"), ("list", "{\"path\":\"a\"}")];
    let deltas = [
        json!([{"index": 0, "id": "c1", "function": function("read", start)}]),
        json!([{"index": 1, "id": "c2", "function": function("list", start)}]),
        json!([{"index": 0, "function": {"arguments": end}}]),
        json!([{"index": 1, "function": {"arguments": end}}]),
    ];
    check("(e) interleaved", &deltas, "tool_calls", &two).await;
    let deltas = [
        json!([{"index": 0, "id": "", "function": function("read", start)}]),
        json!([{"index": 0, "id": "", "function": function("", end)}]),
        json!([{"index": 1, "id": "", "function": function("list", "{\"path\":\"a\"}")}]),
    ];
    check("(f) empty ids", &deltas, "tool_calls", &two).await;
    let deltas = [json!([
        {"id": "c1", "function": function("read", "{\"path\":\"a\"}")},
        {"id": "c2", "function": function("list", "{\"path\":\"a\"}")},
    ])];
    check("(g) two in one delta", &deltas, "stop", &two).await;
}

#[tokio::test]
async fn ta_02_calls_that_share_an_index_are_kept_apart() {
    let expect = [
        ("read_file", "{\"path\":\"1\"}"),
        ("read_file", "{\"path\":\"2\"}"),
        ("list_dir", "{\"path\":\".\"}"),
    ];
    for ids in [Some(["a", "b", "c"]), None] {
        let deltas: Vec<Value> = expect
            .iter()
            .enumerate()
            .map(|(at, (name, arguments))| {
                let id = ids.map(|ids| ids[at]);
                json!([{"index": 0, "id": id, "function": function(name, arguments)}])
            })
            .collect();
        check(&format!("ids {ids:?}"), &deltas, "tool_calls", &expect).await;
    }
}

#[tokio::test]
async fn ta_04_arguments_that_are_no_string_are_kept_as_json() {
    let call = |arguments: Value| json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": arguments}}]);
    check("object", &[call(json!({"path": "a"}))], "stop", &[("read", "{\"path\":\"a\"}")]).await;
    let doubled = "\"{\\\"path\\\":\\\"a\\\"}\"";
    check("doubled", &[call(json!(doubled))], "stop", &[("read", doubled)]).await;
    check("null", &[call(json!(null))], "stop", &[("read", "{}")]).await;
}

#[tokio::test]
async fn ta_05_a_call_cut_by_the_output_limit_must_not_run() {
    let cut = "{\"path\":\"README.md\",\"content\":\"# T\\n## 1";
    let call = |arguments: &str| json!([{"index": 0, "id": "a", "function": function("write_file", arguments)}]);
    check("length", &[call(cut)], "length", &[("write_file", cut)]).await;
    let whole = "{\"path\":\"README.md\"}";
    check("length, whole by chance", &[call(whole)], "length", &[("write_file", whole)]).await;
    let reply = Reply::sse().delta(&json!({"tool_calls": call(cut)})).finish("tool_calls").done();
    let end = answer_to(reply).await.end.expect("an end");
    assert!(!end.tool_calls[0].is_whole, "servers may call a cut call a whole one");
}
