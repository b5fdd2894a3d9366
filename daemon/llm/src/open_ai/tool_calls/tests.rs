//! Fragments as servers really send them.

use super::*;

type Parts<'a> = (Option<u64>, &'a str, &'a str, &'a str);

/// Pushes deltas, each a list of (index, id, name, arguments), and compares the calls.
fn check(deltas: &[&[Parts<'_>]], expect: &[(&str, &str)]) {
    let mut assembler = CallAssembler::default();
    for delta in deltas {
        let fragments: Vec<Fragment<'_>> = delta
            .iter()
            .map(|(index, id, name, arguments)| Fragment {
                index: *index,
                id: Cow::Borrowed(id),
                name: Cow::Borrowed(name),
                arguments: Cow::Borrowed(arguments.as_bytes()),
            })
            .collect();
        assembler.push(&fragments);
    }
    let calls = assembler.finish(Finish::Done);
    let calls: Vec<(&str, &str)> =
        calls.iter().map(|call| (call.name.as_str(), call.arguments_json.as_str())).collect();
    assert_eq!(calls, expect, "{deltas:?}");
}

const ZERO: Option<u64> = Some(0);
const ONE: Option<u64> = Some(1);

#[test]
fn ta_01_a_call_without_index_is_one_call() {
    check(&[&[(None, "c1", "read", r#"{"path":"a"}"#)]], &[("read", r#"{"path":"a"}"#)]);
    // Its continuation may come with or without index.
    let whole = [("read", r#"{"path":"a"}"#)];
    check(&[&[(None, "c1", "read", r#"{"path""#)], &[(None, "", "", r#":"a"}"#)]], &whole);
    check(&[&[(None, "c1", "read", r#"{"path""#)], &[(ZERO, "", "", r#":"a"}"#)]], &whole);
}

#[test]
fn ta_01_a_continuation_needs_only_the_index() {
    check(
        &[&[(ZERO, "c1", "read", "")], &[(ZERO, "", "", r#"{"a"#)], &[(ZERO, "", "", r#"":1}"#)]],
        &[("read", r#"{"a":1}"#)],
    );
}

#[test]
fn ta_01_the_name_may_come_late_or_in_pieces() {
    check(&[&[(ZERO, "c1", "", "")], &[(ZERO, "", "shell", "{}")]], &[("shell", "{}")]);
    check(
        &[&[(ZERO, "c1", "read", "")], &[(ZERO, "", "_file", "")], &[(ZERO, "", "", "{}")]],
        &[("read_file", "{}")],
    );
}

#[test]
fn ta_01_a_repeated_name_is_not_doubled() {
    check(
        &[&[(ZERO, "c1", "ls", "")], &[(ZERO, "c1", "ls", r#"{"a""#)], &[(ZERO, "", "ls", ":1}")]],
        &[("ls", r#"{"a":1}"#)],
    );
    check(&[&[(None, "", "ls", "{}")], &[(None, "", "ls", "\n")]], &[("ls", "{}\n")]);
}

#[test]
fn ta_01_spaces_around_a_name_are_dropped() {
    check(&[&[(ZERO, "a", " read_file\n", "{}")]], &[("read_file", "{}")]);
    check(&[&[(ZERO, "a", " ", "{}")]], &[("", "{}")]);
}

#[test]
fn ta_01_interleaved_calls_are_kept_apart() {
    check(
        &[
            &[(ZERO, "a", "read", r#"{"p":"#)],
            &[(ONE, "b", "list", r#"{"q":"#)],
            &[(ZERO, "", "", "1}")],
            &[(ONE, "", "", "2}")],
        ],
        &[("read", r#"{"p":1}"#), ("list", r#"{"q":2}"#)],
    );
    // The same by id alone.
    check(
        &[
            &[(None, "a", "read", r#"{"p":"#)],
            &[(None, "b", "list", r#"{"q":"#)],
            &[(None, "a", "", "1}")],
            &[(None, "b", "", "2}")],
        ],
        &[("read", r#"{"p":1}"#), ("list", r#"{"q":2}"#)],
    );
}

#[test]
fn ta_01_empty_ids_are_no_ids() {
    check(
        &[
            &[(ZERO, "", "read", r#"{"p""#)],
            &[(ZERO, "", "", ":1}")],
            &[(ONE, "", "read", r#"{"p""#)],
            &[(ONE, "", "", ":2}")],
        ],
        &[("read", r#"{"p":1}"#), ("read", r#"{"p":2}"#)],
    );
}

#[test]
fn ta_01_two_calls_in_one_delta_without_index_are_two() {
    let expect = [("read", r#"{"p":1}"#), ("read", r#"{"p":2}"#)];
    check(&[&[(None, "a", "read", r#"{"p":1}"#), (None, "b", "read", r#"{"p":2}"#)]], &expect);
    check(&[&[(None, "", "read", r#"{"p":1}"#), (None, "", "read", r#"{"p":2}"#)]], &expect);
    check(
        &[
            &[(None, "a", "read", r#"{"p":"#), (None, "b", "read", r#"{"p":"#)],
            &[(None, "", "", "1}"), (None, "", "", "2}")],
        ],
        &expect,
    );
    check(&[&[(None, "", "time", ""), (None, "", "date", "")]], &[("time", "{}"), ("date", "{}")]);
}

#[test]
fn ta_02_parallel_calls_that_share_index_0_are_kept_apart() {
    let expect = [
        ("read_file", r#"{"path":"1"}"#),
        ("read_file", r#"{"path":"2"}"#),
        ("list_dir", r#"{"path":"."}"#),
    ];
    for ids in [["a", "b", "c"], ["", "", ""]] {
        check(
            &[
                &[(ZERO, ids[0], "read_file", r#"{"path":"1"}"#)],
                &[(ZERO, ids[1], "read_file", r#"{"path":"2"}"#)],
                &[(ZERO, ids[2], "list_dir", r#"{"path":"."}"#)],
            ],
            &expect,
        );
    }
    // The arguments may follow in deltas of their own.
    check(
        &[
            &[(ZERO, "a", "read_file", "")],
            &[(ZERO, "", "", r#"{"path":"1"}"#)],
            &[(ZERO, "b", "read_file", "")],
            &[(ZERO, "", "", r#"{"path":"2"}"#)],
            &[(ZERO, "c", "list_dir", "")],
            &[(ZERO, "", "", r#"{"path":"."}"#)],
        ],
        &expect,
    );
}

#[test]
fn ta_02_parallel_calls_that_share_one_id_are_kept_apart() {
    let expect = [("read_file", r#"{"path":"a.txt"}"#), ("list_dir", r#"{"path":"."}"#)];
    let read = (ZERO, "x", "read_file", r#"{"path":"a.txt"}"#);
    for index in [ZERO, ONE, None] {
        let list = (index, "x", "list_dir", r#"{"path":"."}"#);
        check(&[&[read, list]], &expect);
        check(&[&[read], &[list]], &expect);
    }
    // Interleaved, with the id in every fragment or in the first ones.
    for id in ["x", ""] {
        check(
            &[
                &[(ZERO, "x", "read_file", r#"{"path":"#)],
                &[(ONE, "x", "list_dir", "")],
                &[(ONE, id, "", r#"{"path":"#)],
                &[(ZERO, id, "", r#""a.txt"}"#)],
                &[(ONE, id, "", r#"".""#), (ONE, id, "", "}")],
            ],
            &expect,
        );
    }
    // The name and the id of the second may come late.
    check(&[&[read], &[(ONE, "x", "", "")], &[(ONE, "x", "list_dir", expect[1].1)]], &expect);
    check(&[&[read], &[(ONE, "", "list_dir", "")], &[(ONE, "x", "", expect[1].1)]], &expect);
    // One tool twice.
    let again = (ONE, "x", "read_file", r#"{"path":"b"}"#);
    check(&[&[read], &[again]], &[expect[0], ("read_file", r#"{"path":"b"}"#)]);
}

#[test]
fn ta_02_one_call_with_its_id_in_every_fragment_stays_one() {
    let whole = [("read_file", r#"{"p":1}"#)];
    check(
        &[
            &[(None, "x", "read", "")],
            &[(None, "x", "_file", "")],
            &[(None, "x", "", r#"{"p":1}"#)],
        ],
        &whole,
    );
    check(&[&[(ZERO, "x", "read_file", r#"{"p":"#)], &[(ONE, "x", "", "1}")]], &whole);
}

#[test]
fn ta_01_what_cannot_be_told_apart_is_reported_and_not_lost() {
    let mut assembler = CallAssembler::default();
    for arguments in [&br#"{"a":1}"#[..], br#"{"b":2}"#] {
        assembler.push(&[Fragment { arguments: Cow::Borrowed(arguments), ..Fragment::default() }]);
    }
    let calls = assembler.finish(Finish::Done);
    assert_eq!(
        calls,
        [AssembledCall {
            name: String::new(),
            arguments_json: r#"{"a":1}{"b":2}"#.to_owned(),
            is_whole: true,
        }]
    );
}

#[test]
fn ta_05_a_cut_call_is_not_whole() {
    let is_whole = |arguments: &str, finish: Finish| {
        let mut assembler = CallAssembler::default();
        let arguments = Cow::Borrowed(arguments.as_bytes());
        assembler.push(&[Fragment { name: "w".into(), arguments, ..Fragment::default() }]);
        assembler.finish(finish).first().expect("a call").is_whole
    };
    let cut = r##"{"path":"README.md","content":"# T\n## 1"##;
    let repairable = r#"{"path":"README.md","content":"x""#;
    let whole = r#"{"path":"README.md","content":"x"}"#;
    assert!(!is_whole(cut, Finish::OutputLimit));
    assert!(!is_whole(cut, Finish::Done));
    assert!(!is_whole(repairable, Finish::Done));
    assert!(!is_whole(whole, Finish::OutputLimit));
    assert!(is_whole(whole, Finish::Done));
    assert!(is_whole("", Finish::Done));
    for end in 1..whole.len() {
        assert!(!is_whole(&whole[..end], Finish::Done), "{}", &whole[..end]);
    }
}

#[test]
fn ta_05_malformed_arguments_were_not_cut() {
    for arguments in [
        r#"{"path":"a",}"#,
        "```json\n{\"path\":\"a\"}\n```",
        r#"{"path":"a"}}"#,
        "{'path':'a'}",
        r#"{"offset":NaN}"#,
        r#"{"path":"a"}{"path":"b"}"#,
        r#"{"path" "a"}"#,
    ] {
        for (finish, expect) in [(Finish::Done, true), (Finish::OutputLimit, false)] {
            let mut assembler = CallAssembler::default();
            let text = Cow::Borrowed(arguments.as_bytes());
            assembler.push(&[Fragment {
                name: "w".into(),
                arguments: text,
                ..Fragment::default()
            }]);
            let calls = assembler.finish(finish);
            assert_eq!(calls.len(), 1, "{arguments}");
            assert_eq!((calls[0].arguments_json.as_str(), calls[0].is_whole), (arguments, expect));
        }
    }
}
