//! Whole streams, however they are cut.

use agentd_llm::{Finish, Message, OpenAiCompatible, OpenAiOptions, Request};
use agentd_testkit::{Gate, LlmServer, Reply};
use serde_json::json;

use crate::support::{PATIENT, answer_to, ask, complete, provider, tool};

#[tokio::test]
async fn an_unscripted_server_echoes() {
    let llm = LlmServer::start().await;
    let answer = complete(&provider(&llm), ask("hello")).await;
    assert_eq!(answer.text, "hello");
    let end = answer.end.expect("an end");
    assert_eq!(end.finish, Finish::Done);
    assert_eq!(end.usage.expect("usage").prompt_tokens, 10);
}

#[tokio::test]
async fn the_request_is_what_servers_expect() {
    let llm = LlmServer::start().await;
    let key = "sk-test".to_owned().into();
    let options =
        OpenAiOptions { timeouts: PATIENT, ..OpenAiOptions::new(&llm.base_url(), Some(key)) };
    let provider = OpenAiCompatible::new(options).expect("legal options");
    let request = Request {
        messages: vec![Message::System("be brief".to_owned()), Message::user("hi")],
        tools: vec![tool("a"), tool("b")],
        max_output_tokens: Some(7),
        ..ask("")
    };
    complete(&provider, request).await;
    let sent = llm.wait_for_request(1).await;
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(sent.header("authorization"), Some("Bearer sk-test"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert!(sent.header("user-agent").expect("a user agent").starts_with("agentd/"));
    assert_eq!(sent.body["stream"], json!(true));
    assert_eq!(sent.body["stream_options"], json!({"include_usage": true}));
    assert_eq!(sent.body["max_tokens"], json!(7));
    assert_eq!(sent.tool_names(), ["a", "b"]);
    assert_eq!(sent.system_text(), "be brief");
}

#[tokio::test]
async fn ps_01_a_character_cut_by_two_writes_is_whole() {
    let reply = Reply::sse().text_delta("使用").finish("stop").done();
    let event = format!(
        "data: {}\n\n",
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0,
               "model": "scripted",
               "choices": [{"index": 0, "delta": {"content": "使用"}, "finish_reason": null}]})
    );
    let first = event.find('使').expect("the character");
    for at in first..first + 6 {
        let answer = answer_to(reply.clone().split_at(&[at])).await;
        assert_eq!((answer.text.as_str(), answer.error_code()), ("使用", ""), "cut at {at}");
    }
}

#[tokio::test]
async fn ps_01_a_stream_of_single_bytes_is_whole() {
    let reply = Reply::sse()
        .reasoning("思考 🤔")
        .text_delta("使用 😀")
        .tool_delta(&json!({"index": 0, "id": "a", "function": {"name": "find", "arguments": "{\"q\":\"世"}}))
        .tool_delta(&json!({"index": 0, "function": {"arguments": "界😀\"}"}}))
        .finish("tool_calls")
        .usage(1, 2)
        .done();
    let answer = answer_to(reply.byte_by_byte()).await;
    assert_eq!(answer.reasoning, "思考 🤔");
    assert_eq!(answer.text, "使用 😀");
    assert_eq!(answer.calls(), [("find", "{\"q\":\"世界😀\"}")]);
}

#[tokio::test]
async fn en_02_halves_of_a_character_in_two_deltas_are_joined() {
    let half = |escape: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{escape}"}}}}]}}"#);
    let reply = |first: &str, second: &str| {
        Reply::sse().data(&half(first)).data(&half(second)).finish("stop").done()
    };
    assert_eq!(answer_to(reply(r"\ud83d", r"\ude00")).await.text, "😀");
    assert_eq!(answer_to(reply(r"ok \ud800 end", "!")).await.text, "ok \u{FFFD} end!");
    assert_eq!(answer_to(reply("!", r"\ud83d")).await.text, "!\u{FFFD}");
}

#[tokio::test]
async fn parts_arrive_while_the_answer_is_written() {
    use agentd_llm::{Provider as _, StreamPart};
    use futures_util::StreamExt as _;

    let llm = LlmServer::start().await;
    let (first, second) = (Gate::new(), Gate::new());
    llm.push(
        Reply::sse()
            .reasoning("R")
            .wait(&first)
            .text_delta("A")
            .wait(&second)
            .text_delta("B")
            .finish("stop")
            .done(),
    );
    let mut stream = provider(&llm).stream(ask("hi")).await.expect("a stream");
    let part = stream.next().await.expect("a part").expect("no error");
    assert_eq!(part, StreamPart::Reasoning("R".to_owned()));
    first.release();
    let part = stream.next().await.expect("a part").expect("no error");
    assert_eq!(part, StreamPart::Text("A".to_owned()));
    second.reached().await;
    second.release();
    let rest: Vec<_> = stream.collect().await;
    assert!(matches!(rest.first(), Some(Ok(StreamPart::Text(text))) if text == "B"), "{rest:?}");
    assert!(matches!(rest.last(), Some(Ok(StreamPart::Finished(_)))), "{rest:?}");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let answer = answer_to(Reply::whole_json("hi")).await;
    assert_eq!(answer.text, "hi");
    assert_eq!(answer.end.expect("an end").usage.expect("usage").completion_tokens, 5);
}

#[tokio::test]
async fn connections_are_used_again() {
    let llm = LlmServer::start().await;
    let provider = provider(&llm);
    for text in ["a", "b", "c"] {
        assert_eq!(complete(&provider, ask(text)).await.text, text);
    }
    assert_eq!(llm.connections(), 1);
}
