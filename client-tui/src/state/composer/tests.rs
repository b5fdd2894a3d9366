use super::*;

fn press(composer: &mut Composer, code: KeyCode, modifiers: KeyModifiers) -> Typed {
    composer.key(KeyEvent::new(code, modifiers))
}

fn write(composer: &mut Composer, text: &str) {
    for letter in text.chars() {
        press(composer, KeyCode::Char(letter), KeyModifiers::NONE);
    }
}

fn pasted() -> (Composer, String) {
    let mut composer = Composer::default();
    let long = "line\n".repeat(120);
    write(&mut composer, "look ");
    composer.paste(&long).unwrap();
    (composer, long)
}

#[test]
fn a_long_paste_is_a_token_that_expands_when_it_is_sent() {
    let (mut composer, long) = pasted();
    write(&mut composer, " at it");
    assert_eq!(composer.shown(), "look [pasted 120 lines] at it");
    assert_eq!(composer.take(), format!("look {long} at it"));
    assert!(composer.is_empty());
}

#[test]
fn a_token_is_deleted_and_passed_as_one() {
    let check = |keys: &[(KeyCode, KeyModifiers)], expect: &str| {
        let (mut composer, _) = pasted();
        write(&mut composer, " x");
        for (code, modifiers) in keys {
            press(&mut composer, *code, *modifiers);
        }
        press(&mut composer, KeyCode::Char('|'), KeyModifiers::NONE);
        assert_eq!(composer.shown(), expect, "{keys:?}");
    };
    let none = KeyModifiers::NONE;
    let (back, left) = ((KeyCode::Backspace, none), (KeyCode::Left, none));
    let (word, home) = ((KeyCode::Char('w'), KeyModifiers::CONTROL), (KeyCode::Home, none));
    let next_word = (KeyCode::Char('d'), KeyModifiers::ALT);
    let right = (KeyCode::Right, none);
    check(&[back, back, back], "look |");
    check(&[left, left, left], "look |[pasted 120 lines] x");
    check(&[left, left, left, right], "look [pasted 120 lines]| x");
    check(&[left, left, left, (KeyCode::Delete, none)], "look | x");
    check(&[back, word], "look |");
    check(&[home, right, right, right, right, next_word], "look| x");
}

#[test]
fn a_deleted_token_comes_back_with_its_text() {
    let (mut composer, long) = pasted();
    press(&mut composer, KeyCode::Backspace, KeyModifiers::NONE);
    assert_eq!(composer.text(), "look ");
    composer.undo();
    assert_eq!(composer.text(), format!("look {long}"));
    composer.redo();
    assert_eq!(composer.text(), "look ");
}

#[test]
fn what_has_no_room_is_refused_whole() {
    let mut composer = Composer::default();
    composer.paste(&"x".repeat(MAX_BYTES - 100)).unwrap();
    assert_eq!(composer.paste(&"y".repeat(200)), Err(TooLong));
    assert_eq!(composer.text().len(), MAX_BYTES - 100);
}

#[test]
fn line_ends_are_line_feeds_and_controls_are_gone() {
    let mut composer = Composer::default();
    composer.paste("a\r\nb\rc\u{1b}[2J\td").unwrap();
    assert_eq!(composer.text(), "a\nb\nc[2J\td");
}

#[test]
fn rows_are_counted_as_the_widget_breaks_them() {
    let check = |text: &str, width: u16, expect: u16| {
        let mut composer = Composer::default();
        composer.set(text);
        assert_eq!(composer.rows(width, 6), expect, "{text:?} in {width}");
        // The last row holds the cursor, and no row lies behind it.
        let place = Rect::new(0, 0, width, 20);
        let mut buffer = Buffer::empty(place);
        composer.area().render(place, &mut buffer);
        let used = (0..20)
            .rev()
            .find(|row| (0..width).any(|column| buffer[(column, *row)].symbol() != " "));
        let rows = used.map_or(1, |row| row + 1);
        assert_eq!(rows.min(6), expect.min(6), "{text:?} in {width}");
    };
    check("", 10, 1);
    check("hello", 10, 1);
    check("hello wide world", 10, 2);
    check("aaaaaaaaaaaaaaaaaaaaaaa", 10, 3);
    check("世界世界世界", 10, 2);
    check("世界世界世", 9, 2);
    check("one two three four five six", 7, 5);
    check("👩‍👩‍👧 family", 20, 1);
    check("a\nb\nc\nd\ne\nf\ng", 10, 6);
}

#[test]
fn the_first_and_the_last_row_lead_out_of_the_text() {
    let mut composer = Composer::default();
    composer.set("one\ntwo");
    assert_eq!(press(&mut composer, KeyCode::Down, KeyModifiers::NONE), Typed::Below);
    assert_eq!(press(&mut composer, KeyCode::Up, KeyModifiers::NONE), Typed::Taken);
    assert_eq!(press(&mut composer, KeyCode::Up, KeyModifiers::NONE), Typed::Above);
}

#[test]
fn what_is_written_stays_with_its_session() {
    let mut composer = Composer::default();
    write(&mut composer, "early");
    composer.switch(None, "a");
    assert_eq!(composer.text(), "early");
    composer.switch(Some("a"), "b");
    assert!(composer.is_empty());
    write(&mut composer, "for b");
    composer.switch(Some("b"), "a");
    assert_eq!(composer.text(), "early");
    let mut unsent = composer.unsent();
    unsent.sort();
    assert_eq!(unsent, ["early", "for b"]);
}

#[test]
fn escape_leaves_writing_once_and_the_mode_is_told() {
    let mut composer = Composer::default();
    assert_eq!((composer.mode(), composer.escape()), (None, false));
    composer.configure(10, true);
    assert_eq!(composer.mode(), Some('I'));
    assert!(!composer.escape(), "there is nothing to leave");
    write(&mut composer, "one two");
    assert!(composer.escape());
    assert_eq!(composer.mode(), Some('N'));
    assert!(!composer.escape());
    write(&mut composer, "bdw");
    assert_eq!(composer.text(), "one ");
    assert_eq!(press(&mut composer, KeyCode::Enter, KeyModifiers::NONE), Typed::Other);
    composer.paste("more").unwrap();
    assert_eq!(composer.mode(), Some('I'));
}

#[test]
fn control_u_deletes_to_the_beginning_of_the_line() {
    let mut composer = Composer::default();
    write(&mut composer, "one two");
    press(&mut composer, KeyCode::Char('u'), KeyModifiers::CONTROL);
    assert_eq!(composer.text(), "");
    composer.undo();
    assert_eq!(composer.text(), "one two");
}

#[test]
fn a_command_of_vi_takes_a_token_whole() {
    let mut composer = Composer::default();
    composer.configure(10, true);
    write(&mut composer, "see ");
    composer.paste(&"x\n".repeat(9)).unwrap();
    assert!(composer.escape());
    write(&mut composer, "x");
    assert_eq!(composer.shown(), "see ");
    write(&mut composer, "u");
    assert_eq!(composer.shown(), "see [pasted 9 lines]");
}

#[test]
fn keys_go_over_what_is_seen_as_one_character() {
    let mut composer = Composer::default();
    composer.set("ae\u{301}👩‍👩‍👧!");
    let press = |composer: &mut Composer, code| press(composer, code, KeyModifiers::NONE);
    press(&mut composer, KeyCode::Left);
    press(&mut composer, KeyCode::Left);
    press(&mut composer, KeyCode::Left);
    press(&mut composer, KeyCode::Char('?'));
    assert_eq!(composer.text(), "a?e\u{301}👩‍👩‍👧!");
    press(&mut composer, KeyCode::Right);
    press(&mut composer, KeyCode::Backspace);
    assert_eq!(composer.text(), "a?👩‍👩‍👧!");
    press(&mut composer, KeyCode::Delete);
    assert_eq!(composer.text(), "a?!");
    composer.undo();
    assert_eq!(composer.text(), "a?👩‍👩‍👧!");
}
