//! What failing calls cost a turn (spec d.7).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use agentd_domain::{
    Action, Capabilities, ErrorReport, EventBody, NoticeLevel, ToolCallFinished, ToolEffect,
    ToolResult, ToolSpec, ToolStatus,
};
use agentd_engine::FailureLimits;
use agentd_llm::Message;
use agentd_tools::{Tool, ToolContext};
use async_trait::async_trait;

use crate::world::{Step, Terminal, World, text};

/// Gives these results, then successes.
#[derive(Debug)]
struct Moody {
    spec: ToolSpec,
    results: Mutex<VecDeque<ToolResult>>,
}

#[async_trait]
impl Tool for Moody {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        _ctx: &ToolContext,
        _arguments: serde_json::Value,
        _planned: &Action,
    ) -> ToolResult {
        let result = self.results.lock().unwrap().pop_front();
        result.unwrap_or_else(|| ToolResult::success("well"))
    }
}

/// A world whose tool fails so often with results of its own each time, and a model that calls it once
/// more than that unless it is kept from it, and answers.
fn world_that_fails(times: usize, fail: fn(String) -> ToolResult) -> World {
    let mut world = World::new();
    let spec = ToolSpec {
        name: "moody".to_owned(),
        description: "Fails.".to_owned(),
        parameters: serde_json::json!({"type": "object", "properties": {}}),
        capabilities: Capabilities::of(ToolEffect::Exclusive),
    };
    let results = (0..times).map(|n| fail(format!("failure {n}"))).collect();
    world.tools.register(Arc::new(Moody { spec, results: Mutex::new(results) })).unwrap();
    world
}

fn finished(terminal: &Terminal) -> Vec<&ToolCallFinished> {
    let events = terminal.events.iter();
    events
        .filter_map(|event| match &event.body {
            EventBody::ToolCallFinished(finished) => Some(finished),
            _ => None,
        })
        .collect()
}

fn warnings(terminal: &Terminal) -> Vec<&str> {
    let events = terminal.events.iter();
    events
        .filter_map(|event| match &event.body {
            EventBody::Notice(notice) if notice.level == NoticeLevel::Warn => {
                Some(notice.text.as_str())
            }
            _ => None,
        })
        .collect()
}

fn error_of_turn(terminal: &Terminal) -> &ErrorReport {
    let error = terminal.events.iter().find_map(|event| match &event.body {
        EventBody::TurnFailed(failed) => Some(&failed.error),
        _ => None,
    });
    error.expect("the turn failed")
}

fn fatal(message: String) -> ToolResult {
    ToolResult::fatal("TOOL_EXECUTION_FAILED", message)
}

#[tokio::test(start_paused = true)]
async fn after_five_changes_of_way_the_model_answers_without_tools_and_people_are_told() {
    let world = world_that_fails(6, fatal);
    let engine = world.engine();
    let id = world.session(&engine).await;
    for _ in 0..6 {
        world.script(vec![Step::Call(vec![("moody", "{}")])]);
    }
    world.script(vec![text("it cannot be done")]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_completed", 1).await;
    let outputs: Vec<&str> = finished(&terminal).iter().map(|end| end.output.as_str()).collect();
    assert_eq!(outputs.len(), 6);
    assert!(outputs[0].contains("1 of 5 times") && outputs[4].contains("5 of 5"), "{outputs:?}");
    assert!(outputs[5].contains("no tools can be called any more"), "{outputs:?}");
    assert_eq!(warnings(&terminal).len(), 1);
    {
        let requests = world.provider.requests.lock().unwrap();
        assert!(requests[..6].iter().all(|request| request.tools.len() == 1));
        assert!(requests[6].tools.is_empty());
        let Some(Message::Tool { output, .. }) = requests[6].messages.last() else {
            panic!("{:?}", requests[6].messages)
        };
        assert!(output.contains("Answer now"), "{output}");
    }
    // The next turn begins with whole budgets and all tools.
    world.script(vec![Step::Call(vec![("moody", "{}")])]);
    world.send(&engine, id, "once more").await;
    terminal.until_kind("turn_completed", 2).await;
    assert_eq!(finished(&terminal)[6].output, "well");
    assert_eq!(world.provider.requests.lock().unwrap()[7].tools.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn failures_that_may_pass_are_borne_three_times_before_they_count() {
    let world = world_that_fails(4, |message| ToolResult::retryable("TOOL_TIMEOUT", message));
    let engine = world.engine();
    let id = world.session(&engine).await;
    for _ in 0..5 {
        world.script(vec![Step::Call(vec![("moody", "{}")])]);
    }
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_completed", 1).await;
    let outputs: Vec<&str> = finished(&terminal).iter().map(|end| end.output.as_str()).collect();
    assert_eq!(outputs[..3], ["failure 0", "failure 1", "failure 2"]);
    assert!(outputs[3].contains("1 of 5 times"), "{outputs:?}");
    assert_eq!(outputs[4], "well");
    assert!(warnings(&terminal).is_empty());
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_model_that_was_to_answer_get_results_and_end_the_turn() {
    let world = world_that_fails(1, fatal);
    world.configure(|config| config.failures = FailureLimits { retries: 0, replans: 0 });
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("moody", "{}")])]);
    world.script(vec![Step::Call(vec![("moody", "{}"), ("moody", "{}")])]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_failed", 1).await;
    let statuses: Vec<_> = finished(&terminal).iter().map(|end| end.status).collect();
    assert_eq!(statuses, [ToolStatus::FatalError, ToolStatus::Skipped, ToolStatus::Skipped]);
    assert_eq!(error_of_turn(&terminal).code, "TOOL_FAILURES");
}

#[tokio::test(start_paused = true)]
async fn ta_07_a_model_that_goes_round_in_circles_is_told_and_then_answers_without_tools() {
    let world = world_that_fails(0, fatal);
    let engine = world.engine();
    let id = world.session(&engine).await;
    for _ in 0..6 {
        world.script(vec![Step::Call(vec![("moody", "{}")])]);
    }
    world.script(vec![text("always the same")]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_completed", 1).await;
    let outputs: Vec<&str> = finished(&terminal).iter().map(|end| end.output.as_str()).collect();
    assert_eq!((outputs.len(), outputs[1]), (6, "well"));
    assert!(outputs[2].contains("the same result 3 times"), "{outputs:?}");
    assert!(outputs[5].contains("'moody' was called 6 times"), "{outputs:?}");
    assert!(outputs[5].contains("Answer now"), "{outputs:?}");
    assert!(matches!(warnings(&terminal)[..], [told] if told.contains("'moody' 6 times")));
    let requests = world.provider.requests.lock().unwrap();
    assert!(requests[..6].iter().all(|request| request.tools.len() == 1));
    assert!(requests.len() == 7 && requests[6].tools.is_empty());
}

#[tokio::test(start_paused = true)]
async fn ta_07_a_model_that_goes_round_in_circles_and_does_not_answer_fails_the_turn() {
    let world = world_that_fails(0, fatal);
    let engine = world.engine();
    let id = world.session(&engine).await;
    for _ in 0..7 {
        world.script(vec![Step::Call(vec![("moody", "{}")])]);
    }
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_failed", 1).await;
    assert_eq!(finished(&terminal)[6].status, ToolStatus::Skipped);
    let error = error_of_turn(&terminal);
    assert_eq!(error.code, "TOOL_LOOP");
    assert!(error.message.contains("'moody' 6 times"), "{error:?}");
    assert_eq!(world.provider.requests.lock().unwrap().len(), 7);
}

#[tokio::test(start_paused = true)]
async fn the_answer_without_tools_is_given_when_the_rounds_are_used_up_too() {
    let world = world_that_fails(1, fatal);
    world.configure(|config| {
        config.failures = FailureLimits { retries: 0, replans: 0 };
        config.rounds_limit = 1;
    });
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("moody", "{}")])]);
    world.script(vec![text("no")]);
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(world.provider.requests.lock().unwrap().len(), 2);
}
