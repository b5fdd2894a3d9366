//! Turns: answers, reasoning, tools, limits, failures and second attempts.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, Gate, LlmServer, Reply};
use serde_json::json;

use crate::support::{answers, durable, kinds, live_texts, results};

#[tokio::test]
async fn an_answer_streams_and_the_deltas_equal_the_final_message() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let gate = Gate::new();
    llm.push(
        Reply::sse()
            .reasoning("Let me ")
            .reasoning("think.")
            .text_delta("使")
            .wait(&gate)
            .text_delta("用 it")
            .finish("stop")
            .usage(120, 30)
            .done(),
    );
    ann.submit("hello").await;
    // The first text arrives while the model is still writing.
    ann.wait_live_text("使").await;
    gate.release();
    assert_eq!(ann.wait_answer().await, "使用 it");

    let message = &answers(&ann)[0];
    assert_eq!(message.reasoning, "Let me think.");
    assert_eq!(message.completeness(), v1::MessageCompleteness::Complete);
    let item = message.item_id.clone();
    assert_eq!(live_texts(&ann, v1::DeltaChannel::Text), [(item.clone(), message.text.clone())]);
    assert_eq!(live_texts(&ann, v1::DeltaChannel::Reasoning), [(item, message.reasoning.clone())]);
    assert_eq!(
        kinds(&durable(&ann)),
        ["created", "accepted", "renamed", "started", "assistant", "usage", "completed"]
    );
    assert!(ann.transcript().live().is_empty());
    assert_eq!(ann.transcript().title(), "hello");
    daemon.stop().await;
}

#[tokio::test]
async fn the_usage_of_each_request_is_recorded_and_summed() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("calculator", r#"{"expression":"6*7"}"#));
    llm.push(Reply::text("42"));
    assert_eq!(ann.ask("six times seven").await, "42");
    let usages: Vec<_> = durable(&ann)
        .into_iter()
        .filter_map(|body| match body {
            Body::UsageRecorded(recorded) => recorded.usage,
            _ => None,
        })
        .collect();
    let one = v1::Usage { prompt_tokens: 10, completion_tokens: 5, ..Default::default() };
    assert_eq!(usages, [one, one]);
    let Some(Body::TurnCompleted(completed)) = durable(&ann).pop() else { panic!("no end") };
    assert_eq!(completed.rounds, 2);
    let both = v1::Usage { prompt_tokens: 20, completion_tokens: 10, ..Default::default() };
    assert_eq!(completed.usage, Some(both));
    let session = ann.session().await.session.unwrap();
    assert_eq!(session.usage, Some(both));
    assert_eq!(session.turns, 1);
    daemon.stop().await;
}

#[tokio::test]
async fn the_model_gets_the_result_of_each_tool_that_it_called() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    std::fs::write(daemon.workspace().join("note.txt"), "remember the milk\n").unwrap();
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_calls(&[
        ("calculator", r#"{"expression":"2^10"}"#),
        ("text_length", r#"{"text":"使用"}"#),
        ("read_file", r#"{"path":"note.txt"}"#),
        ("no_such_tool", "{}"),
    ]));
    llm.push(Reply::text("done"));
    assert_eq!(ann.ask("do four things").await, "done");

    let outputs = llm.wait_for_request(2).await.tool_outputs();
    assert_eq!(outputs.len(), 4);
    assert_eq!(outputs[0], "1024");
    assert!(outputs[2].contains("remember the milk"), "{outputs:?}");
    assert!(outputs[3].contains("no_such_tool"), "{outputs:?}");
    let results = results(&ann);
    assert_eq!(
        results.iter().map(|result| &result.output).collect::<Vec<_>>(),
        [&outputs[0], &outputs[1], &outputs[2], &outputs[3]]
    );
    assert_eq!(results[0].status(), v1::ToolStatus::Success);
    assert_eq!(results[3].status(), v1::ToolStatus::FatalError);
    // An unknown tool never starts.
    assert_eq!(
        kinds(&durable(&ann))[4..],
        [
            "assistant",
            "usage",
            // None of them has effects, so they run at the same time.
            "tool started",
            "tool started",
            "tool started",
            "tool finished",
            "tool finished",
            "tool finished",
            "tool finished",
            "assistant",
            "usage",
            "completed"
        ]
    );
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn a_turn_that_uses_up_its_rounds_asks_and_goes_on_or_stops_as_told() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("session.rounds_limit", 2).start().await;
    let mut ann = daemon.driver("ann").await;
    for n in 0..4 {
        llm.push(Reply::tool_call("calculator", &format!(r#"{{"expression":"{n}+1"}}"#)));
    }
    ann.submit("count").await;
    let first = ann.wait_question().await;
    assert_eq!(first.kind(), v1::QuestionKind::ContinueRounds);
    assert_eq!(first.choices, ["continue", "stop"]);
    assert_eq!(llm.requests().len(), 2);
    assert_eq!(ann.session().await.session.unwrap().status(), v1::SessionStatus::Waiting);

    ann.answer(&first.question_id, "continue").await.unwrap();
    let second = ann.wait_question().await;
    assert_eq!(llm.requests().len(), 4);
    assert_eq!(llm.requests()[3].tool_outputs(), ["1", "2", "3"]);

    ann.answer(&second.question_id, "stop").await.unwrap();
    let Body::TurnCompleted(completed) = ann.wait_turn_end().await else { panic!("no end") };
    assert_eq!(completed.end(), v1::TurnEnd::RoundsLimit);
    assert_eq!(completed.rounds, 4);
    // The session goes on with a valid history.
    llm.push(Reply::text("as you like"));
    assert_eq!(ann.ask("thanks").await, "as you like");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn a_refusal_of_the_provider_fails_the_turn_and_says_what_to_do() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::error(401, "invalid_api_key", "Incorrect API key provided"));
    ann.submit("hello").await;
    let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
    let error = failed.error.unwrap();
    assert!(error.message.contains("Incorrect API key"), "{error:?}");
    assert!(!error.hint.is_empty() && !error.code.is_empty(), "{error:?}");
    assert!(!error.retryable, "{error:?}");
    assert_eq!(llm.requests().len(), 1, "a refusal is not tried again");
    // The next message is answered.
    llm.push(Reply::text("back"));
    assert_eq!(ann.ask("again").await, "back");
    daemon.stop().await;
}

#[tokio::test]
async fn ps_10_a_second_attempt_replaces_the_text_of_the_first() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).tool(agentd_testkit::AppendLine::new()).start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("append_line", r#"{"line":"w"}"#));
    llm.push(
        Reply::sse()
            .text_delta("AB")
            .tool_delta(&json!({"index": 0, "id": "x", "type": "function",
                "function": {"name": "append_line", "arguments": "{\"line\":\"x"}}))
            .reset(),
    );
    llm.push(
        Reply::sse()
            .text_delta("ABCD")
            .tool_delta(&json!({"index": 0, "id": "y", "type": "function",
                "function": {"name": "append_line", "arguments": "{\"line\":\"y\"}"}}))
            .finish("tool_calls")
            .usage(10, 5)
            .done(),
    );
    llm.push(Reply::text("finished"));
    assert_eq!(ann.ask("write").await, "finished");

    assert_eq!(daemon.home().appended_lines(), ["w", "y"], "w once, x never");
    let texts: Vec<_> = answers(&ann).into_iter().map(|answer| answer.text).collect();
    assert_eq!(texts, ["", "ABCD", "finished"]);
    let restarted = durable(&ann).into_iter().find_map(|body| match body {
        Body::AttemptRestarted(restarted) => Some(restarted),
        _ => None,
    });
    let restarted = restarted.expect("clients are told");
    assert_eq!(restarted.attempt, 2);
    let live = live_texts(&ann, v1::DeltaChannel::Text);
    assert_eq!(live[0], (restarted.discarded_item_id, "AB".to_owned()));
    let shown = format!("{:?}", ann.transcript());
    assert_eq!(shown.matches("ABCD").count(), 1, "{shown}");
    assert!(ann.transcript().live().is_empty());
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn ps_05_an_answer_that_is_cut_off_is_never_a_finished_turn() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder()
        .llm(&llm)
        .set("provider.max_attempts", 1)
        .tool(agentd_testkit::AppendLine::new())
        .start()
        .await;
    let half_call = json!({"index": 0, "id": "x", "type": "function",
        "function": {"name": "append_line", "arguments": "{\"line\":\"x\""}});
    let cut = |reply: Reply| (reply, Err("part"));
    let rows = [
        ("a", cut(Reply::sse().text_delta("pa").text_delta("rt"))),
        ("b", cut(Reply::sse().text_delta("part").tool_delta(&half_call))),
        ("c", (Reply::sse().text_delta("whole").finish("stop"), Ok("whole"))),
        ("d", (Reply::sse().text_delta("whole").done(), Ok("whole"))),
        ("e", (Reply::sse(), Err(""))),
        ("f", cut(Reply::sse().text_delta("part").cut())),
    ];
    for (case, (reply, expect)) in rows {
        let mut ann = daemon.driver("ann").await;
        llm.push(reply);
        ann.submit(case).await;
        let end = ann.wait_turn_end().await;
        match (expect, end) {
            (Ok(text), Body::TurnCompleted(_)) => assert_eq!(ann.last_text(), text, "{case}"),
            (Err(partial), Body::TurnFailed(failed)) => {
                let error = failed.error.unwrap();
                assert!(!error.message.is_empty() && !error.hint.is_empty(), "{case}: {error:?}");
                assert_eq!(ann.last_text(), partial, "{case}");
                for answer in answers(&ann) {
                    let incomplete = v1::MessageCompleteness::Incomplete;
                    assert_eq!(answer.completeness(), incomplete, "{case}");
                    assert!(answer.tool_calls.is_empty(), "{case}: half a call was kept");
                }
            }
            (_, end) => panic!("{case} ended with {end:?}"),
        }
    }
    assert_eq!(llm.requests().len(), 6, "one attempt each");
    assert_eq!(daemon.home().appended_lines(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn ta_05_a_cut_call_never_runs_and_three_in_a_row_end_the_turn() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).tool(agentd_testkit::AppendLine::new()).start().await;
    let mut ann = daemon.driver("ann").await;
    let cut = |arguments: &str, finish: &str| {
        Reply::sse()
            .tool_delta(&json!({"index": 0, "id": "c", "type": "function",
                "function": {"name": "append_line", "arguments": arguments}}))
            .finish(finish)
            .usage(10, 5)
            .done()
    };
    llm.push(cut(r##"{"line":"# T\n## 1"##, "length"));
    llm.push(cut(r##"{"line":"# T\n## 1"##, "tool_calls"));
    // Whole JSON by chance, but the limit was reached.
    llm.push(cut(r#"{"line":"looks whole"}"#, "length"));
    ann.submit("write a file").await;
    let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
    assert_eq!(failed.error.unwrap().code, "OUTPUT_LIMIT");
    assert_eq!(daemon.home().appended_lines(), Vec::<String>::new());
    let results = results(&ann);
    assert_eq!(results.len(), 3);
    for result in &results {
        assert_eq!(result.error_code, "TOOL_CALL_CUT", "{result:?}");
        assert!(result.output.contains("parts"), "{result:?}");
    }
    assert!(!kinds(&durable(&ann)).contains(&"tool started"));
    llm.push(Reply::text("fine"));
    assert_eq!(ann.ask("never mind").await, "fine");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn ta_07_a_model_that_repeats_a_failing_call_is_stopped_and_the_user_sees_why() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.set_default(|request| {
        if request.last_user_text() == "go" {
            Reply::tool_call("read_file", r#"{"path":"missing"}"#)
        } else {
            Reply::text("other")
        }
    });
    ann.submit("go").await;
    let Body::TurnFailed(failed) = ann.wait_turn_end().await else { panic!("no failure") };
    let error = failed.error.unwrap();
    assert_eq!(error.code, "TOOL_LOOP");
    assert!(error.message.contains("read_file"), "{error:?}");
    // The last request was for an answer, without tools; people were told.
    let requests = llm.requests();
    assert_eq!(requests.len(), 7);
    assert!(requests[5].body["tools"].is_array() && requests[6].body.get("tools").is_none());
    assert!(ann.events().any(|event| matches!(event.body, Some(Body::Notice(_)))));
    assert_eq!(ann.ask("something else").await, "other");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn ta_07_a_model_that_is_kept_from_repeating_a_call_says_what_failed() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    llm.set_default(|request| {
        if request.body.get("tools").is_some() {
            Reply::tool_call("read_file", r#"{"path":"missing"}"#)
        } else {
            Reply::text("there is no file 'missing'")
        }
    });
    assert_eq!(ann.ask("go").await, "there is no file 'missing'");
    assert_eq!(results(&ann).len(), 6);
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn ta_07_many_different_calls_in_one_turn_are_legitimate() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("session.rounds_limit", 50).start().await;
    let mut ann = daemon.driver("ann").await;
    for n in 0..40 {
        std::fs::write(daemon.workspace().join(format!("{n}.txt")), "the same text").unwrap();
        llm.push(Reply::tool_call("read_file", &format!(r#"{{"path":"{n}.txt"}}"#)));
    }
    llm.push(Reply::text("all read"));
    assert_eq!(ann.ask("read all").await, "all read");
    assert_eq!(results(&ann).len(), 40);
    daemon.stop().await;
}

#[tokio::test]
async fn en_02_halves_of_surrogate_pairs_do_no_harm_on_the_whole_path() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).tool(agentd_testkit::AppendLine::new()).start().await;
    let mut ann = daemon.driver("ann").await;
    let delta = |content: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"{content}"}},"finish_reason":null}}]}}"#
        )
    };
    llm.push(
        Reply::sse()
            .data(&delta(r"ok \ud83d"))
            .data(&delta(r"\ude00 \ud800 end"))
            .tool_delta(&json!({"index": 0, "id": "c", "type": "function", "function":
                {"name": "append_line", "arguments": r#"{"line":"a\udf06b"}"#}}))
            .finish("tool_calls")
            .usage(1, 1)
            .done(),
    );
    llm.push(Reply::text("done"));
    assert_eq!(ann.ask("go").await, "done");
    let text = &answers(&ann)[0].text;
    assert!(text == "ok 😀 \u{fffd} end" || text == "ok \u{fffd} \u{fffd} end", "{text:?}");
    assert_eq!(daemon.home().appended_lines(), ["a\u{fffd}b"]);
    // What went back to the provider is valid JSON with the same text.
    let request = llm.wait_for_request(2).await;
    let sent = request.messages().iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(sent["content"], json!(text));
    daemon.stop().await;
}
