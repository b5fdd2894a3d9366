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
                delta(item_id, *channel, *offset, text)
            }
        }
    }
}

/// Makes a session of turns; each streams text, runs a tool, may be restarted, and others talk in.
fn session(turns: &[Turn]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut seq = 0;
    let mut durable = |steps: &mut Vec<Step>, turn: usize, body: Body| {
        seq += 1;
        steps.push(Step::Durable(v1::Event { turn_id: format!("T{turn}"), ..event(seq, body) }));
    };
    for (index, turn) in turns.iter().enumerate() {
        let message = format!("M{index}");
        durable(&mut steps, index, accepted(&message, "question"));
        durable(&mut steps, index, started(&[&message]));
        if turn.restarted {
            stream(&mut steps, &format!("V{index}"), v1::DeltaChannel::Text, &turn.pieces);
            let restarted = v1::AttemptRestarted {
                discarded_item_id: format!("V{index}"),
                attempt: 2,
                error: None,
            };
            durable(&mut steps, index, Body::AttemptRestarted(restarted));
        }
        let (answer, call) = (format!("A{index}"), format!("C{index}"));
        let half = turn.pieces.len() / 2;
        stream(&mut steps, &answer, v1::DeltaChannel::Text, &turn.pieces[..half]);
        let other = format!("O{index}");
        durable(&mut steps, index, accepted(&other, "in between"));
        let before = turn.pieces[..half].concat().len();
        stream_from(&mut steps, &answer, v1::DeltaChannel::Text, before, &turn.pieces[half..]);
        durable(&mut steps, index, assistant(&answer, &turn.pieces.concat(), &[&call]));
        durable(&mut steps, index, call_started(&call));
        stream(&mut steps, &call, v1::DeltaChannel::ToolOutput, &turn.pieces);
        durable(&mut steps, index, call_finished(&call, &turn.pieces.concat()));
        let delivered = v1::MessagesDelivered { item_ids: vec![other] };
        durable(&mut steps, index, Body::MessagesDelivered(delivered));
        durable(&mut steps, index, completed());
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
                match live.iter_mut().find(|(id, ..)| id == item_id) {
                    Some((.., so_far)) => so_far.push_str(text),
                    None => live.push((item_id.clone(), *channel, text.clone())),
                }
            }
        }
    }
    let resent = live.iter().map(|(item_id, channel, text)| delta(item_id, *channel, 0, text));
    log.into_iter().chain(resent).collect()
}

#[derive(Debug, Clone)]
struct Turn {
    pieces: Vec<String>,
    restarted: bool,
}

fn turn() -> impl Strategy<Value = Turn> {
    (prop::collection::vec("[a-c世👩\u{301}]{1,6}", 1..6), any::<bool>())
        .prop_map(|(pieces, restarted)| Turn { pieces, restarted })
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
}
