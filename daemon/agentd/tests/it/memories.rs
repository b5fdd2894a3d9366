//! Memories over the wire.

use std::sync::Arc;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::Client;
use agentd_testkit::{Daemon, FakeClock, LlmServer, PATIENCE, RecordedRequest, Reply};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::remote_world::World;
use crate::support::check_error;

const DAY_MS: i64 = 86_400_000;
const START_MS: i64 = 1_800_000_000_000;

fn ann() -> v1::Author {
    v1::Author { client_id: "ann-1".to_owned(), name: "ann".to_owned() }
}

fn note(content: &str) -> v1::AddMemoryRequest {
    v1::AddMemoryRequest { content: content.to_owned(), author: Some(ann()), ..Default::default() }
}

async fn add(client: &Client, request: v1::AddMemoryRequest) -> v1::Memory {
    client.memory().add_memory(request).await.unwrap().into_inner().memory.unwrap()
}

async fn get(client: &Client, id: &str) -> v1::GetMemoryResponse {
    let request = v1::GetMemoryRequest { memory_id: id.to_owned() };
    client.memory().get_memory(request).await.unwrap().into_inner()
}

async fn list(client: &Client, filter: v1::MemoryFilter) -> Vec<String> {
    let request = v1::ListMemoriesRequest { filter: Some(filter), ..Default::default() };
    let found = client.memory().list_memories(request).await.unwrap().into_inner().memories;
    found.into_iter().map(|found| found.memory.unwrap().content).collect()
}

/// Checks an error and which field it is about.
#[track_caller]
fn refused(status: &Status, code: Code, field: &str, part: &str) {
    check_error(status, code, part);
    let details = status.get_error_details();
    let violation = details.bad_request().and_then(|bad| bad.field_violations.first().cloned());
    assert_eq!(violation.map(|it| it.field).as_deref(), Some(field), "{status:?}");
}

async fn daemon(clock: &Arc<FakeClock>) -> Daemon {
    let llm = LlmServer::start().await;
    Daemon::builder().llm(&llm).clock(Arc::clone(clock) as _).start().await
}

#[tokio::test]
async fn memories_are_added_found_changed_forgotten_and_brought_back() {
    let clock = Arc::new(FakeClock::at(START_MS));
    let daemon = daemon(&clock).await;
    let client = daemon.client().await;
    let mut memories = client.memory();
    let tea = v1::AddMemoryRequest {
        priority: v1::MemoryPriority::High.into(),
        category: v1::MemoryCategory::Preference.into(),
        importance: 4,
        tags: vec!["Drinks".to_owned()],
        ..note("Ann drinks green tea in the morning")
    };
    let added = memories.add_memory(tea.clone()).await.unwrap().into_inner();
    assert_eq!(added.outcome(), v1::AddedMemory::New);
    let memory = added.memory.unwrap();
    assert_eq!(
        (memory.revision, memory.importance, &*memory.tags),
        (1, 4, &["drinks".to_owned()][..])
    );
    // A retry changes nothing.
    let again = memories.add_memory(tea).await.unwrap().into_inner();
    assert_eq!((again.outcome(), again.memory), (v1::AddedMemory::Known, Some(memory.clone())));
    add(&client, note("The staging host is called anvil")).await;

    let tail = &memory.memory_id[18..];
    let shown = get(&client, tail).await;
    assert_eq!(shown.memory.as_ref(), Some(&memory));
    assert!((shown.retention - 1.0).abs() < 1e-9);
    let falls: Vec<_> =
        shown.forecast.iter().map(|step| (step.at_ms - START_MS) / DAY_MS).collect();
    assert_eq!(falls, [60, 150, 330], "to medium, to low, and then it fades");
    assert_eq!(shown.changes.len(), 1);
    assert_eq!(shown.changes[0].kind(), v1::MemoryChangeKind::Added);

    let words = |text: &str| v1::MemoryFilter { text: text.to_owned(), ..Default::default() };
    assert_eq!(list(&client, words("which tea")).await, ["Ann drinks green tea in the morning"]);
    let high = v1::MemoryFilter { min_importance: 4, ..Default::default() };
    assert_eq!(list(&client, high).await, ["Ann drinks green tea in the morning"]);
    let page = v1::ListMemoriesRequest { page_size: 1, ..Default::default() };
    let first = memories.list_memories(page.clone()).await.unwrap().into_inner();
    assert_eq!((first.memories.len(), first.total), (1, 2));
    let next = v1::ListMemoriesRequest { page_token: first.next_page_token, ..page };
    let second = memories.list_memories(next).await.unwrap().into_inner();
    assert_eq!((second.memories.len(), second.next_page_token.as_str()), (1, ""));
    assert_ne!(second.memories, first.memories);

    let update = v1::UpdateMemoryRequest {
        memory_id: tail.to_owned(),
        content: Some("Ann drinks black tea in the morning".to_owned()),
        pinned: Some(true),
        author: Some(ann()),
        ..Default::default()
    };
    let updated = memories.update_memory(update).await.unwrap().into_inner().memory.unwrap();
    assert_eq!((updated.revision, updated.pinned, updated.importance), (2, true, 4));
    assert!(get(&client, tail).await.forecast.is_empty(), "what is pinned does not age");

    let forget = v1::ForgetMemoryRequest {
        memory_id: memory.memory_id.clone(),
        erase: false,
        author: Some(ann()),
    };
    let forgotten = memories.forget_memory(forget.clone()).await.unwrap().into_inner();
    assert_eq!(forgotten.memory.unwrap().status(), v1::MemoryStatus::Forgotten);
    assert!(list(&client, words("tea")).await.is_empty());
    let stats = memories.get_memory_stats(v1::GetMemoryStatsRequest {}).await.unwrap().into_inner();
    assert_eq!((stats.search.as_str(), stats.max_active), ("lexical", 10_000));
    assert_eq!(stats.counts.iter().map(|row| row.count).sum::<u32>(), 2);
    let undoable = stats.undoable.unwrap();
    assert_eq!(undoable.kind(), v1::MemoryChangeKind::Forgotten);
    // Taken back one after the other: the forgetting, the edit.
    for _ in 0..2 {
        let undo = v1::UndoMemoryChangeRequest { change_id: String::new(), author: Some(ann()) };
        memories.undo_memory_change(undo).await.unwrap();
    }
    let back = get(&client, tail).await.memory.unwrap();
    assert_eq!(back.content, "Ann drinks green tea in the morning");
    assert_eq!((back.status(), back.pinned), (v1::MemoryStatus::Active, false));

    let erase = v1::ForgetMemoryRequest { erase: true, ..forget };
    memories.forget_memory(erase.clone()).await.unwrap();
    let gone = memories.forget_memory(erase).await.unwrap_err();
    refused(&gone, Code::NotFound, "memory_id", "there is no memory");
    daemon.stop().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_request_about_memories_is_named() {
    let clock = Arc::new(FakeClock::at(START_MS));
    let daemon = daemon(&clock).await;
    let client = daemon.client().await;
    let mut memories = client.memory();
    let adding = [
        ("content", note(" ")),
        ("content", note("my password is hunter22")),
        ("content", note(&"x ".repeat(3000))),
        ("priority", v1::AddMemoryRequest { priority: 9, ..note("a b") }),
        ("category", v1::AddMemoryRequest { category: 9, ..note("a b") }),
        ("importance", v1::AddMemoryRequest { importance: 6, ..note("a b") }),
        ("tags", v1::AddMemoryRequest { tags: vec!["a,b".to_owned()], ..note("a b") }),
        ("author", v1::AddMemoryRequest { author: None, ..note("a b") }),
        ("session_id", v1::AddMemoryRequest { session_id: "x".to_owned(), ..note("a b") }),
        ("expires_at", v1::AddMemoryRequest { expires_at_ms: 1, ..note("a b") }),
    ];
    for (field, request) in adding {
        let status = memories.add_memory(request.clone()).await.expect_err(field);
        refused(&status, Code::InvalidArgument, field, "");
    }
    let reminder =
        v1::AddMemoryRequest { category: v1::MemoryCategory::Reminder.into(), ..note("call Bob") };
    let status = memories.add_memory(reminder).await.unwrap_err();
    refused(&status, Code::InvalidArgument, "expires_at", "a reminder needs the time");
    let scope = v1::memory_scope::Scope::Workspace("here".to_owned());
    let scope = Some(v1::MemoryScope { scope: Some(scope) });
    let status = memories.add_memory(v1::AddMemoryRequest { scope, ..note("a b") }).await;
    refused(&status.unwrap_err(), Code::InvalidArgument, "scope", "not an absolute path");

    let nobody = v1::GetMemoryRequest { memory_id: "0000ZZZZ".to_owned() };
    let status = memories.get_memory(nobody).await.unwrap_err();
    refused(&status, Code::NotFound, "memory_id", "0000ZZZZ");
    let update = v1::UpdateMemoryRequest {
        memory_id: add(&client, note("a b")).await.memory_id,
        priority: Some(0),
        author: Some(ann()),
        ..Default::default()
    };
    let status = memories.update_memory(update.clone()).await.unwrap_err();
    refused(&status, Code::InvalidArgument, "priority", "it names none");
    let confirm =
        |id: &str| v1::ConfirmMemoryRequest { memory_id: id.to_owned(), author: Some(ann()) };
    let forget = v1::ForgetMemoryRequest {
        memory_id: update.memory_id.clone(),
        erase: false,
        author: Some(ann()),
    };
    // What holds is confirmed already; what was forgotten is not to be.
    memories.confirm_memory(confirm(&update.memory_id)).await.unwrap();
    memories.forget_memory(forget).await.unwrap();
    let status = memories.confirm_memory(confirm(&update.memory_id)).await.unwrap_err();
    refused(&status, Code::FailedPrecondition, "memory_id", "is forgotten");

    let undo =
        |id: &str| v1::UndoMemoryChangeRequest { change_id: id.to_owned(), author: Some(ann()) };
    let status = memories.undo_memory_change(undo("x")).await.unwrap_err();
    refused(&status, Code::InvalidArgument, "change_id", "");
    let status = memories.undo_memory_change(undo("01ARZ3NDEKTSV4RRFFQ69G5FAV")).await;
    refused(&status.unwrap_err(), Code::NotFound, "change_id", "there is no change");

    for (field, request) in [
        ("page_size", v1::ListMemoriesRequest { page_size: 201, ..Default::default() }),
        ("page_token", v1::ListMemoriesRequest { page_token: "x".into(), ..Default::default() }),
        (
            "filter.statuses",
            v1::ListMemoriesRequest {
                filter: Some(v1::MemoryFilter { statuses: vec![0], ..Default::default() }),
                ..Default::default()
            },
        ),
    ] {
        let status = memories.list_memories(request).await.expect_err(field);
        refused(&status, Code::InvalidArgument, field, "");
    }
    let sweep = v1::SweepMemoriesRequest { dry_run: false, until_ms: START_MS };
    let status = memories.sweep_memories(sweep).await.unwrap_err();
    refused(&status, Code::InvalidArgument, "until_ms", "without dry_run");
    let export = v1::ExportMemoriesRequest { all: false, page_token: "x".to_owned() };
    let status = memories.export_memories(export).await.unwrap_err();
    refused(&status, Code::InvalidArgument, "page_token", "");
    let import = |lines: Vec<u8>| v1::ImportMemoriesRequest {
        dry_run: false,
        lines,
        author: Some(ann()),
        ..Default::default()
    };
    for lines in [vec![0xff], b"{}\n".repeat(1001), vec![b' '; 1024 * 1024 + 1]] {
        let status = memories.import_memories(import(lines)).await.unwrap_err();
        refused(&status, Code::InvalidArgument, "lines", "");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn all_places_taken_is_told_with_what_could_go() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("memory.max_active", 1).start().await;
    let client = daemon.client().await;
    add(&client, note("alder trees grow by the river")).await;
    let full = client.memory().add_memory(note("the build takes an hour")).await.unwrap_err();
    check_error(&full, Code::ResourceExhausted, "all 1 places for memories are taken");
    daemon.stop().await;
}

#[tokio::test]
async fn me_02_limits_hold_for_calls_and_imports_in_characters_of_any_script() {
    use v1::AddedMemory::{Known, New, Unspecified};

    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("memory.max_active", 2).start().await;
    let client = daemon.client().await;
    let mut memories = client.memory();
    let (most, over) = ("世".repeat(2000), "世".repeat(2001));
    let kept = add(&client, note(&most)).await;
    assert_eq!(kept.content, most, "as many as may be, whole");
    let problem = "it has 2001 characters, at most 2000 are kept";
    let status = memories.add_memory(note(&over)).await.unwrap_err();
    refused(&status, Code::InvalidArgument, "content", problem);
    let update = v1::UpdateMemoryRequest {
        memory_id: kept.memory_id.clone(),
        content: Some(over.clone()),
        author: Some(ann()),
        ..Default::default()
    };
    let status = memories.update_memory(update).await.unwrap_err();
    refused(&status, Code::InvalidArgument, "content", problem);
    // Nearly what is there, and yet something else.
    let nearly = format!("{}界", "世".repeat(1999));
    let lines = [over, "likes tea".to_owned(), nearly, most.clone()];
    let lines = lines.map(|content| serde_json::json!({ "content": content }).to_string());
    let request = v1::ImportMemoriesRequest {
        dry_run: false,
        lines: lines.join("\n").into_bytes(),
        from: "notes".to_owned(),
        author: Some(ann()),
    };
    let told = memories.import_memories(request).await.unwrap().into_inner().lines;
    let outcomes: Vec<_> = told.iter().map(v1::ImportedMemory::outcome).collect();
    assert_eq!(outcomes, [Unspecified, New, Unspecified, Known], "{told:?}");
    assert!(told[0].problem.contains(problem), "{told:?}");
    assert!(told[2].problem.contains("all 2 places for memories are taken"), "{told:?}");
    let full = memories.add_memory(note("the build takes an hour")).await.unwrap_err();
    check_error(&full, Code::ResourceExhausted, "all 2 places for memories are taken");
    assert_eq!(get(&client, &kept.memory_id).await.memory.unwrap().content, most);
    daemon.stop().await;
}

#[tokio::test]
async fn an_export_comes_back_in_another_daemon_as_it_was() {
    use v1::AddedMemory::{Known, New, Unspecified};

    let clock = Arc::new(FakeClock::at(START_MS));
    let first = daemon(&clock).await;
    let client = first.client().await;
    for (n, tree) in ["alder", "birch", "cedar"].into_iter().enumerate() {
        let priority = if n == 0 { v1::MemoryPriority::Critical } else { v1::MemoryPriority::Low };
        add(&client, v1::AddMemoryRequest { priority: priority.into(), ..note(tree) }).await;
    }
    let forgotten = add(&client, note("dogwood")).await;
    let forget = v1::ForgetMemoryRequest {
        memory_id: forgotten.memory_id,
        erase: false,
        author: Some(ann()),
    };
    client.memory().forget_memory(forget).await.unwrap();
    let export = async |client: &Client, all| {
        let request = v1::ExportMemoriesRequest { all, page_token: String::new() };
        let page = client.memory().export_memories(request).await.unwrap().into_inner();
        assert_eq!(page.next_page_token, "");
        page.lines
    };
    let lines = export(&client, false).await;
    assert_eq!(String::from_utf8(lines.clone()).unwrap().lines().count(), 3);
    let all = export(&client, true).await;
    assert_eq!(String::from_utf8(all).unwrap().lines().count(), 4);
    first.stop().await;

    clock.advance(DAY_MS);
    let second = daemon(&clock).await;
    let client = second.client().await;
    let mut mixed = lines.clone();
    mixed.extend(b"\nnot JSON\n{\"content\":\"elm\",\"tags\":[\"trees\"]}\n");
    let import = v1::ImportMemoriesRequest {
        dry_run: false,
        lines: mixed,
        from: "notes".to_owned(),
        author: Some(ann()),
    };
    let taken = client.memory().import_memories(import.clone()).await.unwrap().into_inner().lines;
    let told: Vec<_> = taken.iter().map(|line| (line.line, line.outcome())).collect();
    assert_eq!(told, [(1, New), (2, New), (3, New), (5, Unspecified), (6, New)]);
    assert!(taken[3].problem.contains("not JSON"), "{taken:?}");
    let again = client.memory().import_memories(import).await.unwrap().into_inner().lines;
    let told: Vec<_> = again.iter().map(v1::ImportedMemory::outcome).collect();
    assert_eq!(told, [Known, Known, Known, Unspecified, Known], "a retry changes nothing");
    let elm = get(&client, &taken[4].memory_id).await.memory.unwrap();
    let by = elm.author.unwrap().by;
    assert_eq!(by, Some(v1::memory_author::By::ImportFrom("notes".to_owned())));
    let exported = String::from_utf8(export(&client, false).await).unwrap();
    let lines: Vec<serde_json::Value> = String::from_utf8(lines)
        .unwrap()
        .lines()
        .chain(exported.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (before, after) = lines.split_at(3);
    for (before, after) in before.iter().zip(after) {
        for key in ["id", "content", "priority", "created_at", "tier_since", "usage", "origin"] {
            assert_eq!(before[key], after[key], "{key}");
        }
    }
    second.stop().await;
}

#[tokio::test]
async fn time_is_told_before_it_comes_and_does_its_work_when_it_is_asked_to() {
    let clock = Arc::new(FakeClock::at(START_MS));
    let daemon = daemon(&clock).await;
    let client = daemon.client().await;
    let mut memories = client.memory();
    add(&client, note("likes tea")).await;
    let over =
        v1::AddMemoryRequest { expires_at_ms: START_MS + DAY_MS, ..note("is in Oslo today") };
    add(&client, over).await;
    let dry = v1::SweepMemoriesRequest { dry_run: true, until_ms: START_MS + 91 * DAY_MS };
    let told = memories.sweep_memories(dry).await.unwrap().into_inner();
    assert_eq!((told.aged, told.expired), (1, 1));
    let edit = &told.would_age[0];
    assert_eq!(edit.before.as_ref().unwrap().priority(), v1::MemoryPriority::Medium);
    assert_eq!(edit.after.as_ref().unwrap().priority(), v1::MemoryPriority::Low);
    let now = v1::SweepMemoriesRequest { dry_run: false, until_ms: 0 };
    let done = memories.sweep_memories(now).await.unwrap().into_inner();
    assert_eq!((done.aged, done.expired), (0, 0), "nothing was changed by looking");
    clock.advance(91 * DAY_MS);
    let done = memories.sweep_memories(now).await.unwrap().into_inner();
    assert_eq!((done.aged, done.expired), (1, 1));
    daemon.stop().await;
}

#[tokio::test]
async fn a_reminder_waits_for_a_terminal_over_a_restart_and_is_shown_once() {
    let clock = Arc::new(FakeClock::at(START_MS));
    let mut daemon = daemon(&clock).await;
    let reminder = v1::AddMemoryRequest {
        category: v1::MemoryCategory::Reminder.into(),
        expires_at_ms: START_MS + DAY_MS,
        ..note("call Bob\nabout the roof")
    };
    let client = daemon.client().await;
    let id = add(&client, reminder).await.memory_id;
    clock.advance(DAY_MS);
    let stats = client.memory().get_memory_stats(v1::GetMemoryStatsRequest {}).await.unwrap();
    assert_eq!(stats.into_inner().due_reminders, 1, "nobody is there to see it");
    drop(client);
    daemon.restart().await;
    let mut ann = daemon.driver("ann").await;
    let shown = ann.wait_for("the reminder", |body| matches!(body, Body::Notice(_))).await;
    let Some(Body::Notice(notice)) = shown.body else { panic!() };
    assert_eq!(notice.text, "⏰ Reminder: call Bob about the roof");
    let ended = async {
        while get(ann.client(), &id).await.memory.unwrap().status() != v1::MemoryStatus::Expired {}
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
    let stats = ann.client().memory().get_memory_stats(v1::GetMemoryStatsRequest {}).await;
    assert_eq!(stats.unwrap().into_inner().due_reminders, 0, "it is over");
    let notices = ann.log().await;
    let notices = notices.iter().filter(|event| matches!(event.body, Some(Body::Notice(_))));
    assert_eq!(notices.count(), 1);
    daemon.stop().await;
}

#[tokio::test]
async fn what_was_said_before_a_restart_is_found_although_nobody_opens_the_session() {
    let asks_for_memories =
        |request: &RecordedRequest| request.system_text().starts_with("You look through");
    let clock = Arc::new(FakeClock::at(START_MS));
    let llm = LlmServer::start().await;
    let found = r#"[{"content":"The user always wants tests first","category":"instruction"}]"#;
    llm.push_when(asks_for_memories, Reply::text(found));
    let builder = Daemon::builder().llm(&llm).clock(Arc::clone(&clock) as _);
    let mut daemon = builder
        .set("memory.sweep_interval_ms", 1000)
        .set("memory.extract_after_ms", 3_600_000)
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("always write tests first").await;
    ann.ask("and now the parser").await;
    drop(ann);
    clock.advance(DAY_MS);
    daemon.restart().await;
    let client = daemon.client().await;
    let found = async {
        while list(&client, v1::MemoryFilter::default()).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, found).await.unwrap();
    assert_eq!(
        list(&client, v1::MemoryFilter::default()).await,
        ["The user always wants tests first"]
    );
    assert_eq!(llm.requests().iter().filter(|it| asks_for_memories(it)).count(), 1);
    daemon.stop().await;
}

#[tokio::test]
async fn order_is_brought_into_memories_by_itself_and_by_hand() {
    let compares =
        |request: &RecordedRequest| request.system_text().starts_with("You compare notes");
    let clock = Arc::new(FakeClock::at(START_MS));
    let llm = LlmServer::start().await;
    llm.push_when(compares, Reply::text(r#"[{"pair":1,"verdict":"newer_replaces"}]"#));
    let builder = Daemon::builder().llm(&llm).clock(Arc::clone(&clock) as _);
    let daemon = builder.set("memory.sweep_interval_ms", 1000).start().await;
    let client = daemon.client().await;
    // As the model would have it: it is no person's own word.
    let lines = r#"{"content":"The user lives in Berlin"}
{"content":"The user drinks green tea"}"#;
    let request = v1::ImportMemoriesRequest {
        dry_run: false,
        lines: lines.as_bytes().to_vec(),
        from: "notes".to_owned(),
        author: Some(ann()),
    };
    client.memory().import_memories(request).await.unwrap();
    clock.advance(1000);
    let paris = add(&client, note("The user lives in Paris")).await;
    // A first run may have come before there was anything to compare.
    clock.advance(DAY_MS);
    let superseded = v1::MemoryFilter {
        statuses: vec![v1::MemoryStatus::Superseded.into()],
        ..Default::default()
    };
    let given_way = async {
        loop {
            let found = list(&client, superseded.clone()).await;
            if !found.is_empty() {
                break found;
            }
            tokio::task::yield_now().await;
        }
    };
    let given_way = tokio::time::timeout(PATIENCE, given_way).await.unwrap();
    assert_eq!(given_way, ["The user lives in Berlin"]);
    let request = v1::ListMemoriesRequest { filter: Some(superseded), ..Default::default() };
    let berlin = client.memory().list_memories(request).await.unwrap().into_inner().memories;
    let berlin = berlin[0].memory.clone().unwrap();
    assert_eq!(berlin.replaced_by, paris.memory_id);
    let change = get(&client, &berlin.memory_id).await.changes.remove(0);
    assert_eq!(change.kind(), v1::MemoryChangeKind::Superseded);
    assert_eq!(
        get(&client, &paris.memory_id).await.memory.unwrap().status(),
        v1::MemoryStatus::Active
    );

    let dry = v1::ConsolidateMemoriesRequest { dry_run: true };
    let told = client.memory().consolidate_memories(dry).await.unwrap().into_inner();
    assert!(!told.no_model && told.would_merge.is_empty() && told.done.is_none(), "{told:?}");
    let now = v1::ConsolidateMemoriesRequest { dry_run: false };
    let told = client.memory().consolidate_memories(now).await.unwrap().into_inner();
    assert_eq!(told.done.unwrap().compared, 0, "that was done");
    let stats = client.memory().get_memory_stats(v1::GetMemoryStatsRequest {}).await.unwrap();
    assert!(stats.into_inner().last_consolidation.is_some());
    assert_eq!(llm.requests().iter().filter(|it| compares(it)).count(), 1);
    daemon.stop().await;
}

#[tokio::test]
async fn other_thresholds_hold_after_a_reload() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::builder().llm(&llm).start().await;
    let client = daemon.client().await;
    add(&client, note("alder trees grow by the river")).await;
    daemon.home_mut().set("memory.max_active", 1);
    daemon.home().write_config();
    client.admin().reload_config(v1::ReloadConfigRequest {}).await.unwrap();
    let full = client.memory().add_memory(note("the build takes an hour")).await.unwrap_err();
    assert_eq!(full.code(), Code::ResourceExhausted);
    daemon.home_mut().set("memory.merge_similarity", 7);
    daemon.home().write_config();
    let wrong = client.admin().reload_config(v1::ReloadConfigRequest {}).await.unwrap_err();
    check_error(&wrong, Code::InvalidArgument, "memory.merge_similarity");
    daemon.stop().await;
}

#[tokio::test]
async fn the_doctor_says_how_memories_are_found() {
    let clock = Arc::new(FakeClock::at(START_MS));
    let daemon = daemon(&clock).await;
    let client = daemon.client().await;
    add(&client, note("likes tea")).await;
    let request = v1::RunChecksRequest { offline: true };
    let checks = client.diagnostics().run_checks(request).await.unwrap().into_inner().checks;
    let check = checks.into_iter().find(|check| check.name == "memory").unwrap();
    assert_eq!(check.outcome(), v1::CheckOutcome::Ok);
    assert!(check.detail.contains("by words alone"), "{check:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn a_remote_client_reads_writes_and_erases_as_its_token_says() {
    let world = World::start().await;
    let (_, read) = world.token("screen", v1::TokenScope::Read).await;
    let (_, chat) = world.token("phone", v1::TokenScope::Chat).await;
    let reader = world.client(&read).await;
    let talker = world.client(&chat).await;
    let status = reader.memory().add_memory(note("likes tea")).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    let memory = add(&talker, note("likes tea")).await;
    let by = memory.author.unwrap().by;
    let Some(v1::memory_author::By::User(author)) = by else { panic!() };
    assert_eq!(author.name, "ann [phone]");
    assert_eq!(list(&reader, v1::MemoryFilter::default()).await, ["likes tea"]);
    let erase =
        v1::ForgetMemoryRequest { memory_id: memory.memory_id, erase: true, author: Some(ann()) };
    let status = talker.memory().forget_memory(erase.clone()).await.unwrap_err();
    refused(&status, Code::PermissionDenied, "erase", "needs a token of the scope admin");
    world.daemon.client().await.memory().forget_memory(erase).await.unwrap();
    world.daemon.stop().await;
}
