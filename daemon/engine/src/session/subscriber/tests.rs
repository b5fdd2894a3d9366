use agentd_domain::MessagesDelivered;
use futures_util::FutureExt as _;
use proptest::prelude::*;

use super::*;
use crate::session::live::LiveOutputs;
use crate::session::test_log::{author, finished, item};

fn subscriber() -> Subscriber {
    Subscriber::new(Participant { author: author("ann"), attached_at: TimestampMs(0) })
}

fn event(seq: u64) -> Arc<Event> {
    let body = EventBody::from(MessagesDelivered { item_ids: Vec::new() });
    Arc::new(Event { seq: Seq(seq), at: TimestampMs(0), turn_id: None, body })
}

fn delta(offset: usize, text: &str) -> Delta {
    Delta { source: DeltaSource::Text(item(1)), offset, text: text.to_owned() }
}

/// A message that is being written.
fn message<'a>(item_id: ItemId, reasoning: &'a str, text: &'a str) -> LiveText<'a> {
    LiveText { message: Some((item_id, reasoning, text)), outputs: &[] }
}

fn taken(subscriber: &Subscriber) -> Option<Taken> {
    subscriber.take().now_or_never()
}

/// What waits, in short.
fn shown(subscriber: &Subscriber) -> Vec<String> {
    match taken(subscriber) {
        None => Vec::new(),
        Some(Taken::Lagged) => vec!["lagged".to_owned()],
        Some(Taken::Restarted(head)) => vec![format!("restarted at {head}")],
        Some(Taken::End(end)) => vec![format!("{end:?}")],
        Some(Taken::Items(items)) => items
            .into_iter()
            .map(|item| match item {
                Outgoing::Event(event) => format!("event {}", event.seq),
                Outgoing::Delta(delta) => format!("{}:{}", delta.offset, delta.text),
                Outgoing::Presence(who) => {
                    let names: Vec<_> = who.into_iter().map(|who| who.author.name).collect();
                    format!("here: {}", names.join(" "))
                }
            })
            .collect(),
    }
}

#[test]
fn text_of_one_item_merges_while_it_waits() {
    let queue = subscriber();
    queue.push_delta(&delta(0, "one "));
    queue.push_delta(&delta(4, "two "));
    let reasoning = Delta { source: DeltaSource::Reasoning(item(1)), ..delta(0, "hm") };
    queue.push_delta(&reasoning);
    queue.push_delta(&delta(8, "three"));
    queue.push_event(&event(7));
    assert_eq!(shown(&queue), ["0:one two ", "0:hm", "8:three", "event 7"]);
    queue.push_delta(&delta(13, "!"));
    assert_eq!(shown(&queue), ["13:!"]);
    assert_eq!(shown(&queue), Vec::<String>::new());
}

#[test]
fn only_the_newest_presence_waits_and_a_lag_does_not_lose_it() {
    let queue = subscriber();
    let who = |name: &str| Participant { author: author(name), attached_at: TimestampMs(0) };
    queue.push_presence(&[who("ann")]);
    queue.push_event(&event(1));
    queue.push_presence(&[who("ann"), who("bob")]);
    assert_eq!(shown(&queue), ["event 1", "here: ann bob"]);

    queue.push_delta(&delta(0, &"x".repeat(MAX_DELTA_BYTES + 1)));
    queue.push_presence(&[who("ann")]);
    assert_eq!(shown(&queue), ["lagged"]);
    queue.restart(Seq(1), LiveText::default());
    assert_eq!(shown(&queue), ["restarted at 1"]);
    assert_eq!(shown(&queue), ["here: ann"]);
}

#[test]
fn a_queue_that_grows_past_a_bound_lags() {
    let check = |fill: &dyn Fn(&Subscriber, usize), most: usize| {
        let queue = subscriber();
        (0..most).for_each(|at| fill(&queue, at));
        assert!(matches!(taken(&queue), Some(Taken::Items(_))), "full at {most}");
        let queue = subscriber();
        (0..=most).for_each(|at| fill(&queue, at));
        assert!(matches!(taken(&queue), Some(Taken::Lagged)), "not full past {most}");
        assert!(queue.lock().items.is_empty());
        // What comes now is in the log, or in the restart.
        fill(&queue, most + 1);
        assert!(matches!(taken(&queue), Some(Taken::Lagged)));
    };
    check(&|queue, at| queue.push_event(&event(at as u64)), MAX_EVENTS);
    check(
        &|queue, at| queue.push_delta(&delta(at * 1024, &"x".repeat(1024))),
        MAX_DELTA_BYTES / 1024,
    );
    // Text that goes to and fro does not merge.
    check(&|queue, at| queue.push_delta(&delta(at * 2, "x")), MAX_ITEMS);
}

#[test]
fn a_restart_gives_only_what_is_missing_and_once() {
    let queue = subscriber();
    queue.push_delta(&delta(0, "one "));
    assert_eq!(shown(&queue), ["0:one "]);
    (1..=MAX_EVENTS as u64 + 1).for_each(|seq| queue.push_event(&event(seq)));
    assert_eq!(shown(&queue), ["lagged"]);
    let live = message(item(1), "", "one two");
    queue.restart(Seq(1025), live);
    queue.restart(Seq(1025), live);
    queue.push_delta(&delta(7, " three"));
    queue.push_event(&event(1026));
    assert_eq!(shown(&queue), ["restarted at 1025"]);
    assert_eq!(shown(&queue), ["4:two three", "event 1026"]);
}

#[test]
fn a_restart_of_another_item_gives_all_of_it() {
    let queue = subscriber();
    queue.push_delta(&delta(0, "one "));
    assert_eq!(shown(&queue), ["0:one "]);
    queue.push_delta(&delta(4, &"x".repeat(MAX_DELTA_BYTES + 1)));
    queue.restart(Seq(3), message(item(2), "why", "new"));
    assert_eq!(shown(&queue), ["restarted at 3"]);
    assert_eq!(shown(&queue), ["0:why", "0:new"]);
}

#[test]
fn a_text_longer_than_the_queue_does_not_lag_for_ever() {
    let queue = subscriber();
    let text = "x".repeat(2 * MAX_DELTA_BYTES);
    queue.push_delta(&delta(0, &text));
    assert_eq!(shown(&queue), ["lagged"]);
    queue.restart(Seq(1), message(item(1), "", &text));
    queue.push_delta(&delta(text.len(), "more"));
    assert_eq!(shown(&queue), ["restarted at 1"]);
    let mut read = 0;
    while let Some(Taken::Items(items)) = taken(&queue) {
        for item in items {
            let Outgoing::Delta(delta) = item else { panic!("{item:?}") };
            assert_eq!(delta.offset, read);
            assert!(delta.text.len() <= MAX_BATCH_BYTES);
            read += delta.text.len();
        }
    }
    assert_eq!(read, text.len() + 4);
}

#[test]
fn the_end_comes_after_what_waits_and_the_first_reason_counts() {
    let queue = subscriber();
    queue.push_event(&event(1));
    queue.end(StreamEnd::Deleted);
    queue.end(StreamEnd::Failed);
    assert_eq!(shown(&queue), ["event 1"]);
    assert_eq!(shown(&queue), ["Deleted"]);
    assert_eq!(shown(&queue), ["Deleted"]);
}

#[test]
fn the_end_outweighs_a_lag() {
    let queue = subscriber();
    queue.push_delta(&delta(0, &"x".repeat(MAX_DELTA_BYTES + 1)));
    queue.end(StreamEnd::Stopping);
    assert_eq!(shown(&queue), ["Stopping"]);
}

#[test]
fn a_terminal_that_has_gone_costs_nothing() {
    let queue = Arc::new(subscriber());
    queue.push_event(&event(1));
    drop(Seat(Arc::clone(&queue)));
    assert!(queue.is_gone());
    queue.push_event(&event(2));
    queue.push_delta(&delta(0, "x"));
    queue.push_presence(&[]);
    queue.restart(Seq(2), message(item(1), "", "x"));
    let queue = queue.lock();
    assert_eq!((queue.items.len(), queue.presence.is_some()), (0, false));
}

#[test]
fn text_is_cut_between_characters() {
    let check = |text: &str, max: usize, first: &str| {
        let (head, rest) = split(delta(10, text), max);
        let rest = rest.map_or((10 + text.len(), String::new()), |rest| (rest.offset, rest.text));
        assert_eq!(head, delta(10, first), "{text} at {max}");
        assert_eq!(rest, (10 + first.len(), text[first.len()..].to_owned()), "{text} at {max}");
    };
    check("日本語", 9, "日本語");
    check("日本語", 8, "日本");
    check("日本語", 3, "日");
    check("日本語", 2, "日");
    check("a😀b", 4, "a");
    check("😀", 1, "😀");
    check("", 1, "");
}

/// One thing that happens between an actor and a terminal.
#[derive(Debug, Clone)]
enum Op {
    /// More reasoning or more of the answer.
    Text(bool, String),
    /// One of the running calls shows something.
    Output(usize, String),
    /// Ends the item that is being written.
    Close,
    /// A call has its result.
    CloseCall(usize),
    Events(usize),
    Take,
}

fn any_op() -> impl Strategy<Value = Op> {
    let piece = || {
        let times = prop_oneof![4 => 1_usize..20, 1 => 20_000_usize..60_000];
        ("[a-z世😀é]{1,8}", times).prop_map(|(text, times)| text.repeat(times))
    };
    prop_oneof![
        6 => (any::<bool>(), piece()).prop_map(|(reasons, text)| Op::Text(reasons, text)),
        4 => (0_usize..3, piece()).prop_map(|(call, text)| Op::Output(call, text)),
        1 => Just(Op::Close),
        1 => (0_usize..3).prop_map(Op::CloseCall),
        2 => prop_oneof![3 => 1_usize..4, 1 => 500_usize..1200].prop_map(Op::Events),
        4 => Just(Op::Take),
    ]
}

/// The actor's side and the terminal's side of one queue.
struct Pair {
    queue: Subscriber,
    log: Vec<Arc<Event>>,
    live: Option<(ItemId, String, String)>,
    items: u64,
    outputs: LiveOutputs,
    /// How often each call has ended: it is another call afterwards.
    ended: [usize; 3],
    /// Next event that the terminal wants.
    next: u64,
    seen: Option<(ItemId, String, String)>,
    seen_outputs: Vec<(CallId, String)>,
}

fn call_of(call: usize, ended: [usize; 3]) -> CallId {
    format!("call_{call}_{}", ended[call]).parse().unwrap()
}

impl Pair {
    fn new() -> Self {
        Self {
            queue: subscriber(),
            log: Vec::new(),
            live: None,
            items: 0,
            outputs: LiveOutputs::default(),
            ended: [0; 3],
            next: 1,
            seen: None,
            seen_outputs: Vec::new(),
        }
    }

    fn append(&mut self, body: impl Into<EventBody>) {
        let seq = Seq(self.log.len() as u64 + 1);
        let event = Event { seq, body: body.into(), ..Event::clone(&event(seq.0)) };
        let event = Arc::new(event);
        self.log.push(Arc::clone(&event));
        self.queue.push_event(&event);
    }

    fn live(&self) -> LiveText<'_> {
        let message = self.live.as_ref();
        LiveText {
            message: message.map(|(id, reasoning, text)| (*id, reasoning.as_str(), text.as_str())),
            outputs: self.outputs.all(),
        }
    }

    fn perform(&mut self, op: &Op) {
        let nothing = || MessagesDelivered { item_ids: Vec::new() };
        match op {
            Op::Text(reasons, text) => {
                if self.live.is_none() {
                    self.items += 1;
                }
                let id = item(self.items);
                let (_, reasoning, answer) =
                    self.live.get_or_insert_with(|| (id, String::new(), String::new()));
                let (whole, source) = if *reasons {
                    (reasoning, DeltaSource::Reasoning(id))
                } else {
                    (answer, DeltaSource::Text(id))
                };
                let (offset, text) = (whole.len(), text.clone());
                whole.push_str(&text);
                self.queue.push_delta(&Delta { source, offset, text });
            }
            Op::Output(call, text) => {
                let delta = self.outputs.extend(call_of(*call, self.ended), text.clone());
                self.queue.push_delta(&delta);
            }
            Op::Close => {
                self.live = None;
                self.append(nothing());
            }
            Op::CloseCall(call) => {
                let call_id = call_of(*call, self.ended);
                self.outputs.close(&call_id);
                self.ended[*call] += 1;
                self.append(finished(call_id.as_str(), ""));
            }
            Op::Events(count) => (0..*count).for_each(|_| self.append(nothing())),
            Op::Take => {
                self.read_on();
            }
        }
    }

    /// Takes once; false when nothing waits.
    fn read_on(&mut self) -> bool {
        match taken(&self.queue) {
            None => return false,
            Some(Taken::Lagged) => {
                self.queue.restart(Seq(self.log.len() as u64), self.live());
            }
            Some(Taken::Restarted(head)) => {
                // The terminal reads the log.
                let log = self.log.clone();
                log.iter()
                    .take(usize::try_from(head.0).unwrap())
                    .for_each(|event| self.note(event));
                self.next = self.next.max(head.0 + 1);
            }
            Some(Taken::Items(items)) => items.into_iter().for_each(|item| self.show(item)),
            Some(Taken::End(end)) => panic!("{end:?}"),
        }
        true
    }

    /// The output of a call that has its result is over.
    fn note(&mut self, event: &Event) {
        if let EventBody::ToolCallFinished(finished) = &event.body {
            self.seen_outputs.retain(|(call_id, _)| *call_id != finished.call_id);
        }
    }

    fn show(&mut self, item: Outgoing) {
        match item {
            Outgoing::Event(event) => {
                assert_eq!(event.seq.0, self.next, "a gap or a repetition");
                self.next += 1;
                self.note(&event);
            }
            Outgoing::Delta(delta) => {
                let whole = match &delta.source {
                    DeltaSource::Reasoning(item_id) => &mut self.seen_of(*item_id).1,
                    DeltaSource::Text(item_id) => &mut self.seen_of(*item_id).2,
                    DeltaSource::Output(call_id) => {
                        let seen = self.seen_outputs.iter().position(|(seen, _)| seen == call_id);
                        let at = seen.unwrap_or(self.seen_outputs.len());
                        if seen.is_none() {
                            self.seen_outputs.push((call_id.clone(), String::new()));
                        }
                        &mut self.seen_outputs[at].1
                    }
                };
                assert_eq!(whole.len(), delta.offset, "a gap or a repetition in the text");
                whole.push_str(&delta.text);
            }
            Outgoing::Presence(_) => panic!("nobody came or went"),
        }
    }

    fn seen_of(&mut self, item_id: ItemId) -> &mut (ItemId, String, String) {
        if self.seen.as_ref().is_none_or(|seen| seen.0 != item_id) {
            self.seen = Some((item_id, String::new(), String::new()));
        }
        self.seen.as_mut().unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_waits_merges_or_lags_the_terminal_ends_with_the_exact_text(
        before in prop::collection::vec(any_op(), 0..10),
        ops in prop::collection::vec(any_op(), 0..40),
    ) {
        let mut pair = Pair::new();
        for op in before.iter().filter(|op| !matches!(op, Op::Take)) {
            pair.perform(op);
        }
        // It attaches in mid-stream.
        pair.queue = subscriber();
        pair.queue.begin(pair.live());
        pair.next = pair.log.len() as u64 + 1;
        for op in &ops {
            pair.perform(op);
        }
        while pair.read_on() {}
        prop_assert_eq!(pair.next, pair.log.len() as u64 + 1);
        if let Some(live) = &pair.live {
            prop_assert_eq!(pair.seen.as_ref(), Some(live));
        }
        let sorted = |outputs: &[(CallId, String)]| {
            let mut outputs = outputs.to_vec();
            outputs.sort();
            outputs
        };
        prop_assert_eq!(sorted(&pair.seen_outputs), sorted(pair.outputs.all()));
        let queue = pair.queue.lock();
        prop_assert_eq!((queue.events, queue.delta_bytes), (0, 0));
    }
}
