//! Reasoning that must go back, and texts that must not be blank.

use agentd_domain::ToolCall;
use agentd_llm::{Message, OpenAiCompatible, OpenAiOptions, ReasoningEcho, Request};
use agentd_testkit::{LlmServer, Reply};
use serde_json::{Value, json};

use crate::support::{Answer, PATIENT, ask, complete, provider};

/// What follows an answer that called one tool.
fn followed_up(mut request: Request, answer: &Answer, output: &str) -> Request {
    let call = answer.end.as_ref().and_then(|end| end.tool_calls.first()).expect("a call");
    let call_id: agentd_domain::CallId =
        format!("call_{}", request.messages.len()).parse().expect("an id");
    request.messages.push(Message::Assistant {
        native: None,
        reasoning: answer.reasoning.clone(),
        text: answer.text.clone(),
        tool_calls: vec![ToolCall {
            call_id: call_id.clone(),
            name: call.name.clone(),
            arguments_json: call.arguments_json.clone(),
        }],
    });
    let name = call.name.clone();
    request.messages.push(Message::Tool { call_id, name, output: output.to_owned() });
    request
}

fn echoing(llm: &LlmServer, echo_reasoning: ReasoningEcho) -> OpenAiCompatible {
    let options = OpenAiOptions {
        echo_reasoning,
        timeouts: PATIENT,
        ..OpenAiOptions::new(&llm.base_url(), None)
    };
    OpenAiCompatible::new(options).expect("legal options")
}

#[tokio::test]
async fn ps_08_reasoning_of_a_tool_turn_goes_back_verbatim() {
    for fields in [
        json!({"reasoning_content": "R1 \n", "content": ""}),
        json!({"reasoning": "R1 \n"}),
        json!({"reasoning": "R1 \n", "reasoning_content": "R1 \n"}),
    ] {
        for echo in [ReasoningEcho::WhereKnown, ReasoningEcho::ToolCallTurns] {
            let llm = LlmServer::start().await;
            llm.demand_reasoning();
            let call = json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}});
            llm.push(Reply::sse().delta(&fields).tool_delta(&call).finish("tool_calls").done());
            llm.push(Reply::text("done"));
            let provider = echoing(&llm, echo);
            let first = complete(&provider, ask("hi")).await;
            assert_eq!(first.reasoning, "R1 \n", "{fields}");
            let second = complete(&provider, followed_up(ask("hi"), &first, "x")).await;
            assert_eq!((second.text.as_str(), second.error_code()), ("done", ""), "{fields}");
            let sent = llm.wait_for_request(2).await;
            assert_eq!(sent.messages()[1]["reasoning_content"], json!("R1 \n"));
            assert_eq!(llm.violations(), Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn ps_08_a_turn_of_a_model_without_reasoning_does_not_stop_one_with() {
    let llm = LlmServer::start().await;
    let call = json!({"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}});
    llm.push(Reply::tool_call("f", "{}"));
    llm.push(Reply::text("first"));
    llm.push(Reply::sse().reasoning("R1").tool_delta(&call).finish("tool_calls").done());
    llm.push(Reply::text("second"));
    let provider = echoing(&llm, ReasoningEcho::ToolCallTurns);
    let answer = complete(&provider, ask("one")).await;
    let mut request = followed_up(ask("one"), &answer, "x");
    let answer = complete(&provider, request.clone()).await;
    request.messages.push(Message::Assistant {
        native: None,
        reasoning: String::new(),
        text: answer.text,
        tool_calls: Vec::new(),
    });
    request.messages.push(Message::user("two"));
    llm.demand_reasoning();
    let answer = complete(&provider, request.clone()).await;
    let answer = complete(&provider, followed_up(request, &answer, "y")).await;
    assert_eq!((answer.text.as_str(), answer.error_code()), ("second", ""));
    assert_eq!(llm.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn ps_08_reasoning_is_not_sent_where_it_is_refused() {
    let llm = LlmServer::start().await;
    let call = json!({"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}});
    llm.push(Reply::sse().reasoning("R1").tool_delta(&call).finish("tool_calls").done());
    let provider = echoing(&llm, ReasoningEcho::Never);
    let first = complete(&provider, ask("hi")).await;
    complete(&provider, followed_up(ask("hi"), &first, "x")).await;
    let sent = llm.wait_for_request(2).await;
    let has_field = |message: &Value| message.get("reasoning_content").is_some();
    assert!(!sent.messages().iter().any(has_field));
}

#[tokio::test]
async fn ps_14_a_strict_server_takes_every_history() {
    let llm = LlmServer::start().await;
    let provider = provider(&llm);
    let said = |reasoning: &str, text: &str| Message::Assistant {
        native: None,
        reasoning: reasoning.to_owned(),
        text: text.to_owned(),
        tool_calls: Vec::new(),
    };
    let user = |text: &str| Message::user(text);
    let call_id: agentd_domain::CallId = "c".parse().expect("an id");
    let called = Message::Assistant {
        native: None,
        reasoning: String::new(),
        text: " ".to_owned(),
        tool_calls: vec![ToolCall {
            call_id: call_id.clone(),
            name: "sh".to_owned(),
            arguments_json: "{\"command\":\"mkdir -p x\"}".to_owned(),
        }],
    };
    let silent = Message::Tool { call_id, name: "sh".to_owned(), output: String::new() };
    for messages in [
        vec![user("a"), called.clone(), silent.clone()],
        vec![user("a"), said("only reasoning", ""), user("b")],
        vec![user("a"), said("", " \n"), user("b")],
        vec![Message::System("\n".to_owned()), user("a"), user(" "), user("b")],
        vec![user("a"), called, silent, said("", ""), user("b")],
    ] {
        let answer = complete(&provider, Request { messages, ..ask("") }).await;
        assert_eq!(answer.error_code(), "", "{:?}", llm.violations());
    }
}
