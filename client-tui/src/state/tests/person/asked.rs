//! Approvals and questions.

use super::*;

fn answers(effects: &[Effect]) -> Vec<(String, v1::ApprovalDecision, v1::ApprovalScope, String)> {
    let answers = sent(effects).into_iter().filter_map(|command| match command {
        Command::AnswerApproval(it) => {
            Some((it.approval_id.clone(), it.decision(), it.scope(), it.reason.clone()))
        }
        _ => None,
    });
    answers.collect()
}

/// Something is asked and was read.
fn asked() -> Desk {
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.asks("A", runs(&["ls"]));
    desk.ticks(12);
    desk
}

#[test]
fn a_key_answers_what_was_read() {
    let (allow, deny) = (v1::ApprovalDecision::Allow, v1::ApprovalDecision::Deny);
    let check = |letter: char, decision, scope| {
        let effects = asked().press(KeyCode::Char(letter));
        assert_eq!(answers(&effects), [("A".to_owned(), decision, scope, String::new())]);
    };
    check('y', allow, v1::ApprovalScope::Once);
    check('a', allow, v1::ApprovalScope::Session);
    check('w', allow, v1::ApprovalScope::Workspace);
    check('n', deny, v1::ApprovalScope::Once);
}

#[test]
fn a_no_can_have_a_reason() {
    let mut desk = asked();
    desk.press(KeyCode::Char('d'));
    assert_eq!(desk.write("use ripgrep, y"), []);
    let effects = desk.press(KeyCode::Enter);
    let deny = v1::ApprovalDecision::Deny;
    let reason = "use ripgrep, y".to_owned();
    assert_eq!(answers(&effects), [("A".to_owned(), deny, v1::ApprovalScope::Once, reason)]);
    let mut desk = asked();
    desk.press(KeyCode::Char('d'));
    desk.press(KeyCode::Esc);
    assert_eq!(answers(&desk.press(KeyCode::Char('y'))).len(), 1);
}

#[test]
fn nothing_is_allowed_before_it_can_have_been_read() {
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.asks("A", runs(&["ls"]));
    for letter in ['y', 'a', 'w'] {
        assert_eq!(desk.press(KeyCode::Char(letter)), [], "{letter}");
        assert!(desk.notice().contains("only just asked"));
    }
    assert!(desk.state.composer.is_empty());
    assert_eq!(answers(&desk.press(KeyCode::Char('n'))).len(), 1, "a no does no harm");
}

#[test]
fn who_writes_a_message_goes_on_writing_it() {
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.write("m");
    desk.asks("A", runs(&["ls"]));
    assert_eq!(desk.write("y way"), []);
    assert_eq!(desk.state.composer.text(), "my way");
    desk.ticks(20);
    assert_eq!(desk.write("y"), []);
    assert_eq!(desk.state.composer.text(), "my wayy", "something is written");
    desk.state.composer.clear();
    assert_eq!(desk.write("y"), [], "the last key was just now");
    assert_eq!(desk.state.composer.text(), "y");
}

#[test]
fn a_line_answers_when_it_is_an_answer_and_names_one_of_several() {
    let mut desk = asked();
    let effects = desk.line("y");
    assert_eq!(answers(&effects).len(), 1);
    let mut desk = asked();
    desk.asks("B", runs(&["rm", "x"]));
    assert_eq!(answers(&desk.line("y")), []);
    assert!(desk.notice().contains("several wait"));
    let effects = desk.line("/deny 2 not that");
    let deny = v1::ApprovalDecision::Deny;
    let reason = "not that".to_owned();
    assert_eq!(answers(&effects), [("B".to_owned(), deny, v1::ApprovalScope::Once, reason)]);
}

#[test]
fn several_are_turned_over_and_the_key_counts_for_the_one_that_is_shown() {
    let mut desk = asked();
    desk.asks("B", runs(&["make"]));
    desk.ticks(12);
    desk.press(KeyCode::Tab);
    assert_eq!(desk.press(KeyCode::Char('y')), [], "it is shown only now");
    desk.ticks(3);
    let effects = desk.press(KeyCode::Char('y'));
    assert_eq!(answers(&effects)[0].0, "B");
}

#[test]
fn what_takes_the_place_of_an_answered_one_is_not_allowed_by_the_same_key() {
    let mut desk = asked();
    desk.asks("B", runs(&["make"]));
    desk.ticks(12);
    desk.event(Body::ApprovalResolved(v1::ApprovalResolved {
        approval_id: "A".into(),
        decision: v1::ApprovalDecision::Deny.into(),
        ..Default::default()
    }));
    assert_eq!(desk.press(KeyCode::Char('y')), []);
    assert!(desk.notice().contains("only just asked"));
}

#[test]
fn an_answer_is_held_while_the_connection_is_lost() {
    let error: agentd_shared::RpcError = tonic::Status::unavailable("gone").into();
    let mut desk = asked();
    desk.stream(AttachEvent::Lost { error: error.clone() });
    assert_eq!(desk.press(KeyCode::Char('y')), []);
    desk.stream(AttachEvent::Restored);
    desk.stream(AttachEvent::Attached(v1::Attached { from_seq: 9, ..Default::default() }));
    let effects = desk.stream(AttachEvent::CaughtUp { seq: 9 });
    assert_eq!(answers(&effects).len(), 1);
    let effects = desk.stream(AttachEvent::CaughtUp { seq: 9 });
    assert_eq!(answers(&effects), [], "it is given once");

    let mut desk = asked();
    desk.stream(AttachEvent::Lost { error });
    desk.press(KeyCode::Char('y'));
    desk.stream(AttachEvent::Restored);
    desk.event(Body::ApprovalResolved(v1::ApprovalResolved {
        approval_id: "A".into(),
        decision: v1::ApprovalDecision::Deny.into(),
        ..Default::default()
    }));
    assert_eq!(answers(&desk.stream(AttachEvent::CaughtUp { seq: 9 })), []);
    while !desk.notice().contains("denied meanwhile") {
        assert_ne!(desk.notice(), "", "nobody was told");
        desk.state.notices.dismiss();
    }
}

/// The daemon did not get an answer, although the session is followed all along.
fn unheard(desk: &mut Desk) {
    let effects = desk.press(KeyCode::Char('y'));
    let [Effect::Send(command)] = effects.as_slice() else { panic!("{effects:?}") };
    let error = tonic::Status::unavailable("gone").into();
    desk.reply(Reply::Failed { command: Box::new(command.clone()), error });
    assert!(desk.notice().contains("kept: #1"), "{}", desk.notice());
}

#[test]
fn an_answer_that_did_not_arrive_is_given_again_although_the_session_was_followed_all_along() {
    let mut desk = asked();
    unheard(&mut desk);
    let mut given = Vec::new();
    for _ in 0..100 {
        assert!(desk.state.moves(), "time has to pass for it");
        given = desk.state.on(Input::Tick);
        if !given.is_empty() {
            break;
        }
    }
    let allow = v1::ApprovalDecision::Allow;
    assert_eq!(answers(&given), [("A".to_owned(), allow, v1::ApprovalScope::Once, String::new())]);
    for _ in 0..100 {
        assert_eq!(desk.state.on(Input::Tick), [], "it is given once");
    }

    // While the session is not followed it is known that it cannot arrive.
    let mut desk = asked();
    unheard(&mut desk);
    desk.stream(AttachEvent::Lost { error: tonic::Status::unavailable("gone").into() });
    for _ in 0..100 {
        assert_eq!(desk.state.on(Input::Tick), []);
    }
    desk.stream(AttachEvent::Attached(v1::Attached { from_seq: 9, ..Default::default() }));
    assert_eq!(answers(&desk.stream(AttachEvent::CaughtUp { seq: 9 })).len(), 1);
}

#[test]
fn an_answer_that_arrived_and_whose_receipt_was_lost_is_not_said_to_be_lost() {
    let resolved = |desk: &Desk| {
        Body::ApprovalResolved(v1::ApprovalResolved {
            approval_id: "A".into(),
            decision: v1::ApprovalDecision::Allow.into(),
            by: Some(desk.state.author.clone()),
            ..Default::default()
        })
    };
    let told = |desk: &mut Desk| {
        let mut told = Vec::new();
        while !desk.notice().is_empty() {
            told.push(desk.notice().to_owned());
            desk.state.notices.dismiss();
        }
        told.retain(|text| text.contains("not given"));
        told
    };
    // The session tells it before the receipt is missed, or after.
    let mut desk = asked();
    let effects = desk.press(KeyCode::Char('y'));
    let [Effect::Send(command)] = effects.as_slice() else { panic!("{effects:?}") };
    let body = resolved(&desk);
    desk.event(body);
    let error = tonic::Status::unavailable("gone").into();
    desk.reply(Reply::Failed { command: Box::new(command.clone()), error });
    assert_eq!(answers(&desk.stream(AttachEvent::CaughtUp { seq: 9 })), []);
    assert_eq!(told(&mut desk), [""; 0]);

    let mut desk = asked();
    unheard(&mut desk);
    let body = resolved(&desk);
    desk.event(body);
    desk.ticks(100);
    assert_eq!(told(&mut desk), [""; 0]);
}

#[test]
fn keys_that_allow_are_offered_once_they_are_taken() {
    let mut desk = Desk::new();
    desk.turn_runs();
    desk.asks("A", runs(&["ls"]));
    assert!(desk.screen(80, 24).contains("only just asked: read it first"));
    assert!(!desk.screen(80, 24).contains("y once"));
    desk.ticks(12);
    assert!(desk.screen(80, 24).contains("y once"));
}

#[test]
fn escape_puts_it_away_and_tab_shows_it_again() {
    let mut desk = asked();
    assert_eq!(desk.press(KeyCode::Esc), [], "the turn is not cancelled");
    assert!(desk.screen(80, 24).contains("1 waits for you"));
    desk.press(KeyCode::Tab);
    desk.ticks(4);
    assert_eq!(answers(&desk.press(KeyCode::Char('y'))).len(), 1);
}

#[test]
fn a_question_is_answered_by_number_by_choice_or_by_a_message() {
    let asked = |free_text: bool| {
        let mut desk = Desk::new();
        desk.turn_runs();
        desk.event(Body::QuestionAsked(v1::QuestionAsked {
            question_id: "Q".into(),
            prompt: "Which way?".into(),
            choices: vec!["left".into(), "right".into()],
            free_text,
            ..Default::default()
        }));
        desk.ticks(12);
        desk
    };
    let answer = |effects: &[Effect]| match sent(effects)[..] {
        [Command::AnswerQuestion(request)] => request.choice.clone(),
        _ => format!("{effects:?}"),
    };
    assert_eq!(answer(&asked(false).press(KeyCode::Char('2'))), "right");
    assert_eq!(answer(&asked(false).press(KeyCode::Enter)), "left");
    let mut desk = asked(false);
    desk.press(KeyCode::Down);
    assert_eq!(answer(&desk.press(KeyCode::Enter)), "right");
    assert_eq!(answer(&asked(false).line("RIGHT")), "right");
    assert_eq!(answer(&asked(true).line("straight on")), "straight on");
    assert_eq!(answer(&asked(false).line("/continue")), "left");
    let effects = asked(false).line("straight on");
    assert!(matches!(sent(&effects)[..], [Command::Submit(_)]), "{effects:?}");
}
