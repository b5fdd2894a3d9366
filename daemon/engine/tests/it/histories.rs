//! Cases of what goes back to a provider from the log, on every API. The server is strict: what its API
//! refuses is answered with 400, and a session whose history is refused would be lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agentd_domain::{Effort, EventBody, SessionId, ToolEffect};
use agentd_engine::{AutoResume, Engine, SessionUpdate};
use agentd_llm::{
    Anthropic, AnthropicOptions, OpenAiCompatible, OpenAiOptions, OpenAiResponses, Provider,
    ReasoningEcho, ResponsesOptions,
};
use agentd_testkit::{Api, LlmServer, Reply};

use crate::tools::{Behaviour, Probe};
use crate::world::{Terminal, World};

/// A tool result that holds what masking would look for.
const SECRET: &str = "key sk-live-0123456789abcdef";
const SIGNATURES: [&str; 3] = ["c2lnMQ==", "c2lnMg==", "c2lnMw=="];

/// A world whose model is the server, asked through one of the APIs.
struct Story {
    api: Api,
    llm: LlmServer,
    world: World,
    engine: Option<Engine>,
    id: SessionId,
    turns: usize,
}

impl Story {
    async fn begin(api: Api) -> Self {
        let llm = LlmServer::start().await;
        if api == Api::Chat {
            llm.demand_reasoning();
        }
        let mut world = World::new();
        for (name, output) in [("look", SECRET), ("mkdir", "")] {
            let probe = Probe::new(name, ToolEffect::Exclusive, Behaviour::Say(output));
            world.tools.register(Arc::new(probe)).unwrap();
        }
        *world.models.real.lock().unwrap() = Some(provider(api, &llm));
        world.configure(|config| config.auto_resume = AutoResume::Always);
        let engine = world.engine();
        let id = world.session(&engine).await;
        let mut story = Self { api, llm, world, engine: Some(engine), id, turns: 0 };
        story.switch_to(0).await;
        story
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    /// Lets the first or the second of two models that reason answer from now on.
    async fn switch_to(&mut self, which: usize) {
        let models = match self.api {
            Api::Chat => ["scripted", "another"],
            Api::Messages => ["claude-sonnet-4-5", "claude-opus-5"],
            Api::Responses => ["gpt-5.5", "gpt-5.4"],
        };
        let update = SessionUpdate {
            model: Some(models[which].to_owned()),
            effort: Some(Some(Effort::High)),
            ..SessionUpdate::default()
        };
        self.engine().update(self.id, update, None).await.unwrap();
    }

    async fn terminal(&self) -> Terminal {
        Terminal::attach(self.engine(), self.id, "ann").await
    }

    /// Runs a turn; returns the code of its failure, if it failed.
    async fn turn(&mut self, text: &str) -> Option<String> {
        let mut terminal = self.terminal().await;
        self.world.send(self.engine(), self.id, text).await;
        self.end_of_turn(&mut terminal).await
    }

    async fn end_of_turn(&mut self, terminal: &mut Terminal) -> Option<String> {
        self.turns += 1;
        let turns = self.turns;
        terminal
            .until(|seen| seen.count("turn_completed") + seen.count("turn_failed") >= turns)
            .await;
        terminal.events.iter().rev().find_map(|event| match &event.body {
            EventBody::TurnFailed(failed) => Some(Some(failed.error.code.clone())),
            EventBody::TurnCompleted(_) => Some(None),
            _ => None,
        })?
    }

    async fn crash_and_start(&mut self) {
        self.world.crash(self.engine.take().unwrap()).await;
        let engine = self.world.engine();
        engine.resume_unfinished().await.unwrap();
        self.engine = Some(engine);
    }

    fn last_request(&self) -> String {
        let requests = self.llm.requests();
        String::from_utf8(requests.last().unwrap().raw.clone()).unwrap()
    }

    /// Whether the last request holds what the model thought before its calls, turn by turn.
    fn thoughts(&self) -> [bool; 3] {
        let sent = self.last_request();
        SIGNATURES.map(|signature| sent.contains(signature))
    }

    #[track_caller]
    fn assert_no_violations(&self) {
        assert_eq!(self.llm.violations(), Vec::<String>::new());
    }
}

fn provider(api: Api, llm: &LlmServer) -> Arc<dyn Provider> {
    let (url, key) = (llm.base_url(), Some("sk-test".to_owned().into()));
    match api {
        Api::Chat => {
            let echo_reasoning = ReasoningEcho::ToolCallTurns;
            let options = OpenAiOptions { echo_reasoning, ..OpenAiOptions::new(&url, key) };
            Arc::new(OpenAiCompatible::new(options).unwrap())
        }
        Api::Messages => Arc::new(Anthropic::new(AnthropicOptions::new(&url, key)).unwrap()),
        Api::Responses => Arc::new(OpenAiResponses::new(ResponsesOptions::new(&url, key)).unwrap()),
    }
}

/// Thinks of a secret, says something and calls a tool. In Chat Completions, what it thinks is the mark
/// that is looked for.
fn look(api: Api, signature: &str) -> Reply {
    let reply = match api {
        Api::Chat => Reply::sse().reasoning(signature),
        Api::Messages | Api::Responses => Reply::sse()
            .signed_reasoning(&format!("I see <{SECRET}> \u{e9}\n"), signature)
            .redacted_reasoning(&format!("aGlkZGVu{signature}"))
            .text_delta("Let me look."),
    };
    reply.call_deltas(&[("look", "{ \"at\": 1 }")]).finish("tool_calls").done()
}

macro_rules! on_every_api {
    ($($case:ident),+ $(,)?) => {
        on_every_api! { chat Chat [$($case),+] }
        on_every_api! { messages Messages [$($case),+] }
        on_every_api! { responses Responses [$($case),+] }
    };
    ($module:ident $api:ident [$($case:ident),+]) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $case() {
                    super::$case(agentd_testkit::Api::$api).await;
                }
            )+
        }
    };
}

on_every_api! {
    ps_08_ps_13_thoughts_go_back_after_restart_trimming_and_a_switch_of_the_model,
    ps_13_a_tool_turn_that_a_crash_cut_goes_on_with_its_thoughts,
    ps_14_blank_answers_and_silent_tools_wedge_no_session,
    ta_05_a_cut_call_is_not_run_the_model_is_told_and_the_third_ends_the_turn,
}

async fn ps_08_ps_13_thoughts_go_back_after_restart_trimming_and_a_switch_of_the_model(api: Api) {
    let mut story = Story::begin(api).await;
    story.llm.push(look(api, SIGNATURES[0]));
    story.llm.push(Reply::text("one"));
    assert_eq!(story.turn("first").await, None);
    assert_eq!(story.thoughts(), [true, false, false], "inside the turn");

    story.crash_and_start().await;
    story.llm.push(look(api, SIGNATURES[1]));
    story.llm.push(Reply::text("two"));
    assert_eq!(story.turn("second").await, None);
    assert_eq!(story.thoughts(), [true, true, false], "from the log");

    // Another model is sent no block that it has not written.
    story.switch_to(1).await;
    story.llm.push(Reply::text("three"));
    assert_eq!(story.turn("third").await, None);
    let is_signed = api != Api::Chat;
    assert_eq!(story.thoughts(), [!is_signed, !is_signed, false], "another model");
    // In its tool turn, it thinks for itself.
    story.llm.push(look(api, SIGNATURES[2]));
    story.llm.push(Reply::text("four"));
    assert_eq!(story.turn("fourth").await, None, "{:?}", story.llm.violations());
    assert_eq!(story.thoughts(), [!is_signed, !is_signed, true], "another model");

    // The first one gets its own back, as they were.
    story.switch_to(0).await;
    assert_eq!(story.turn("fifth").await, None, "{:?}", story.llm.violations());
    assert_eq!(story.thoughts(), [true, true, !is_signed], "back again");

    // When only the newest turns fit, what is left of the rest is whole.
    story.world.models.context_tokens.store(200, Ordering::Relaxed);
    story.llm.push(look(api, SIGNATURES[0]));
    story.llm.push(Reply::text("six"));
    assert_eq!(story.turn("sixth").await, None);
    let folded = story.world.kinds(story.id).await;
    assert!(folded.iter().any(|kind| kind == "context_compacted"));
    assert!(!story.last_request().contains("\"first\""), "the first turn is gone");
    assert_eq!(story.thoughts()[..2], [true, false], "those of the open turn, none that are gone");
    story.assert_no_violations();
}

async fn ps_13_a_tool_turn_that_a_crash_cut_goes_on_with_its_thoughts(api: Api) {
    let mut story = Story::begin(api).await;
    story.llm.push(look(api, SIGNATURES[0]));
    story.llm.push(Reply::sse().text_delta("half").stall());
    let mut terminal = story.terminal().await;
    story.world.send(story.engine(), story.id, "go").await;
    terminal.until(|seen| seen.live == "half").await;
    drop(terminal);
    story.llm.push(Reply::text("whole"));
    story.crash_and_start().await;
    let mut terminal = story.terminal().await;
    assert_eq!(story.end_of_turn(&mut terminal).await, None);
    assert_eq!(story.thoughts(), [true, false, false]);
    assert!(!story.last_request().contains("half"), "what broke off is not in the way");
    story.assert_no_violations();
}

async fn ps_14_blank_answers_and_silent_tools_wedge_no_session(api: Api) {
    let mut story = Story::begin(api).await;
    let reasoning_only = || Reply::sse().reasoning("hm").finish("stop").done();
    let blank = || Reply::sse().text_delta(" \n").finish("stop").done();
    // (a) tool calls only, of a silent tool (c); then (b) reasoning only, (d) a blank text. Whether
    // such an answer counts as one is the provider's to say; the session goes on either way.
    let silent = |text: &str| {
        let reply = Reply::sse().reasoning("so").text_delta(text);
        reply.call_deltas(&[("mkdir", "{}")]).finish("tool_calls").done()
    };
    for replies in [
        vec![silent(""), Reply::text("made")],
        vec![reasoning_only()],
        vec![blank()],
        vec![silent(" \n"), blank()],
        vec![silent("\t"), reasoning_only()],
    ] {
        for reply in replies {
            story.llm.push(reply);
        }
        story.turn("go").await;
        story.assert_no_violations();
    }
    assert_eq!(story.llm.requests()[1].tool_outputs(), ["(no output)"]);
    story.crash_and_start().await;
    story.llm.push(Reply::text("well"));
    assert_eq!(story.turn("and now?").await, None);
    story.assert_no_violations();
}

async fn ta_05_a_cut_call_is_not_run_the_model_is_told_and_the_third_ends_the_turn(api: Api) {
    let mut story = Story::begin(api).await;
    let cut = |arguments: &str, finish: &str| {
        let reply = Reply::sse().reasoning("so").call_deltas(&[("look", arguments)]);
        reply.finish(finish).done()
    };
    story.llm.push(cut("{\"path\":\"README.md\",\"content\":\"# T\\n## 1", "length"));
    story.llm.push(cut("{\"path\":\"README.md\",\"content\":\"# T\\n## 1", "tool_calls"));
    // Whole JSON by chance, but the limit was reached.
    story.llm.push(cut("{\"path\":\"README.md\"}", "length"));
    assert_eq!(story.turn("write").await.as_deref(), Some("OUTPUT_LIMIT"));
    let log = story.world.log(story.id).await;
    let results: Vec<_> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolCallFinished(finished) => Some(finished),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 3);
    for result in &results {
        assert_eq!(result.error_code, "TOOL_CALL_CUT");
    }
    let kinds = story.world.kinds(story.id).await;
    assert!(!kinds.iter().any(|kind| kind == "tool_call_started"), "nothing ran");
    let told = story.llm.requests()[2].tool_outputs();
    assert!(told.iter().all(|output| output.contains("in several parts")), "{told:?}");
    assert_eq!(story.llm.requests().len(), 3);
    story.crash_and_start().await;
    story.llm.push(Reply::text("fine"));
    assert_eq!(story.turn("never mind").await, None);
    story.assert_no_violations();
}
