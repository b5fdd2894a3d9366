use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use proptest::prelude::*;

use super::*;

mod convergence;

pub(super) fn author(name: &str) -> v1::Author {
    v1::Author { client_id: name.to_owned(), name: format!("{name}@pts/1") }
}

pub(super) fn event(seq: u64, body: Body) -> v1::Event {
    v1::Event { seq, at_ms: 1_000, turn_id: "T1".to_owned(), body: Some(body) }
}

pub(super) fn accepted(item_id: &str, text: &str) -> Body {
    Body::MessageAccepted(v1::MessageAccepted {
        unattended: false,
        expires_at_ms: 0,
        priority: 0,
        item_id: item_id.to_owned(),
        client_message_id: format!("c-{item_id}"),
        text: text.to_owned(),
        delivery: v1::Delivery::Queue.into(),
        author: Some(author("ann")),
    })
}

pub(super) fn started(item_ids: &[&str]) -> Body {
    Body::TurnStarted(v1::TurnStarted {
        reminder: String::new(),
        effort_effective: 0,
        effort_requested: 0,
        item_ids: item_ids.iter().map(|id| (*id).to_owned()).collect(),
        provider: "offline".to_owned(),
        model: "m".to_owned(),
    })
}

pub(super) fn delta(
    item_id: &str,
    channel: v1::DeltaChannel,
    offset: usize,
    text: &str,
) -> v1::Event {
    let delta = v1::ItemDelta {
        item_id: item_id.to_owned(),
        channel: channel.into(),
        offset: u64::try_from(offset).unwrap(),
        text: text.to_owned(),
    };
    event(0, Body::ItemDelta(delta))
}

fn text_delta(item_id: &str, offset: usize, text: &str) -> v1::Event {
    delta(item_id, v1::DeltaChannel::Text, offset, text)
}

pub(super) fn assistant(item_id: &str, text: &str, calls: &[&str]) -> Body {
    let tool_calls = calls.iter().map(|call_id| v1::ToolCall {
        call_id: (*call_id).to_owned(),
        name: "calculator".to_owned(),
        arguments_json: "{}".to_owned(),
    });
    Body::AssistantMessage(v1::AssistantMessage {
        item_id: item_id.to_owned(),
        reasoning: String::new(),
        text: text.to_owned(),
        tool_calls: tool_calls.collect(),
        completeness: v1::MessageCompleteness::Complete.into(),
    })
}

pub(super) fn call_started(call_id: &str) -> Body {
    Body::ToolCallStarted(v1::ToolCallStarted {
        call_id: call_id.to_owned(),
        name: "calculator".to_owned(),
        arguments_json: "{\"expression\":\"1+1\"}".to_owned(),
        effect: v1::ToolEffect::Pure.into(),
        action: None,
    })
}

pub(super) fn call_finished(call_id: &str, output: &str) -> Body {
    Body::ToolCallFinished(v1::ToolCallFinished {
        call_id: call_id.to_owned(),
        name: "calculator".to_owned(),
        status: v1::ToolStatus::Success.into(),
        output: output.to_owned(),
        error_code: String::new(),
        output_bytes: 1,
        elapsed_ms: 7,
        ..v1::ToolCallFinished::default()
    })
}

pub(super) fn completed() -> Body {
    Body::TurnCompleted(v1::TurnCompleted {
        end: v1::TurnEnd::Answered.into(),
        rounds: 2,
        usage: Some(v1::Usage { prompt_tokens: 5, ..v1::Usage::default() }),
        elapsed_ms: 90,
    })
}

fn fold(bodies: Vec<Body>) -> Transcript {
    let mut transcript = Transcript::default();
    for (seq, body) in (1..).zip(bodies) {
        transcript.apply(&event(seq, body));
    }
    transcript
}

/// One short line for each item, live ones last and marked.
pub(super) fn outline(transcript: &Transcript) -> Vec<String> {
    let assistant = |message: &AssistantItem| {
        let calls: Vec<String> = message
            .tool_calls
            .iter()
            .map(|call| format!(" {}={:?}:{}", call.call_id, call.state, call.output))
            .collect();
        let live = if message.is_live() { "live " } else { "" };
        format!("{live}{}: {}{}", message.item_id, message.text, calls.concat())
    };
    let items = transcript.items().iter().map(|item| match item {
        Item::User(message) => format!("{} {:?}", message.item_id, message.state),
        Item::Assistant(message) => assistant(message),
        Item::Turn(turn) => format!("{} over={}", turn.turn_id, turn.state.is_over()),
        Item::Question(question) => {
            let answer = question.answer.as_ref().map(|answer| answer.choice.clone());
            format!("{} {answer:?}", question.question_id)
        }
        Item::Note(note) => format!("{:?}", note.kind),
    });
    items.chain(transcript.live().iter().map(assistant)).collect()
}

#[test]
fn a_turn_reads_as_question_answer_and_how_it_ended() {
    let transcript = fold(vec![
        accepted("M1", "hello"),
        started(&["M1"]),
        assistant("A1", "let me see", &["C1"]),
        call_started("C1"),
        call_finished("C1", "2"),
        assistant("A2", "it is 2", &[]),
        completed(),
    ]);
    assert_eq!(
        outline(&transcript),
        ["M1 Delivered", "A1: let me see C1=Finished(Success):2", "A2: it is 2", "T1 over=true"]
    );
    let call = transcript.tool_call("C1").unwrap();
    assert_eq!((call.elapsed_ms, call.effect), (7, Some(v1::ToolEffect::Pure)));
    assert!(transcript.open_turn().is_none());
    assert_eq!(transcript.last_seq(), 7);
}

#[test]
fn a_queued_message_moves_to_where_it_is_answered() {
    let mut transcript = fold(vec![accepted("M1", "a"), started(&["M1"]), accepted("M2", "b")]);
    transcript.apply(&text_delta("A1", 0, "hi"));
    let queued: Vec<&str> = transcript.queue().map(|message| message.item_id.as_str()).collect();
    assert_eq!(queued, ["M2"]);
    assert_eq!(outline(&transcript), ["M1 Delivered", "T1 over=false", "M2 Queued", "live A1: hi"]);
    transcript.apply(&event(4, assistant("A1", "hi", &[])));
    transcript.apply(&event(5, completed()));
    let change =
        transcript.apply(&v1::Event { turn_id: "T2".to_owned(), ..event(6, started(&["M2"])) });
    assert_eq!(change, Change::Turn { turn_id: "T2".to_owned() });
    assert_eq!(
        outline(&transcript),
        ["M1 Delivered", "A1: hi", "T1 over=true", "M2 Delivered", "T2 over=false"]
    );
}

#[test]
fn a_steering_message_moves_to_where_the_model_got_it_and_a_withdrawn_one_stays() {
    let withdrawn = v1::MessageWithdrawn { item_id: "M3".to_owned(), by: Some(author("bob")) };
    let delivered = v1::MessagesDelivered { item_ids: vec!["M2".to_owned()] };
    let transcript = fold(vec![
        accepted("M1", "a"),
        started(&["M1"]),
        accepted("M2", "steer"),
        accepted("M3", "no"),
        assistant("A1", "x", &[]),
        Body::MessageWithdrawn(withdrawn),
        Body::MessagesDelivered(delivered),
    ]);
    let by = Some(author("bob"));
    assert_eq!(transcript.message("M3").unwrap().state, MessageState::Withdrawn { by });
    let order: Vec<String> = outline(&transcript).iter().map(|line| line[..2].to_owned()).collect();
    assert_eq!(order, ["M1", "T1", "M3", "A1", "M2"]);
    assert_eq!(transcript.queue().count(), 0);
}

#[test]
fn pieces_extend_a_text_only_by_what_is_new() {
    let mut transcript = Transcript::default();
    let mut check = |offset: usize, text: &str, expect: Change, shown: &str| {
        assert_eq!(transcript.apply(&text_delta("A1", offset, text)), expect, "{offset} {text}");
        assert_eq!(transcript.assistant("A1").unwrap().text, shown);
    };
    let item_id = || "A1".to_owned();
    let added = |added: &str| Change::LiveText {
        item_id: item_id(),
        channel: TextChannel::Text,
        added: added.to_owned(),
    };
    check(0, "日本", added("日本"), "日本");
    check(0, "日本", Change::Nothing, "日本");
    check(3, "本語", added("語"), "日本語");
    check(12, "!", Change::Gap { item_id: item_id() }, "日本語");
    check(13, "!", Change::Nothing, "日本語");
    check(0, "日本語の!", added("の!"), "日本語の!");
    // Bytes that cannot be the same text.
    check(11, "の", Change::Gap { item_id: item_id() }, "日本語の!");
}

#[test]
fn a_gap_asks_for_a_resync_until_the_piece_or_the_final_message_comes() {
    let mut transcript = Transcript::default();
    transcript.apply(&text_delta("A1", 5, "late"));
    assert!(transcript.needs_resync());
    transcript.apply(&text_delta("A1", 0, "all of it"));
    assert!(!transcript.needs_resync());
    transcript.apply(&text_delta("A1", 50, "x"));
    assert!(transcript.needs_resync());
    transcript.apply(&event(1, assistant("A1", "final", &[])));
    assert!(!transcript.needs_resync());
    assert_eq!(transcript.assistant("A1").unwrap().text, "final");
}

#[test]
fn late_pieces_of_a_final_or_discarded_item_change_nothing() {
    let mut transcript = fold(vec![started(&[]), assistant("A1", "done", &[])]);
    assert_eq!(transcript.apply(&text_delta("A1", 4, " and more")), Change::Nothing);
    transcript.apply(&text_delta("A2", 0, "broken"));
    let restarted = v1::AttemptRestarted {
        discarded_item_id: "A2".to_owned(),
        attempt: 2,
        error: Some(v1::ErrorReport { code: "CUT".to_owned(), ..v1::ErrorReport::default() }),
    };
    let change = transcript.apply(&event(3, Body::AttemptRestarted(restarted)));
    assert_eq!(change, Change::Discarded { item_id: "A2".to_owned() });
    assert_eq!(transcript.apply(&text_delta("A2", 6, "!")), Change::Nothing);
    assert!(transcript.live().is_empty());
    assert!(transcript.assistant("A2").is_none());
    transcript.apply(&event(4, completed()));
    assert_eq!(transcript.apply(&text_delta("A2", 0, "ghost")), Change::Nothing);
    assert_eq!(transcript.apply(&text_delta("A3", 0, "ghost")), Change::Nothing);
}

#[test]
fn what_a_stopped_daemon_had_not_finished_is_dropped() {
    let mut transcript = fold(vec![accepted("M1", "a"), started(&["M1"])]);
    transcript.apply(&text_delta("A1", 0, "half"));
    let reason = v1::SuspendReason::DaemonStopped;
    transcript.apply(&event(3, Body::TurnSuspended(v1::TurnSuspended { reason: reason.into() })));
    assert!(transcript.live().is_empty());
    assert_eq!(transcript.open_turn().unwrap().state, TurnState::Suspended(reason));
    transcript.apply(&event(4, Body::TurnResumed(v1::TurnResumed { by: None })));
    assert_eq!(transcript.open_turn().unwrap().state, TurnState::Running);
}

#[test]
fn the_first_answer_to_a_question_counts() {
    let answered = |choice: &str, by: &str| {
        Body::QuestionAnswered(v1::QuestionAnswered {
            question_id: "Q1".to_owned(),
            choice: choice.to_owned(),
            by: Some(author(by)),
        })
    };
    let asked = Body::QuestionAsked(v1::QuestionAsked {
        question_id: "Q1".to_owned(),
        kind: v1::QuestionKind::ContinueRounds.into(),
        prompt: "go on?".to_owned(),
        choices: vec!["yes".to_owned(), "no".to_owned()],
        ..Default::default()
    });
    let mut transcript = fold(vec![asked]);
    assert_eq!(transcript.open_questions().count(), 1);
    transcript.apply(&event(2, answered("no", "bob")));
    transcript.apply(&event(3, answered("yes", "ann")));
    let answer = Answer { choice: "no".to_owned(), by: Some(author("bob")) };
    assert_eq!(transcript.question("Q1").unwrap().answer, Some(answer));
    assert_eq!(transcript.open_questions().count(), 0);
}

#[test]
fn title_model_usage_and_participants_follow_their_events() {
    let renamed = |title: &str, source: v1::TitleSource, by| {
        Body::SessionRenamed(v1::SessionRenamed {
            title: title.to_owned(),
            source: source.into(),
            by,
        })
    };
    let used = || {
        let usage =
            v1::Usage { prompt_tokens: 3, completion_tokens: u64::MAX, ..v1::Usage::default() };
        Body::UsageRecorded(v1::UsageRecorded {
            usage: Some(usage),
            ..v1::UsageRecorded::default()
        })
    };
    let mut transcript = fold(vec![
        Body::SessionCreated(v1::SessionCreated {
            workspace: "/w".to_owned(),
            model: "m1".to_owned(),
            ..v1::SessionCreated::default()
        }),
        renamed("auto", v1::TitleSource::FirstMessage, None),
        Body::ModelChanged(v1::ModelChanged { model: "m2".to_owned(), by: None }),
        renamed("mine", v1::TitleSource::Manual, Some(author("ann"))),
        used(),
        used(),
    ]);
    assert_eq!(
        (transcript.title(), transcript.title_source(), transcript.model(), transcript.workspace()),
        ("mine", v1::TitleSource::Manual, "m2", "/w")
    );
    let expect =
        v1::Usage { prompt_tokens: 6, completion_tokens: u64::MAX, ..v1::Usage::default() };
    assert_eq!(transcript.usage(), expect);
    // Automatic titles are not worth a note.
    assert_eq!(transcript.items().len(), 2);
    let participants = vec![v1::Participant { author: Some(author("ann")), attached_at_ms: 1 }];
    let presence = event(0, Body::Presence(v1::Presence { participants: participants.clone() }));
    assert_eq!(transcript.apply(&presence), Change::Participants);
    assert_eq!(transcript.apply(&presence), Change::Nothing);
    assert_eq!(transcript.participants(), participants);
}

#[test]
fn a_log_read_from_the_middle_still_shows_its_calls_and_its_turn() {
    let mut transcript = Transcript::default();
    transcript.apply(&event(40, call_started("C9")));
    let output = delta("C9", v1::DeltaChannel::ToolOutput, 0, "so far");
    assert!(matches!(transcript.apply(&output), Change::LiveText { .. }));
    transcript.apply(&event(41, call_finished("C9", "all")));
    transcript.apply(&event(42, completed()));
    assert_eq!(outline(&transcript), [":  C9=Finished(Success):all", "T1 over=true"]);
    assert_eq!(transcript.apply(&output), Change::Nothing);
}

#[test]
fn an_event_that_this_client_does_not_know_is_noted_and_counted() {
    let mut transcript = Transcript::default();
    assert_eq!(transcript.apply(&v1::Event { seq: 1, ..v1::Event::default() }), Change::Note);
    let unknown = v1::UnknownEvent { kind: "later".to_owned(), record_json: "{}".to_owned() };
    assert_eq!(transcript.apply(&event(2, Body::Unknown(unknown))), Change::Note);
    assert_eq!(outline(&transcript), ["Unknown { kind: \"\" }", "Unknown { kind: \"later\" }"]);
    assert_eq!(transcript.last_seq(), 2);
    // An ephemeral one passes unseen.
    assert_eq!(transcript.apply(&v1::Event::default()), Change::Nothing);
}
