//! Cases of what goes back to the model, on every API. The server is strict: whatever its API refuses is
//! answered with 400.

use std::sync::Arc;

use agentd_domain::{CallId, Effort, NativeBlocks, ToolCall};
use agentd_llm::{Catalogue, InfoSource, Message, ModelInfo, Request};
use agentd_testkit::{Api, LlmServer, Reply};

use crate::support::{Answer, ask, complete, on_every_api, provider_of};

on_every_api! {
    ps_08_reasoning_of_a_tool_turn_goes_back,
    ps_13_signed_reasoning_goes_back_as_it_came_or_not_at_all,
    ps_13_reasoning_that_is_refused_does_not_end_the_conversation,
    ps_14_a_strict_server_takes_every_history,
}

/// Two models that reason, as far as the API has such.
fn reasoning_models(api: Api) -> [&'static str; 2] {
    match api {
        Api::Chat => ["scripted", "another"],
        Api::Messages => ["claude-sonnet-4-5", "claude-opus-5"],
        Api::Responses => ["gpt-5.5", "gpt-5.4"],
    }
}

/// The same conversation with a model that is told to reason.
fn with_model(model: &str, request: &Request) -> Request {
    let facts = Catalogue::builtin().facts(model).unwrap_or_default();
    let info = ModelInfo::default().with(&facts, InfoSource::Catalogue);
    let effort = info.effort_choice(Effort::High).effective;
    Request { model: model.to_owned(), info: Arc::new(info), effort, ..request.clone() }
}

/// The request that follows an answer with calls, in a conversation whose log is read again.
fn followed_up(mut request: Request, answer: &Answer, outputs: &[&str]) -> Request {
    let end = answer.end.as_ref().expect("an end");
    let id = |number: usize| -> CallId {
        format!("ours_{}_{number}", request.messages.len()).parse().expect("an id")
    };
    let calls = end.tool_calls.iter().enumerate().map(|(number, call)| ToolCall {
        call_id: id(number),
        name: call.name.clone(),
        arguments_json: call.arguments_json.clone(),
    });
    let tool_calls: Vec<ToolCall> = calls.collect();
    assert_eq!(tool_calls.len(), outputs.len());
    let results = tool_calls.iter().zip(outputs).map(|(call, output)| Message::Tool {
        call_id: call.call_id.clone(),
        name: call.name.clone(),
        output: (*output).to_owned(),
    });
    let results: Vec<Message> = results.collect();
    request.messages.push(Message::Assistant {
        reasoning: answer.reasoning.clone(),
        text: answer.text.clone(),
        tool_calls,
        native: end.native.as_ref().map(logged),
    });
    request.messages.extend(results);
    request
}

/// What the log makes of native blocks.
fn logged(native: &NativeBlocks) -> Arc<NativeBlocks> {
    let stored = serde_json::to_string(native).expect("JSON");
    Arc::new(serde_json::from_str(&stored).expect("what was written"))
}

fn raw(llm: &LlmServer, number: usize) -> String {
    let requests = llm.requests();
    String::from_utf8(requests[number - 1].raw.clone()).expect("text")
}

fn assert_no_violations(llm: &LlmServer) {
    assert_eq!(llm.violations(), Vec::<String>::new());
}

async fn ps_08_reasoning_of_a_tool_turn_goes_back(api: Api) {
    let llm = LlmServer::start().await;
    if api == Api::Chat {
        llm.demand_reasoning();
    }
    llm.push(
        Reply::sse().reasoning("R1 \n").call_deltas(&[("f", "{}")]).finish("tool_calls").done(),
    );
    llm.push(Reply::text("done"));
    let provider = provider_of(api, &llm);
    let question = with_model(reasoning_models(api)[0], &ask("hi"));
    let first = complete(&*provider, question.clone()).await;
    assert_eq!(first.reasoning, "R1 \n");
    let second = complete(&*provider, followed_up(question, &first, &["x"])).await;
    assert_eq!((second.text.as_str(), second.error_code()), ("done", ""));
    assert!(raw(&llm, 2).contains(r"R1 \n"));
    assert_eq!(llm.requests()[1].tool_outputs(), ["x"]);
    assert_no_violations(&llm);
}

async fn ps_13_signed_reasoning_goes_back_as_it_came_or_not_at_all(api: Api) {
    let llm = LlmServer::start().await;
    let thinking = || {
        Reply::sse()
            .signed_reasoning("I see <secret> \u{e9}\n", "c2lnMQ==")
            .redacted_reasoning("aGlkZGVu")
            .text_delta("Let me look.")
            .call_deltas(&[("f", "{\"b\": 1, \"a\": 2}"), ("g", "{}")])
            .finish("tool_calls")
            .done()
    };
    llm.push(thinking());
    for text in ["one", "two", "three"] {
        llm.push(Reply::text(text));
    }
    let provider = provider_of(api, &llm);
    let [model, another] = reasoning_models(api);
    let question = with_model(model, &ask("hi"));
    let first = complete(&*provider, question.clone()).await;
    assert_eq!(first.reasoning, "I see <secret> \u{e9}\n");
    assert_eq!(first.calls(), [("f", "{\"b\": 1, \"a\": 2}"), ("g", "{}")]);
    let request = followed_up(question, &first, &["x", ""]);
    // The server checks that the blocks of the open turn are the ones that it sent, in order.
    let second = complete(&*provider, request.clone()).await;
    assert_eq!((second.text.as_str(), second.error_code()), ("one", ""), "{:?}", llm.violations());
    // Another model is sent none of it, and the first has it again.
    let elsewhere = complete(&*provider, with_model(another, &request)).await;
    assert_eq!((elsewhere.text.as_str(), elsewhere.error_code()), ("two", ""));
    assert_eq!(complete(&*provider, request).await.text, "three");
    if api != Api::Chat {
        for (number, holds) in [(2, true), (3, false), (4, true)] {
            for mark in ["c2lnMQ==", "aGlkZGVu"] {
                assert_eq!(raw(&llm, number).contains(mark), holds, "{mark} in {number}");
            }
        }
        assert_eq!(raw(&llm, 2), raw(&llm, 4));
    }
    assert_no_violations(&llm);
}

async fn ps_13_reasoning_that_is_refused_does_not_end_the_conversation(api: Api) {
    let llm = LlmServer::start().await;
    let provider = provider_of(api, &llm);
    llm.push(
        Reply::sse()
            .signed_reasoning("T", "c2lnMQ==")
            .call_deltas(&[("f", "{}")])
            .finish("tool_calls")
            .done(),
    );
    let question = with_model(reasoning_models(api)[0], &ask("hi"));
    let first = complete(&*provider, question.clone()).await;
    let request = followed_up(question, &first, &["x"]);
    if api == Api::Chat {
        // Nothing is signed there, so nothing can be refused.
        assert_eq!(complete(&*provider, request).await.error_code(), "");
        return;
    }
    let message = match api {
        Api::Messages => "messages.1.content.0: Invalid `signature` in `thinking` block",
        _ => "The encrypted content for item rs_1 could not be verified.",
    };
    llm.push(Reply::error(400, "invalid_request_error", message));
    llm.push(Reply::text("done"));
    let second = complete(&*provider, request).await;
    assert_eq!((second.text.as_str(), second.error_code()), ("done", ""));
    assert!(raw(&llm, 2).contains("c2lnMQ=="));
    assert!(!raw(&llm, 3).contains("c2lnMQ=="));
    assert_no_violations(&llm);
}

async fn ps_14_a_strict_server_takes_every_history(api: Api) {
    let llm = LlmServer::start().await;
    let provider = provider_of(api, &llm);
    let said = |reasoning: &str, text: &str| Message::Assistant {
        native: None,
        reasoning: reasoning.to_owned(),
        text: text.to_owned(),
        tool_calls: Vec::new(),
    };
    let user = |text: &str| Message::user(text);
    let call_id: CallId = "c".parse().expect("an id");
    let called = |arguments: &str| Message::Assistant {
        native: None,
        reasoning: String::new(),
        text: " ".to_owned(),
        tool_calls: vec![ToolCall {
            call_id: call_id.clone(),
            name: "sh".to_owned(),
            arguments_json: arguments.to_owned(),
        }],
    };
    let silent =
        || Message::Tool { call_id: call_id.clone(), name: "sh".to_owned(), output: String::new() };
    let make = "{\"command\":\"mkdir -p x\"}";
    for messages in [
        vec![user("a"), called(make), silent()],
        vec![user("a"), said("only reasoning", ""), user("b")],
        vec![user("a"), said("", " \n"), user("b")],
        vec![Message::System("\n".to_owned()), user("a"), user(" "), user("b")],
        vec![user("a"), called(make), silent(), said("", ""), user("b")],
        // Interrupted before the result, with half of its arguments, and twice with one id.
        vec![user("a"), called("{\"command\":\"mk"), user("b")],
        vec![user("a"), called(make), silent(), called(make), silent(), user("b")],
        vec![said("", "first word"), user("b"), said("", "last word")],
    ] {
        let answer = complete(&*provider, Request { messages, ..ask("") }).await;
        assert_eq!(answer.error_code(), "", "{:?}", llm.violations());
    }
    let sent = llm.requests();
    assert_eq!(sent[0].tool_outputs(), ["(no output)"]);
    assert_no_violations(&llm);
}
