use agentd_domain::Delivery::{Interrupt, Queue, Steer};
use agentd_domain::ToolEffect;

use super::*;
use crate::session::test_log::{
    Log, Op, answer as model_answer, author, call_id, finished, item, question, started,
    submission, turn,
};

const NOW: TimestampMs = TimestampMs(1);

/// Nothing happens.
fn idle() -> Log {
    Log::new()
}

/// A turn answers message 1.
fn running() -> Log {
    let mut log = idle();
    log.submit(item(1), "one", Queue);
    log.start(turn(1));
    log
}

/// The turn has called a to d: a is done, b (with effects) and c (reads) run, d waits.
fn acting() -> Log {
    let mut log = running();
    log.step(model_answer(item(2), "", &["a", "b", "c", "d"]));
    log.step(started("a", ToolEffect::Pure));
    log.step(finished("a", "1"));
    log.step(started("b", ToolEffect::Exclusive));
    log.step(started("c", ToolEffect::WorkspaceRead));
    log
}

/// The daemon stopped meanwhile, and question 7 is open.
fn stopped() -> Log {
    let mut log = acting();
    log.add(found_after_stop(&log.state, None));
    log.add(resume_policy(&log.state, AutoResume::Ask, question(7)));
    log
}

/// The turn has used up its rounds, and question 8 is open.
fn out_of_rounds() -> Log {
    let mut log = running();
    log.step(model_answer(item(2), "", &["a"]));
    log.step(finished("a", "1"));
    log.add(rounds_used_up(&log.state, question(8)));
    log
}

fn every_state() -> [(&'static str, Log); 5] {
    [
        ("idle", idle()),
        ("running", running()),
        ("acting", acting()),
        ("stopped", stopped()),
        ("out of rounds", out_of_rounds()),
    ]
}

fn of(body: impl Into<EventBody>) -> Draft {
    Draft::of(turn(1), body)
}

fn closed(id: &str, status: ToolStatus, output: &str) -> Draft {
    let result = ToolResult::new(status, output, "TOOL_INTERRUPTED");
    of(ToolCallFinished::of(call_id(id), format!("tool_{id}"), result, 0, 0))
}

/// The results of the calls that are open in [`acting`].
fn closed_calls() -> Vec<Draft> {
    vec![
        closed("b", ToolStatus::Interrupted, OUTCOME_UNKNOWN),
        closed("c", ToolStatus::Interrupted, INTERRUPTED_READING),
        closed("d", ToolStatus::Skipped, NOT_RUN),
    ]
}

fn voided(number: u64, by: Option<Author>) -> Draft {
    of(QuestionAnswered { question_id: question(number), choice: String::new(), by })
}

fn interrupted(log: &Log, reason: InterruptReason, by: Option<Author>) -> Draft {
    of(TurnInterrupted { reason, by, usage: log.state.turn.as_ref().unwrap().usage })
}

#[test]
fn a_message_is_accepted_in_every_state_and_a_turn_that_stands_still_makes_way() {
    let ann = || Some(author("ann"));
    for delivery in [Queue, Steer, Interrupt] {
        for (name, log) in every_state() {
            let accepted = Draft::plain(MessageAccepted {
                unattended: false,
                expires_at: None,
                priority: Priority::Normal,
                item_id: item(9),
                client_message_id: "m".parse().unwrap(),
                text: "two".to_owned(),
                delivery,
                author: author("ann"),
            });
            let reason = InterruptReason::NewMessage;
            let expect = match name {
                "idle" => {
                    let title = "two".parse().unwrap();
                    vec![accepted, renamed(&title, TitleSource::FirstMessage, None)]
                }
                "running" | "acting" => vec![accepted],
                "stopped" => {
                    let mut drafts = vec![voided(7, ann())];
                    drafts.extend(closed_calls());
                    drafts.extend([interrupted(&log, reason, ann()), accepted]);
                    drafts
                }
                _ => vec![voided(8, ann()), interrupted(&log, reason, ann()), accepted],
            };
            let drafts = submit(&log.state, submission("two", delivery), item(9), NOW, (10, 10));
            assert_eq!(drafts.unwrap(), expect, "{name}, {delivery:?}");
        }
    }
}

#[test]
fn a_message_is_refused_when_it_is_blank_long_or_one_too_many() {
    let mut log = idle();
    let check = |log: &Log, text: &str, limits: (usize, usize), expect: &str| {
        let refused = submit(&log.state, submission(text, Queue), item(9), NOW, limits);
        assert_eq!(refused.unwrap_err().to_string(), expect);
    };
    check(&log, "", (1, 10), "the message has no text");
    check(&log, " \u{3000}\n", (1, 10), "the message has no text");
    check(&log, "日本語.", (1, 9), "the message has 10 bytes; at most 9 are allowed");
    check(&log, "x", (0, 9), "0 messages are waiting in this session already");
    log.submit(item(1), "one", Queue);
    check(&log, "x", (1, 9), "1 messages are waiting in this session already");
    assert!(submit(&log.state, submission("日本語", Queue), item(9), NOW, (2, 9)).is_ok());
}

#[test]
fn a_message_can_be_withdrawn_while_it_waits_in_any_state() {
    for (name, mut log) in every_state() {
        let unknown = withdraw(&log.state, item(9), author("bob"));
        assert!(
            matches!(unknown, Err(CommandError::NoQueuedMessage(id)) if id == item(9)),
            "{name}"
        );
        let used = withdraw(&log.state, item(1), author("bob"));
        assert!(matches!(used, Err(CommandError::NoQueuedMessage(_))), "{name}");
        log.submit(item(9), "two", Queue);
        let by = author("bob");
        let expect = vec![Draft::plain(MessageWithdrawn { item_id: item(9), by: by.clone() })];
        assert_eq!(withdraw(&log.state, item(9), by).unwrap(), expect, "{name}");
    }
}

#[test]
fn an_answer_lets_the_turn_go_on_or_ends_it() {
    let by = author("bob");
    let check = |log: &Log, number: u64, choice: &str, expect: Vec<Draft>| {
        let drafts = answer(&log.state, question(number), choice, &by, log.now());
        assert_eq!(drafts.unwrap(), expect, "{number} {choice}");
    };
    let said = |number: u64, choice: &str| {
        let (question_id, choice) = (question(number), choice.to_owned());
        of(QuestionAnswered { question_id, choice, by: Some(author("bob")) })
    };
    let resumed = || of(TurnResumed { by: Some(author("bob")) });
    check(&stopped(), 7, "continue", vec![said(7, "continue"), resumed()]);
    check(&out_of_rounds(), 8, "continue", vec![said(8, "continue"), resumed()]);

    let log = stopped();
    let mut expect = vec![said(7, "stop")];
    expect.extend(closed_calls());
    expect.push(interrupted(&log, InterruptReason::NotResumed, Some(author("bob"))));
    check(&log, 7, "stop", expect);

    let log = out_of_rounds();
    let open = log.state.turn.clone().unwrap();
    let completed = TurnCompleted {
        end: TurnEnd::RoundsLimit,
        rounds: 1,
        usage: open.usage,
        elapsed_ms: open.active_ms,
    };
    check(&log, 8, "stop", vec![said(8, "stop"), of(completed)]);
}

#[test]
fn an_answer_that_is_late_unknown_or_not_a_choice_is_refused() {
    let by = author("bob");
    let check = |log: &Log, number: u64, choice: &str, expect: &str| {
        let refused = answer(&log.state, question(number), choice, &by, log.now());
        assert_eq!(refused.unwrap_err().to_string(), expect);
    };
    for (name, log) in every_state() {
        let expect = format!("there is no open question {}", question(99));
        check(&log, 99, "continue", &expect);
        if !name.contains('o') {
            check(&log, 7, "continue", &format!("there is no open question {}", question(7)));
        }
    }
    let mut log = out_of_rounds();
    check(&log, 8, "", "'' is not one of the choices: continue, stop");
    check(&log, 8, "Continue\n\x1b[2J", "'Continue [2J' is not one of the choices: continue, stop");
    log.perform(&Op::Choose(true));
    check(&log, 8, "stop", &format!("question {} was answered already", question(8)));
    // A question that was voided counts as answered.
    let mut log = stopped();
    log.submit(item(9), "two", Queue);
    check(&log, 7, "continue", &format!("question {} was answered already", question(7)));
}

#[test]
fn closing_a_turn_gives_every_call_one_result_and_says_why() {
    let by = author("bob");
    for (name, log) in every_state() {
        let reason = InterruptReason::User;
        let mut expect = match name {
            "stopped" => vec![voided(7, Some(author("bob")))],
            "out of rounds" => vec![voided(8, Some(author("bob")))],
            _ => Vec::new(),
        };
        if matches!(name, "acting" | "stopped") {
            expect.extend(closed_calls());
        }
        if name != "idle" {
            expect.push(interrupted(&log, reason, Some(author("bob"))));
        }
        assert_eq!(close_turn(&log.state, reason, Some(&by)), expect, "{name}");
    }
}

#[test]
fn a_turn_found_running_is_suspended_with_the_text_it_had() {
    let partial = |text: &str| {
        let (item_id, text) = (item(5), text.to_owned());
        Some(PartialMessage { item_id, reasoning: String::new(), text })
    };
    let suspended = || of(TurnSuspended { reason: SuspendReason::DaemonStopped });
    let kept = of(AssistantMessage {
        native: None,
        item_id: item(5),
        reasoning: String::new(),
        text: "half".to_owned(),
        tool_calls: Vec::new(),
        completeness: Completeness::Incomplete,
    });
    for (name, log) in every_state() {
        let (without, empty, with) = if matches!(name, "running" | "acting") {
            (vec![suspended()], vec![suspended()], vec![kept.clone(), suspended()])
        } else {
            (Vec::new(), Vec::new(), Vec::new())
        };
        assert_eq!(found_after_stop(&log.state, None), without, "{name}");
        assert_eq!(found_after_stop(&log.state, partial("")), empty, "{name}");
        assert_eq!(found_after_stop(&log.state, partial("half")), with, "{name}");
    }
}

#[test]
fn the_policy_decides_about_a_turn_that_was_found_and_about_no_other() {
    let mut found = acting();
    found.add(found_after_stop(&found.state, None));
    let mut never = closed_calls();
    never.push(interrupted(&found, InterruptReason::NotResumed, None));
    let asked = of(QuestionAsked {
        question_id: question(3),
        kind: QuestionKind::ResumeTurn,
        prompt: "The daemon stopped while this turn was running. Go on with it?".to_owned(),
        choices: vec!["continue".to_owned(), "stop".to_owned()],
        free_text: false,
        default_choice: String::new(),
        expires_at: None,
    });
    let table = [
        (AutoResume::Ask, vec![asked]),
        (AutoResume::Always, vec![of(TurnResumed { by: None })]),
        (AutoResume::Never, never),
    ];
    for (policy, expect) in table {
        assert_eq!(resume_policy(&found.state, policy, question(3)), expect, "{policy:?}");
        // A question that is open already stays; turns that run or wait for users are theirs.
        for (name, log) in every_state() {
            assert_eq!(resume_policy(&log.state, policy, question(3)), [], "{name}, {policy:?}");
        }
    }
}

#[test]
fn a_turn_that_used_up_its_rounds_is_suspended_with_a_question() {
    let mut log = running();
    log.step(model_answer(item(2), "", &[]));
    let expect = [
        of(TurnSuspended { reason: SuspendReason::RoundsLimit }),
        of(QuestionAsked {
            question_id: question(8),
            kind: QuestionKind::ContinueRounds,
            prompt: "The turn has taken 1 model rounds. Go on?".to_owned(),
            choices: vec!["continue".to_owned(), "stop".to_owned()],
            free_text: false,
            default_choice: String::new(),
            expires_at: None,
        }),
    ];
    assert_eq!(rounds_used_up(&log.state, question(8)), expect);
    assert_eq!(rounds_used_up(&idle().state, question(8)), []);
}

#[test]
fn steering_messages_go_to_the_open_turn_in_order() {
    let mut log = running();
    assert_eq!(deliver_steering(&log.state), None);
    for (number, delivery) in [(5, Steer), (6, Queue), (7, Steer), (8, Interrupt)] {
        log.submit(item(number), "x", delivery);
    }
    let expect = of(MessagesDelivered { item_ids: vec![item(5), item(7)] });
    assert_eq!(deliver_steering(&log.state), Some(expect));
    let mut log = idle();
    log.submit(item(5), "x", Steer);
    assert_eq!(deliver_steering(&log.state), None);
}

#[test]
fn a_model_is_changed_once_and_its_name_checked() {
    let log = idle();
    let check = |model: &str, expect: Option<Vec<Draft>>| {
        assert_eq!(change_model(&log.state, model.to_owned(), None).ok(), expect, "{model:?}");
    };
    let changed = |model: &str| Draft::plain(ModelChanged { model: model.to_owned(), by: None });
    check("", Some(Vec::new()));
    check("qwen3:8b", Some(vec![changed("qwen3:8b")]));
    check(&"x".repeat(256), Some(vec![changed(&"x".repeat(256))]));
    check(&"x".repeat(257), None);
    check("a\x1b[2J", None);
}

#[test]
fn the_next_step_follows_from_the_state_and_whether_a_task_runs() {
    let with = |mut log: Log, delivery: Delivery| {
        log.submit(item(9), "two", delivery);
        log
    };
    let mut resumed = stopped();
    resumed.perform(&Op::Choose(true));
    let cancel = || NextStep::CancelTurn { by: author("ann") };
    let table = [
        ("idle", idle(), NextStep::Wait, NextStep::Wait),
        ("a message waits", with(idle(), Queue), NextStep::StartTurn, NextStep::Wait),
        ("one to steer waits", with(idle(), Steer), NextStep::StartTurn, NextStep::Wait),
        // The task is about to start the turn; it will take this message.
        ("one to interrupt waits", with(idle(), Interrupt), NextStep::StartTurn, NextStep::Wait),
        ("running", running(), NextStep::ContinueTurn, NextStep::Wait),
        ("running, one queued", with(running(), Queue), NextStep::ContinueTurn, NextStep::Wait),
        ("running, one to steer", with(running(), Steer), NextStep::ContinueTurn, NextStep::Wait),
        ("running, one to interrupt", with(running(), Interrupt), NextStep::ContinueTurn, cancel()),
        ("stopped", stopped(), NextStep::Wait, NextStep::Wait),
        ("out of rounds", out_of_rounds(), NextStep::Wait, NextStep::Wait),
        ("resumed", resumed, NextStep::ContinueTurn, NextStep::Wait),
        ("made way", with(stopped(), Queue), NextStep::StartTurn, NextStep::Wait),
    ];
    for (name, log, without_task, with_task) in table {
        assert_eq!(next_step(&log.state, false), without_task, "{name}, no task");
        assert_eq!(next_step(&log.state, true), with_task, "{name}, a task runs");
    }
}

#[test]
fn a_turn_that_stops_the_daemon_again_and_again_is_not_resumed_for_ever() {
    let mut log = running();
    let mut asked = false;
    for _ in 0..=MAX_AUTO_RESUMES {
        log.add(found_after_stop(&log.state, None));
        let drafts = resume_policy(&log.state, AutoResume::Always, question(3));
        asked = matches!(drafts.first(), Some(Draft { body: EventBody::QuestionAsked(_), .. }));
        log.add(drafts);
    }
    assert!(asked);
}
