//! A tool whose behaviour tests choose, and turns that call it.

use std::sync::Arc;

use agentd_domain::{
    Action, Capabilities, EventBody, ToolCallFinished, ToolEffect, ToolImage, ToolResult, ToolSpec,
    ToolStatus,
};
use agentd_llm::Message;
use agentd_tools::{Tool, ToolContext};
use async_trait::async_trait;
use tokio::sync::watch;

use crate::world::{Gate, Step, Terminal, World, author, pass_seconds, root};

/// What a probe does when it is called.
#[derive(Debug)]
pub(crate) enum Behaviour {
    Say(&'static str),
    Pass(Gate),
    /// Shows a text, waits at the gate, and shows it again.
    Show(&'static str, Gate),
    Panic,
    /// Gives a picture.
    Paint,
}

/// See the page.
#[derive(Debug)]
pub(crate) struct Probe {
    spec: ToolSpec,
    behaviour: Behaviour,
    runs: watch::Sender<usize>,
}

impl Probe {
    pub(crate) fn new(name: &str, effect: ToolEffect, behaviour: Behaviour) -> Self {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "Probes.".to_owned(),
            parameters: serde_json::json!({"type": "object", "properties": {}}),
            capabilities: Capabilities::of(effect),
        };
        Self { spec, behaviour, runs: watch::Sender::new(0) }
    }

    /// Waits until it runs.
    pub(crate) async fn started(&self) {
        self.runs.subscribe().wait_for(|runs| *runs > 0).await.unwrap();
    }

    pub(crate) fn runs(&self) -> usize {
        *self.runs.borrow()
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        ctx: &ToolContext,
        _arguments: serde_json::Value,
        _planned: &Action,
    ) -> ToolResult {
        assert_eq!(ctx.workspace, root());
        self.runs.send_modify(|runs| *runs += 1);
        match &self.behaviour {
            Behaviour::Say(text) => ToolResult::success(*text),
            Behaviour::Pass(gate) => {
                gate.pass().await;
                ToolResult::success("passed")
            }
            Behaviour::Show(text, gate) => {
                ctx.output.show(text).await;
                gate.pass().await;
                ctx.output.show(text).await;
                ToolResult::success("shown")
            }
            Behaviour::Panic => panic!("a scripted panic"),
            Behaviour::Paint => {
                let mut result = ToolResult::success("[a picture]");
                let (media_type, data_base64) = ("image/png".to_owned(), "AAAA".to_owned());
                result.image = Some(Box::new(ToolImage { media_type, data_base64 }));
                result
            }
        }
    }
}

fn results(terminal: &Terminal) -> Vec<(String, ToolStatus)> {
    terminal
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolCallFinished(ToolCallFinished { name, status, .. }) => {
                Some((name.clone(), *status))
            }
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_model_reads_every_result_in_order_and_answers() {
    let mut world = World::new();
    let say = |name: &str, text| Arc::new(Probe::new(name, ToolEffect::Pure, Behaviour::Say(text)));
    world.tools.register(say("a", "from a")).unwrap();
    world.tools.register(say("b", "from b")).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("b", "{}"), ("nope", "{}"), ("a", "{}")])]);
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    let expect = [
        ("b".to_owned(), ToolStatus::Success),
        ("nope".to_owned(), ToolStatus::FatalError),
        ("a".to_owned(), ToolStatus::Success),
    ];
    assert_eq!(results(&terminal), expect);
    let requests = world.provider.requests.lock().unwrap();
    let [Message::User { .. }, Message::Assistant { tool_calls, .. }, tail @ ..] =
        &requests[1].messages[1..]
    else {
        panic!("{:?}", requests[1].messages)
    };
    let ids: Vec<_> = tool_calls.iter().map(|call| call.call_id.clone()).collect();
    let answered: Vec<_> = tail
        .iter()
        .map(|message| match message {
            Message::Tool { call_id, .. } => call_id.clone(),
            other => panic!("{other:?} between the results"),
        })
        .collect();
    assert_eq!(answered, ids);
}

#[tokio::test(start_paused = true)]
async fn what_a_running_call_shows_is_seen_by_early_and_late_terminals() {
    let mut world = World::new();
    let gate = Gate::new();
    let behaviour = Behaviour::Show("one 世 ", gate.clone());
    world.tools.register(Arc::new(Probe::new("probe", ToolEffect::Process, behaviour))).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("probe", "{}")])]);
    let mut early = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    let shows = |terminal: &Terminal, wanted: &str| {
        terminal.outputs.values().any(|output| output == wanted)
    };
    early.until(|terminal| shows(terminal, "one 世 ")).await;
    let mut late = Terminal::attach(&engine, id, "bob").await;
    late.until(|terminal| shows(terminal, "one 世 ")).await;
    gate.open();
    for terminal in [&mut early, &mut late] {
        terminal.until(|terminal| shows(terminal, "one 世 one 世 ")).await;
        terminal.until_kind("turn_completed", 1).await;
        assert_eq!(results(terminal), [("probe".to_owned(), ToolStatus::Success)]);
    }
    // Who comes after the end has the result, and nothing of what was shown before.
    let mut after = Terminal::attach(&engine, id, "eve").await;
    after.until_kind("turn_completed", 1).await;
    assert!(after.outputs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_fails_its_call_and_nothing_else() {
    let mut world = World::new();
    let probe = Arc::new(Probe::new("probe", ToolEffect::Exclusive, Behaviour::Panic));
    world.tools.register(probe).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("probe", "{}")])]);
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(results(&terminal), [("probe".to_owned(), ToolStatus::FatalError)]);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_gives_every_call_one_result() {
    let mut world = World::new();
    let probe = Arc::new(Probe::new("probe", ToolEffect::Exclusive, Behaviour::Pass(Gate::new())));
    world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("probe", "{}"), ("probe", "{}")])]);
    world.send(&engine, id, "go").await;
    probe.started().await;
    assert!(engine.interrupt(id, None, author("ann")).await.unwrap());
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_interrupted", 1).await;
    let expect =
        [("probe".to_owned(), ToolStatus::Interrupted), ("probe".to_owned(), ToolStatus::Skipped)];
    assert_eq!(results(&terminal), expect);
    assert_eq!(probe.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_so_many_rounds_users_are_asked_and_may_go_on_or_stop() {
    let mut world = World::new();
    world.configure(|config| config.rounds_limit = 2);
    // A call with effects: others would be answered from memory.
    let probe = Arc::new(Probe::new("probe", ToolEffect::Process, Behaviour::Say("again")));
    world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    for _round in 0..4 {
        world.script(vec![Step::Call(vec![("probe", "{}")])]);
    }
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    for (asked, choice) in [(1, "continue"), (2, "stop")] {
        terminal.until_kind("question_asked", asked).await;
        assert_eq!(probe.runs(), 2 * asked);
        let question = engine.view(id).await.unwrap().open_questions.remove(0);
        assert_eq!(
            question.prompt,
            format!("The turn has taken {} model rounds. Go on?", 2 * asked)
        );
        engine.answer(id, question.question_id, choice, author("ann")).await.unwrap();
        let late = engine.answer(id, question.question_id, choice, author("bob")).await;
        assert!(late.is_err(), "{late:?}");
    }
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(probe.runs(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_gives_a_result_and_the_turn_goes_on() {
    let mut world = World::new();
    let probe = Arc::new(Probe::new("probe", ToolEffect::Exclusive, Behaviour::Pass(Gate::new())));
    world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("probe", "{}")])]);
    world.send(&engine, id, "go").await;
    pass_seconds(31).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(results(&terminal), [("probe".to_owned(), ToolStatus::RetryableError)]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_found_with_find_tools_is_permitted_started_and_shown_as_itself() {
    let mut world = World::new();
    world.tools = agentd_tools::Registry::builtin();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let call = r#"{"name":"text_length","arguments":{"text":"abc"}}"#;
    let query = r#"{"query":"count characters"}"#;
    world.script(vec![Step::Call(vec![("find_tools", query)])]);
    world.script(vec![Step::Call(vec![("call_tool", call)])]);
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    let started = terminal.events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallStarted(started) => {
            Some((started.name.as_str(), started.arguments_json.as_str(), started.effect))
        }
        _ => None,
    });
    assert_eq!(
        started.collect::<Vec<_>>(),
        [
            ("find_tools", query, ToolEffect::Pure),
            ("text_length", r#"{"text":"abc"}"#, ToolEffect::Pure)
        ]
    );
    let finished = |name: &str| (name.to_owned(), ToolStatus::Success);
    assert_eq!(results(&terminal), [finished("find_tools"), finished("text_length")]);

    // The model reads its own call as it made it, and is told of the same tools each time.
    let requests = world.provider.requests.lock().unwrap();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.tools == requests[0].tools));
    assert!(requests[0].tools.iter().all(|tool| tool.name != "text_length"));
    let [.., Message::Tool { output: found, .. }, Message::Assistant { tool_calls, .. }, _] =
        requests[2].messages.as_slice()
    else {
        panic!("{:?}", requests[2].messages)
    };
    assert!(found.starts_with("text_length: "), "{found}");
    assert_eq!(
        (tool_calls[0].name.as_str(), tool_calls[0].arguments_json.as_str()),
        ("call_tool", call)
    );
}

#[tokio::test(start_paused = true)]
async fn a_picture_follows_the_results_of_an_answer_also_after_a_restart() {
    let mut world = World::new();
    let painter = Probe::new("paint", ToolEffect::Pure, Behaviour::Paint);
    world.tools.register(Arc::new(painter)).unwrap();
    let say = Probe::new("say", ToolEffect::Pure, Behaviour::Say("words"));
    world.tools.register(Arc::new(say)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("paint", "{}"), ("say", "{}")])]);
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    engine.stop().await;
    let engine = world.engine();
    world.send(&engine, id, "again").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 2).await;

    let requests = world.provider.requests.lock().unwrap();
    let [_system, _user, _assistant, Message::Tool { .. }, Message::Tool { .. }, shown] =
        requests[1].messages.as_slice()
    else {
        panic!("{:?}", requests[1].messages)
    };
    let Message::User { text, images } = shown else { panic!("{shown:?}") };
    assert_eq!(text, "[images that the calls above gave, in their order]");
    assert_eq!(images.len(), 1);
    assert_eq!((images[0].media_type.as_str(), &*images[0].data_base64), ("image/png", "AAAA"));
    assert_eq!(requests[2].messages[..6], requests[1].messages[..]);
}
