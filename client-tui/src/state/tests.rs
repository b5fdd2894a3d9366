//! What follows from what comes in, around the transcript.

mod person;

use agentd_proto::v1::event::Body;
use agentd_shared::{AttachEvent, RpcError, WatchEvent};
use crossterm::event::KeyModifiers;

use super::*;
use crate::conn::{Command, Reply, Report};
use crate::terminal::Stop;

pub(crate) const SESSION: &str = "01JZ0000000000000000000001";

const TURN: &str = "01JZ00000000000000000000T1";

pub(crate) fn author() -> v1::Author {
    v1::Author { client_id: "me".to_owned(), name: "ann@pts/3".to_owned() }
}

/// A state with an open session whose replay has reached the present.
pub(crate) fn opened() -> State {
    let mut state = State::new(author(), Settings::default());
    state.now_ms = 1_000_000;
    drop(state.open_session(SESSION));
    drop(state.on(stream(AttachEvent::CaughtUp { seq: 0 })));
    state
}

pub(crate) fn stream(event: AttachEvent) -> Input {
    Input::Report(Report::Stream { stream: StreamId(1), event: Some(event) })
}

pub(crate) fn event(seq: u64, at_ms: i64, body: Body) -> Input {
    let turn_id = TURN.to_owned();
    let event = v1::Event { seq, at_ms, turn_id, body: Some(body) };
    stream(AttachEvent::Event(Box::new(event)))
}

pub(crate) fn reply(reply: Reply) -> Input {
    Input::Report(Report::Reply(reply))
}

pub(crate) fn summary(id: &str, title: &str) -> v1::SessionSummary {
    let session = v1::Session {
        session_id: id.to_owned(),
        title: title.to_owned(),
        workspace: "/home/ann/src/site".to_owned(),
        status: v1::SessionStatus::Idle.into(),
        updated_at_ms: 700_000,
        ..v1::Session::default()
    };
    v1::SessionSummary { session: Some(session), read_seq: 0 }
}

pub(crate) fn snapshot(sessions: Vec<v1::SessionSummary>) -> Input {
    Input::Report(Report::Watch(WatchEvent::Snapshot(v1::SessionSnapshot {
        sessions,
        more: false,
    })))
}

pub(crate) fn key(code: KeyCode) -> Input {
    Input::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

pub(crate) fn typed(state: &mut State, text: &str) {
    for char in text.chars() {
        drop(state.on(key(KeyCode::Char(char))));
    }
}

fn sent(effects: &[Effect]) -> Vec<&Command> {
    fn command(effect: &Effect) -> Option<&Command> {
        match effect {
            Effect::Send(command) => Some(command),
            _ => None,
        }
    }
    effects.iter().filter_map(command).collect()
}

pub(crate) fn started(seq: u64, at_ms: i64) -> Input {
    event(seq, at_ms, Body::TurnStarted(v1::TurnStarted::default()))
}

fn completed(seq: u64, at_ms: i64) -> Input {
    event(seq, at_ms, Body::TurnCompleted(v1::TurnCompleted::default()))
}

pub(crate) fn queued(seq: u64, item_id: &str, text: &str, by: v1::Author) -> Input {
    let accepted = v1::MessageAccepted {
        item_id: item_id.to_owned(),
        text: text.to_owned(),
        author: Some(by),
        ..v1::MessageAccepted::default()
    };
    event(seq, 1, Body::MessageAccepted(accepted))
}

#[test]
fn whoever_looks_away_is_called_for_long_turns_and_questions_only() {
    let check = |looks: bool, bell: bool, took_ms: i64, expect: bool| {
        let mut state = opened();
        state.settings.bell = bell;
        drop(state.on(Input::Focus(looks)));
        drop(state.on(started(1, 1_000)));
        let effects = state.on(completed(2, 1_000 + took_ms));
        let rings = effects.iter().any(|effect| matches!(effect, Effect::Notify(_)));
        assert_eq!(rings, expect, "looks {looks}, bell {bell}, {took_ms} ms");
    };
    check(false, true, 20_000, true);
    check(false, true, 2_000, false);
    check(true, true, 20_000, false);
    check(false, false, 20_000, false);

    let mut state = opened();
    drop(state.on(Input::Focus(false)));
    let asked = v1::QuestionAsked { question_id: "q".to_owned(), ..v1::QuestionAsked::default() };
    let effects = state.on(event(1, 1, Body::QuestionAsked(asked)));
    assert!(effects.contains(&Effect::Notify("asks a question".to_owned())), "{effects:?}");
}

#[test]
fn what_was_shown_is_noted_as_read_once_and_only_while_somebody_looks() {
    let mut state = opened();
    let cursors = |effects: &[Effect]| {
        let seq = |command: &&Command| match command {
            Command::SetReadCursor(request) => Some(request.seq),
            _ => None,
        };
        sent(effects).iter().filter_map(seq).collect::<Vec<u64>>()
    };
    drop(state.on(started(1, 1)));
    let effects = state.on(completed(2, 2));
    assert_eq!(cursors(&effects), [2]);
    drop(state.on(Input::Focus(false)));
    drop(state.on(started(3, 3)));
    let effects = state.on(completed(4, 4));
    assert_eq!(cursors(&effects), [0; 0]);
    let effects = state.on(Input::Focus(true));
    assert_eq!(cursors(&effects), [4]);
    assert_eq!(cursors(&state.on(Input::Focus(true))), [0; 0]);
}

#[test]
fn the_list_of_sessions_opens_renames_and_deletes_only_what_was_confirmed() {
    let other = "01JZ0000000000000000000002";
    let mut state = opened();
    drop(state.on(snapshot(vec![summary(SESSION, "first"), summary(other, "second")])));
    drop(state.on(key(KeyCode::F(2))));
    assert!(state.sessions.has_keys && state.has_session_screen());
    let at = |state: &State, id: &str| {
        state.sessions.rows().position(|row| row.session.session_id == id).unwrap()
    };
    assert_eq!(state.sessions.selected, at(&state, SESSION), "the open one is chosen");
    drop(state.on(key(if at(&state, other) == 0 { KeyCode::Up } else { KeyCode::Down })));

    drop(state.on(key(KeyCode::Char('D'))));
    assert_eq!(state.on(key(KeyCode::Char('n'))), []);
    drop(state.on(key(KeyCode::Char('D'))));
    let effects = state.on(key(KeyCode::Char('y')));
    let deleted = Command::DeleteSession(v1::DeleteSessionRequest { session_id: other.to_owned() });
    assert_eq!(sent(&effects), [&deleted]);

    drop(state.on(key(KeyCode::Char('r'))));
    typed(&mut state, "!");
    let effects = state.on(key(KeyCode::Enter));
    let title = match sent(&effects).as_slice() {
        [Command::UpdateSession(request)] => request.title.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(title.as_deref(), Some("second!"));

    let effects = state.on(key(KeyCode::Enter));
    assert!(
        matches!(effects.as_slice(), [Effect::Detach(_), Effect::Attach { session_id, .. }] if session_id == other),
        "{effects:?}"
    );
    assert!(!state.sessions.has_keys);
}

#[test]
fn a_filter_narrows_the_list_and_escape_gives_all_back_before_it_leaves() {
    let mut state = opened();
    let sessions = (0..5).map(|at| summary(&format!("s{at}"), &format!("title {at}"))).collect();
    drop(state.on(snapshot(sessions)));
    drop(state.on(key(KeyCode::F(2))));
    typed(&mut state, "/title 3");
    drop(state.on(key(KeyCode::Enter)));
    assert_eq!(state.sessions.rows().len(), 1);
    drop(state.on(key(KeyCode::Esc)));
    assert_eq!(state.sessions.rows().len(), 5);
    assert!(state.sessions.has_keys);
    drop(state.on(key(KeyCode::Esc)));
    assert!(!state.sessions.has_keys);
    assert!(state.composer.is_empty(), "nothing of it went into the message");
}

#[test]
fn what_sessions_do_is_told_and_the_chosen_one_stays_chosen() {
    let mut state = opened();
    let rows = ["a", "b", "c"].map(|id| summary(id, id)).to_vec();
    drop(state.on(snapshot(rows)));
    drop(state.on(key(KeyCode::F(2))));
    state.sessions.select("c");
    let mut running = summary("c", "c");
    running.session.as_mut().unwrap().status = v1::SessionStatus::Running.into();
    drop(state.on(Input::Report(Report::Watch(WatchEvent::Changed(Box::new(running))))));
    let mut waiting = summary("b", "b");
    waiting.session.as_mut().unwrap().open_approvals = 1;
    drop(state.on(Input::Report(Report::Watch(WatchEvent::Changed(Box::new(waiting))))));
    let doing: Vec<_> =
        state.sessions.rows().map(|row| (row.session.session_id.clone(), row.doing)).collect();
    let expect = [
        ("b".to_owned(), sessions::Doing::Waits),
        ("c".to_owned(), sessions::Doing::Runs),
        ("a".to_owned(), sessions::Doing::Idle),
    ];
    assert_eq!(doing, expect);
    assert_eq!(state.sessions.selected, 1);
}

fn memory(id: &str, content: &str) -> v1::FoundMemory {
    let memory = v1::Memory {
        memory_id: id.to_owned(),
        content: content.to_owned(),
        status: v1::MemoryStatus::Active.into(),
        priority: v1::MemoryPriority::High.into(),
        changed_at_ms: 400_000,
        ..v1::Memory::default()
    };
    v1::FoundMemory { memory: Some(memory), score: 1.0 }
}

pub(crate) fn memories(contents: &[&str]) -> Reply {
    let memories =
        contents.iter().enumerate().map(|(at, text)| memory(&format!("m{at}"), text)).collect();
    let total = u32::try_from(contents.len()).unwrap();
    Reply::Memories(v1::ListMemoriesResponse { memories, total, ..Default::default() })
}

#[test]
fn memories_are_listed_shown_pinned_and_forgotten_only_when_confirmed() {
    let mut state = opened();
    let effects = state.on(key(KeyCode::F(3)));
    assert!(matches!(sent(&effects).as_slice(), [Command::ListMemories(_)]), "{effects:?}");
    drop(state.on(reply(memories(&["tea", "coffee"]))));
    drop(state.on(key(KeyCode::Down)));
    let effects = state.on(key(KeyCode::Enter));
    let shown = Command::GetMemory(v1::GetMemoryRequest { memory_id: "m1".to_owned() });
    assert_eq!(sent(&effects), [&shown]);

    assert_eq!(state.on(key(KeyCode::Char('f'))), []);
    assert_eq!(state.on(key(KeyCode::Esc)), [], "not confirmed");
    drop(state.on(key(KeyCode::Char('f'))));
    let effects = state.on(key(KeyCode::Char('y')));
    assert!(
        matches!(sent(&effects).as_slice(), [Command::ForgetMemory(request)] if request.memory_id == "m1" && !request.erase),
        "{effects:?}"
    );
    let effects = state.on(reply(Reply::MemoryChanged));
    assert!(matches!(sent(&effects).as_slice(), [Command::ListMemories(_)]), "it is read anew");

    drop(state.on(key(KeyCode::Char('p'))));
    drop(state.on(key(KeyCode::Esc)));
    assert!(state.pane.is_none());
}

#[test]
fn an_undo_of_memories_says_what_it_takes_back_before_it_does() {
    let mut state = opened();
    drop(state.on(key(KeyCode::F(3))));
    drop(state.on(reply(memories(&["tea"]))));
    let effects = state.on(key(KeyCode::Char('u')));
    assert_eq!(sent(&effects), [&Command::GetMemoryStats]);
    let change = v1::MemoryChange {
        change_id: "c1".to_owned(),
        kind: v1::MemoryChangeKind::Forgotten.into(),
        edits: vec![v1::MemoryEdit { before: memory("m9", "milk").memory, after: None }],
        edit_count: 1,
        ..v1::MemoryChange::default()
    };
    let stats = v1::GetMemoryStatsResponse { undoable: Some(change), ..Default::default() };
    drop(state.on(reply(Reply::MemoryStats(Box::new(stats)))));
    let question = state.pane.as_ref().unwrap().confirm.as_ref().unwrap().question.clone();
    assert_eq!(question, "take back: forgotten \"milk\"? y/n");
    let effects = state.on(key(KeyCode::Char('y')));
    assert!(
        matches!(sent(&effects).as_slice(), [Command::UndoMemoryChange(request)] if request.change_id == "c1"),
        "{effects:?}"
    );
}

#[test]
fn what_was_found_in_another_session_is_opened_there() {
    let mut state = opened();
    assert_eq!(state.on(key(KeyCode::F(8))), [], "nothing is asked without words");
    typed(&mut state, "tea");
    let effects = state.on(key(KeyCode::Enter));
    assert!(
        matches!(sent(&effects).as_slice(), [Command::SearchMessages(request)] if request.question == "tea"),
        "{effects:?}"
    );
    let message = v1::FoundMessage {
        session_id: "other".to_owned(),
        seq: 7,
        snippet: "green tea".to_owned(),
        ..v1::FoundMessage::default()
    };
    let found = v1::SearchMessagesResponse { messages: vec![message], ..Default::default() };
    let found = Reply::Found { question: "tea".to_owned(), found };
    drop(state.on(reply(found)));
    let effects = state.on(key(KeyCode::Enter));
    assert!(
        effects.iter().any(
            |effect| matches!(effect, Effect::Attach { session_id, .. } if session_id == "other")
        ),
        "{effects:?}"
    );
    assert!(state.pane.is_none());
    assert_eq!(state.facts.wanted_place, Some(("other".to_owned(), 7)));
}

#[test]
fn a_refusal_is_told_in_the_pane_that_asked() {
    let mut state = opened();
    drop(state.on(key(KeyCode::F(6))));
    let error = RpcError::from(tonic::Status::unavailable("gone"));
    let command = Box::new(Command::GetUsage(v1::GetUsageRequest::default()));
    drop(state.on(reply(Reply::Failed { command, error })));
    let pane = state.pane.as_ref().unwrap();
    assert!(!pane.is_waiting);
    let (tone, text) = pane.said.as_ref().unwrap();
    assert_eq!((*tone, text.as_str()), (Tone::Error, "cannot sum up what was used: gone"));
}

#[test]
fn the_wheel_moves_what_lies_on_top_and_not_what_is_below() {
    let wheel =
        |kind| Input::Mouse(MouseEvent { kind, column: 1, row: 1, modifiers: KeyModifiers::NONE });
    let mut state = opened();
    drop(state.on(key(KeyCode::F(3))));
    drop(state.on(reply(memories(&["a", "b", "c", "d", "e"]))));
    assert_eq!(state.on(wheel(MouseEventKind::ScrollDown)), []);
    assert_eq!(state.pane.as_ref().map(|pane| pane.selected), Some(3));
    drop(state.on(wheel(MouseEventKind::ScrollDown)));
    assert_eq!(state.pane.as_ref().map(|pane| pane.selected), Some(4), "it ends at the last");
    drop(state.on(wheel(MouseEventKind::ScrollUp)));
    assert_eq!(state.pane.as_ref().map(|pane| pane.selected), Some(1));
    assert!(state.open.as_ref().unwrap().document.follows(), "the transcript stays");
}

#[test]
fn tab_goes_through_all_panes_and_keys_of_the_program_go_on_working() {
    let mut state = opened();
    drop(state.on(key(KeyCode::F(3))));
    for expect in [PaneKind::Tools, PaneKind::Usage, PaneKind::Sweeps, PaneKind::Search] {
        drop(state.on(key(KeyCode::Tab)));
        assert_eq!(state.pane.as_ref().map(|pane| pane.kind), Some(expect));
    }
    let quit = Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert_eq!(state.on(quit), [Effect::Quit(0)]);
}

#[test]
fn sweeps_are_tried_at_once_and_run_only_when_confirmed() {
    let mut state = opened();
    drop(state.on(key(KeyCode::F(7))));
    drop(state.on(reply(Reply::MemoryStats(Box::default()))));
    let effects = state.on(key(KeyCode::Char('t')));
    let tried = Command::SweepMemories(v1::SweepMemoriesRequest { dry_run: true, until_ms: 0 });
    assert_eq!(sent(&effects), [&tried]);
    drop(state.on(key(KeyCode::Down)));
    assert_eq!(state.on(key(KeyCode::Char('r'))), []);
    let effects = state.on(key(KeyCode::Char('y')));
    let run = Command::ConsolidateMemories(v1::ConsolidateMemoriesRequest { dry_run: false });
    assert_eq!(sent(&effects), [&run]);
}

#[test]
fn the_last_message_of_the_queue_is_taken_back_into_the_composer_of_who_wrote_it() {
    let mut state = opened();
    drop(state.on(queued(1, "i", "later", author())));
    let withdraw = || Input::Key(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::ALT));
    let effects = state.on(withdraw());
    assert!(
        matches!(sent(&effects).as_slice(), [Command::Withdraw(request)] if request.item_id == "i"),
        "{effects:?}"
    );
    assert_eq!(state.composer.text(), "later");
}

#[test]
fn of_several_messages_that_wait_the_chosen_one_is_taken_back() {
    let chosen = |keys: &[KeyCode]| {
        let mut state = opened();
        for (seq, id) in [(1, "first"), (2, "second"), (3, "third")] {
            drop(state.on(queued(seq, id, &format!("the {id}"), author())));
        }
        let withdraw = Input::Key(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::ALT));
        assert_eq!(state.on(withdraw), [], "it is asked which");
        let effects: Vec<Effect> = keys.iter().flat_map(|code| state.on(key(*code))).collect();
        let ids = sent(&effects).into_iter().map(|command| match command {
            Command::Withdraw(request) => request.item_id.clone(),
            other => panic!("{other:?}"),
        });
        (ids.collect::<Vec<_>>(), state.composer.text())
    };
    assert_eq!(chosen(&[KeyCode::Enter]), (vec!["third".to_owned()], "the third".to_owned()));
    let (down, enter) = (KeyCode::Down, KeyCode::Enter);
    assert_eq!(chosen(&[down, down, enter]), (vec!["first".to_owned()], "the first".to_owned()));
    assert_eq!(chosen(&[KeyCode::Esc]), (Vec::new(), String::new()));
}

#[test]
fn a_message_that_was_taken_up_while_somebody_chose_it_is_told() {
    let mut state = opened();
    drop(state.on(queued(1, "a", "one", author())));
    drop(state.on(queued(2, "b", "two", author())));
    drop(state.on(Input::Key(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::ALT))));
    let taken = Body::TurnStarted(v1::TurnStarted {
        item_ids: vec!["a".to_owned(), "b".to_owned()],
        ..v1::TurnStarted::default()
    });
    drop(state.on(event(3, 3, taken)));
    assert_eq!(sent(&state.on(key(KeyCode::Enter))), [] as [&Command; 0]);
    let notice = state.notices.current().map(|notice| notice.text.as_str());
    assert_eq!(notice, Some("this message waits no longer"));
    assert!(state.composer.is_empty());
}

#[test]
fn signals_end_with_their_code_and_whoever_comes_back_takes_the_terminal_again() {
    let mut state = opened();
    for (stop, expect) in [
        (Stop::Terminate, Effect::Quit(143)),
        (Stop::Hangup, Effect::Quit(129)),
        (Stop::Interrupt, Effect::Quit(130)),
        (Stop::Suspend, Effect::Suspend),
        (Stop::Resumed, Effect::Retake),
    ] {
        assert_eq!(state.on(Input::Stop(stop)), [expect]);
    }
    let told = state.farewell();
    assert!(told.contains(&format!("agent-tui --session {SESSION}")), "{told}");
}

#[test]
fn a_stream_that_cannot_be_followed_leaves_a_list() {
    let mut state = opened();
    let error = RpcError::from(tonic::Status::unimplemented("no such call"));
    let effects = state.on(Input::Report(Report::Watch(WatchEvent::Failed(error))));
    assert!(matches!(sent(&effects).as_slice(), [Command::ListSessions(_)]), "{effects:?}");
    let session = summary("s", "one").session.unwrap();
    drop(state.on(reply(Reply::Sessions(vec![session]))));
    assert_eq!(state.sessions.rows().len(), 1);
    assert_eq!(state.sessions.rows().next().unwrap().doing, sessions::Doing::Idle);
}

fn todo(revision: u64, items: &[(&str, v1::TodoStatus)]) -> v1::TodoList {
    let item = |(label, status): &(&str, v1::TodoStatus)| v1::TodoItem {
        label: (*label).to_owned(),
        status: (*status).into(),
    };
    let items = items.iter().map(item).collect();
    v1::TodoList { title: "site".to_owned(), items, revision }
}

#[test]
fn a_list_is_shown_as_it_was_told_at_first_then_as_it_changes_and_until_it_is_done() {
    let texts = |state: &State| {
        state.plan_view().iter().map(|line| (line.state, line.text.clone())).collect::<Vec<_>>()
    };
    let mut state = opened();
    assert_eq!(texts(&state), []);
    let session = summary(SESSION, "").session;
    let list = todo(1, &[("look", v1::TodoStatus::Running)]);
    let found = v1::GetSessionResponse { session, todo: Some(list), ..Default::default() };
    drop(state.on(reply(Reply::Session(Box::new(found)))));
    let title = (StepState::Title, "site".to_owned());
    assert_eq!(texts(&state), [title.clone(), (StepState::Runs, "look".to_owned())]);

    let changed =
        |seq, list| event(seq, 1, Body::TodoListChanged(v1::TodoListChanged { list: Some(list) }));
    let both = [("look", v1::TodoStatus::Completed), ("\u{1b}[2J日本", v1::TodoStatus::Pending)];
    drop(state.on(changed(1, todo(2, &both))));
    let expect = [
        title,
        (StepState::Done, "look".to_owned()),
        (StepState::Open, "\\u{1b}[2J日本".to_owned()),
    ];
    assert_eq!(texts(&state), expect);
    let hide = || Input::Key(KeyEvent::new(KeyCode::Char('t'), KeyModifiers::ALT));
    drop(state.on(hide()));
    assert_eq!(texts(&state), []);
    drop(state.on(hide()));
    assert_eq!(texts(&state).len(), 3);

    state.plan = PlanShown::default();
    drop(state.on(changed(2, todo(3, &[("look", v1::TodoStatus::Completed)]))));
    assert_eq!(texts(&state), [], "nothing is left to be done");
}

#[test]
fn a_place_that_was_searched_for_is_gone_to_when_it_is_read_and_read_from_further_back_else() {
    let mut state = opened();
    let said = |seq: u64, text: &str| queued(seq, &format!("item {seq}"), text, author());
    drop(state.on(said(40, "newer")));
    state.facts.wanted_place = Some((SESSION.to_owned(), 7));
    let effects = state.go_to_wanted_place();
    assert!(
        matches!(
            effects.as_slice(),
            [Effect::Attach { position: agentd_shared::AttachPosition::LastTurns(40), .. }]
        ),
        "{effects:?}"
    );
    assert!(state.facts.wanted_place.is_some(), "it is still wanted");

    let mut state = opened();
    drop(state.on(said(7, "older")));
    drop(state.on(said(40, "newer")));
    let item_ids = vec!["item 7".to_owned(), "item 40".to_owned()];
    let delivered = v1::MessagesDelivered { item_ids };
    drop(state.on(event(41, 1, Body::MessagesDelivered(delivered))));
    state.facts.wanted_place = Some((SESSION.to_owned(), 7));
    assert_eq!(state.go_to_wanted_place(), []);
    assert_eq!(state.facts.wanted_place, None);
    assert!(!state.open.as_ref().unwrap().document.follows(), "it stands there");
}

#[test]
fn a_missing_piece_is_read_again_once_from_where_the_log_stands() {
    let piece = |item_id: &str, offset: u64| {
        let delta = v1::ItemDelta {
            item_id: item_id.to_owned(),
            channel: v1::DeltaChannel::Text.into(),
            offset,
            text: "text".to_owned(),
        };
        event(0, 1, Body::ItemDelta(delta))
    };
    let mut state = opened();
    drop(state.on(started(9, 1)));
    let again = [Effect::Attach {
        stream: StreamId(1),
        session_id: SESSION.to_owned(),
        position: agentd_shared::AttachPosition::FromSeq(10),
    }];
    assert_eq!(state.on(piece("a", 5)), again);
    assert_eq!(state.on(piece("a", 9)), [], "it is on its way");
    assert_eq!(state.on(piece("b", 5)), again, "another text has a gap too");
    assert_eq!(state.on(piece("a", 0)), []);
    assert_eq!(state.on(piece("b", 0)), []);
    assert!(!state.open.as_ref().unwrap().transcript.needs_resync());
}

#[test]
fn a_lost_connection_is_told_and_so_is_its_return() {
    let mut state = opened();
    let error = RpcError::from(tonic::Status::unavailable("h2 protocol error"));
    drop(state.on(stream(AttachEvent::Lost { error })));
    assert!(state.open.as_ref().unwrap().lost.is_some() && state.moves());
    let told = state.notices.current().map(|notice| notice.text.clone());
    assert_eq!(told.as_deref(), Some("connection lost; waiting for the daemon ..."));
    drop(state.on(stream(AttachEvent::Restored)));
    drop(state.on(stream(AttachEvent::Attached(v1::Attached::default()))));
    assert!(state.open.as_ref().unwrap().lost.is_none());
    let told = state.notices.current().map(|notice| notice.text.clone());
    assert_eq!(told.as_deref(), Some("connected again"), "it is not lost any more");
}

#[test]
fn the_way_to_the_top_reads_all_turns_first_unless_somebody_goes_elsewhere_meanwhile() {
    let from = |stream: u64, event: AttachEvent| {
        Input::Report(Report::Stream { stream: StreamId(stream), event: Some(event) })
    };
    let part = |from_seq| AttachEvent::Attached(v1::Attached { from_seq, ..Default::default() });
    let answer = |seq: u64| {
        let message = v1::AssistantMessage {
            item_id: format!("A{seq}"),
            text: format!("answer {seq}"),
            ..v1::AssistantMessage::default()
        };
        let body = Some(Body::AssistantMessage(message));
        AttachEvent::Event(Box::new(v1::Event { seq, body, ..v1::Event::default() }))
    };
    let top = || Input::Key(KeyEvent::new(KeyCode::Home, KeyModifiers::CONTROL));
    for goes_elsewhere in [false, true] {
        let mut state = State::new(author(), Settings::default());
        drop(state.open_session(SESSION));
        let _effects = state.on(Input::Resized { columns: 60, rows: 12 });
        state.open.as_mut().unwrap().height = 4;
        for event in [part(90), answer(90), answer(91), AttachEvent::CaughtUp { seq: 91 }] {
            drop(state.on(from(1, event)));
        }
        let reads = state.on(top());
        let [Effect::Attach { stream, position, .. }] = reads.as_slice() else {
            panic!("{reads:?}")
        };
        assert_eq!(*position, agentd_shared::AttachPosition::FromSeq(1));
        assert_eq!(state.on(top()), [], "it is being read");
        if goes_elsewhere {
            drop(state.on(Input::Key(KeyEvent::new(KeyCode::End, KeyModifiers::CONTROL))));
        }
        let whole = [part(1)].into_iter().chain((1..92).map(answer));
        for event in whole.chain([AttachEvent::CaughtUp { seq: 91 }]) {
            drop(state.on(from(stream.0, event)));
        }
        let open = state.open.as_mut().unwrap();
        let window = open.document.window(&open.transcript, 4);
        assert_eq!(window.at_top, !goes_elsewhere);
    }
}

#[test]
fn counts_that_others_asked_for_take_nothing_back_in_the_pane_of_memories() {
    let mut state = opened();
    drop(state.on(key(KeyCode::F(3))));
    let change = v1::MemoryChange { change_id: "c".to_owned(), ..Default::default() };
    let stats = v1::GetMemoryStatsResponse { undoable: Some(change), ..Default::default() };
    let counted = || reply(Reply::MemoryStats(Box::new(stats.clone())));
    drop(state.on(counted()));
    let is_asked = |state: &State| state.pane.as_ref().unwrap().confirm.is_some();
    assert!(!is_asked(&state), "nobody wants to take anything back");
    drop(state.on(reply(memories(&["tea"]))));
    drop(state.on(key(KeyCode::Char('u'))));
    drop(state.on(counted()));
    assert!(is_asked(&state));
    let effects = state.on(key(KeyCode::Char('y')));
    let request = v1::UndoMemoryChangeRequest { change_id: "c".to_owned(), author: Some(author()) };
    assert_eq!(sent(&effects), [&Command::UndoMemoryChange(request)]);
}
