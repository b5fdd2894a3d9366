//! Calls that may not run, and calls that somebody is asked about.

use std::sync::Arc;

use agentd_domain::{
    Action, ActionTarget, ApprovalDecision, ApprovalId, ApprovalRequested, ApprovalResolved,
    ApprovalScope, Capabilities, ErrorKind, EventBody, PermissionMode, RuleEffect, RuleMatcher,
    RuleScope, SessionId, ToolCallFinished, ToolCallStarted, ToolEffect, ToolResult, ToolSpec,
};
use agentd_engine::{
    ApprovalAnswer, AutoResume, CommandError, Engine, NewRule, RuleFilter, SessionUpdate,
};
use agentd_tools::{Tool, ToolContext};
use async_trait::async_trait;
use tokio::sync::watch;

use crate::tools::{Behaviour, Probe};
use crate::world::{Step, Terminal, World, author, pass_seconds, text};

/// Fetches a URL that its argument names, and says what it was held to.
#[derive(Debug)]
struct Fetch {
    spec: ToolSpec,
    runs: watch::Sender<Vec<Action>>,
}

impl Fetch {
    fn new() -> Arc<Self> {
        let spec = ToolSpec {
            name: "fetch".to_owned(),
            description: "Fetches.".to_owned(),
            parameters: serde_json::json!({
                "type": "object", "properties": {"host": {"type": "string"}},
            }),
            capabilities: Capabilities { cacheable: false, ..Capabilities::NETWORK_READ },
        };
        Arc::new(Self { spec, runs: watch::Sender::default() })
    }

    fn runs(&self) -> Vec<Action> {
        self.runs.borrow().clone()
    }
}

#[async_trait]
impl Tool for Fetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn plan(
        &self,
        _ctx: &ToolContext,
        arguments: &serde_json::Value,
    ) -> Result<Action, ToolResult> {
        let host = arguments["host"].as_str().unwrap_or("a.example").to_owned();
        let url = format!("https://{host}/");
        let target = ActionTarget::Request { method: "GET".to_owned(), url, host };
        Ok(Action { summary: "fetch".to_owned(), targets: vec![target] })
    }

    async fn run(
        &self,
        _ctx: &ToolContext,
        _arguments: serde_json::Value,
        planned: &Action,
    ) -> ToolResult {
        self.runs.send_modify(|runs| runs.push(planned.clone()));
        ToolResult::success("fetched")
    }
}

/// A world in which calls have to be asked for.
fn asking() -> (World, Arc<Fetch>) {
    let mut world = World::new();
    world.configure(|config| config.permission_mode = PermissionMode::Ask);
    let fetch = Fetch::new();
    world.tools.register(Arc::<Fetch>::clone(&fetch)).unwrap();
    (world, fetch)
}

/// An engine with a session whose first turn asks for a call, and the terminal that is asked.
async fn asked(world: &World, call: (&'static str, &'static str)) -> (Engine, SessionId, Terminal) {
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![Step::Call(vec![call])]);
    world.send(&engine, id, "go").await;
    ann.until_kind("approval_requested", 1).await;
    (engine, id, ann)
}

/// Error code and output of each result.
fn results(terminal: &Terminal) -> Vec<(String, String)> {
    terminal
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolCallFinished(ToolCallFinished { error_code, output, .. }) => {
                Some((error_code.clone(), output.clone()))
            }
            _ => None,
        })
        .collect()
}

fn requests(terminal: &Terminal) -> Vec<ApprovalRequested> {
    let requested = terminal.events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalRequested(requested) => Some(requested.clone()),
        _ => None,
    });
    requested.collect()
}

fn resolutions(terminal: &Terminal) -> Vec<ApprovalResolved> {
    let resolved = terminal.events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalResolved(resolved) => Some(resolved.clone()),
        _ => None,
    });
    resolved.collect()
}

async fn say(
    engine: &Engine,
    id: SessionId,
    approval_id: ApprovalId,
    (allow, scope, reason): (bool, ApprovalScope, &str),
    who: &str,
) -> Result<(), CommandError> {
    let reason = reason.to_owned();
    let answer = ApprovalAnswer { approval_id, allow, scope, reason, by: author(who) };
    engine.answer_approval(id, answer).await.map(drop)
}

const ALLOW: (bool, ApprovalScope, &str) = (true, ApprovalScope::Once, "");

#[tokio::test(start_paused = true)]
async fn what_is_not_permitted_does_not_run() {
    let mut world = World::new();
    world.configure(|config| config.permission_mode = PermissionMode::Plan);
    let read = Probe::new("read", ToolEffect::WorkspaceRead, Behaviour::Say("seen"));
    world.tools.register(Arc::new(read)).unwrap();
    let probe = Arc::new(Probe::new("probe", ToolEffect::Exclusive, Behaviour::Say("done")));
    world.tools.register(Arc::<Probe>::clone(&probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    world.script(vec![Step::Call(vec![("read", "{}"), ("probe", "{}")])]);
    world.send(&engine, id, "go").await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    terminal.until_kind("turn_completed", 1).await;
    let [(none, seen), (code, output)] = &results(&terminal)[..] else { panic!() };
    assert_eq!((none.as_str(), seen.as_str()), ("", "seen"));
    assert_eq!(code, "PERMISSION_DENIED");
    assert!(output.contains("the session is in mode 'plan', which changes nothing"), "{output}");
    assert_eq!((probe.runs(), terminal.count("tool_call_started")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn ap_02_the_first_answer_of_two_terminals_counts_and_the_second_learns_whose_it_was() {
    let (world, fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let mut bob = Terminal::attach(&engine, id, "bob").await;
    world.script(vec![Step::Call(vec![("fetch", r#"{"host":"docs.rs"}"#)])]);
    world.send(&engine, id, "go").await;
    ann.until_kind("approval_requested", 1).await;
    let request = requests(&ann).remove(0);
    assert_eq!(request.because, "it uses the network");
    assert!(fetch.runs().is_empty(), "it ran before anybody was asked");
    let open = engine.open_approvals().await.unwrap();
    assert_eq!((open.len(), &open[0].request), (1, &request));
    say(&engine, id, request.approval_id, ALLOW, "bob").await.unwrap();
    let no = (false, ApprovalScope::Once, "");
    let late = say(&engine, id, request.approval_id, no, "ann").await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
    assert!(late.to_string().contains("by bob"), "{late}");
    for terminal in [&mut ann, &mut bob] {
        terminal.until_kind("turn_completed", 1).await;
        let resolved = resolutions(terminal).remove(0);
        assert_eq!(
            (resolved.decision, resolved.by),
            (ApprovalDecision::Allow, Some(author("bob")))
        );
    }
    // What ran is what was shown.
    assert_eq!(fetch.runs(), std::slice::from_ref(&request.action));
    let started = ann.events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallStarted(ToolCallStarted { action, .. }) => Some(action.clone()),
        _ => None,
    });
    assert_eq!(started, Some(request.action));
    assert!(engine.open_approvals().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_reason_of_a_denial_reaches_the_model() {
    let (world, fetch) = asking();
    let (engine, id, mut ann) = asked(&world, ("fetch", "{}")).await;
    let approval_id = requests(&ann)[0].approval_id;
    let long = "x".repeat(2001);
    for (answer, field) in [
        ((false, ApprovalScope::Session, ""), "scope"),
        ((false, ApprovalScope::Once, long.as_str()), "reason"),
    ] {
        let refused = say(&engine, id, approval_id, answer, "ann").await.unwrap_err();
        assert_eq!((refused.kind(), refused.field()), (ErrorKind::Invalid, Some(field)));
    }
    let no = (false, ApprovalScope::Once, "read the local copy");
    say(&engine, id, approval_id, no, "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    let (code, output) = results(&ann).remove(0);
    assert_eq!(code, "DENIED_BY_USER");
    assert!(output.contains("read the local copy"), "{output}");
    assert!(fetch.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_no_costs_the_model_no_change_of_way_but_eight_in_a_turn_end_the_asking() {
    let (world, fetch) = asking();
    let hosts = [
        r#"{"host":"1.example"}"#,
        r#"{"host":"2.example"}"#,
        r#"{"host":"3.example"}"#,
        r#"{"host":"4.example"}"#,
        r#"{"host":"5.example"}"#,
        r#"{"host":"6.example"}"#,
        r#"{"host":"7.example"}"#,
        r#"{"host":"8.example"}"#,
    ];
    for host in hosts {
        world.script(vec![Step::Call(vec![("fetch", host)])]);
    }
    world.script(vec![text("nobody lets me")]);
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    for nth in 1..=8 {
        ann.until_kind("approval_requested", nth).await;
        let approval_id = requests(&ann)[nth - 1].approval_id;
        say(&engine, id, approval_id, (false, ApprovalScope::Once, ""), "ann").await.unwrap();
    }
    ann.until_kind("turn_completed", 1).await;
    let results = results(&ann);
    assert_eq!(results.len(), 8);
    for (_, output) in &results[..7] {
        assert!(!output.contains("Go another way") && !output.contains("Answer now"), "{output}");
    }
    let last = &results[7].1;
    assert!(last.contains("users have denied 8 calls") && last.contains("Answer now"), "{last}");
    assert!(world.provider.requests.lock().unwrap()[8].tools.is_empty());
    assert!(fetch.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_in_time_is_denied_and_does_not_count_as_slow() {
    let (world, fetch) = asking();
    world.configure(|config| config.approval_timeout = std::time::Duration::from_secs(300));
    let (engine, _, mut ann) = asked(&world, ("fetch", "{}")).await;
    pass_seconds(299).await;
    assert_eq!(engine.open_approvals().await.unwrap().len(), 1);
    pass_seconds(2).await;
    ann.until_kind("turn_completed", 1).await;
    assert_eq!(resolutions(&ann)[0].decision, ApprovalDecision::Expired);
    let (code, output) = results(&ann).remove(0);
    assert_eq!(code, "PERMISSION_DENIED");
    assert!(output.contains("nobody answered in time"), "{output}");
    assert!(fetch.runs().is_empty());
    assert_eq!(engine.slow_turns().count, 0);
}

#[tokio::test(start_paused = true)]
async fn several_calls_may_wait_and_each_has_its_own_answer() {
    let (world, fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let calls = vec![("fetch", r#"{"host":"a.example"}"#), ("fetch", r#"{"host":"b.example"}"#)];
    world.script(vec![Step::Call(calls)]);
    world.send(&engine, id, "go").await;
    ann.until_kind("approval_requested", 2).await;
    let [first, second] = &requests(&ann)[..] else { panic!() };
    say(&engine, id, second.approval_id, ALLOW, "ann").await.unwrap();
    ann.until_kind("tool_call_started", 1).await;
    say(&engine, id, first.approval_id, (false, ApprovalScope::Once, ""), "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    // Calls of one answer may ask in any order.
    let mut codes: Vec<String> = results(&ann).into_iter().map(|(code, _)| code).collect();
    codes.sort();
    assert_eq!(codes, ["", "DENIED_BY_USER"]);
    assert_eq!(fetch.runs(), std::slice::from_ref(&second.action));
}

#[tokio::test(start_paused = true)]
async fn always_in_the_session_allows_the_same_host_and_no_other_also_after_a_restart() {
    let (world, fetch) = asking();
    let (engine, id, mut ann) = asked(&world, ("fetch", r#"{"host":"a.example"}"#)).await;
    let approval_id = requests(&ann)[0].approval_id;
    let always = (true, ApprovalScope::Session, "");
    say(&engine, id, approval_id, always, "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    drop(ann);
    world.crash(engine).await;
    let engine = world.engine();
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let calls = vec![("fetch", r#"{"host":"a.example"}"#), ("fetch", r#"{"host":"b.example"}"#)];
    world.script(vec![Step::Call(calls)]);
    world.send(&engine, id, "again").await;
    ann.until_kind("approval_requested", 2).await;
    ann.until_kind("tool_call_started", 2).await;
    assert_eq!(fetch.runs().len(), 2);
    let asked = requests(&ann).remove(1);
    assert!(format!("{:?}", asked.action).contains("b.example"), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_script_that_nobody_watches_is_denied_at_once() {
    let (world, fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    // The script itself follows its turn.
    let mut script = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![Step::Call(vec![("fetch", "{}")])]);
    let mut message = world.message("go", agentd_domain::Delivery::Queue);
    message.unattended = true;
    engine.submit(id, message.clone()).await.unwrap();
    script.until_kind("turn_completed", 1).await;
    let (code, output) = results(&script).remove(0);
    assert_eq!(code, "PERMISSION_DENIED");
    assert!(output.contains("nobody is there"), "{output}");
    assert_eq!((script.count("approval_requested"), fetch.runs().len()), (0, 0));
    // Somebody else is there: he is asked.
    let _bob = Terminal::attach(&engine, id, "bob").await;
    world.script(vec![Step::Call(vec![("fetch", "{}")])]);
    message.client_message_id = "other".parse().unwrap();
    engine.submit(id, message).await.unwrap();
    script.until_kind("approval_requested", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cut_off_voids_what_it_asked() {
    let (world, fetch) = asking();
    let (engine, id, mut ann) = asked(&world, ("fetch", "{}")).await;
    assert!(engine.interrupt(id, None, author("ann")).await.unwrap());
    ann.until_kind("turn_interrupted", 1).await;
    assert_eq!(resolutions(&ann)[0].decision, ApprovalDecision::Void);
    let approval_id = requests(&ann)[0].approval_id;
    let late = say(&engine, id, approval_id, ALLOW, "ann").await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
    assert!(fetch.runs().is_empty());
    let view = engine.view(id).await.unwrap();
    assert!(view.open_approvals.is_empty());
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_the_turn_asks_again() {
    let (world, fetch) = asking();
    world.configure(|config| config.auto_resume = AutoResume::Always);
    let (engine, id, ann) = asked(&world, ("fetch", "{}")).await;
    drop(ann);
    world.crash(engine).await;
    let engine = world.engine();
    engine.resume_unfinished().await.unwrap();
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    ann.until_kind("approval_requested", 2).await;
    let [before, now] = &requests(&ann)[..] else { panic!() };
    assert_eq!(before.action, now.action);
    assert_eq!(resolutions(&ann)[0].decision, ApprovalDecision::Void);
    let late = say(&engine, id, before.approval_id, ALLOW, "ann").await;
    assert!(late.is_err(), "an approval of before the stop was taken");
    say(&engine, id, now.approval_id, ALLOW, "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    assert_eq!(fetch.runs().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn another_mode_holds_from_the_next_call_of_a_running_turn_on() {
    let (world, fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let calls = || vec![("fetch", r#"{"host":"a.example"}"#)];
    world.script(vec![Step::Call(calls())]);
    world.script(vec![Step::Call(calls())]);
    world.send(&engine, id, "go").await;
    ann.until_kind("approval_requested", 1).await;
    let full =
        SessionUpdate { permission_mode: Some(PermissionMode::Full), ..SessionUpdate::default() };
    let view = engine.update(id, full.clone(), Some(author("bob"))).await.unwrap();
    assert_eq!(view.record.permission_mode, PermissionMode::Full);
    engine.update(id, full, Some(author("bob"))).await.unwrap();
    // What waits already still has to be answered.
    assert_eq!(engine.open_approvals().await.unwrap().len(), 1);
    let approval_id = requests(&ann)[0].approval_id;
    say(&engine, id, approval_id, ALLOW, "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    assert_eq!((fetch.runs().len(), requests(&ann).len()), (2, 1));
    assert_eq!(ann.count("permission_mode_changed"), 1);
}

#[tokio::test(start_paused = true)]
async fn an_imported_file_permits_nothing() {
    let (world, fetch) = asking();
    let (engine, id, mut ann) = asked(&world, ("fetch", "{}")).await;
    let approval_id = requests(&ann)[0].approval_id;
    say(&engine, id, approval_id, (true, ApprovalScope::Session, ""), "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    let full =
        SessionUpdate { permission_mode: Some(PermissionMode::Full), ..SessionUpdate::default() };
    engine.update(id, full, Some(author("ann"))).await.unwrap();
    let mut lines = crate::copies::export(&engine, id).await.into_iter();
    let copy = SessionId::from_parts(1, 1);
    let view = engine.import(copy, || Ok(lines.next()), "/", &author("bob")).await.unwrap();
    assert_eq!(view.record.permission_mode, PermissionMode::Ask);
    let mut bob = Terminal::attach(&engine, copy, "bob").await;
    world.script(vec![Step::Call(vec![("fetch", "{}")])]);
    world.send(&engine, copy, "go").await;
    bob.until_kind("approval_requested", 2).await;
    assert_eq!(fetch.runs().len(), 1, "the call of the first session");
}

#[tokio::test(start_paused = true)]
async fn a_rule_of_the_workspace_holds_in_its_other_sessions_also_after_a_restart() {
    let (world, fetch) = asking();
    let (engine, id, mut ann) = asked(&world, ("fetch", r#"{"host":"a.example"}"#)).await;
    let approval_id = requests(&ann)[0].approval_id;
    say(&engine, id, approval_id, (true, ApprovalScope::Workspace, ""), "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    drop(ann);
    world.crash(engine).await;
    let engine = world.engine();
    engine.resume_unfinished().await.unwrap();
    let rules = engine.rules(&RuleFilter::All).await.unwrap();
    let [rule] = rules.as_slice() else { panic!("{rules:?}") };
    assert_eq!(rule.matcher, RuleMatcher::Host { host: "a.example".to_owned() });
    assert!(matches!(rule.scope, RuleScope::Workspace { .. }), "{rule:?}");
    assert_eq!(rule.by, Some(author("ann")));
    let other = world.session(&engine).await;
    let mut bob = Terminal::attach(&engine, other, "bob").await;
    let calls = vec![("fetch", r#"{"host":"a.example"}"#), ("fetch", r#"{"host":"b.example"}"#)];
    world.script(vec![Step::Call(calls)]);
    world.send(&engine, other, "go").await;
    bob.until_kind("approval_requested", 1).await;
    bob.until_kind("tool_call_started", 1).await;
    assert_eq!(fetch.runs().len(), 2, "the one that is asked about waits");
    // Taken back, it holds no longer.
    engine.delete_rule(&rule.rule_id, None, &author("ann")).await.unwrap();
    let gone = engine.delete_rule(&rule.rule_id, None, &author("ann")).await;
    assert!(matches!(gone, Err(CommandError::NoRule(_))), "{gone:?}");
    let approval_id = requests(&bob)[0].approval_id;
    say(&engine, other, approval_id, ALLOW, "bob").await.unwrap();
    bob.until_kind("turn_completed", 1).await;
    world.script(vec![Step::Call(vec![("fetch", r#"{"host":"a.example"}"#)])]);
    world.send(&engine, other, "again").await;
    bob.until_kind("approval_requested", 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_denies_holds_whatever_the_mode_and_names_itself() {
    let (world, fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let deny = || NewRule {
        effect: RuleEffect::Deny,
        matcher: RuleMatcher::Host { host: "*.evil.example".to_owned() },
        workspace: None,
        by: author("ann"),
    };
    let rule = engine.add_rule(deny()).await.unwrap();
    assert_eq!(engine.add_rule(deny()).await.unwrap(), rule, "said twice it is one rule");
    let full =
        SessionUpdate { permission_mode: Some(PermissionMode::Full), ..SessionUpdate::default() };
    engine.update(id, full, Some(author("ann"))).await.unwrap();
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![Step::Call(vec![("fetch", r#"{"host":"a.evil.example"}"#)])]);
    world.send(&engine, id, "go").await;
    ann.until_kind("turn_completed", 1).await;
    let (code, output) = results(&ann).remove(0);
    assert_eq!((code.as_str(), fetch.runs().len()), ("PERMISSION_DENIED", 0));
    assert!(output.contains("'deny host *.evil.example'"), "{output}");
}

#[tokio::test(start_paused = true)]
async fn a_rule_of_the_session_can_be_taken_back() {
    let (world, _fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let call = || vec![Step::Call(vec![("fetch", r#"{"host":"a.example"}"#)])];
    world.script(call());
    world.send(&engine, id, "go").await;
    ann.until_kind("approval_requested", 1).await;
    let approval_id = requests(&ann)[0].approval_id;
    say(&engine, id, approval_id, (true, ApprovalScope::Session, ""), "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    let rules = engine.rules(&RuleFilter::Session(id)).await.unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!(engine.rules(&RuleFilter::All).await.unwrap(), [], "it is the session's");
    engine.delete_rule(&rules[0].rule_id, Some(id), &author("bob")).await.unwrap();
    assert_eq!(engine.rules(&RuleFilter::Session(id)).await.unwrap(), []);
    world.script(call());
    world.send(&engine, id, "again").await;
    ann.until_kind("approval_requested", 2).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_forbidden_while_a_call_waited_stays_forbidden_whoever_says_yes() {
    let (world, fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![Step::Call(vec![("fetch", r#"{"host":"a.example"}"#)])]);
    world.send(&engine, id, "go").await;
    ann.until_kind("approval_requested", 1).await;
    let deny = NewRule {
        effect: RuleEffect::Deny,
        matcher: RuleMatcher::Host { host: "a.example".to_owned() },
        workspace: None,
        by: author("bob"),
    };
    engine.add_rule(deny).await.unwrap();
    let approval_id = requests(&ann)[0].approval_id;
    say(&engine, id, approval_id, ALLOW, "ann").await.unwrap();
    ann.until_kind("turn_completed", 1).await;
    let (code, output) = results(&ann).remove(0);
    assert_eq!((code.as_str(), fetch.runs().len()), ("PERMISSION_DENIED", 0));
    assert!(output.contains("'deny host a.example'"), "{output}");
}

#[tokio::test(start_paused = true)]
async fn rules_that_cannot_be_read_permit_nothing_and_the_reason_is_told() {
    let (world, fetch) = asking();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let full =
        SessionUpdate { permission_mode: Some(PermissionMode::Full), ..SessionUpdate::default() };
    engine.update(id, full, Some(author("ann"))).await.unwrap();
    world.store.damage_rules(true);
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    let call = || vec![Step::Call(vec![("fetch", r#"{"host":"a.example"}"#)])];
    world.script(call());
    world.send(&engine, id, "go").await;
    ann.until_kind("turn_completed", 1).await;
    let (code, output) = results(&ann).remove(0);
    assert_eq!((code.as_str(), fetch.runs().len()), ("PERMISSION_DENIED", 0));
    assert!(output.contains("the stored rules cannot be read"), "{output}");
    assert!(engine.rules(&RuleFilter::All).await.is_err());
    // Once they can be read, they hold.
    world.store.damage_rules(false);
    world.script(call());
    world.send(&engine, id, "again").await;
    ann.until_kind("turn_completed", 2).await;
    assert_eq!(fetch.runs().len(), 1);
}
