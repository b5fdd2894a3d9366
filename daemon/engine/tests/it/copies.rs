//! Forks, exports and imports.

use agentd_domain::{ForkOrigin, Seq, SessionId, SessionStatus};
use agentd_engine::{CommandError, Engine, ImportError};

use crate::world::{Step, Terminal, World, author, text};

/// Shorter than the lines, so that pages end inside them.
const PAGE_BYTES: usize = 97;

pub(crate) async fn export(engine: &Engine, id: SessionId) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let mut from = Some((Seq(1), 0));
    while let Some(position) = from {
        let (page, next) = engine.export(id, position, PAGE_BYTES).await.unwrap();
        assert!(page.len() <= PAGE_BYTES);
        lines.extend(page);
        from = next;
    }
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

fn new_id(number: u128) -> SessionId {
    SessionId::from_parts(1, number)
}

/// A session with one whole turn, one that hangs, and one message that waits.
async fn busy_session(world: &World, engine: &Engine) -> SessionId {
    let id = world.session(engine).await;
    let mut terminal = Terminal::attach(engine, id, "ann").await;
    world.send(engine, id, "one").await;
    terminal.until_kind("turn_completed", 1).await;
    world.script(vec![text("half"), Step::Hang]);
    world.send(engine, id, "two").await;
    world.send(engine, id, "three").await;
    terminal.until(|seen| seen.live == "half").await;
    id
}

#[tokio::test(start_paused = true)]
async fn a_fork_of_a_busy_session_ends_with_its_last_whole_turn() {
    let world = World::new();
    let engine = world.engine();
    let id = busy_session(&world, &engine).await;
    let view = engine.fork(id, Some(new_id(1)), None, None, &author("ann")).await.unwrap();
    assert_eq!(view.record.title, "Fork of one");
    assert_eq!(view.record.status, SessionStatus::Idle);
    let kinds = world.kinds(new_id(1)).await;
    assert_eq!(kinds[kinds.len() - 2..], ["turn_completed", "session_renamed"]);
    let until = Seq(u64::try_from(kinds.len()).unwrap() - 1);
    assert_eq!(view.record.origin, Some(ForkOrigin { session_id: id, seq: until }));
    // A retry gets the same copy.
    let again = engine.fork(id, Some(new_id(1)), None, None, &author("ann")).await.unwrap();
    assert_eq!(again.record, view.record);
}

#[tokio::test(start_paused = true)]
async fn a_fork_in_the_middle_of_a_turn_starts_at_rest() {
    let world = World::new();
    let engine = world.engine();
    let id = busy_session(&world, &engine).await;
    let last = world.log(id).await.last().unwrap().seq;
    let view = engine.fork(id, None, Some(last), None, &author("ann")).await.unwrap();
    assert_eq!((view.record.status, view.queue), (SessionStatus::Idle, Vec::new()));
    let kinds = world.kinds(view.record.session_id).await;
    assert_eq!(
        kinds[kinds.len() - 3..],
        ["message_withdrawn", "turn_interrupted", "session_renamed"]
    );
    let refused = engine.fork(id, None, Some(last.next()), None, &author("ann")).await;
    assert!(matches!(refused, Err(CommandError::NoSuchEvent { .. })));
}

#[tokio::test(start_paused = true)]
async fn an_export_comes_back_as_the_same_session() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "one").await;
    terminal.until_kind("turn_completed", 1).await;
    let lines = export(&engine, id).await;
    let mut next = lines.clone().into_iter();
    engine.import(new_id(2), || Ok(next.next()), "/", &author("bob")).await.unwrap();
    assert_eq!(world.log(new_id(2)).await, world.log(id).await);
    assert_eq!(export(&engine, new_id(2)).await, lines);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_not_a_whole_export_leaves_nothing() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut terminal = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "one").await;
    terminal.until_kind("turn_completed", 1).await;
    let lines = export(&engine, id).await;
    let line = |text: &str| text.as_bytes().to_vec();
    let without = |at: usize| {
        let mut lines = lines.clone();
        lines.remove(at);
        lines
    };
    let newer = line(r#"{"format":"agentd-session","version":99}"#);
    let mut broken = lines.clone();
    broken[2] = line("{");
    let mut long = lines.clone();
    long[2] = vec![b' '; agentd_engine::MAX_IMPORT_LINE + 1];
    let table: [(Vec<Vec<u8>>, &str); 8] = [
        (Vec::new(), "the file holds no events"),
        (vec![line("hello")], "line 1 is not the header of a session export"),
        (vec![newer], "the export has format version 99; this release reads up to 1"),
        (lines[..1].to_vec(), "the file holds no events"),
        (without(1), "line 2 holds event 2 where event 1 should be"),
        (without(2), "line 3 holds event 3 where event 2 should be"),
        (broken, "line 3 is not an event"),
        (long, "line 3 has more than 16777216 bytes"),
    ];
    for (file, expect) in table {
        let mut next = file.into_iter();
        let refused = engine.import(new_id(3), || Ok(next.next()), "/", &author("bob")).await;
        let error = refused.expect_err(expect);
        assert_eq!(error.to_string(), expect);
        assert!(!matches!(error, ImportError::Command(_)));
        assert_eq!(world.log(new_id(3)).await, []);
        assert!(matches!(engine.view(new_id(3)).await, Err(CommandError::NoSession(_))));
    }
    assert_eq!(world.engine().resume_unfinished().await.unwrap(), 0);
}
