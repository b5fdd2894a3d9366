//! Memories at rest: what a run does while nobody needs the daemon, and when it does not run.

use std::time::Duration;

use agentd_domain::{
    Author, Memory, MemoryAuthor, MemoryCategory, MemoryId, MemoryOrigin, MemoryPriority,
    MemoryScope, MemoryStatus,
};
use agentd_engine::Engine;
use agentd_llm::{LlmError, Message};
use agentd_memory::{Filter, MemoryPatch, NewMemory, Vouched};

use crate::world::{Gate, Step, Terminal, World, pass_seconds, text};

const DAY_S: u64 = 86_400;
const REPLACES: &str = r#"[{"pair":1,"verdict":"newer_replaces"}]"#;

fn world() -> World {
    let world = World::new();
    world.configure(|config| config.consolidate_every = Some(Duration::from_secs(DAY_S)));
    world
}

fn by_user() -> MemoryAuthor {
    MemoryAuthor::User { author: Author::new("ann", "ann").unwrap() }
}

async fn note(world: &World, content: &str, author: MemoryAuthor) -> MemoryId {
    let new = NewMemory {
        content: content.to_owned(),
        priority: Some(MemoryPriority::High),
        importance: None,
        category: MemoryCategory::Preference,
        tags: Vec::new(),
        scope: MemoryScope::User,
        pinned: false,
        expires_at: None,
        origin: MemoryOrigin { author, session_id: None, seq: None },
        vouched: Vouched::Yes,
    };
    pass_seconds(1).await;
    world.memories.add(new).await.unwrap().id()
}

/// Two memories that cannot both hold, the older first.
async fn contradiction(world: &World, author: MemoryAuthor) -> (MemoryId, MemoryId) {
    let older = note(world, "The user lives in Berlin", author).await;
    (older, note(world, "The user lives in Paris", MemoryAuthor::Extraction).await)
}

async fn get(world: &World, id: MemoryId) -> Memory {
    world.memories.resolve(&id.to_string()).await.unwrap()
}

/// Everything that holds or waits, but for what the daemon made of it.
async fn texts(world: &World) -> Vec<String> {
    let statuses = vec!["active", "quarantined"];
    let filter = Filter { statuses, ..Filter::default() };
    let (found, _all) = world.memories.find(&filter, 100).await.unwrap();
    let own = found.into_iter().filter(|it| it.memory.category != MemoryCategory::Reflection);
    let mut texts: Vec<String> =
        own.map(|it| format!("{} {}", it.memory.status.name(), it.memory.content)).collect();
    texts.sort();
    texts
}

fn requests(world: &World) -> Vec<String> {
    let requests = world.provider.requests.lock().unwrap();
    let last = requests.iter().map(|request| match request.messages.last() {
        Some(Message::User { text, .. }) => text.clone(),
        other => panic!("{other:?}"),
    });
    last.collect()
}

/// Says something and waits for the answer.
async fn turn(world: &World, engine: &Engine, said: &str) {
    let id = world.session(engine).await;
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    world.send(engine, id, said).await;
    terminal.until_kind("turn_completed", 1).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_contradicted_gives_way_once_a_day_and_an_undo_brings_it_back() {
    let world = world();
    let engine = world.engine();
    let (older, newer) = contradiction(&world, MemoryAuthor::Model).await;
    world.script(vec![text(REPLACES)]);
    let done = engine.consolidate_if_due().await.unwrap().unwrap();
    assert_eq!((done.compared, done.superseded, done.reflected), (1, 1, 0), "{done:?}");
    assert_eq!(done.skipped, "");
    let expect = r#"1 older: "The user lives in Berlin" newer: "The user lives in Paris""#;
    assert_eq!(requests(&world), [format!("{expect}\n")]);
    assert_eq!(get(&world, older).await.status, MemoryStatus::Superseded { by: newer });
    assert_eq!(world.memories.upkeep().await.unwrap().consolidated, Some(done));

    assert_eq!(engine.consolidate_if_due().await.unwrap(), None, "once a day");
    let undone = world.memories.undo(None, by_user()).await.unwrap();
    assert_eq!(undone.author, MemoryAuthor::Daemon);
    assert!(get(&world, older).await.is_active());
    // What was taken back is not done again: it was compared, and nobody has said anything new.
    pass_seconds(DAY_S + 1).await;
    world.script(vec![text("[]")]);
    let done = engine.consolidate_if_due().await.unwrap().unwrap();
    assert_eq!(done.superseded, 0);
    assert!(get(&world, older).await.is_active());
}

#[tokio::test(start_paused = true)]
async fn it_waits_while_a_turn_runs_and_for_a_while_after_it() {
    let world = world();
    let engine = world.engine();
    contradiction(&world, MemoryAuthor::Model).await;
    let gate = Gate::new();
    world.script(vec![Step::Pass(gate.clone()), text("hello")]);
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "hello").await;
    terminal.until_kind("turn_started", 1).await;
    pass_seconds(2 * DAY_S).await;
    assert_eq!(engine.consolidate_if_due().await.unwrap(), None);
    gate.open();
    terminal.until_kind("turn_completed", 1).await;
    assert_eq!(engine.consolidate_if_due().await.unwrap(), None, "somebody is here");
    assert_eq!(requests(&world).len(), 1);
    pass_seconds(301).await;
    world.script(vec![text(REPLACES)]);
    assert_eq!(engine.consolidate_if_due().await.unwrap().unwrap().superseded, 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_broken_off_goes_on_where_it_was() {
    let world = world();
    let engine = world.engine();
    for name in [
        "Anna", "Boris", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hiro", "Ines", "Jonas",
        "Katya", "Luca",
    ] {
        note(&world, &format!("{name} visited {name}town harbour"), MemoryAuthor::Model).await;
        note(&world, &format!("{name} left {name}town harbour"), MemoryAuthor::Model).await;
    }
    world.script(vec![text("[]")]);
    world.script(vec![Step::Hang]);
    let killed = tokio::time::timeout(Duration::from_secs(5), engine.consolidate());
    assert!(killed.await.is_err());
    world.crash(engine).await;
    let before = requests(&world);
    assert_eq!(before.len(), 2);

    let engine = world.engine();
    assert_eq!(world.memories.upkeep().await.unwrap().consolidated, None);
    pass_seconds(301).await;
    world.script(vec![text("[]")]);
    let done = engine.consolidate_if_due().await.unwrap().unwrap();
    assert!(done.compared > 0);
    let after = requests(&world);
    assert_eq!(after[2], before[1], "what was answered is not asked again");
    assert!(!after[2..].contains(&before[0]));
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_not_what_was_asked_for_change_nothing() {
    let answers = [
        "Sure! I replaced them all.",
        r#"[{"pair":7,"verdict":"newer_replaces"}]"#,
        r#"[{"pair":1,"verdict":"delete"}]"#,
        r#"[{"pair":1,"verdict":"newer_replaces"},{"pair":1,"verdict":"same"}]"#,
        "",
    ];
    for answer in answers {
        let world = world();
        let engine = world.engine();
        contradiction(&world, MemoryAuthor::Model).await;
        let before = texts(&world).await;
        world.script(vec![text(answer)]);
        let done = engine.consolidate().await.unwrap();
        assert_eq!(done.superseded + done.merged + done.proposed + done.adjusted, 0, "{answer}");
        assert!(done.skipped.contains("not what it was asked for"), "{answer}: {done:?}");
        assert_eq!(texts(&world).await, before, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_model_or_its_budget_it_says_what_it_left_out() {
    let world = world();
    let engine = world.engine();
    contradiction(&world, MemoryAuthor::Model).await;
    let before = texts(&world).await;
    world.before_model(Step::Fail(LlmError::Budget { message: "none".to_owned() }));
    let done = engine.consolidate().await.unwrap();
    assert!(done.skipped.contains("there is no model"), "{done:?}");
    world.configure(|config| config.budget.background_day.tokens = 1);
    let done = engine.consolidate().await.unwrap();
    assert!(done.skipped.contains("gave no answer"), "{done:?}");
    assert_eq!(requests(&world), Vec::<String>::new());
    assert_eq!(texts(&world).await, before);
    // It is asked as soon as it may be.
    world.configure(|config| config.budget.background_day.tokens = 0);
    world.script(vec![text(REPLACES)]);
    assert_eq!(engine.consolidate().await.unwrap().superseded, 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_person_wrote_or_pinned_is_only_proposed_to_go() {
    for is_pinned in [false, true] {
        let world = world();
        let engine = world.engine();
        let author = if is_pinned { MemoryAuthor::Model } else { by_user() };
        let (older, newer) = contradiction(&world, author).await;
        if is_pinned {
            let pin = MemoryPatch { pinned: Some(true), ..MemoryPatch::default() };
            world.memories.edit(older, pin, by_user()).await.unwrap();
        }
        world.script(vec![text(REPLACES)]);
        let done = engine.consolidate().await.unwrap();
        assert_eq!((done.superseded, done.proposed), (0, 1), "{done:?}");
        assert!(get(&world, older).await.is_active());
        let waiting = Filter { statuses: vec!["quarantined"], ..Filter::default() };
        let (waiting, _all) = world.memories.find(&waiting, 9).await.unwrap();
        let proposal = &waiting[0].memory;
        assert_eq!(proposal.content, "The user lives in Paris");
        assert_eq!(proposal.sources, [older, newer]);

        world.memories.confirm(proposal.id, by_user()).await.unwrap();
        assert_eq!(texts(&world).await, ["active The user lives in Paris"]);
        assert_eq!(get(&world, older).await.status, MemoryStatus::Superseded { by: proposal.id });
        world.memories.undo(None, by_user()).await.unwrap();
        assert_eq!(texts(&world).await.len(), 3);
        // It is proposed once, whatever came of it.
        world.memories.forget(proposal.id, by_user()).await.unwrap();
        world.memories.note_upkeep(|upkeep| upkeep.compared_through = None).await.unwrap();
        world.script(vec![text(REPLACES)]);
        assert_eq!(engine.consolidate().await.unwrap().proposed, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_spoken_of_lately_is_weighed_within_limits() {
    let world = world();
    let engine = world.engine();
    let mut ids = Vec::new();
    for content in [
        "Granite is owned by Olga",
        "Likes jazz",
        "Backups go to tape",
        "Lunch is at noon",
        "Rahim approves invoices",
    ] {
        ids.push(note(&world, content, MemoryAuthor::Model).await);
    }
    let pin = MemoryPatch { pinned: Some(true), ..MemoryPatch::default() };
    world.memories.edit(ids[4], pin, by_user()).await.unwrap();
    let item = |at: usize, to: &str| {
        let end = agentd_memory::id_end(ids[at]);
        format!(r#"{{"memory_id":"{end}","new_priority":"{to}","reason":"x"}}"#)
    };
    turn(&world, &engine, "how do we restore the tape backups?").await;
    let wanted: Vec<String> = (0..4).map(|at| item(at, "medium")).collect();
    world.script(vec![text(&format!("[{}]", wanted.join(",")))]);
    let done = engine.consolidate().await.unwrap();
    assert_eq!(done.adjusted, 3, "three at most: {done:?}");
    let asked = requests(&world).pop().unwrap();
    assert!(asked.contains("how do we restore the tape backups?"), "{asked}");
    assert!(!asked.contains("Rahim"), "what is pinned is not offered: {asked}");
    // Two steps, or what is pinned: nothing.
    let tiers = async || {
        let mut tiers = Vec::new();
        for id in &ids {
            tiers.push(get(&world, *id).await.priority);
        }
        tiers
    };
    let before = tiers().await;
    for answer in [item(0, "critical"), item(4, "critical")] {
        turn(&world, &engine, "and again").await;
        world.script(vec![text(&format!("[{answer}]"))]);
        assert_eq!(engine.consolidate().await.unwrap().adjusted, 0);
        assert_eq!(tiers().await, before);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_used_is_in_the_ledger() {
    let world = world();
    let engine = world.engine();
    contradiction(&world, MemoryAuthor::Model).await;
    world.script(vec![text(REPLACES)]);
    engine.consolidate().await.unwrap();
    let used = engine.budgets().await.unwrap();
    let background = used.iter().find(|it| it.scope == agentd_engine::BudgetScope::BackgroundDay);
    assert!(background.unwrap().used.tokens > 0, "{used:?}");
    engine.stop().await;
    let engine = world.engine();
    let again = engine.budgets().await.unwrap();
    assert_eq!(again, used, "also after a restart");
}
