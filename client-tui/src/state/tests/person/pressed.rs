//! Keys and lines.

use super::*;
use crate::input::Action;
use crate::input::keymap::TABLE;
use crate::state::overlay::{Overlay, Picks};
use crate::terminal::Stop;

fn submitted(effects: &[Effect]) -> Option<(String, v1::Delivery)> {
    sent(effects).into_iter().find_map(|command| match command {
        Command::Submit(request) => Some((request.text.clone(), request.delivery())),
        _ => None,
    })
}

#[test]
fn a_line_is_a_message_or_reaches_the_running_turn() {
    let check = |line: &str, expect: Option<(&str, v1::Delivery)>| {
        let mut desk = Desk::new();
        let effects = desk.line(line);
        let expect = expect.map(|(text, delivery)| (text.to_owned(), delivery));
        assert_eq!(submitted(&effects), expect, "{line:?}");
        assert!(desk.state.composer.is_empty(), "{line:?}");
    };
    check("hello", Some(("hello", v1::Delivery::Queue)));
    check("> look here", Some(("look here", v1::Delivery::Steer)));
    check("!stop it", Some(("stop it", v1::Delivery::Interrupt)));
    check("//etc is a path", Some(("/etc is a path", v1::Delivery::Queue)));
    check("/steer left", Some(("left", v1::Delivery::Steer)));
    check("/interrupt no", Some(("no", v1::Delivery::Interrupt)));
    check("   ", None);
}

#[test]
fn a_message_goes_to_the_history_and_one_that_is_refused_comes_back() {
    let mut desk = Desk::new();
    let effects = desk.line("hello");
    assert!(effects.contains(&Effect::Remember("hello".to_owned())));
    let command = Box::new(sent(&effects)[0].clone());
    let error = tonic::Status::unavailable("nobody is there").into();
    desk.reply(Reply::Failed { command, error });
    assert_eq!(desk.state.composer.text(), "hello");
    assert!(desk.notice().contains("nobody is there"));
    desk.state.composer.clear();
    desk.press(KeyCode::Up);
    assert_eq!(desk.state.composer.text(), "hello");
}

#[test]
fn what_is_too_long_is_not_sent_and_stays() {
    let mut desk = Desk::new();
    let long = "x".repeat((1 << 20) + 1);
    let effects = desk.line(&long);
    assert_eq!(sent(&effects), Vec::<&Command>::new());
    assert!(desk.notice().contains("1 MiB"), "{}", desk.notice());
    assert_eq!(desk.state.composer.text().len(), long.len());
    desk.state.on(Input::Paste("y".repeat(10)));
    assert_eq!(desk.state.composer.text().len(), long.len());
}

#[test]
fn what_was_not_sent_is_kept_when_somebody_leaves() {
    for input in [
        Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)),
        Input::Stop(Stop::Terminate),
    ] {
        let mut desk = Desk::new();
        desk.write("half a thought");
        let effects = desk.state.on(input);
        assert_eq!(effects[0], Effect::Remember("half a thought".to_owned()));
        assert!(matches!(effects[1], Effect::Quit(_)), "{effects:?}");
    }
}

#[test]
fn control_d_deletes_where_something_is_written_and_leaves_where_nothing_runs() {
    let mut desk = Desk::new();
    desk.write("ab");
    desk.press(KeyCode::Home);
    assert_eq!(desk.key(KeyCode::Char('d'), KeyModifiers::CONTROL), []);
    assert_eq!(desk.state.composer.text(), "b");
    desk.state.composer.clear();
    desk.turn_runs();
    assert_eq!(desk.key(KeyCode::Char('d'), KeyModifiers::CONTROL), []);
    desk.event(Body::TurnCompleted(v1::TurnCompleted::default()));
    assert_eq!(desk.key(KeyCode::Char('d'), KeyModifiers::CONTROL), [Effect::Quit(0)]);
}

/// Every action of the table does something that can be told, with each of its keys.
#[test]
fn every_key_of_the_table_does_what_it_says() {
    for binding in TABLE {
        for key in binding.keys {
            let mut desk = Desk::new();
            desk.turn_runs();
            desk.line("first");
            desk.write("draft");
            let before = desk.screen(80, 24);
            let effects = desk.state.on(Input::Key(KeyEvent::new(key.code, key.modifiers)));
            let after = desk.screen(80, 24);
            // These need a longer transcript than there is here, or a redo without an undo.
            let needs_more = matches!(
                binding.action,
                Action::PageUp
                    | Action::PageDown
                    | Action::Top
                    | Action::Latest
                    | Action::TurnBack
                    | Action::TurnForward
                    | Action::BlockBack
                    | Action::BlockForward
                    | Action::ErrorBack
                    | Action::ErrorForward
                    | Action::DiffBack
                    | Action::DiffForward
                    | Action::Copy
                    | Action::HistoryForward
                    | Action::Redo
                    | Action::ClearDisplay
                    | Action::Sessions
                    | Action::Plan
                    // It would delete what stands behind the cursor.
                    | Action::QuitIfIdle
            );
            assert!(
                needs_more || !effects.is_empty() || before != after,
                "{key} ({}) does nothing",
                binding.name
            );
        }
    }
}

#[test]
fn commands_ask_what_they_are_for() {
    let check = |line: &str, expect: fn(&Command) -> bool| {
        let mut desk = Desk::new();
        let effects = desk.line(line);
        assert!(sent(&effects).into_iter().any(expect), "{line:?}: {effects:?}");
        assert!(effects.contains(&Effect::Remember(line.to_owned())), "{line:?}");
        assert!(desk.state.composer.is_empty(), "{line:?}");
    };
    check("/new", |it| matches!(it, Command::CreateSession(_)));
    check("/sessions", |it| matches!(it, Command::ListSessions(_)));
    check("/search tax", |it| matches!(it, Command::SearchMessages(it) if it.question == "tax"));
    check(
        "/title my talk",
        |it| matches!(it, Command::UpdateSession(it) if it.title() == "my talk"),
    );
    check("/model", |it| matches!(it, Command::ListModels(_)));
    check("/model m1", |it| matches!(it, Command::UpdateSession(it) if it.model() == "m1"));
    check(
        "/model default",
        |it| matches!(it, Command::UpdateSession(it) if it.model.as_deref() == Some("")),
    );
    check(
        "/effort high",
        |it| matches!(it, Command::UpdateSession(it) if it.effort() == v1::Effort::High),
    );
    check("/mode auto-edit", |it| {
        let mode = v1::PermissionMode::AutoEdit;
        matches!(it, Command::UpdateSession(it) if it.permission_mode() == mode)
    });
    check(
        "/work docs",
        |it| matches!(it, Command::UpdateSession(it) if it.work_mode() == v1::WorkMode::Docs),
    );
    check("/status", |it| matches!(it, Command::GetStatus));
    check("/stats", |it| matches!(it, Command::GetSession(_)));
    check("/usage", |it| matches!(it, Command::GetUsage(it) if it.session_id == SESSION));
    check("/usage all", |it| matches!(it, Command::GetUsage(it) if it.session_id.is_empty()));
    check("/todo", |it| matches!(it, Command::GetSession(_)));
    check("/plan", |it| matches!(it, Command::GetSession(_)));
    check("/memories tax", |it| {
        use v1::memory_scope::Scope;

        let here = Some(Scope::Workspace("/w".into()));
        matches!(it, Command::ListMemories(v1::ListMemoriesRequest { filter: Some(filter), .. })
            if filter.text == "tax" && filter.scopes.iter().any(|it| it.scope == here))
    });
    check("/context", |it| matches!(it, Command::GetContext(_)));
    check("/compact", |it| matches!(it, Command::CompactContext(_)));
    check("/expand", |it| matches!(it, Command::GetContext(_)));
    check("/expand 2", |it| matches!(it, Command::ExpandSummary(it) if it.line == 2));
    check("/pin keep to tabs", |it| matches!(it, Command::Pin(it) if it.text == "keep to tabs"));
    check("/pins", |it| matches!(it, Command::GetContext(_)));
    check("/unpin 1", |it| matches!(it, Command::Unpin(it) if it.number == 1));
    check("/tools", |it| matches!(it, Command::ListTools));
    check("/tools grep", |it| matches!(it, Command::GetTool(it) if it.name == "grep"));
    check("/diff", |it| matches!(it, Command::ListChanges(_)));
    check("/undo", |it| matches!(it, Command::Undo { change: None, .. }));
    check("/undo 3", |it| matches!(it, Command::Undo { change: Some(3), .. }));
    check("/trace 5", |it| matches!(it, Command::ListEvents(it) if it.page_size == 5));
    check(
        "/export talk.md",
        |it| matches!(it, Command::Export { file, .. } if file.ends_with("talk.md")),
    );
}

#[test]
fn commands_that_need_no_daemon_change_what_is_shown() {
    let mut desk = Desk::new();
    desk.line("/thinking off");
    assert!(!desk.state.settings.reasoning);
    desk.line("/thinking off");
    assert!(!desk.state.settings.reasoning);
    desk.line("/verbose");
    assert!(desk.state.settings.verbose);
    desk.line("/theme mono");
    assert_eq!(desk.state.settings.theme, crate::theme::Theme::named("mono").unwrap());
    desk.line("/help");
    assert!(matches!(desk.state.overlay, Some(Overlay::Text(_))));
    desk.press(KeyCode::Esc);
    assert!(desk.state.overlay.is_none());
    desk.line("/queue");
    assert!(matches!(desk.state.overlay, Some(Overlay::Text(_))));
    desk.press(KeyCode::Esc);
    let effects = desk.line("/quit");
    assert!(effects.contains(&Effect::Quit(0)), "{effects:?}");
}

#[test]
fn what_cannot_be_done_is_told_and_what_is_written_stays() {
    let check = |line: &str, expect: &str| {
        let mut desk = Desk::new();
        let effects = desk.line(line);
        assert_eq!(sent(&effects), Vec::<&Command>::new(), "{line:?}");
        assert!(desk.notice().contains(expect), "{line:?}: {}", desk.notice());
    };
    check("/hlep", "did you mean /help?");
    check("/xyzzyx", "write //xyzzyx to say it");
    check("/pin", "say /pin TEXT");
    check("/effort much", "\"much\" is no effort: use default, off");
    check("/mode yolo", "is no mode");
    check("/theme pink", "there is no theme pink");
    check("/switch 01ZZZ", "no session begins with 01ZZZ");
    check("/approve", "nothing waits for an approval");
    check("/withdraw", "no such message waits");
    check("/answer yes", "no question is open");
    check("/stop", "no turn runs");
    let mut desk = Desk::new();
    desk.line("/hlep");
    assert_eq!(desk.state.composer.text(), "/hlep");
}

#[test]
fn a_session_is_found_by_its_beginning() {
    let session = |id: &str, at: i64| v1::Session {
        session_id: id.into(),
        updated_at_ms: at,
        ..Default::default()
    };
    let sessions = vec![session("01JAB", 3), session("01JAC", 2), session(SESSION, 1)];
    let check = |line: &str, expect: &str| {
        let mut desk = Desk::new();
        desk.reply(Reply::Sessions(sessions.clone()));
        desk.line(line);
        assert_eq!(desk.state.open.as_ref().unwrap().session_id, expect, "{line:?}");
    };
    check("/resume 01jab", "01JAB");
    check("/switch last", "01JAB");
    check("/switch 01JA", SESSION);
}

#[test]
fn a_picker_shows_what_there_is_and_sets_what_is_chosen() {
    let mut desk = Desk::new();
    desk.line("/effort");
    assert!(matches!(&desk.state.overlay, Some(Overlay::Picker(it)) if it.picks == Picks::Effort));
    desk.write("hi");
    let effects = desk.press(KeyCode::Enter);
    assert!(matches!(
        sent(&effects)[..],
        [Command::UpdateSession(request)] if request.effort() == v1::Effort::High
    ));
    assert!(desk.state.overlay.is_none());
}

#[test]
fn what_is_offered_is_taken_by_tab_and_run_by_enter() {
    let mut desk = Desk::new();
    desk.write("/stat");
    assert!(desk.state.popup.is_some());
    desk.press(KeyCode::Down);
    desk.press(KeyCode::Tab);
    assert_eq!(desk.state.composer.text(), "/stats");
    desk.state.composer.clear();
    desk.write("/stat");
    let effects = desk.press(KeyCode::Enter);
    assert_eq!(sent(&effects), [&Command::GetStatus]);
    desk.press(KeyCode::Esc);
    desk.write("/st");
    desk.press(KeyCode::Esc);
    assert!(desk.state.popup.is_none());
    assert_eq!(desk.state.composer.text(), "/st");
}

#[test]
fn files_are_fetched_when_one_is_named_and_taken_into_the_message() {
    let mut desk = Desk::new();
    let effects = desk.write("see @ma");
    assert!(effects.contains(&Effect::ListFiles("/w".to_owned())), "{effects:?}");
    desk.state.on(Input::Files(vec!["src/main.rs".into()]));
    desk.press(KeyCode::Enter);
    assert_eq!(desk.state.composer.text(), "see @src/main.rs ");
    let mut desk = Desk::new();
    desk.state.settings.local = false;
    assert_eq!(desk.write("see @ma"), [], "the files of another machine are not ours");
    let mut desk = Desk::new();
    desk.write("see @");
    let effects = desk.state.on(Input::Files(Vec::new()));
    assert_eq!(effects, [], "where there are none, none are looked for again and again");
}

#[test]
fn memories_are_fetched_once_offered_when_they_come_and_not_taken_by_enter_alone() {
    let mut desk = Desk::new();
    let effects = desk.write("/memories ba");
    let asked: Vec<&Command> = sent(&effects);
    assert!(matches!(asked.as_slice(), [Command::ListMemories(_)]), "{asked:?}");
    let memory = v1::Memory {
        memory_id: "01M".into(),
        content: "backups run at three".into(),
        ..Default::default()
    };
    let found = v1::FoundMemory { memory: Some(memory), score: 0.0 };
    let page = v1::ListMemoriesResponse { memories: vec![found], ..Default::default() };
    desk.reply(Reply::Memories(page));
    let offered = desk.state.popup.as_ref().unwrap();
    assert_eq!(
        (offered.candidates[0].text.as_str(), offered.chosen),
        ("backups run at three", None)
    );
    let effects = desk.press(KeyCode::Enter);
    let asked = sent(&effects);
    let [Command::ListMemories(request)] = asked.as_slice() else { panic!("{effects:?}") };
    assert_eq!(request.filter.as_ref().unwrap().text, "ba");
}

#[test]
fn a_text_that_waits_is_filled_by_its_reply_and_closed_by_a_refusal() {
    let mut desk = Desk::new();
    desk.line("/tools");
    let tool = v1::Tool { name: "grep_files".into(), ..Default::default() };
    desk.reply(Reply::Tools(vec![tool]));
    assert!(desk.screen(80, 24).contains("grep_files"));
    desk.press(KeyCode::Esc);
    let effects = desk.line("/status");
    let command = Box::new(sent(&effects)[0].clone());
    let error = tonic::Status::unavailable("nobody is there").into();
    desk.reply(Reply::Failed { command, error });
    assert!(desk.state.overlay.is_none());
    assert!(desk.notice().contains("cannot read the daemon's status"));
}

#[test]
fn a_draft_waits_in_its_session() {
    let mut desk = Desk::new();
    desk.write("for the first");
    desk.state.open_session("01JOTHER");
    assert!(desk.state.composer.is_empty());
    desk.state.open_session(SESSION);
    assert_eq!(desk.state.composer.text(), "for the first");
}
