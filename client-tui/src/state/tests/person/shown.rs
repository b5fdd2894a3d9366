//! The screen at three sizes.

use super::*;

/// Sizes of terminals: the smallest that is of use, the usual one, a large one.
const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (200, 60)];

fn check(name: &str, mut desk: Desk) {
    for (columns, rows) in SIZES {
        let screen = desk.screen(columns, rows);
        for line in screen.lines() {
            let width = unicode_width::UnicodeWidthStr::width(line.replace('█', "").as_str());
            assert!(width <= usize::from(columns), "{name} at {columns}x{rows}: {line:?}");
        }
        assert!(!screen.chars().any(|it| it.is_control() && it != '\n'), "{name}: {screen:?}");
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), screen);
    }
}

#[test]
fn a_message_grows_to_six_rows_with_the_cursor_where_it_belongs() {
    let mut desk = Desk::new();
    desk.state.composer.set("one 世界\ntwo\n👩‍👩‍👧 three\nfour\nfive\nsix\n七つ目");
    check("composer_six_rows", desk);
    let mut desk = Desk::new();
    desk.write("世界の言葉を学ぶ、それは長い長い旅であり、終わりのない道です");
    check("composer_cjk", desk);
    check("composer_empty", Desk::new());
    let mut desk = Desk::new();
    desk.state.composer.configure(10, true);
    desk.write("one two");
    desk.press(KeyCode::Esc);
    desk.state.on(Input::Paste("x\n".repeat(120)));
    desk.press(KeyCode::Esc);
    check("composer_vi", desk);
}

#[test]
fn what_is_offered_stands_above_the_message() {
    let mut desk = Desk::new();
    desk.write("/re");
    check("popup", desk);
}

#[test]
fn texts_and_pickers_lie_on_top() {
    let mut desk = Desk::new();
    desk.press(KeyCode::F(1));
    check("help", desk);
    let mut desk = Desk::new();
    desk.press(KeyCode::F(1));
    desk.write("/quit");
    check("help_filtered", desk);
    let mut desk = Desk::new();
    desk.line("/effort");
    desk.press(KeyCode::Down);
    check("picker_effort", desk);
    let mut desk = Desk::new();
    let session = |id: &str, title: &str| v1::Session {
        session_id: id.into(),
        title: title.into(),
        workspace: "/home/me/世界".into(),
        ..Default::default()
    };
    desk.reply(Reply::Sessions(vec![
        session("01JA", "税金 \u{1b}[2J and more that is long enough to be cut somewhere"),
        session(SESSION, "fix the parser"),
    ]));
    desk.line("/sessions");
    check("picker_sessions", desk);
}

#[test]
fn a_question_shows_its_choices() {
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.event(Body::QuestionAsked(v1::QuestionAsked {
        question_id: "Q".into(),
        prompt: "The limit of 20 rounds is reached. 続けますか？".into(),
        choices: vec!["continue".into(), "stop".into()],
        free_text: true,
        ..Default::default()
    }));
    desk.ticks(12);
    check("question", desk);
}

#[test]
fn an_approval_shows_what_will_run() {
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.asks("A", runs(&["git", "status"]));
    desk.asks("B", runs(&["ls"]));
    desk.ticks(12);
    check("approval", desk);
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.asks("A", runs(&["git", "push"]));
    desk.ticks(12);
    desk.press(KeyCode::Char('d'));
    desk.write("not on a Friday");
    check("approval_reason", desk);
}

/// The text on the screen, without what frames and wraps it.
fn joined(screen: &str) -> String {
    let rows = screen.lines().map(|line| line.trim_matches(['│', ' ']).trim_start_matches("⋮ "));
    rows.collect()
}

#[test]
fn nothing_that_will_run_hides() {
    let check = |name: &str, command: &str, seen: &[&str]| {
        let mut desk = Desk::new();
        desk.turn_runs();
        desk.asks("A", runs(&["sh", "-c", command]));
        desk.ticks(12);
        for (columns, rows) in SIZES {
            desk.state.asks.top = 0;
            // All of it can be reached by keys, in the smallest window too.
            let mut all = String::new();
            loop {
                let top = desk.state.asks.top;
                all.push_str(&joined(&desk.screen(columns, rows)));
                desk.press(KeyCode::PageDown);
                if desk.state.asks.top == top {
                    break;
                }
            }
            for part in seen {
                let part = part.replace(' ', "");
                assert!(all.replace(' ', "").contains(&part), "{name} {columns}x{rows}: {all}");
            }
            assert!(!all.chars().any(char::is_control), "{name}");
        }
        desk.state.asks.top = 0;
        check(&format!("hostile_{name}"), desk);
    };
    let padded = format!("ls{}; rm -rf ~", " ".repeat(200));
    check("padding", &padded, &["ls⟨200 blanks⟩; rm -rf ~", "NOT confined"]);
    check("bidi", "echo \u{202e}~ fr- mr\u{202c}", &["\\u{202e}~ fr- mr\\u{202c}"]);
    check("invisible", "r\u{200b}m -rf ~\u{e0020}", &["r\\u{200b}m -rf ~\\u{e0020}"]);
    check("return", "echo ok\r rm -rf ~", &["echo ok\\u{d} rm -rf ~"]);
    check("escape", "echo ok\u{1b}[2K; rm -rf ~", &["echo ok\\u{1b}[2K; rm -rf ~"]);
}

#[test]
fn the_middle_of_a_long_command_is_said_to_be_left_out_and_a_key_shows_it() {
    let half = "a".repeat(8_000);
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.asks("A", runs(&["sh", "-c", &format!("{half}; rm -rf ~; {half}")]));
    desk.ticks(12);
    let short = joined(&desk.screen(80, 24));
    assert!(!short.contains("rm -rf"), "{short}");
    assert!(short.contains("more characters are NOT shown here"), "{short}");
    assert!(short.contains("e all"), "{short}");
    desk.press(KeyCode::Char('e'));
    let mut found = false;
    loop {
        let top = desk.state.asks.top;
        found |= joined(&desk.screen(80, 24)).replace(' ', "").contains(";rm-rf~;");
        desk.press(KeyCode::PageDown);
        if desk.state.asks.top == top {
            break;
        }
    }
    assert!(found, "the harm can be scrolled to");
    desk.state.asks.whole = false;
    desk.state.asks.top = 0;
    check("hostile_long", desk);
}
