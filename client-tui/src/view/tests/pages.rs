//! The pages of the documentation that show the screen and its keys.

use std::collections::BTreeSet;

use agentd_testkit::{Page, verbatim};
use crossterm::event::{KeyEvent, KeyModifiers};

use super::*;
use crate::input::Input;
use crate::input::keymap::{Keymap, TABLE};

const SMALL: (u16, u16) = (40, 12);
const USUAL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (120, 30);

const CALLS: [(&str, &str, &str); 3] = [
    ("c1", "read_file", r#"{"path":"src/invoice.rs"}"#),
    (
        "c2",
        "edit_file",
        r#"{"path":"src/invoice.rs","edits":[{"old":"    net * 119 / 100","new":"    net + net * self.vat_percent / 100"}]}"#,
    ),
    ("c3", "run_command", r#"{"command":"cargo test invoice"}"#),
];

const SOURCE: &str = "//! Invoices.\n\nimpl Invoice {\n    pub fn total(&self) -> i64 {\n        let net = self.net();\n        net * 119 / 100\n    }\n}\n";

const DIFF: &str = "--- a/src/invoice.rs\n+++ b/src/invoice.rs\n@@ -3,6 +3,6 @@\n impl Invoice {\n     pub fn total(&self) -> i64 {\n         let net = self.net();\n-        net * 119 / 100\n+        net + net * self.vat_percent / 100\n     }\n }\n";

/// What brings a screen about.
type Make = fn() -> Told;

/// A session that is told event by event.
struct Told {
    state: State,
    seq: u64,
}

impl Told {
    fn new() -> Self {
        let mut state = known("openai-compatible", "large-model-2026");
        let mut here = summary(SESSION, "VAT of invoices");
        here.session.as_mut().unwrap().effort = v1::Effort::High.into();
        let mut waits = summary("01JZ000000000000000000000A", "Clean up the backups");
        waits.session.as_mut().unwrap().open_approvals = 1;
        let mut unread = summary("01JZ000000000000000000000B", "Release notes of 2.4");
        unread.session.as_mut().unwrap().news_seq = 9;
        let idle = summary("01JZ000000000000000000000C", "Why is the build slow?");
        drop(state.on(snapshot(vec![here, waits, unread, idle])));
        Self { state, seq: 0 }
    }

    fn tell(&mut self, before_ms: i64, body: Body) -> &mut Self {
        self.seq += 1;
        drop(self.state.on(event(self.seq, self.state.now_ms - before_ms, body)));
        self
    }

    fn live(&mut self, item_id: &str, channel: v1::DeltaChannel, text: &str) -> &mut Self {
        let (item_id, text) = (item_id.to_owned(), text.to_owned());
        let delta = v1::ItemDelta { item_id, channel: channel.into(), offset: 0, text };
        drop(self.state.on(event(0, 0, Body::ItemDelta(delta))));
        self
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) -> &mut Self {
        drop(self.state.on(Input::Key(KeyEvent::new(code, modifiers))));
        self
    }

    fn write(&mut self, text: &str) -> &mut Self {
        typed(&mut self.state, text);
        self
    }

    /// Lets so much time pass that what is asked can have been read.
    fn wait(&mut self) -> &mut Self {
        for _ in 0..12 {
            drop(self.state.on(Input::Tick));
        }
        self
    }

    fn asks(&mut self, text: &str) -> &mut Self {
        let accepted = v1::MessageAccepted {
            item_id: "u1".to_owned(),
            text: text.to_owned(),
            author: Some(author()),
            ..v1::MessageAccepted::default()
        };
        let begun = v1::TurnStarted {
            item_ids: vec!["u1".to_owned()],
            model: "large-model-2026".to_owned(),
            effort_requested: v1::Effort::High.into(),
            effort_effective: v1::Effort::High.into(),
            ..v1::TurnStarted::default()
        };
        self.tell(21_000, Body::MessageAccepted(accepted)).tell(21_000, Body::TurnStarted(begun))
    }

    fn starts(&mut self, call: usize, before_ms: i64) -> &mut Self {
        let (id, name, arguments) = CALLS[call];
        self.tell(
            before_ms,
            Body::ToolCallStarted(v1::ToolCallStarted {
                call_id: id.to_owned(),
                name: name.to_owned(),
                arguments_json: arguments.to_owned(),
                ..v1::ToolCallStarted::default()
            }),
        )
    }

    fn finishes(&mut self, call: usize, output: &str, diff: &str, elapsed_ms: u64) -> &mut Self {
        let (id, name, _) = CALLS[call];
        let finished = v1::ToolCallFinished {
            call_id: id.to_owned(),
            name: name.to_owned(),
            status: v1::ToolStatus::Success.into(),
            output: output.to_owned(),
            output_bytes: output.len() as u64,
            diff: diff.to_owned(),
            elapsed_ms,
            ..v1::ToolCallFinished::default()
        };
        self.tell(12_000, Body::ToolCallFinished(finished))
    }

    fn shown(&mut self, size: (u16, u16)) -> String {
        text(&drawn(&mut self.state, size))
    }
}

/// A turn that reads a file, changes it and runs the tests, which go on.
fn answering() -> Told {
    let mut told = Told::new();
    told.asks("The VAT is fixed at 19 %. Make it a field of the invoice.");
    let call = |(id, name, arguments): (&str, &str, &str)| v1::ToolCall {
        call_id: id.to_owned(),
        name: name.to_owned(),
        arguments_json: arguments.to_owned(),
    };
    let says = v1::AssistantMessage {
        item_id: "a1".to_owned(),
        reasoning: "The total is computed in one place.".to_owned(),
        text: "I will read `total`, change it, and run the tests of **invoice**:".to_owned(),
        tool_calls: CALLS.map(call).to_vec(),
        completeness: v1::MessageCompleteness::Complete.into(),
    };
    told.tell(15_000, Body::AssistantMessage(says));
    told.starts(0, 15_000).finishes(0, SOURCE, "", 4);
    told.starts(1, 14_000).finishes(1, "Changed 'src/invoice.rs'", DIFF, 11);
    told.starts(2, 13_000);
    let tail = "   Compiling invoice v2.4.0\nrunning 3 tests\ntest total_of_nothing ... ok\n";
    told.live("c3", v1::DeltaChannel::ToolOutput, tail);
    let context = v1::GetContextResponse {
        window_tokens: 100_000,
        layers: vec![v1::ContextLayer { tokens: 17_000, ..v1::ContextLayer::default() }],
        ..v1::GetContextResponse::default()
    };
    let context = Box::new(context);
    drop(told.state.on(reply(Reply::Context { session_id: SESSION.to_owned(), context })));
    told
}

/// The same with the change opened by a key.
fn unfolded() -> Told {
    let mut told = answering();
    drop(told.shown(USUAL));
    told.press(KeyCode::Char('k'), KeyModifiers::ALT);
    told.press(KeyCode::Char('k'), KeyModifiers::ALT);
    told.press(KeyCode::Enter, KeyModifiers::NONE);
    told
}

/// The same with a plan and two messages that wait.
fn planned() -> Told {
    let mut told = answering();
    let step = |objective: &str, status: v1::PlanStepStatus| v1::PlanStep {
        objective: objective.to_owned(),
        status: status.into(),
        ..v1::PlanStep::default()
    };
    let plan = v1::Plan {
        goal: "VAT of invoices".to_owned(),
        steps: vec![
            step("make the rate a field", v1::PlanStepStatus::Done),
            step("run the tests", v1::PlanStepStatus::Running),
            step("migrate stored invoices", v1::PlanStepStatus::Pending),
        ],
        revision: 1,
        ..v1::Plan::default()
    };
    told.tell(0, Body::PlanChanged(v1::PlanChanged { plan: Some(plan) }));
    let bo = v1::Author { client_id: "bo".to_owned(), name: "bo@pts/9".to_owned() };
    let waits = |item_id: &str, text: &str, by: v1::Author| {
        Body::MessageAccepted(v1::MessageAccepted {
            item_id: item_id.to_owned(),
            text: text.to_owned(),
            author: Some(by),
            ..v1::MessageAccepted::default()
        })
    };
    told.tell(0, waits("q1", "and write a line for the changelog", author()));
    told.tell(0, waits("q2", "reduced rates are 7 %, please test these too", bo));
    told.state.notices.dismiss();
    told
}

/// A command that may not run unasked.
fn approval() -> Told {
    let mut told = answering();
    let argv = ["git", "push", "origin", "vat-as-a-field"].map(str::to_owned).to_vec();
    let confinement = v1::Confinement {
        backend: "bubblewrap".to_owned(),
        writes: true,
        network: true,
        hosts: vec!["git.example.org".to_owned()],
    };
    let run = v1::RunTarget { argv, cwd: String::new(), confinement: Some(confinement) };
    let action = v1::Action {
        summary: "run a command".to_owned(),
        targets: vec![v1::ActionTarget { target: Some(v1::action_target::Target::Run(run)) }],
    };
    told.tell(
        0,
        Body::ApprovalRequested(v1::ApprovalRequested {
            approval_id: "A".to_owned(),
            call_id: "c4".to_owned(),
            tool: "run_command".to_owned(),
            action: Some(action),
            because: "no rule allows it".to_owned(),
            ..v1::ApprovalRequested::default()
        }),
    );
    told.wait();
    told
}

fn question() -> Told {
    let mut told = answering();
    told.tell(
        0,
        Body::QuestionAsked(v1::QuestionAsked {
            question_id: "Q".to_owned(),
            prompt: "Invoices of last year have no rate. Which one shall they get?".to_owned(),
            choices: vec!["19 %".to_owned(), "the one of their country".to_owned()],
            free_text: true,
            ..v1::QuestionAsked::default()
        }),
    );
    told.wait();
    told
}

fn completion() -> Told {
    let mut told = answering();
    told.write("/re");
    told
}

fn memory() -> Told {
    let mut told = answering();
    told.press(KeyCode::F(3), KeyModifiers::NONE);
    let contents = [
        "Invoices are rounded half to even, each line by itself",
        "ann wants commits that do one thing",
        "The staging server is staging.example.org; nothing is deployed on Fridays",
    ];
    drop(told.state.on(reply(memories(&contents))));
    told
}

fn tools() -> Told {
    let mut told = answering();
    told.press(KeyCode::F(4), KeyModifiers::NONE);
    let tool = |name: &str, description: &str, effect: v1::ToolEffect| v1::Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        capabilities: Some(v1::ToolCapabilities {
            effect: effect.into(),
            ..v1::ToolCapabilities::default()
        }),
        ..v1::Tool::default()
    };
    drop(told.state.on(reply(Reply::Tools(vec![
        tool("edit_file", "Replaces texts of a file.", v1::ToolEffect::WorkspaceWrite),
        tool("fetch_url", "Reads a page of the web.", v1::ToolEffect::NetworkRead),
        tool("grep_files", "Searches files for a pattern.", v1::ToolEffect::WorkspaceRead),
        tool("read_file", "Reads a file.", v1::ToolEffect::WorkspaceRead),
        tool("run_command", "Runs a command in the sandbox.", v1::ToolEffect::Process),
    ]))));
    told
}

fn usage() -> Told {
    let mut told = answering();
    told.press(KeyCode::F(6), KeyModifiers::NONE);
    let row = |key: &str, requests: u64, prompt_tokens: u64, nano_usd: u64| v1::UsageRow {
        key: key.to_owned(),
        requests,
        exact: Some(v1::Usage { prompt_tokens, ..v1::Usage::default() }),
        cost: Some(v1::Cost { nano_usd, ..v1::Cost::default() }),
        ..v1::UsageRow::default()
    };
    let usage = v1::GetUsageResponse {
        rows: vec![
            row("2026-11-28", 4, 61_200, 98_000_000),
            row("2026-11-29", 31, 1_234_567, 1_230_000_000),
            row("2026-11-30", 12, 402_118, 455_000_000),
        ],
        total: Some(row("", 47, 1_697_885, 1_783_000_000)),
        ..v1::GetUsageResponse::default()
    };
    drop(told.state.on(reply(Reply::Usage(Box::new(usage)))));
    told
}

fn sweeps() -> Told {
    let mut told = answering();
    told.press(KeyCode::F(7), KeyModifiers::NONE);
    let count = |status: v1::MemoryStatus, count: u32| v1::MemoryCount {
        status: status.into(),
        priority: v1::MemoryPriority::Medium.into(),
        count,
    };
    let last = v1::MemoryConsolidation {
        at_ms: told.state.now_ms - 900_000,
        merged: 2,
        compared: 9,
        superseded: 1,
        ..v1::MemoryConsolidation::default()
    };
    let stats = v1::GetMemoryStatsResponse {
        counts: vec![count(v1::MemoryStatus::Active, 12), count(v1::MemoryStatus::Quarantined, 1)],
        max_active: 10_000,
        search: "words".to_owned(),
        last_consolidation: Some(last),
        ..v1::GetMemoryStatsResponse::default()
    };
    drop(told.state.on(reply(Reply::MemoryStats(Box::new(stats)))));
    told
}

fn search() -> Told {
    let mut told = answering();
    told.press(KeyCode::F(8), KeyModifiers::NONE).write("rounding");
    told.press(KeyCode::Enter, KeyModifiers::NONE);
    let found = |title: &str, by: v1::Speaker, ago_ms: i64, snippet: &str| v1::FoundMessage {
        session_id: SESSION.to_owned(),
        title: title.to_owned(),
        seq: 7,
        at_ms: 1_000_000 - ago_ms,
        by: by.into(),
        snippet: snippet.to_owned(),
        ..v1::FoundMessage::default()
    };
    let found = v1::SearchMessagesResponse {
        messages: vec![
            found(
                "VAT of invoices",
                v1::Speaker::User,
                240_000,
                "is rounding done for each line, or once for all?",
            ),
            found(
                "VAT of invoices",
                v1::Speaker::Assistant,
                200_000,
                "Rounding is done line by line, half to even",
            ),
            found(
                "Why is the build slow?",
                v1::Speaker::Assistant,
                800_000,
                "... which is a matter of rounding in the timer",
            ),
        ],
        messages_searched: 1_284,
        sessions: 4,
        ..v1::SearchMessagesResponse::default()
    };
    drop(told.state.on(reply(Reply::Found { question: "rounding".to_owned(), found })));
    told
}

fn help() -> Told {
    let mut told = answering();
    told.press(KeyCode::F(1), KeyModifiers::NONE);
    told
}

#[test]
fn the_screens_of_the_documentation_are_those_that_are_drawn() {
    let page = Page::new("docs/SCREENS.md");
    let screens: [(&str, Make, (u16, u16)); 16] = [
        ("welcome", Told::new, USUAL),
        ("answer", answering, USUAL),
        ("unfolded", unfolded, USUAL),
        ("sessions", answering, LARGE),
        ("small", answering, SMALL),
        ("approval", approval, USUAL),
        ("question", question, USUAL),
        ("plan", planned, USUAL),
        ("completion", completion, USUAL),
        ("memory", memory, USUAL),
        ("tools", tools, USUAL),
        ("usage", usage, USUAL),
        ("sweeps", sweeps, USUAL),
        ("search", search, USUAL),
        ("help", help, USUAL),
        ("small_approval", approval, SMALL),
    ];
    for (name, make, size) in screens {
        page.check(name, &verbatim(&make().shown(size)));
    }
    let made: BTreeSet<String> = screens.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let shown: BTreeSet<String> = page.blocks().into_iter().collect();
    assert_eq!(shown, made, "each block of the page is one that a test makes");
}

#[test]
fn the_keys_of_the_documentation_are_those_of_the_table() {
    let keymap = Keymap::default();
    let mut rows = vec!["| key | does | name |".to_owned(), "|---|---|---|".to_owned()];
    for binding in TABLE {
        let keys: Vec<String> = keymap.keys(binding.action).map(|key| format!("`{key}`")).collect();
        rows.push(format!("| {} | {} | `{}` |", keys.join(", "), binding.about, binding.name));
    }
    let page = Page::new("docs/TUI.md");
    page.check("keys", &rows.join("\n"));
    assert_eq!(page.blocks(), ["keys"]);
}
