//! What the traces of turns and of background work look like.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, LlmServer, RecordedRequest, Reply};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use crate::collector::{Collector, export_to};
use crate::trace::{has_failed, shown};

fn asks_for_a_title(request: &RecordedRequest) -> bool {
    request.system_text().starts_with("Write a title")
}

#[tokio::test]
async fn a_turn_is_one_trace_with_its_requests_and_tool_calls() {
    let collector = Collector::start().await;
    let (traces, _guard) = export_to(&collector.url());
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("session.titles", "model")
        .set("provider.cheap_model", "cheap")
        .traces(traces)
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    llm.push_when(asks_for_a_title, Reply::text("Sixes and sevens"));
    llm.push(Reply::tool_call("calculator", r#"{"expression":"7777*6"}"#));
    llm.push(Reply::text("It is 46662."));
    assert_eq!(ann.ask("how much is that?").await, "It is 46662.");
    ann.wait_until("the title", |ann| ann.transcript().title_source() == v1::TitleSource::Model)
        .await;
    llm.push(Reply::text("You are welcome."));
    ann.ask("thank you").await;
    let mut started = ann.events().filter_map(|event| match event.body.as_ref()? {
        Body::ToolCallStarted(started) => Some((event.turn_id.clone(), started.call_id.clone())),
        _ => None,
    });
    let (turn_id, call_id) = started.next().unwrap();
    drop(started);
    let session_id = ann.session_id().to_owned();
    drop(ann);
    daemon.stop().await;

    let traces = collector.traces();
    let trees: Vec<String> = traces.iter().map(super::trace::Trace::tree).collect();
    let first =
        "invoke_agent agentd\n  chat scripted\n  execute_tool calculator\n  chat scripted\n";
    let expect = [first, "title\n  chat cheap\n", "invoke_agent agentd\n  chat scripted\n"];
    assert_eq!(trees, expect);

    let turn = traces[0].root();
    assert_eq!(
        shown(&turn.attributes),
        [
            format!("agentd.turn.id={turn_id:?}"),
            "gen_ai.agent.name=\"agentd\"".to_owned(),
            format!("gen_ai.conversation.id={session_id:?}"),
            "gen_ai.operation.name=\"invoke_agent\"".to_owned(),
        ]
    );
    assert_eq!((turn.kind(), has_failed(turn)), (SpanKind::Internal, false));
    let chats = traces[0].named("chat scripted");
    for (chat, finish) in chats.iter().zip(["tool_calls", "stop"]) {
        assert_eq!(
            shown(&chat.attributes),
            [
                "agentd.attempts=1",
                "gen_ai.operation.name=\"chat\"",
                "gen_ai.provider.name=\"openai\"",
                "gen_ai.request.model=\"scripted\"",
                &format!("gen_ai.response.finish_reasons=[{finish:?}]"),
                "gen_ai.response.model=\"scripted\"",
                "gen_ai.usage.input_tokens=10",
                "gen_ai.usage.output_tokens=5",
            ]
        );
        assert_eq!((chat.kind(), has_failed(chat)), (SpanKind::Client, false));
    }
    let tool = traces[0].named("execute_tool calculator")[0];
    assert_eq!(
        shown(&tool.attributes),
        [
            "gen_ai.operation.name=\"execute_tool\"".to_owned(),
            format!("gen_ai.tool.call.id={call_id:?}"),
            "gen_ai.tool.name=\"calculator\"".to_owned(),
        ]
    );
    let title = format!("gen_ai.conversation.id={session_id:?}");
    assert_eq!(shown(&traces[1].root().attributes), [title]);

    let resource = collector.requests()[0].1.resource_spans[0].resource.clone().unwrap();
    let version = format!("service.version=\"{}\"", env!("CARGO_PKG_VERSION"));
    assert_eq!(shown(&resource.attributes), ["service.name=\"agentd\"".to_owned(), version]);
}

#[tokio::test]
async fn a_turn_that_fails_says_so_and_nothing_of_the_conversation_leaves() {
    let collector = Collector::start().await;
    let (traces, _guard) = export_to(&collector.url());
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).traces(traces).start().await;
    std::fs::write(daemon.workspace().join("note.txt"), "xyzzy in a file\n").unwrap();
    let mut ann = daemon.driver("ann").await;
    llm.push(
        Reply::sse()
            .reasoning("xyzzy in reasoning")
            .text_delta("xyzzy in an answer")
            .call_deltas(&[
                ("read_file", r#"{"path":"note.txt"}"#),
                // Refused once it runs: what a look beforehand refuses is not run and has no span.
                ("calculator", r#"{"expression":"xyzzy + 1"}"#),
            ])
            .finish("tool_calls")
            .usage(10, 5)
            .done(),
    );
    llm.push(Reply::error(400, "invalid_request_error", "xyzzy in an error"));
    ann.submit("xyzzy in a question").await;
    assert!(matches!(ann.wait_turn_end().await, Body::TurnFailed(_)));
    drop(ann);
    daemon.stop().await;

    let traces = collector.traces();
    let [trace] = traces.as_slice() else { panic!("{traces:?}") };
    // Both calls run at once, so that either may begin first.
    let tree = |a: &str, b: &str| {
        format!(
            "invoke_agent agentd\n  chat scripted\n  execute_tool {a}\n  execute_tool {b}\n  chat scripted\n"
        )
    };
    let in_either_order = [tree("read_file", "calculator"), tree("calculator", "read_file")];
    assert!(in_either_order.contains(&trace.tree()), "{}", trace.tree());
    let error = |span: &opentelemetry_proto::tonic::trace::v1::Span| {
        let is_error = |attribute: &&String| attribute.starts_with("error.type=");
        (has_failed(span), shown(&span.attributes).iter().find(is_error).cloned())
    };
    let chats = trace.named("chat scripted");
    assert_eq!(error(chats[0]), (false, None));
    let (has_failed, code) = error(chats[1]);
    assert!(has_failed && code.is_some(), "{chats:?}");
    assert_eq!(error(trace.root()), (true, code));
    assert_eq!(error(trace.named("execute_tool read_file")[0]), (false, None));
    let refused = trace.named("execute_tool calculator")[0];
    assert!(error(refused).0, "{refused:?}");

    let sent = format!("{:?}", collector.requests());
    assert!(!sent.contains("xyzzy"), "{sent}");
    assert!(!sent.contains("note.txt"), "{sent}");
}
