use super::*;

/// Types keys in normal mode at the beginning of a text; `|` shows where the cursor ends.
fn check(text: &str, keys: &str, expect: &str) {
    let mut area = TextArea::from(text.split('\n'));
    let mut vi = Vi { mode: Mode::Normal, ..Vi::default() };
    for letter in keys.chars() {
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        if vi.mode == Mode::Insert {
            area.input(key);
        } else {
            vi.key(key, &mut area);
        }
    }
    let cursor = area.cursor();
    area.move_cursor(CursorMove::Jump(to_u16(cursor.0), to_u16(cursor.1)));
    area.insert_char('|');
    assert_eq!(area.lines().join("\n"), expect, "{text:?} {keys:?}");
}

#[test]
fn motions_go_where_they_go_in_vi() {
    check("one two three", "w", "one |two three");
    check("one two three", "2w", "one two |three");
    check("one two three", "e", "on|e two three");
    check("one two three", "$", "one two thre|e");
    check("one two three", "$b", "one two |three");
    check("one two three", "$0", "|one two three");
    check("  one", "$^", "  |one");
    check("one two three", "ft", "one |two three");
    check("one two three", "2fe", "one two thr|ee");
    check("one two three", "tt", "one| two three");
    check("one two three", "$Fo", "one tw|o three");
    check("a\nb\nc", "G", "a\nb\n|c");
    check("a\nb\nc", "Ggg", "|a\nb\nc");
    check("ab", "lllh", "|ab");
}

#[test]
fn operators_take_what_a_motion_covers() {
    check("one two three", "dw", "|two three");
    check("one two three", "d2w", "|three");
    check("one two three", "wD", "one| ");
    check("one two three", "de", "| two three");
    check("one two three", "cwsix", "six| two three");
    check("one two three", "wd$", "one| ");
    check("one two three", "dfw", "|o three");
    check("one\ntwo", "dw", "|\ntwo");
    check("one\ntwo\nthree", "dd", "|two\nthree");
    check("one\ntwo\nthree", "2dd", "|three");
    check("one\ntwo", "Gdd", "|one");
    check("one\ntwo", "ccx", "x|\ntwo");
}

#[test]
fn what_is_taken_can_be_put() {
    check("one two", "dwP", "one| two");
    check("one\ntwo", "ddp", "two\non|e");
    check("one\ntwo", "yyp", "one\non|e\ntwo");
    check("one two", "xp", "n|oe two");
}

#[test]
fn single_letters_change_and_begin_to_write() {
    check("abc", "x", "|bc");
    check("abc", "$x", "a|b");
    check("abc", "9x", "|");
    check("abc", "rX", "|Xbc");
    check("abc", "lrX", "a|Xc");
    check("abc", "aX", "aX|bc");
    check("abc", "AX", "abcX|");
    check("abc", "$IX", "X|abc");
    check("abc", "oX", "abc\nX|");
    check("abc", "OX", "X|\nabc");
    check("a\nb", "J", "a| b");
    check("abc", "xxuu", "a|bc");
}

#[test]
fn what_is_no_command_is_left_to_others() {
    let mut area = TextArea::from(["a"]);
    let mut vi = Vi { mode: Mode::Normal, ..Vi::default() };
    let mut key = |code: KeyCode| vi.key(KeyEvent::new(code, KeyModifiers::NONE), &mut area);
    assert_eq!(key(KeyCode::Enter), Outcome::Other);
    assert_eq!(key(KeyCode::Char('?')), Outcome::Other);
    assert_eq!(key(KeyCode::Char('k')), Outcome::Above);
    assert_eq!(key(KeyCode::Char('j')), Outcome::Below);
    assert_eq!(key(KeyCode::Esc), Outcome::Other);
    assert_eq!(key(KeyCode::Char('d')), Outcome::Taken);
    assert_eq!(key(KeyCode::Esc), Outcome::Taken);
}
