//! Whatever way a reader takes through a session, it ends with the transcript of the log.

use super::*;

/// One step of a session as the daemon publishes it.
#[derive(Debug, Clone)]
enum Step {
    Durable(v1::Event),
    Live { item_id: String, channel: v1::DeltaChannel, offset: usize, text: String },
}

impl Step {
    fn event(&self) -> v1::Event {
        match self {
            Self::Durable(event) => event.clone(),
            Self::Live { item_id, channel, offset, text } => {
                piece(item_id, *channel, *offset, text)
            }
        }
    }
}

/// A piece of an item, which is named after its turn.
fn piece(item_id: &str, channel: v1::DeltaChannel, offset: usize, text: &str) -> v1::Event {
    let turn_id = format!("T{}", &item_id[1..]);
    v1::Event { turn_id, ..delta(item_id, channel, offset, text) }
}

/// A body of each kind that may come at any moment and says nothing of a message, a call or a turn.
fn asides(index: usize) -> Vec<Body> {
    let by = Some(author("bob"));
    let id = |kind: &str| format!("{kind}{index}");
    vec![
        Body::SessionRenamed(v1::SessionRenamed {
            title: id("title"),
            by: by.clone(),
            ..Default::default()
        }),
        Body::ModelChanged(v1::ModelChanged { model: id("m"), by: by.clone() }),
        Body::EffortChanged(v1::EffortChanged { effort: v1::Effort::High.into(), by: by.clone() }),
        Body::PermissionModeChanged(v1::PermissionModeChanged {
            mode: v1::PermissionMode::Plan.into(),
            by: by.clone(),
        }),
        Body::WorkModeChanged(v1::WorkModeChanged {
            mode: v1::WorkMode::Review.into(),
            by: by.clone(),
        }),
        Body::PermissionRuleRevoked(v1::PermissionRuleRevoked { rule_id: id("R"), by: by.clone() }),
        Body::ApprovalRequested(v1::ApprovalRequested {
            approval_id: id("P"),
            ..Default::default()
        }),
        Body::ApprovalResolved(v1::ApprovalResolved {
            approval_id: id("P"),
            by: by.clone(),
            ..Default::default()
        }),
        Body::QuestionAsked(v1::QuestionAsked { question_id: id("Q"), ..Default::default() }),
        Body::QuestionAnswered(v1::QuestionAnswered {
            question_id: id("Q"),
            choice: "yes".to_owned(),
            by: by.clone(),
        }),
        Body::TodoListChanged(v1::TodoListChanged::default()),
        Body::PlanChanged(v1::PlanChanged::default()),
        Body::MemoriesTold(v1::MemoriesTold::default()),
        Body::MemoriesExtracted(v1::MemoriesExtracted::default()),
        Body::UsageRecorded(v1::UsageRecorded {
            usage: Some(v1::Usage { prompt_tokens: 3, ..Default::default() }),
            cost: Some(v1::Cost { nano_usd: 7, ..Default::default() }),
            ..Default::default()
        }),
        Body::ContextTrimmed(v1::ContextTrimmed::default()),
        Body::ContextCompacted(v1::ContextCompacted::default()),
        Body::TurnsRecalled(v1::TurnsRecalled::default()),
        Body::PinsChanged(v1::PinsChanged { pins: vec![id("pin")], by }),
        Body::ProjectDocumentChanged(v1::ProjectDocumentChanged::default()),
        Body::Notice(v1::Notice { text: id("notice"), ..Default::default() }),
        Body::Unknown(v1::UnknownEvent { kind: id("kind"), ..Default::default() }),
    ]
}

/// The durable kinds of an event, each with its name. One that is new does not compile until it is
/// here, and [`every_kind_of_event_is_in_a_session`] fails until a session has it.
fn kind(body: &Body) -> Option<&'static str> {
    macro_rules! names {
        ($($kind:ident)*) => {
            match body {
                $(Body::$kind(_) => Some(stringify!($kind)),)*
                // What is not durable is not folded from a log.
                Body::ItemDelta(_) | Body::Presence(_) => None,
            }
        };
    }
    names!(
        SessionCreated SessionRenamed ModelChanged EffortChanged MessageAccepted MessageWithdrawn
        MessagesDelivered MessageExpired TurnStarted TurnSuspended TurnResumed TurnCompleted
        TurnFailed TurnInterrupted AssistantMessage AttemptRestarted ToolCallStarted
        ToolCallFinished QuestionAsked QuestionAnswered UsageRecorded ContextTrimmed
        ContextCompacted TurnsRecalled PinsChanged ProjectDocumentChanged Notice TodoListChanged
        PlanChanged ApprovalRequested ApprovalResolved PermissionModeChanged WorkModeChanged
        PermissionRuleRevoked MemoriesTold MemoriesExtracted Unknown
    )
}

/// How many durable kinds there are.
const KINDS: usize = 37;

/// Makes a session of turns; each streams text, runs a tool, may be restarted or stopped with the
/// daemon, and others talk in.
fn session(turns: &[Turn]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut seq = 0;
    let mut durable = |steps: &mut Vec<Step>, turn: usize, body: Body| {
        seq += 1;
        steps.push(Step::Durable(v1::Event { turn_id: format!("T{turn}"), ..event(seq, body) }));
    };
    durable(&mut steps, 0, Body::SessionCreated(v1::SessionCreated::default()));
    for (index, turn) in turns.iter().enumerate() {
        let message = format!("M{index}");
        durable(&mut steps, index, accepted(&message, "question"));
        durable(&mut steps, index, started(&[&message]));
        let asides = asides(index);
        let (early, late) = asides.split_at(turn.asides.index(asides.len() + 1));
        if turn.restarted {
            stream(&mut steps, &format!("V{index}"), v1::DeltaChannel::Text, &turn.pieces);
            let restarted = v1::AttemptRestarted {
                discarded_item_id: format!("V{index}"),
                attempt: 2,
                error: None,
            };
            durable(&mut steps, index, Body::AttemptRestarted(restarted));
        }
        if turn.stopped {
            stream(&mut steps, &format!("S{index}"), v1::DeltaChannel::Text, &turn.pieces);
            let reason = v1::SuspendReason::DaemonStopped.into();
            let suspended = v1::TurnSuspended { reason };
            durable(&mut steps, index, Body::TurnSuspended(suspended));
            durable(&mut steps, index, Body::TurnResumed(v1::TurnResumed::default()));
        }
        let (answer, call) = (format!("A{index}"), format!("C{index}"));
        let half = turn.pieces.len() / 2;
        stream(&mut steps, &answer, v1::DeltaChannel::Reasoning, &turn.pieces);
        stream(&mut steps, &answer, v1::DeltaChannel::Text, &turn.pieces[..half]);
        let other = format!("O{index}");
        durable(&mut steps, index, accepted(&other, "in between"));
        let (gone, late_one) = (format!("W{index}"), format!("E{index}"));
        durable(&mut steps, index, accepted(&gone, "to be taken back"));
        durable(&mut steps, index, accepted(&late_one, "to expire"));
        let withdrawn = v1::MessageWithdrawn { item_id: gone, by: Some(author("ann")) };
        durable(&mut steps, index, Body::MessageWithdrawn(withdrawn));
        for body in early {
            durable(&mut steps, index, body.clone());
        }
        let before = turn.pieces[..half].concat().len();
        stream_from(&mut steps, &answer, v1::DeltaChannel::Text, before, &turn.pieces[half..]);
        if turn.end == End::BrokenOff {
            durable(&mut steps, index, Body::TurnInterrupted(v1::TurnInterrupted::default()));
        } else {
            let Body::AssistantMessage(message) =
                assistant(&answer, &turn.pieces.concat(), &[&call])
            else {
                unreachable!("a helper makes it")
            };
            let reasoning = turn.pieces.concat();
            let message = v1::AssistantMessage { reasoning, ..message };
            durable(&mut steps, index, Body::AssistantMessage(message));
            durable(&mut steps, index, call_started(&call));
            stream(&mut steps, &call, v1::DeltaChannel::ToolOutput, &turn.pieces);
            durable(&mut steps, index, call_finished(&call, &turn.pieces.concat()));
        }
        let expired = v1::MessageExpired { item_id: late_one };
        durable(&mut steps, index, Body::MessageExpired(expired));
        let delivered = v1::MessagesDelivered { item_ids: vec![other] };
        durable(&mut steps, index, Body::MessagesDelivered(delivered));
        for body in late {
            durable(&mut steps, index, body.clone());
        }
        match turn.end {
            End::Completed => durable(&mut steps, index, completed()),
            End::Failed => {
                durable(&mut steps, index, Body::TurnFailed(v1::TurnFailed::default()));
            }
            End::BrokenOff => {}
        }
    }
    steps
}

fn stream(steps: &mut Vec<Step>, item_id: &str, channel: v1::DeltaChannel, pieces: &[String]) {
    stream_from(steps, item_id, channel, 0, pieces);
}

fn stream_from(
    steps: &mut Vec<Step>,
    item_id: &str,
    channel: v1::DeltaChannel,
    mut offset: usize,
    pieces: &[String],
) {
    for text in pieces {
        let (item_id, text) = (item_id.to_owned(), text.clone());
        let length = text.len();
        steps.push(Step::Live { item_id, channel, offset, text });
        offset += length;
    }
}

/// What the daemon sends to a reader that attaches before step `at`: the log from `from_seq`, then
/// the live text so far of what is unfinished.
fn replay(steps: &[Step], at: usize, from_seq: u64) -> Vec<v1::Event> {
    let mut live: Vec<(String, v1::DeltaChannel, String)> = Vec::new();
    let mut log = Vec::new();
    for step in &steps[..at] {
        match step {
            Step::Durable(event) => {
                let ended = match event.body.as_ref().unwrap() {
                    // A stopped daemon has lost it, and a turn that is over writes no more.
                    Body::TurnSuspended(_) | Body::TurnInterrupted(_) => {
                        live.clear();
                        None
                    }
                    Body::AssistantMessage(message) => Some(&message.item_id),
                    Body::AttemptRestarted(restarted) => Some(&restarted.discarded_item_id),
                    Body::ToolCallFinished(finished) => Some(&finished.call_id),
                    _ => None,
                };
                live.retain(|(item_id, ..)| Some(item_id) != ended);
                if event.seq >= from_seq {
                    log.push(event.clone());
                }
            }
            Step::Live { item_id, channel, text, .. } => {
                match live.iter_mut().find(|(id, other, _)| id == item_id && other == channel) {
                    Some((.., so_far)) => so_far.push_str(text),
                    None => live.push((item_id.clone(), *channel, text.clone())),
                }
            }
        }
    }
    let resent = live.iter().map(|(item_id, channel, text)| piece(item_id, *channel, 0, text));
    log.into_iter().chain(resent).collect()
}

#[derive(Debug, Clone)]
struct Turn {
    pieces: Vec<String>,
    restarted: bool,
    /// The daemon stops in the middle of its text.
    stopped: bool,
    /// How many of the asides come before its text is whole.
    asides: prop::sample::Index,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Completed,
    Failed,
    /// In the middle of its text.
    BrokenOff,
}

fn turn() -> impl Strategy<Value = Turn> {
    (
        prop::collection::vec("[a-c世👩\u{301}]{1,6}", 1..6),
        any::<(bool, bool, prop::sample::Index)>(),
        prop::sample::select(vec![End::Completed, End::Failed, End::BrokenOff]),
    )
        .prop_map(|(pieces, (restarted, stopped, asides), end)| Turn {
            pieces,
            restarted,
            stopped,
            asides,
            end,
        })
}

/// What can happen to a reader.
#[derive(Debug, Clone)]
struct Mishap {
    at: prop::sample::Index,
    kind: MishapKind,
}

#[derive(Debug, Clone, Copy)]
enum MishapKind {
    /// The connection breaks and is made anew.
    Reconnect,
    /// The last event comes twice.
    Repeat,
    /// A piece is lost, then the reader attaches anew if it noticed.
    Lose,
}

fn mishaps() -> impl Strategy<Value = Vec<Mishap>> {
    let kind =
        prop::sample::select(vec![MishapKind::Reconnect, MishapKind::Repeat, MishapKind::Lose]);
    let mishap = (any::<prop::sample::Index>(), kind).prop_map(|(at, kind)| Mishap { at, kind });
    prop::collection::vec(mishap, 0..8)
}

fn log_only(steps: &[Step]) -> Transcript {
    let mut transcript = Transcript::default();
    for step in steps {
        if let Step::Durable(event) = step {
            transcript.apply(event);
        }
    }
    transcript
}

proptest! {
    #[test]
    fn every_kind_of_event_is_in_a_session(asides in any::<prop::sample::Index>()) {
        let turn = |end| Turn {
            pieces: vec!["a".to_owned()],
            restarted: true,
            stopped: true,
            asides,
            end,
        };
        let steps = session(&[turn(End::Completed), turn(End::Failed), turn(End::BrokenOff)]);
        let kinds: std::collections::BTreeSet<&str> = steps
            .iter()
            .filter_map(|step| kind(step.event().body.as_ref()?))
            .collect();
        prop_assert_eq!(kinds.len(), KINDS, "{:?}", kinds);
    }

    #[test]
    fn every_way_through_a_session_ends_with_the_transcript_of_its_log(
        turns in prop::collection::vec(turn(), 1..4),
        attach in any::<prop::sample::Index>(),
        mishaps in mishaps(),
    ) {
        let steps = session(&turns);
        let attach = attach.index(steps.len());
        let mut transcript = Transcript::default();
        for event in replay(&steps, attach, 1) {
            transcript.apply(&event);
        }
        for at in attach..steps.len() {
            let event = steps[at].event();
            let kinds = mishaps.iter().filter(|mishap| mishap.at.index(steps.len()) == at);
            let mut lost = false;
            for mishap in kinds {
                match mishap.kind {
                    MishapKind::Repeat => { transcript.apply(&event); }
                    MishapKind::Lose => lost = event.seq == 0,
                    MishapKind::Reconnect => {
                        for event in replay(&steps, at, transcript.last_seq() + 1) {
                            transcript.apply(&event);
                        }
                    }
                }
            }
            if !lost {
                transcript.apply(&event);
            }
            if transcript.needs_resync() {
                for event in replay(&steps, at + 1, transcript.last_seq() + 1) {
                    transcript.apply(&event);
                }
                prop_assert!(!transcript.needs_resync());
            }
        }
        let expect = log_only(&steps);
        prop_assert_eq!(outline(&transcript), outline(&expect));
        prop_assert_eq!(transcript, expect);
    }

    #[test]
    fn live_text_is_the_same_for_early_and_late_readers_at_every_moment(
        turns in prop::collection::vec(turn(), 1..3),
    ) {
        let steps = session(&turns);
        let mut early = Transcript::default();
        for at in 0..steps.len() {
            let mut late = Transcript::default();
            for event in replay(&steps, at, 1) {
                late.apply(&event);
            }
            prop_assert_eq!(outline(&early), outline(&late), "before step {}", at);
            early.apply(&steps[at].event());
        }
    }

    #[test]
    fn what_waits_is_what_all_items_tell_at_every_moment(
        turns in prop::collection::vec(turn(), 1..4),
    ) {
        let mut transcript = Transcript::default();
        for step in session(&turns) {
            transcript.apply(&step.event());
            let (mut messages, mut questions) = (Vec::new(), Vec::new());
            for item in transcript.items() {
                match item {
                    Item::User(message) if message.state == MessageState::Queued => {
                        messages.push(message);
                    }
                    Item::Question(question) if question.answer.is_none() => {
                        questions.push(question);
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(transcript.queue().collect::<Vec<_>>(), messages);
            prop_assert_eq!(transcript.open_questions().collect::<Vec<_>>(), questions);
        }
    }
}
