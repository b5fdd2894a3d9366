//! Watching all sessions at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentd_domain::{
    ApprovalScope, EventBody, OpenAsks, PermissionMode, Seq, SessionId, SessionStatus, ToolEffect,
};
use agentd_engine::{
    ApprovalAnswer, CommandError, Engine, SessionSummary, SessionUpdate, SessionWatch, WatchItem,
};

use crate::tools::{Behaviour, Probe};
use crate::world::{Gate, Step, Terminal, World, author, pass_seconds, text};

/// What a client would show.
struct Board {
    watch: SessionWatch,
    shown: BTreeMap<SessionId, SessionSummary>,
    more: bool,
    /// Messages that came.
    items: usize,
}

impl Board {
    async fn of(engine: &Engine, limit: usize) -> Self {
        let watch = engine.watch(limit).unwrap();
        let mut board = Self { watch, shown: BTreeMap::new(), more: false, items: 0 };
        assert!(board.step().await);
        board
    }

    /// Takes the next item in. False: the daemon stops.
    async fn step(&mut self) -> bool {
        self.items += 1;
        match self.watch.next().await.unwrap() {
            WatchItem::Snapshot { sessions, more } => {
                let by_id =
                    sessions.into_iter().map(|session| (session.record.session_id, session));
                self.shown = by_id.collect();
                self.more = more;
            }
            WatchItem::Changed(summary) => {
                self.shown.insert(summary.record.session_id, *summary);
            }
            WatchItem::Deleted(id) => {
                self.shown.remove(&id);
            }
            WatchItem::Stopping => return false,
        }
        true
    }

    async fn until(&mut self, id: SessionId, holds: impl Fn(&SessionSummary) -> bool) {
        while !self.shown.get(&id).is_some_and(&holds) {
            assert!(self.step().await, "the daemon stopped; {:?}", self.shown);
        }
    }

    fn of_session(&self, id: SessionId) -> &SessionSummary {
        &self.shown[&id]
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_sees_sessions_come_run_rest_be_read_renamed_and_go() {
    let world = World::new();
    let engine = world.engine();
    let mut board = Board::of(&engine, 10).await;
    assert!(board.shown.is_empty() && !board.more);
    let id = world.session(&engine).await;
    board.until(id, |session| session.attached == 0).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    board.until(id, |session| session.attached == 1).await;

    let gate = Gate::new();
    world.script(vec![Step::Pass(gate.clone()), text("done")]);
    world.send(&engine, id, "go").await;
    world.send(&engine, id, "and this").await;
    board
        .until(id, |session| {
            session.record.status == SessionStatus::Running && session.record.queued_messages == 1
        })
        .await;
    assert_eq!(board.of_session(id).record.title, "go");
    assert_eq!(board.of_session(id).record.news_seq, Seq::ZERO, "one's own message is no news");
    gate.open();
    ann.until_kind("turn_completed", 2).await;
    let last = ann.events.last().unwrap().seq;
    board.until(id, |session| session.record.status == SessionStatus::Idle).await;
    board.until(id, |session| session.record.news_seq == last).await;
    assert_eq!(board.of_session(id).read, Seq::ZERO);

    // Who has read it has, and who is behind takes nothing back.
    engine.set_cursor(id, "ann", last).await.unwrap();
    board.until(id, |session| session.read == last).await;
    engine.set_cursor(id, "bob", Seq(1)).await.unwrap();
    let title = SessionUpdate { title: Some("Mine".parse().unwrap()), ..SessionUpdate::default() };
    engine.update(id, title, Some(author("ann"))).await.unwrap();
    board.until(id, |session| session.record.title == "Mine").await;
    let renamed = board.of_session(id);
    assert_eq!((renamed.read, renamed.record.news_seq), (last, last), "a title is no news");
    assert!(renamed.record.last_seq > last);

    drop(ann);
    board.until(id, |session| session.attached == 0).await;
    engine.delete(id).await.unwrap();
    while board.shown.contains_key(&id) {
        assert!(board.step().await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_sees_what_waits_for_people_and_since_when() {
    let mut world = World::new();
    world.configure(|config| config.permission_mode = PermissionMode::Ask);
    let probe = Probe::new("probe", ToolEffect::Exclusive, Behaviour::Say("ok"));
    world.tools.register(Arc::new(probe)).unwrap();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut board = Board::of(&engine, 10).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    world.script(vec![Step::Call(vec![("probe", "{}")])]);
    world.send(&engine, id, "go").await;
    board.until(id, |session| session.record.asks.approvals == 1).await;
    ann.until_kind("approval_requested", 1).await;
    let (asked, at) = ann
        .events
        .iter()
        .find_map(|event| match &event.body {
            EventBody::ApprovalRequested(asked) => Some((asked.clone(), event.at)),
            _ => None,
        })
        .unwrap();
    let asks = OpenAsks { approvals: 1, questions: 0, since: Some(at) };
    assert_eq!(board.of_session(id).record.asks, asks);
    pass_seconds(5).await;
    // A list says the same, although the index is not written while a turn runs, and so does a new watcher.
    assert_eq!(engine.list(None, 10).await.unwrap().sessions[0].asks, asks);
    assert_eq!(Board::of(&engine, 10).await.of_session(id).record.asks, asks);

    let answer = ApprovalAnswer {
        approval_id: asked.approval_id,
        allow: true,
        scope: ApprovalScope::Once,
        reason: String::new(),
        by: author("ann"),
    };
    engine.answer_approval(id, answer).await.unwrap();
    board.until(id, |session| session.record.asks == OpenAsks::default()).await;
    ann.until_kind("turn_completed", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_does_not_read_delays_nobody_and_sees_the_last_state() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut board = Board::of(&engine, 10).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    for turn in 1..=50 {
        world.send(&engine, id, "go").await;
        ann.until_kind("turn_completed", turn).await;
    }
    let last = ann.events.last().unwrap().seq;
    let before = board.items;
    board.until(id, |session| session.record.news_seq == last).await;
    assert_eq!(board.items - before, 1, "what it was too slow for became one");
    let seen = board.of_session(id);
    assert_eq!((seen.record.turns, seen.record.status), (50, SessionStatus::Idle));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_is_bounded_and_the_others_are_shown_when_they_change() {
    let world = World::new();
    let engine = world.engine();
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.session(&engine).await);
        pass_seconds(1).await;
    }
    let mut board = Board::of(&engine, 3).await;
    assert!(board.more);
    assert_eq!(board.shown.keys().copied().collect::<Vec<_>>(), ids[2..]);
    world.send(&engine, ids[0], "go").await;
    board.until(ids[0], |session| session.record.turns == 1).await;
    assert!(!Board::of(&engine, 5).await.more);
}

#[tokio::test(start_paused = true)]
async fn what_is_seen_of_a_session_does_not_change_when_it_is_unloaded_or_the_daemon_restarts() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut ann = Terminal::attach(&engine, id, "ann").await;
    world.send(&engine, id, "go").await;
    ann.until_kind("turn_completed", 1).await;
    // News outside of a turn.
    let told = engine.remind(None, "Buy milk.").await.unwrap();
    assert_eq!(told, Some(id));
    ann.until_kind("notice", 1).await;
    drop(ann);
    let mut board = Board::of(&engine, 10).await;
    let seen = board.of_session(id).clone();
    assert_eq!(seen.record.news_seq, seen.record.last_seq);
    pass_seconds(3600).await;
    assert_eq!(engine.stats().live_sessions, 0);
    assert!(board.step().await, "it is told that the session has been unloaded");
    assert_eq!(board.of_session(id), &SessionSummary { attached: 0, ..seen.clone() });
    engine.stop().await;
    let engine = world.engine();
    assert_eq!(Board::of(&engine, 10).await.of_session(id).record, seen.record);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_watching_and_refuses_more() {
    let world = World::new();
    let engine = world.engine();
    let id = world.session(&engine).await;
    let mut board = Board::of(&engine, 10).await;
    let waits = async { while board.step().await {} };
    tokio::join!(waits, engine.stop());
    assert!(board.shown.contains_key(&id));
    assert!(matches!(engine.watch(10), Err(CommandError::Stopping)));
}
