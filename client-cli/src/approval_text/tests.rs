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

#[test]
fn ap_03_nothing_in_an_approval_hides() {
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
        "  run cargo test -p x",
        "  in directory .",
        "  NOT confined: it can do whatever you can",
        "asked because it starts a program",
    ];
    assert_eq!(lines(&run(&["cargo", "test", "-p", "x"]), Extent::Short), expect);
    let odd = lines(&run(&["sh", "-c", "ls; rm -rf ~"]), Extent::Short);
    assert_eq!(odd[1..5], ["  run", "  [0] sh", "  [1] -c", "  [2] ls; rm -rf ~"]);
}

#[test]
fn a_file_is_shown_with_its_diff_and_a_request_with_its_host() {
    let write = Target::Write(v1::WriteTarget {
        path: "a.rs".into(),
        new_sha256: "x".into(),
        diff: "-old\n+new\u{202e}\n".into(),
        ..Default::default()
    });
    let mut out = Vec::new();
    target_lines(&write, SHORT, &mut out);
    assert_eq!(out, ["write a.rs", "| -old", "| +new\\u{202e}"]);
    out.clear();
    let fetch = Target::Request(v1::RequestTarget {
        method: "GET".into(),
        url: "https://docs.rs/x".into(),
        host: "docs.rs".into(),
    });
    target_lines(&fetch, SHORT, &mut out);
    assert_eq!(out, ["GET https://docs.rs/x", "at host docs.rs"]);
}

#[test]
fn a_rule_shows_every_word() {
    let command =
        v1::CommandMatcher { argv: vec!["echo".into(), "a b\u{202e}".into()], more: true };
    let matcher = v1::RuleMatcher { matcher: Some(Matcher::Command(command)) };
    assert_eq!(rule(&matcher), "command echo \"a b\\u{202e}\" *");
}
