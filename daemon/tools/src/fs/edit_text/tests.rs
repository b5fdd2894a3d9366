use proptest::prelude::*;

use super::*;

fn one(content: &[u8], old: &str, new: &str) -> Result<Vec<u8>, ToolResult> {
    edit(content, &[Edit { old, new, replace_all: false }]).map(|edited| edited.content)
}

#[track_caller]
fn check(content: &[u8], old: &str, new: &str, expect: &[u8]) {
    let edited = one(content, old, new).expect("an edit");
    assert_eq!(edited.escape_ascii().to_string(), expect.escape_ascii().to_string());
}

#[track_caller]
fn refused(content: &[u8], old: &str, new: &str, code: &str) -> String {
    let refusal = one(content, old, new).expect_err("a refusal");
    assert_eq!(refusal.error_code, code, "{refusal:?}");
    refusal.output
}

#[test]
fn ed_01_line_endings_are_kept() {
    check(b"foo\r\nbar\r\nbaz\r\n", "foo\nbar", "FOO\nBAR", b"FOO\r\nBAR\r\nbaz\r\n");
    check(b"foo\r\nbar\r\nbaz", "bar\nbaz", "BAR\nBAZ", b"foo\r\nBAR\r\nBAZ");
    check(b"a\nb\r\nc\nd\r\n", "b\nc\n", "B\nC\n", b"a\nB\r\nC\nd\r\n");
    check(b"a\nb\r\nc\n", "a\nb\nc", "A\nB\nC\nD", b"A\nB\r\nC\r\nD\n");
    check(b"a\rb\r\nc", "a\rb\nc", "x\ry\nz", b"x\ry\r\nz");
    // A line that is added gets the ending of its neighbours.
    check(b"a\r\nb\r\n", "a", "a\na2", b"a\r\na2\r\nb\r\n");
    check(b"a\nb\n", "a", "a\r\nx", b"a\r\nx\nb\n");
    check(b"a\r\nb", "\nb", "\nB", b"a\r\nB");
    check(b"one", "one", "1\n2", b"1\n2");
    let all = [Edit { old: "x\ny", new: "1\n2", replace_all: true }];
    let edited = edit(b"x\r\ny\r\nx\r\ny", &all).expect("an edit");
    assert_eq!(edited.content, b"1\r\n2\r\n1\r\n2");
    assert_eq!(edited.notes, ["[Edit 1 was matched with other line endings.]"]);
}

#[test]
fn ed_02_bytes_that_are_not_utf_8_are_kept() {
    check(b"const x = 1;\n// caf\xe9 note\n", "x = 1", "x = 2", b"const x = 2;\n// caf\xe9 note\n");
    check(b"\xd6\xd0\xce\xc4 x = 1", "x = 1", "x = 2", b"\xd6\xd0\xce\xc4 x = 2");
    check(b"a\0b x", "x", "y", b"a\0b y");
    check(b"x = 1 \xe4\xb8", "x = 1", "x = 2", b"x = 2 \xe4\xb8");
    check(b"\xef\xbb\xbfx = 1\r\n", "x = 1", "x = 2", b"\xef\xbb\xbfx = 2\r\n");
    refused(b"caf\xe9 x", "x", "\u{e9}", "EDIT_ENCODING");
    // 0x81 0x40 is one character of GBK.
    refused(b"\x81@ x", "@", "at", "EDIT_ENCODING");
    refused(b"\xff\xfea\0b", "a", "b", "EDIT_ENCODING");
    refused(b"\xff\xfe\0\xd8a\0", "a", "b", "EDIT_ENCODING");
}

#[test]
fn ed_02_utf_16_stays_utf_16() {
    let wide = |text: &str, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    };
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let before = wide("\u{feff}x = 1;\r\n// 世😀\r\n", unit);
        check(
            &before,
            "x = 1;\n// 世",
            "x = 2;\n// 界",
            &wide("\u{feff}x = 2;\r\n// 界😀\r\n", unit),
        );
    }
}

#[test]
fn ed_04_the_new_text_is_no_pattern() {
    let new = r#"log("$& $1 $$ ${name} \\1 $0 ok");"#;
    check(br#"log("done");"#, r#"log("done");"#, new, new.as_bytes());
    let all = [Edit { old: "a", new: "$&$1\\0", replace_all: true }];
    assert_eq!(edit(b"a-a", &all).expect("an edit").content, b"$&$1\\0-$&$1\\0");
}

#[test]
fn w0_25_one_place_must_be_meant() {
    let why = refused(b"x\ny\nx\n", "x", "z", "EDIT_AMBIGUOUS");
    assert!(why.contains("2 times, at lines 1, 3."), "{why}");
    // Places that overlap are two places.
    refused(b"aaa", "aa", "b", "EDIT_AMBIGUOUS");
    refused(b"abc", "d", "b", "EDIT_NOT_FOUND");
    refused(b"abc", "", "b", "EDIT_INVALID");
    refused(b"abc", "a", "a", "EDIT_INVALID");
    refused(b"  x\n    x\n", "x\t\n", "z\n", "EDIT_AMBIGUOUS");
    refused(b"a\n\n\nb", " \n", "z", "EDIT_NOT_FOUND");
}

#[test]
fn blanks_and_indentation_are_put_up_with_where_one_place_is_meant() {
    check(b"f {  \n\tx\n}\n", "f {\n\tx\n}\n", "g {\n\ty\n}\n", b"g {\n\ty\n}\n");
    check(
        b"    if a:\n        b\n",
        "if a:\n    b\n",
        "if c:\n    d\n\n",
        b"    if c:\n        d\n\n",
    );
    check(b"if a:\n  b\nend", "  if a:\n    b", "  if a:\n    c", b"if a:\n  c\nend");
    // Not by the same for all lines.
    refused(b"  a\n b\n", "a\nb\n", "c\n", "EDIT_NOT_FOUND");
    // The new text has no indentation to take away.
    refused(b"a\n  b\n", "  a\n    b", "x", "EDIT_NOT_FOUND");
}

#[test]
fn edits_see_what_those_before_have_left_and_all_are_made_or_none() {
    let edits = |second| {
        [
            Edit { old: "a", new: "b b", replace_all: false },
            Edit { old: second, new: "c", replace_all: true },
        ]
    };
    assert_eq!(edit(b"a.", &edits("b")).expect("edits").content, b"c c.");
    let refusal = edit(b"a.", &edits("a")).expect_err("a refusal");
    assert!(refusal.output.starts_with("Edit 2: old is not in the file"), "{refusal:?}");
}

proptest! {
    #[test]
    fn an_edit_changes_no_byte_outside_its_place(
        before in proptest::collection::vec(any::<u8>(), 0..200),
        after in proptest::collection::vec(any::<u8>(), 0..200),
        lines in proptest::collection::vec("[ a-z\t]{0,6}", 1..4),
        new in "[ -~\n]{0,30}",
        ending in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let old = format!("<<{}>>", lines.join("\n"));
        let there = format!("<<{}>>", lines.join(ending));
        let content = [before.as_slice(), there.as_bytes(), &after].concat();
        if let Ok(edited) = one(&content, &old, &new) {
            prop_assert!(edited.starts_with(&before));
            prop_assert!(edited.ends_with(&after));
            let middle = &edited[before.len()..edited.len() - after.len()];
            let plain: Vec<u8> = middle.iter().copied().filter(|byte| *byte != b'\r').collect();
            prop_assert_eq!(plain, new.as_bytes());
        }
    }

    #[test]
    fn an_edit_of_utf_16_changes_no_character_outside_its_place(
        before in "\\PC{0,40}", after in "[\\PC\r\n]{0,40}", new in "\\PC{0,20}",
    ) {
        let wide = |text: String| -> Vec<u8> {
            format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
        };
        let content = wide(format!("{before}<<old>>{after}"));
        if let Ok(edited) = one(&content, "<<old>>", &new) {
            prop_assert_eq!(edited, wide(format!("{before}{new}{after}")));
        }
    }
}
