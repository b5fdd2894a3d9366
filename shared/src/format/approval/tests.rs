use super::*;

fn run(argv: &[&str]) -> v1::ApprovalRequested {
    let run = v1::RunTarget {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        cwd: String::new(),
        confinement: None,
    };
    let target = v1::ActionTarget { target: Some(Target::Run(run)) };
    v1::ApprovalRequested {
        tool: "run_command".into(),
        because: "it starts a program".into(),
        action: Some(v1::Action { summary: "run it".into(), targets: vec![target] }),
        ..Default::default()
    }
}

fn write(path: &str, diff: &str) -> v1::ActionTarget {
    let write = v1::WriteTarget {
        path: path.into(),
        new_sha256: "x".into(),
        diff: diff.into(),
        ..Default::default()
    };
    v1::ActionTarget { target: Some(Target::Write(write)) }
}

fn with(targets: Vec<v1::ActionTarget>) -> v1::ApprovalRequested {
    v1::ApprovalRequested {
        action: Some(v1::Action { summary: "do it".into(), targets }),
        ..run(&[])
    }
}

#[test]
fn ap_03_nothing_in_an_approval_hides() {
    // What decides comes before what can be long, and stays when that is cut.
    let script = "echo fine\n".repeat(29) + "rm -rf ~";
    let hostile = run(&["sh", "-c", &script]);
    let short = lines(&hostile, Extent::Short);
    assert_eq!(short[1..3], ["  in directory .", "  NOT confined: it can do whatever you can"]);
    assert!(short.contains(&"  … 9 more lines are NOT shown here".to_owned()), "{short:#?}");

    // Every target is named, however long the one before it is, and each says what it leaves out.
    let long = "+x\n".repeat(100);
    let target = hostile.action.unwrap().targets;
    let both = with([vec![write("a", &long), write("b", &long)], target].concat());
    let short = lines(&both, Extent::Short);
    for seen in ["  write a", "  write b", "  NOT confined: it can do whatever you can"] {
        assert!(short.contains(&seen.to_owned()), "{seen}: {short:#?}");
    }
    let cut = short.iter().filter(|line| line.ends_with("more lines are NOT shown here"));
    assert_eq!(cut.count(), 3, "{short:#?}");
    let many = with((0..100).map(|at| write(&format!("file-{at}"), &long)).collect());
    assert!(lines(&many, Extent::Short).contains(&"  write file-99".to_owned()));
}

#[test]
fn ap_03_no_character_hides_in_a_text() {
    let check = |text: &str, expect: &str| assert_eq!(visible(text, 100), expect, "{text:?}");
    check("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe");
    check("a\u{200b}b", "a\\u{200b}b");
    check("a\u{1b}[2Kb", "a\\u{1b}[2Kb");
    check("a\rb\tc", "a\\u{d}b\\u{9}c");
    check("e\u{301}", "e\\u{301}");
    check("a\u{a0}b", "a\\u{a0}b");
    check("tag\u{e0041}", "tag\\u{e0041}");
    check("a   b", "a   b");
    check("a    b", "a⟨4 blanks⟩b");
    check("a ", "a⟨1 blank⟩");
    check("a  ", "a⟨2 blanks⟩");
    check(&format!("echo ok{}; rm -rf ~", " ".repeat(500)), "echo ok⟨500 blanks⟩; rm -rf ~");
    check("grün 世界", "grün 世界");
}

#[test]
fn ap_03_what_is_cut_says_so_and_all_of_it_can_be_seen() {
    let script = format!("echo {}; rm -rf ~", "x".repeat(1000));
    let request = run(&["sh", "-c", &script]);
    let short = lines(&request, Extent::Short).join("\n");
    assert!(short.contains("[715 more characters are NOT shown here]"), "{short}");
    assert!(lines(&request, Extent::Whole).join("\n").contains("xx; rm -rf ~"));
    let script = "echo\n".repeat(100) + "rm -rf ~";
    let request = run(&["sh", "-c", &script]);
    let short = lines(&request, Extent::Short).join("\n");
    assert!(short.contains("more lines are NOT shown here"), "{short}");
    assert!(lines(&request, Extent::Whole).join("\n").contains("rm -rf ~"));
}

#[test]
fn ap_03_odd_words_stand_alone_and_plain_ones_read_as_a_command() {
    let expect = [
        "run_command wants to: run it",
        "  in directory .",
        "  NOT confined: it can do whatever you can",
        "  run cargo test -p x",
        "asked because it starts a program",
    ];
    assert_eq!(lines(&run(&["cargo", "test", "-p", "x"]), Extent::Short), expect);
    let odd = lines(&run(&["sh", "-c", "ls; rm -rf ~"]), Extent::Short);
    assert_eq!(odd[3..7], ["  run", "  [0] sh", "  [1] -c", "  [2] ls; rm -rf ~"]);
}

#[test]
fn a_file_is_shown_with_its_diff_and_a_request_with_its_host() {
    let diff = "@@ -1,3 +1,3 @@\n \n same \n-old\r\n+new\u{202e}\n";
    let shown = lines(&with(vec![write("a.rs", diff)]), Extent::Short);
    let expect = [
        "  write a.rs",
        "  | @@ -1,3 +1,3 @@",
        "  |  ",
        "  |  same⟨1 blank⟩",
        "  | -old\\u{d}",
        "  | +new\\u{202e}",
    ];
    assert_eq!(shown[1..7], expect);
    let fetch = Target::Request(v1::RequestTarget {
        method: "GET".into(),
        url: "https://docs.rs/x".into(),
        host: "docs.rs".into(),
    });
    let shown = lines(&with(vec![v1::ActionTarget { target: Some(fetch) }]), Extent::Short);
    assert_eq!(shown[1..3], ["  at host docs.rs", "  GET https://docs.rs/x"]);
}

#[test]
fn a_rule_shows_every_word() {
    let command = v1::CommandMatcher {
        argv: vec!["echo".into(), "a\" \\b\u{202e}".into(), "c ".into()],
        more: true,
    };
    let matcher = v1::RuleMatcher { matcher: Some(Matcher::Command(command)) };
    assert_eq!(rule(&matcher), r#"command echo "a\" \\b\u{202e}" "c⟨1 blank⟩" *"#);
}
