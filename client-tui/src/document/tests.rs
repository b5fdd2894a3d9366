use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::text::Text;

use super::*;
use crate::theme::Theme;

fn look(width: u16) -> Look {
    Look { width, theme: Theme::COLORED, reasoning: false, verbose: false }
}

/// A session that is told event by event.
struct Story {
    transcript: Transcript,
    document: Document,
    seq: u64,
    turn: u64,
}

impl Story {
    fn new(width: u16) -> Self {
        let document = Document::new(look(width), "me");
        Self { transcript: Transcript::default(), document, seq: 0, turn: 0 }
    }

    fn event(&mut self, seq: u64, body: Body) {
        let event =
            v1::Event { seq, at_ms: 1_000, turn_id: format!("T{}", self.turn), body: Some(body) };
        let change = self.transcript.apply(&event);
        self.document.on_change(&self.transcript, &change);
    }

    fn tell(&mut self, body: Body) -> &mut Self {
        self.seq += 1;
        self.event(self.seq, body);
        self
    }

    fn user(&mut self, item_id: &str, text: &str) -> &mut Self {
        self.tell(Body::MessageAccepted(v1::MessageAccepted {
            item_id: item_id.into(),
            text: text.into(),
            ..v1::MessageAccepted::default()
        }))
    }

    fn asks(&mut self, item_id: &str, text: &str) -> &mut Self {
        self.user(item_id, text);
        self.turn += 1;
        self.tell(Body::TurnStarted(v1::TurnStarted {
            item_ids: vec![item_id.into()],
            model: "m1".into(),
            ..v1::TurnStarted::default()
        }))
    }

    fn ends(&mut self) -> &mut Self {
        self.tell(Body::TurnCompleted(v1::TurnCompleted {
            elapsed_ms: 12_000,
            ..v1::TurnCompleted::default()
        }))
    }

    fn answer(&mut self, item_id: &str, text: &str) -> &mut Self {
        self.says(item_id, "", text, &[])
    }

    fn says(&mut self, id: &str, reasoning: &str, text: &str, calls: &[(&str, &str)]) -> &mut Self {
        let call = |(call_id, arguments): &(&str, &str)| v1::ToolCall {
            call_id: (*call_id).into(),
            name: "run_command".into(),
            arguments_json: (*arguments).into(),
        };
        self.tell(Body::AssistantMessage(v1::AssistantMessage {
            item_id: id.into(),
            reasoning: reasoning.into(),
            text: text.into(),
            tool_calls: calls.iter().map(call).collect(),
            completeness: v1::MessageCompleteness::Complete.into(),
        }))
    }

    fn live(&mut self, item_id: &str, offset: usize, text: &str) {
        self.event(
            0,
            Body::ItemDelta(v1::ItemDelta {
                item_id: item_id.into(),
                channel: v1::DeltaChannel::Text.into(),
                offset: offset as u64,
                text: text.into(),
            }),
        );
    }

    fn rows(&mut self, height: usize) -> Vec<String> {
        let window = self.document.window(&self.transcript, height);
        window.rows.iter().map(copy::text_of).collect()
    }

    fn screen(&mut self, width: u16, height: u16) -> String {
        self.document.set_look(look(width));
        let window = self.document.window(&self.transcript, usize::from(height));
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| frame.render_widget(Text::from(window.rows), frame.area())).unwrap();
        terminal.backend().to_string()
    }
}

const HOSTILE: &str = "# 見出し 世界\n\nplain **bold** x\u{301} 👩‍👩‍👧 \u{1b}[2Javerylongwordwithoutanyspaceinitatall\u{202e}\n\n\
    | 名 | value |\n|---|---|\n| 日本語 | 1 |\n\n```rust\nlet answer = \"a long line of code that is wider than forty columns\";\n```\nend https://example.com/a";

fn hostile() -> Story {
    let mut story = Story::new(40);
    story.asks("U1", "do it\u{1b}]0;x\u{7}\nin two lines");
    story.says("A1", "let me think", HOSTILE, &[("c1", r#"{"command":"make\u0007"}"#)]);
    story.tell(Body::ToolCallStarted(v1::ToolCallStarted {
        call_id: "c1".into(),
        name: "run_command".into(),
        arguments_json: r#"{"command":"make"}"#.into(),
        ..v1::ToolCallStarted::default()
    }));
    story.tell(Body::ToolCallFinished(v1::ToolCallFinished {
        call_id: "c1".into(),
        name: "run_command".into(),
        status: v1::ToolStatus::Partial.into(),
        output: "one\ntwo\u{1b}[31m\nthree\nfour\nfive\n".into(),
        exit_code: Some(2),
        elapsed_ms: 1_500,
        ..v1::ToolCallFinished::default()
    }));
    story.tell(Body::TurnFailed(v1::TurnFailed {
        error: Some(v1::ErrorReport {
            message: "the model is away".into(),
            hint: "try later".into(),
            ..v1::ErrorReport::default()
        }),
        ..v1::TurnFailed::default()
    }));
    story
}

#[test]
fn a_small_window_shows_the_end() {
    insta::assert_snapshot!(hostile().screen(40, 12), @r###"
    "                                        "
    "    let answer = "a long line of code th"
    "  at is wider than forty columns";      "
    "  end https://example.com/a             "
    "✗ run_command +1 more · exit 2 · 1.5 s  "
    "  │ one                                 "
    "  … 1 more line                         "
    "  │ three                               "
    "  │ four                                "
    "  │ five                                "
    "✗ the turn failed: the model is away    "
    "  hint: try later                       "
    "###);
}

#[test]
fn a_usual_window_shows_every_kind_and_nothing_steers_the_terminal() {
    insta::assert_snapshot!(hostile().screen(80, 24), @r###"
    "                                                                                "
    "▸ do it\u{1b}]0;x\u{7}                                                          "
    "  in two lines                                                                  "
    "                                                                                "
    "▸ thought                                                                       "
    "                                                                                "
    "● 見出し 世界                                                                   " Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " "), (10, " "), (12, " ")]
    "                                                                                "
    "  plain bold x́ 👩‍👩‍👧 \u{1b}[2Javerylongwordwithoutanyspaceinitatall\u{202e}        " Hidden by multi-width symbols: [(16, " ")]
    "                                                                                "
    "  名     │ value                                                                " Hidden by multi-width symbols: [(3, " ")]
    "  ───────┼──────                                                                "
    "  日本語 │ 1                                                                    " Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " ")]
    "                                                                                "
    "    let answer = "a long line of code that is wider than forty columns";        "
    "  end https://example.com/a                                                     "
    "✗ run_command command=make · exit 2 · 1.5 s                                     "
    "  │ one                                                                         "
    "  … 1 more line                                                                 "
    "  │ three                                                                       "
    "  │ four                                                                        "
    "  │ five                                                                        "
    "✗ the turn failed: the model is away                                            "
    "  hint: try later                                                               "
    "###);
}

#[test]
fn a_wide_window_shows_what_is_open() {
    let mut story = hostile();
    for target in [Target::Call("c1".into()), Target::Reasoning("A1".into())] {
        story.document.turn(&story.transcript, &target);
    }
    insta::assert_snapshot!(story.screen(200, 60).trim_end_matches(&['\n', ' ', '"'][..]), @r###"
    "                                                                                                                                                                                                        "
    "▸ do it\u{1b}]0;x\u{7}                                                                                                                                                                                  "
    "  in two lines                                                                                                                                                                                          "
    "                                                                                                                                                                                                        "
    "▾ thought                                                                                                                                                                                               "
    "│ let me think                                                                                                                                                                                          "
    "                                                                                                                                                                                                        "
    "● 見出し 世界                                                                                                                                                                                           " Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " "), (10, " "), (12, " ")]
    "                                                                                                                                                                                                        "
    "  plain bold x́ 👩‍👩‍👧 \u{1b}[2Javerylongwordwithoutanyspaceinitatall\u{202e}                                                                                                                                " Hidden by multi-width symbols: [(16, " ")]
    "                                                                                                                                                                                                        "
    "  名     │ value                                                                                                                                                                                        " Hidden by multi-width symbols: [(3, " ")]
    "  ───────┼──────                                                                                                                                                                                        "
    "  日本語 │ 1                                                                                                                                                                                            " Hidden by multi-width symbols: [(3, " "), (5, " "), (7, " ")]
    "                                                                                                                                                                                                        "
    "    let answer = "a long line of code that is wider than forty columns";                                                                                                                                "
    "  end https://example.com/a                                                                                                                                                                             "
    "✗ run_command command=make · exit 2 · 1.5 s                                                                                                                                                             "
    "    command: make                                                                                                                                                                                       "
    "  │ one                                                                                                                                                                                                 "
    "  │ two\u{1b}[31m                                                                                                                                                                                       "
    "  │ three                                                                                                                                                                                               "
    "  │ four                                                                                                                                                                                                "
    "  │ five                                                                                                                                                                                                "
    "✗ the turn failed: the model is away                                                                                                                                                                    "
    "  hint: try later
    "###);
}

#[test]
fn a_session_of_many_events_opens_by_rendering_what_is_shown() {
    let mut story = Story::new(80);
    for number in 0..25_000 {
        let id = number.to_string();
        story.asks(&format!("U{id}"), "what?").answer(&format!("A{id}"), "this").ends();
    }
    assert_eq!(story.seq, 100_000);
    assert_eq!(story.rows(24).len(), 24);
    assert!(story.document.rendered() <= 26, "{}", story.document.rendered());
    assert!(story.document.layouts.len() <= 40, "{}", story.document.layouts.len());
}

#[test]
fn a_long_answer_is_rendered_where_it_is_shown_and_grows_by_its_last_section() {
    let mut story = Story::new(80);
    let text = "a line of text\n".repeat(100_000);
    story.live("A1", 0, &text);
    assert_eq!(story.rows(24).len(), 24);
    let opened = story.document.rendered();
    assert!(opened <= 2, "{opened}");
    for number in 0..10 {
        story.live("A1", text.len() + number * 2, "x\n");
        story.rows(24);
    }
    assert!(story.document.rendered() <= opened + 12, "{}", story.document.rendered());
    assert!(story.document.kept <= 200, "{}", story.document.kept);
}

#[test]
fn what_others_did_has_their_name_and_what_i_did_has_none() {
    let mut told = Vec::new();
    for (client_id, name) in [("me", "ann"), ("other", "bob")] {
        let mut story = Story::new(60);
        let by = Some(v1::Author { client_id: client_id.into(), name: name.into() });
        story.asks("u", "go").tell(Body::TurnInterrupted(v1::TurnInterrupted {
            reason: v1::InterruptReason::User.into(),
            by: by.clone(),
            ..v1::TurnInterrupted::default()
        }));
        let mode = v1::PermissionMode::Ask.into();
        story.tell(Body::PermissionModeChanged(v1::PermissionModeChanged { mode, by }));
        let rows = story.rows(20);
        assert!(rows.iter().any(|row| row.contains("interrupted")), "{rows:?}");
        told.push(rows.iter().filter(|row| row.contains(" by ")).count());
    }
    assert_eq!(told, [0, 2]);
}

#[test]
fn rows_that_were_not_shown_for_long_are_let_go() {
    let mut story = Story::new(80);
    story.answer("A1", &"line\n".repeat(100_000));
    for _ in 0..1_500 {
        story.document.scroll(&story.transcript, 50, 50);
        story.rows(50);
    }
    assert!(story.document.kept <= KEPT_ROWS + 200, "{}", story.document.kept);
}

#[test]
fn the_place_is_kept_when_the_message_at_the_top_moves() {
    let mut story = Story::new(80);
    story.asks("U1", "first").answer("A1", "one\n\ntwo\n\nthree\n\nfour");
    story.rows(3);
    story.document.to_top(&story.transcript);
    assert_eq!(story.rows(3), ["", "▸ first", ""]);
    // The same message is delivered again, and stands at the end from then on.
    story.tell(Body::MessagesDelivered(v1::MessagesDelivered { item_ids: vec!["U1".into()] }));
    assert_eq!(story.rows(3), ["", "● one", "  "]);
    assert!(!story.document.follows());
}

#[test]
fn the_place_is_kept_when_earlier_turns_are_read() {
    let mut whole = Story::new(80);
    for number in 0..40 {
        whole.asks(&format!("U{number}"), "what?").answer(&format!("A{number}"), "a\n\nb");
    }
    let mut part = Story::new(80);
    part.seq = 60;
    for number in 20..40 {
        part.asks(&format!("U{number}"), "what?").answer(&format!("A{number}"), "a\n\nb");
    }
    part.document.to_top(&part.transcript);
    part.document.scroll(&part.transcript, 10, -7);
    let before = part.rows(10);
    let more = whole.transcript.items().len() - part.transcript.items().len();
    part.transcript = whole.transcript;
    part.document.forget_all(isize::try_from(more).unwrap());
    assert_eq!(part.rows(10), before);
}

#[test]
fn what_is_cleared_comes_back_on_the_way_up() {
    let mut story = Story::new(80);
    story.asks("U1", "first").answer("A1", "one");
    story.document.clear(&story.transcript);
    assert_eq!(story.rows(10), Vec::<String>::new());
    story.answer("A2", "two");
    assert_eq!(story.rows(10), ["", "● two"]);
    story.document.scroll(&story.transcript, 10, 3);
    assert_eq!(story.rows(10), ["", "▸ first", "", "● one", "", "● two"]);
}

#[test]
fn jumps_lead_to_turns_errors_and_back() {
    let mut story = hostile();
    story.asks("U2", "again").answer("A2", "done");
    let mut check = |landmark, direction, expect: Option<Target>| {
        let found = story.document.jump(&story.transcript, landmark, direction, 10);
        assert_eq!(found, expect, "{landmark:?} {direction:?}");
    };
    let user = |id: &str| Some(Target::Entry(EntryKey::User(id.into())));
    check(Landmark::Turn, Direction::Back, user("U2"));
    check(Landmark::Turn, Direction::Back, user("U1"));
    check(Landmark::Turn, Direction::Back, None);
    check(Landmark::Error, Direction::Forward, Some(Target::Call("c1".into())));
    check(Landmark::Error, Direction::Forward, Some(Target::Entry(EntryKey::Turn("T1".into()))));
    check(Landmark::Turn, Direction::Forward, user("U2"));
    check(Landmark::Diff, Direction::Back, None);
}

#[test]
fn a_diff_has_the_colours_of_its_language_and_stands_whole_in_an_open_card() {
    let mut story = Story::new(60);
    story.asks("U1", "go").says("A1", "", "", &[("c1", r#"{"path":"a.rs"}"#)]);
    let added: Vec<String> = (0..20).map(|n| format!("+let a{n} = 1;\n")).collect();
    let added = added.concat();
    story.tell(Body::ToolCallFinished(v1::ToolCallFinished {
        call_id: "c1".into(),
        status: v1::ToolStatus::Success.into(),
        diff: format!("--- a/a.rs\n+++ b/a.rs\n@@ -1,1 +1,20 @@\n-fn old() {{}}\n{added}"),
        ..v1::ToolCallFinished::default()
    }));
    let folded = story.rows(60);
    assert_eq!(folded.last().map(String::as_str), Some("  … 12 more lines (/diff)"));
    story.document.turn(&story.transcript, &Target::Call("c1".into()));
    let window = story.document.window(&story.transcript, 60);
    let rows: Vec<String> = window.rows.iter().map(copy::text_of).collect();
    assert_eq!(rows.len(), 2 + 1 + 1 + 22, "{rows:#?}");
    let added = window.rows.last().unwrap();
    assert_eq!(copy::text_of(added), "  +let a19 = 1;");
    let colors: HashSet<_> = added.spans.iter().filter_map(|span| span.style.fg).collect();
    assert!(colors.len() > 2, "{colors:?}");
}

#[test]
fn a_running_call_shows_the_end_of_its_output_and_that_it_waits() {
    let mut story = Story::new(60);
    story.asks("U1", "go").says("A1", "", "", &[("c1", "{}")]);
    story.tell(Body::ApprovalRequested(v1::ApprovalRequested {
        approval_id: "P1".into(),
        call_id: "c1".into(),
        ..v1::ApprovalRequested::default()
    }));
    assert_eq!(story.rows(20).last().map(String::as_str), Some("  ? waits for your answer"));
    story.tell(Body::ApprovalResolved(v1::ApprovalResolved {
        approval_id: "P1".into(),
        decision: v1::ApprovalDecision::Allow.into(),
        ..v1::ApprovalResolved::default()
    }));
    story.tell(Body::ToolCallStarted(v1::ToolCallStarted {
        call_id: "c1".into(),
        name: "run_command".into(),
        ..v1::ToolCallStarted::default()
    }));
    let output: Vec<String> = (0..100_000).map(|n| format!("line {n}\n")).collect();
    story.event(
        0,
        Body::ItemDelta(v1::ItemDelta {
            item_id: "c1".into(),
            channel: v1::DeltaChannel::ToolOutput.into(),
            offset: 0,
            text: output.concat(),
        }),
    );
    let rows = story.rows(20);
    let tail = ["  │ line 99995", "  │ line 99996", "  │ line 99997", "  │ line 99998"];
    assert_eq!(rows[rows.len() - 5..rows.len() - 1], tail);
    story.document.turn(&story.transcript, &Target::Call("c1".into()));
    assert_eq!(story.rows(20).len(), 20);
    assert!(story.document.rendered() < 12, "{}", story.document.rendered());
}

#[test]
fn what_is_decided_on_the_way_is_shown_to_who_wants_it() {
    let mut story = Story::new(60);
    story.tell(Body::ContextTrimmed(v1::ContextTrimmed {
        dropped_tokens: 1_234,
        ..v1::ContextTrimmed::default()
    }));
    assert_eq!(story.rows(20), Vec::<String>::new());
    story.document.set_look(Look { verbose: true, ..look(60) });
    assert_eq!(story.rows(20), ["◆ older turns no longer fit: about 1,234 tokens left out"]);
}

#[test]
fn another_width_leaves_the_reader_at_the_same_text() {
    let mut story = Story::new(100);
    let line =
        |n: u32| format!("paragraph number {n} of a text that is broken where it is narrow\n");
    story.answer("A1", &(0..400).map(line).collect::<Vec<_>>().concat());
    story.rows(20);
    story.document.to_top(&story.transcript);
    story.document.scroll(&story.transcript, 20, -110);
    let number = |rows: &[String]| -> i64 {
        let row = rows.iter().find(|row| row.contains("number")).unwrap();
        row.split("number ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let before = number(&story.rows(20));
    story.document.set_look(look(40));
    let after = number(&story.rows(20));
    assert!((before - after).abs() <= 1, "{before} {after}");
}

#[test]
fn sources_and_rows_are_copied_without_decoration() {
    let mut story = hostile();
    let source = |story: &Story, target| story.document.source(&story.transcript, &target);
    let answer = Target::Entry(EntryKey::Assistant("A1".into()));
    assert_eq!(source(&story, answer).unwrap().text, HOSTILE);
    let call = source(&story, Target::Call("c1".into())).unwrap();
    assert_eq!(call.text, "one\ntwo\u{1b}[31m\nthree\nfour\nfive\n");
    story.document.to_top(&story.transcript);
    story.rows(24);
    story.document.drag_from(&story.transcript, 1);
    story.document.drag_to(2);
    let copied = story.document.drag_end(&story.transcript).unwrap();
    assert_eq!(
        copied,
        Copied { text: "do it\\u{1b}]0;x\\u{7}\nin two lines".into(), is_cut: false }
    );
    let mut long = Story::new(80);
    long.answer("A", &"世界".repeat(50_000));
    let copied = long.document.last_answer(&long.transcript).unwrap();
    assert!(copied.is_cut && copied.text.len() <= 74_000 && copied.text.ends_with('界'));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn live_rows_are_those_of_the_final_text(
        lines in proptest::collection::vec("(```|\\| a \\| b \\||\\|-\\|-\\||# 世界|\\*\\*a\\*\\* b{0,30}|)", 0..90),
        sizes in proptest::collection::vec(1_usize..60, 1..20),
    ) {
        let text = lines.join("\n");
        let mut live = Story::new(30);
        let (mut at, mut turn) = (0, 0);
        while at < text.len() {
            let end = agentd_shared::text::floor_boundary(&text, at + sizes[turn % sizes.len()].max(4));
            live.live("A", at, &text[at..end]);
            live.rows(12);
            (at, turn) = (end, turn + 1);
        }
        live.answer("A", &text);
        let mut whole = Story::new(30);
        whole.answer("A", &text);
        prop_assert_eq!(live.rows(4_000), whole.rows(4_000));
    }

    #[test]
    fn scrolling_never_leaves_the_text_and_keeps_the_place(
        steps in proptest::collection::vec((0_u8..6, -40_isize..40), 1..60),
        height in 1_usize..30,
    ) {
        let mut story = Story::new(40);
        let mut id = 0;
        for (step, rows) in steps {
            let before = story.rows(height);
            let stands = !story.document.follows();
            match step {
                0 => {
                    id += 1;
                    story.asks(&format!("U{id}"), "a question").answer(&format!("A{id}"), "a\n\nb");
                }
                1 => {
                    id += 1;
                    story.user(&format!("U{id}"), "queued");
                }
                2 => {
                    id += 1;
                    story.live(&format!("L{id}"), 0, "live\n\ntext");
                }
                3 => story.document.to_top(&story.transcript),
                4 => story.document.to_latest(),
                _ => story.document.scroll(&story.transcript, height, rows),
            }
            let all = {
                let mut other = story.document.bookmark();
                other.to_latest();
                other.window(&story.transcript, 100_000).rows.len()
            };
            let after = story.rows(height);
            prop_assert_eq!(after.len(), height.min(all), "the window is full");
            if step < 3 && stands && before.len() == height {
                // What is being written stands behind all that is new.
                let same = if story.transcript.live().is_empty() { height } else { 0 };
                prop_assert_eq!(&after[..same], &before[..same], "what is read stays");
            }
        }
    }
}
