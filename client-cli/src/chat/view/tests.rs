use super::*;
use crate::look::Look;

const LOOK: Look = Look { width: 60, colored: false };

struct Stage {
    view: View,
    seq: u64,
}

impl Stage {
    fn new(mode: Mode) -> Self {
        Self { view: View::new(Canvas::new(mode, LOOK), "me", true), seq: 0 }
    }

    fn durable(&mut self, turn_id: &str, body: Body) {
        self.seq += 1;
        self.view.event(&v1::Event {
            seq: self.seq,
            at_ms: 1_000,
            turn_id: turn_id.into(),
            body: Some(body),
        });
    }

    fn delta(&mut self, item_id: &str, channel: v1::DeltaChannel, offset: u64, text: &str) {
        let delta = v1::ItemDelta {
            item_id: item_id.into(),
            channel: channel.into(),
            offset,
            text: text.into(),
        };
        self.view.event(&v1::Event {
            seq: 0,
            at_ms: 1_000,
            turn_id: "T".into(),
            body: Some(Body::ItemDelta(delta)),
        });
    }

    fn message(&mut self, item_id: &str, client_id: &str, text: &str) {
        self.durable(
            "",
            Body::MessageAccepted(v1::MessageAccepted {
                unattended: false,
                expires_at_ms: 0,
                priority: 0,
                item_id: item_id.into(),
                client_message_id: format!("c-{item_id}"),
                text: text.into(),
                delivery: v1::Delivery::Queue.into(),
                author: Some(v1::Author { client_id: client_id.into(), name: client_id.into() }),
            }),
        );
    }

    fn start(&mut self, item_id: &str) {
        let started = v1::TurnStarted {
            effort_effective: 0,
            effort_requested: 0,
            item_ids: vec![item_id.into()],
            provider: "p".into(),
            model: "m1".into(),
            reminder: String::new(),
        };
        self.durable("T", Body::TurnStarted(started));
    }

    fn finish(&mut self, item_id: &str, reasoning: &str, text: &str) {
        let message = v1::AssistantMessage {
            item_id: item_id.into(),
            reasoning: reasoning.into(),
            text: text.into(),
            completeness: v1::MessageCompleteness::Complete.into(),
            ..Default::default()
        };
        self.durable("T", Body::AssistantMessage(message));
    }

    fn complete(&mut self) {
        let completed = v1::TurnCompleted {
            end: v1::TurnEnd::Answered.into(),
            rounds: 1,
            usage: None,
            elapsed_ms: 1_200,
        };
        self.durable("T", Body::TurnCompleted(completed));
    }

    /// What a terminal is sent for a frame.
    fn drawn(&mut self) -> String {
        self.view.draw_open();
        self.view.canvas.take_rows(10)
    }

    /// Rows that are final, without cursor movement.
    fn rows(&mut self) -> Vec<String> {
        self.view.canvas.disturbed();
        self.view.canvas.take_rows(0).lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_turn_is_the_same_live_and_replayed() {
    let mut live = Stage::new(Mode::Append);
    live.message("M", "bob", "hi");
    live.start("M");
    live.delta("A", v1::DeltaChannel::Reasoning, 0, "thin");
    live.delta("A", v1::DeltaChannel::Reasoning, 4, "king\nmore");
    live.delta("A", v1::DeltaChannel::Text, 0, "Hello **wor");
    live.delta("A", v1::DeltaChannel::Text, 11, "ld**\n- a");
    live.finish("A", "thinking\nmore", "Hello **world**\n- a list");
    live.complete();
    let mut replayed = Stage::new(Mode::Append);
    replayed.message("M", "bob", "hi");
    replayed.start("M");
    replayed.finish("A", "thinking\nmore", "Hello **world**\n- a list");
    replayed.complete();
    let expect = [
        "bob ❯ hi",
        "│ thinking",
        "│ more",
        "Hello world",
        "• a list",
        "└ 1.2 s · 0 tokens · m1",
        "",
    ];
    assert_eq!(live.rows(), expect);
    assert_eq!(replayed.rows(), expect);
}

#[test]
fn own_messages_are_not_echoed_and_those_of_others_are_named() {
    let mut stage = Stage::new(Mode::Append);
    stage.view.sent("c-M");
    stage.message("M", "me", "mine");
    stage.message("N", "ann\u{1b}[2J", "theirs\nin two lines");
    stage.message("O", "me", "from another run");
    assert_eq!(
        stage.rows(),
        ["ann\\u{1b}[2J ❯ theirs", "  in two lines", "you ❯ from another run"]
    );
}

#[test]
fn a_message_that_waits_says_so_and_is_named_when_its_turn_comes() {
    let mut stage = Stage::new(Mode::Append);
    stage.message("M", "bob", "first");
    stage.start("M");
    stage.message("N", "bob", "second");
    stage.complete();
    stage.start("N");
    let rows = stage.rows();
    assert_eq!(rows[1..3], ["bob ❯ second", "  queued"]);
    assert_eq!(rows.last().map(String::as_str), Some("▸ now: second"));
}

#[test]
fn the_open_line_stands_above_the_prompt_and_is_replaced() {
    let mut stage = Stage::new(Mode::Live);
    stage.start("M");
    stage.delta("A", v1::DeltaChannel::Text, 0, "Hel");
    assert_eq!(stage.drawn(), "Hel\n");
    stage.delta("A", v1::DeltaChannel::Text, 3, "lo");
    assert_eq!(stage.drawn(), "\u{1b}[1A\r\u{1b}[JHello\n");
    stage.delta("A", v1::DeltaChannel::Text, 3, "lo");
    assert!(!stage.view.is_due(), "a repeated piece changes nothing");
}

#[test]
fn hidden_reasoning_is_a_sign_of_life_that_goes_away() {
    let mut stage = Stage::new(Mode::Live);
    stage.view.show_reasoning = false;
    stage.start("M");
    stage.delta("A", v1::DeltaChannel::Reasoning, 0, "secret thoughts");
    assert_eq!(stage.drawn(), "… thinking\n");
    stage.delta("A", v1::DeltaChannel::Text, 0, "Answer");
    assert_eq!(stage.drawn(), "\u{1b}[1A\r\u{1b}[JAnswer\n");
    stage.finish("A", "secret thoughts", "Answer");
    assert_eq!(stage.rows(), ["Answer"]);
}

#[test]
fn a_pipe_gets_the_answer_as_written_and_remarks_apart() {
    let mut stage = Stage::new(Mode::Raw);
    stage.message("M", "bob", "hi");
    stage.start("M");
    stage.delta("A", v1::DeltaChannel::Reasoning, 0, "thoughts");
    stage.delta("A", v1::DeltaChannel::Text, 0, "Hello **wor");
    assert_eq!(stage.view.canvas.take_raw().0, "Hello **wor");
    stage.finish("A", "thoughts", "Hello **world**");
    stage.complete();
    let (raw, notes) = stage.view.canvas.take_raw();
    assert_eq!(raw, "ld**\n");
    assert_eq!(notes, ["└ 1.2 s · 0 tokens · m1"]);
}

#[test]
fn who_comes_and_goes_is_told_but_not_about_us() {
    let mut stage = Stage::new(Mode::Append);
    let participants = |names: &[&str]| {
        let participant = |name: &&str| v1::Participant {
            author: Some(v1::Author { client_id: (*name).into(), name: (*name).into() }),
            attached_at_ms: 1,
        };
        names.iter().map(participant).collect::<Vec<_>>()
    };
    stage.view.attached(&v1::Attached {
        participants: participants(&["me", "ann"]),
        digest: "2 turns".into(),
        cursor_seq: 7,
        ..Default::default()
    });
    let presence = v1::Presence { participants: participants(&["me", "bob"]) };
    let event = v1::Event { body: Some(Body::Presence(presence)), ..Default::default() };
    stage.view.event(&event);
    assert_eq!(
        stage.rows(),
        ["◆ since you left: 2 turns", "◆ also here: ann", "◆ bob joined", "◆ ann left"]
    );
}

#[test]
fn ps_10_a_broken_attempt_is_announced_before_the_next_begins() {
    let mut stage = Stage::new(Mode::Append);
    stage.start("M");
    stage.delta("A", v1::DeltaChannel::Text, 0, "AB");
    stage.durable(
        "T",
        Body::AttemptRestarted(v1::AttemptRestarted {
            discarded_item_id: "A".into(),
            attempt: 2,
            error: Some(v1::ErrorReport { message: "reset".into(), ..Default::default() }),
        }),
    );
    stage.finish("B", "", "ABCD");
    assert_eq!(
        stage.rows(),
        ["AB", "↻ the answer broke off (reset); attempt 2 begins anew", "ABCD"]
    );
}

#[test]
fn failures_questions_and_interruptions_say_what_to_do() {
    let mut stage = Stage::new(Mode::Append);
    stage.start("M");
    stage.durable(
        "T",
        Body::QuestionAsked(v1::QuestionAsked {
            question_id: "Q".into(),
            prompt: "30 rounds are used up. Go on?".into(),
            choices: vec!["continue".into(), "stop".into()],
            ..Default::default()
        }),
    );
    stage.durable(
        "T",
        Body::TurnInterrupted(v1::TurnInterrupted {
            reason: v1::InterruptReason::User.into(),
            by: Some(v1::Author { client_id: "b".into(), name: "bob".into() }),
            usage: None,
        }),
    );
    assert_eq!(
        stage.rows(),
        [
            "? 30 rounds are used up. Go on?",
            "  type a choice: 1) continue  2) stop; anything else is a",
            "  │ new message",
            "■ interrupted by bob",
            ""
        ]
    );
}

#[test]
fn who_only_watches_is_told_where_to_answer() {
    let mut stage = Stage::new(Mode::Append);
    stage.view = stage.view.watching();
    stage.start("M");
    let requested = v1::ApprovalRequested {
        approval_id: "01ABC".into(),
        tool: "fetch".into(),
        because: "it reaches out".into(),
        rules: vec![v1::RuleMatcher { matcher: None }],
        ..Default::default()
    };
    stage.durable("T", Body::ApprovalRequested(requested));
    let asked = v1::QuestionAsked {
        prompt: "Which?".into(),
        choices: vec!["red".into()],
        free_text: true,
        ..Default::default()
    };
    stage.durable("T", Body::QuestionAsked(asked));
    assert_eq!(
        stage.rows()[1..],
        [
            "  asked because it reaches out",
            "  let it run with `agentctl approvals allow 01ABC`",
            "  see all of it with `agentctl approvals show 01ABC`",
            "? Which?",
            "  answer it in `agentctl chat --session ID`  1) red",
        ]
    );
}

#[test]
fn an_approval_shows_what_runs_how_to_answer_and_who_did() {
    let mut stage = Stage::new(Mode::Append);
    stage.start("M");
    let run = v1::RunTarget {
        argv: vec!["sh".into(), "-c".into(), "ls; rm \u{202e}x".into()],
        ..Default::default()
    };
    let target = v1::action_target::Target::Run(run);
    let command = v1::CommandMatcher { argv: vec!["ls".into()], more: false };
    let requested = v1::ApprovalRequested {
        approval_id: "A".into(),
        tool: "run_command".into(),
        because: "it starts a program".into(),
        action: Some(v1::Action {
            summary: "run ls".into(),
            targets: vec![v1::ActionTarget { target: Some(target) }],
        }),
        rules: vec![v1::RuleMatcher { matcher: Some(v1::rule_matcher::Matcher::Command(command)) }],
        ..Default::default()
    };
    stage.durable("T", Body::ApprovalRequested(requested));
    assert_eq!(stage.view.approval_number("A"), Some(1));
    assert_eq!(stage.view.transcript.open_approvals().count(), 1);
    let resolved = v1::ApprovalResolved {
        approval_id: "A".into(),
        decision: v1::ApprovalDecision::Deny.into(),
        reason: "no".into(),
        by: Some(v1::Author { client_id: "b".into(), name: "bob".into() }),
        ..Default::default()
    };
    stage.durable("T", Body::ApprovalResolved(resolved));
    assert_eq!(stage.view.transcript.open_approvals().count(), 0);
    assert_eq!(
        stage.rows(),
        [
            "? #1 run_command wants to: run ls",
            "    in directory .",
            "    NOT confined: it can do whatever you can",
            "    run",
            "    [0] sh",
            "    [1] -c",
            "    [2] ls; rm \\u{202e}x",
            "  asked because it starts a program",
            "  y) allow once  a) in this session  w) in this workspace",
            "  │ n) deny  n REASON) and say why",
            "  a and w allow from now on: command ls",
            "  /approvals show 1 shows all of it",
            "◆ denied by bob: no",
        ]
    );
}

impl Stage {
    fn ask(&mut self, calls: &[(&str, &str, &str)]) {
        let calls = calls.iter().map(|(call_id, name, arguments)| v1::ToolCall {
            call_id: (*call_id).into(),
            name: (*name).into(),
            arguments_json: (*arguments).into(),
        });
        let message = v1::AssistantMessage {
            item_id: "A".into(),
            tool_calls: calls.collect(),
            completeness: v1::MessageCompleteness::Complete.into(),
            ..Default::default()
        };
        self.durable("T", Body::AssistantMessage(message));
    }

    fn call_starts(&mut self, call_id: &str, name: &str, arguments: &str, effect: v1::ToolEffect) {
        let started = v1::ToolCallStarted {
            call_id: call_id.into(),
            name: name.into(),
            arguments_json: arguments.into(),
            effect: effect.into(),
            action: None,
        };
        self.durable("T", Body::ToolCallStarted(started));
    }

    fn call_ends(&mut self, call_id: &str, name: &str, output: &str, exit_code: Option<i32>) {
        let finished = v1::ToolCallFinished {
            call_id: call_id.into(),
            name: name.into(),
            status: v1::ToolStatus::Success.into(),
            output: output.into(),
            elapsed_ms: 1_500,
            exit_code,
            ..Default::default()
        };
        self.durable("T", Body::ToolCallFinished(finished));
    }

    fn drawn_at(&mut self, now_ms: i64) -> String {
        self.view.spin();
        self.view.draw_open_at(now_ms);
        self.view.canvas.take_rows(10)
    }
}

const MAKE: &str = r#"{"command":"make all"}"#;

#[test]
fn a_call_that_runs_stands_above_the_prompt_until_its_card_takes_its_place() {
    let mut stage = Stage::new(Mode::Live);
    stage.start("M");
    stage.ask(&[("C", "run_command", MAKE)]);
    stage.call_starts("C", "run_command", MAKE, v1::ToolEffect::Process);
    assert_eq!(stage.drawn_at(1_000), "⠴ run_command command=\"make all\"\n");
    stage.delta("C", v1::DeltaChannel::ToolOutput, 0, "cc a.c\ncc b");
    stage.delta("C", v1::DeltaChannel::ToolOutput, 11, ".c\n");
    assert_eq!(
        stage.drawn_at(3_200),
        "\u{1b}[1A\r\u{1b}[J⠦ run_command command=\"make all\" · 2 s\n  │ cc a.c\n  │ cc b.c\n"
    );
    stage.view.aside(Tone::Dim, "a remark");
    assert!(stage.drawn_at(3_200).starts_with("\u{1b}[3A\r\u{1b}[Ja remark\n⠦ run_command"));
    stage.call_ends("C", "run_command", "cc a.c\ncc b.c\n", Some(0));
    assert_eq!(
        stage.drawn_at(3_400),
        "\u{1b}[3A\r\u{1b}[J✓ run_command command=\"make all\" · 1.5 s\n  │ cc a.c\n  │ cc b.c\n"
    );
    assert!(!stage.view.spins());
}

#[test]
fn calls_are_the_same_for_terminals_that_came_early_and_late() {
    let read = r#"{"path":"a"}"#;
    let run = |stage: &mut Stage, is_early: bool| {
        stage.start("M");
        stage.ask(&[("C", "run_command", MAKE), ("D", "read_file", read)]);
        stage.call_starts("C", "run_command", MAKE, v1::ToolEffect::Process);
        stage.call_starts("D", "read_file", read, v1::ToolEffect::WorkspaceRead);
        if is_early {
            for (offset, piece) in [(0, "on"), (2, "e\ntw"), (6, "o")] {
                stage.delta("C", v1::DeltaChannel::ToolOutput, offset, piece);
                stage.drawn_at(1_100);
            }
        } else {
            stage.delta("C", v1::DeltaChannel::ToolOutput, 0, "one\ntwo");
        }
        // What is drawn does not tell how it came.
        stage.view.canvas.disturbed();
        let live = stage.drawn_at(2_500);
        stage.call_ends("C", "run_command", "one\ntwo", Some(0));
        stage.call_ends("D", "read_file", "text", None);
        stage.complete();
        stage.view.draw_open_at(4_000);
        (live, stage.rows())
    };
    let early = run(&mut Stage::new(Mode::Live), true);
    let late = run(&mut Stage::new(Mode::Live), false);
    assert_eq!(early, late);
    assert_eq!(
        early.0.lines().collect::<Vec<_>>(),
        ["⠹ run_command command=\"make all\" · 1 s", "  │ two", "⠹ read_file path=a · 1 s"]
    );
    assert_eq!(
        early.1,
        [
            "✓ run_command command=\"make all\" · 1.5 s",
            "  │ one",
            "  │ two",
            "✓ read_file path=a → text · 1.5 s",
            "└ 1.2 s · 0 tokens · m1",
            "",
        ]
    );
}

#[test]
fn where_nothing_can_be_drawn_anew_nothing_spins_and_programs_are_announced() {
    for mode in [Mode::Append, Mode::Raw] {
        let mut stage = Stage::new(mode);
        stage.start("M");
        stage.ask(&[("C", "run_command", MAKE), ("D", "time", "{}")]);
        stage.call_starts("C", "run_command", MAKE, v1::ToolEffect::Process);
        stage.delta("C", v1::DeltaChannel::ToolOutput, 0, "one\n");
        assert!(!stage.view.spins());
        stage.call_ends("C", "run_command", "one\n", Some(0));
        stage.call_starts("D", "time", "{}", v1::ToolEffect::Pure);
        stage.call_ends("D", "time", "noon", None);
        let rows = if mode == Mode::Raw { stage.view.canvas.take_raw().1 } else { stage.rows() };
        assert_eq!(
            rows,
            [
                "▸ run_command command=\"make all\"",
                "✓ run_command command=\"make all\" → one · 1.5 s",
                "✓ time → noon · 1.5 s",
            ]
        );
    }
}

#[test]
fn nothing_spins_on_when_the_turn_is_over() {
    let mut stage = Stage::new(Mode::Live);
    stage.start("M");
    stage.call_starts("C", "run_command", MAKE, v1::ToolEffect::Process);
    assert!(stage.view.spins());
    stage.complete();
    assert!(!stage.view.spins());
    assert_eq!(stage.drawn_at(2_000), "└ 1.2 s · 0 tokens · m1\n\n");
}
