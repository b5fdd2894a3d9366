use agentd_domain::{EventBody, MessagesDelivered};
use futures_util::FutureExt as _;
use proptest::prelude::*;

use super::*;
use crate::session::test_log::{author, item};

fn subscriber() -> Subscriber {
    Subscriber::new(Participant { author: author("ann"), attached_at: TimestampMs(0) })
}

fn event(seq: u64) -> Arc<Event> {
    let body = EventBody::from(MessagesDelivered { item_ids: Vec::new() });
    Arc::new(Event { seq: Seq(seq), at: TimestampMs(0), turn_id: None, body })
}

fn delta(offset: usize, text: &str) -> Delta {
    Delta { item_id: item(1), channel: DeltaChannel::Text, offset, text: text.to_owned() }
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
    let reasoning = Delta { channel: DeltaChannel::Reasoning, ..delta(0, "hm") };
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
    queue.restart(Seq(1), None);
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
    let live = Some((item(1), "", "one two"));
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
    queue.restart(Seq(3), Some((item(2), "why", "new")));
    assert_eq!(shown(&queue), ["restarted at 3"]);
    assert_eq!(shown(&queue), ["0:why", "0:new"]);
}

#[test]
fn a_text_longer_than_the_queue_does_not_lag_for_ever() {
    let queue = subscriber();
    let text = "x".repeat(2 * MAX_DELTA_BYTES);
    queue.push_delta(&delta(0, &text));
    assert_eq!(shown(&queue), ["lagged"]);
    queue.restart(Seq(1), Some((item(1), "", &text)));
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
    queue.restart(Seq(2), Some((item(1), "", "x")));
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
    Text(DeltaChannel, String),
    /// Ends the item that is being written.
    Close,
    Events(usize),
    Take,
}

fn any_op() -> impl Strategy<Value = Op> {
    let channel = prop::sample::select(vec![DeltaChannel::Text, DeltaChannel::Reasoning]);
    let piece = ("[a-z世😀é]{1,8}", prop_oneof![4 => 1_usize..20, 1 => 20_000_usize..60_000]);
    prop_oneof![
        6 => (channel, piece.prop_map(|(text, times)| text.repeat(times)))
            .prop_map(|(channel, text)| Op::Text(channel, text)),
        1 => Just(Op::Close),
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
    /// Next event that the terminal wants.
    next: u64,
    seen: Option<(ItemId, String, String)>,
}

impl Pair {
    fn append(&mut self) {
        let event = event(self.log.len() as u64 + 1);
        self.log.push(Arc::clone(&event));
        self.queue.push_event(&event);
    }

    fn live(&self) -> Option<LiveText<'_>> {
        self.live.as_ref().map(|(id, reasoning, text)| (*id, reasoning.as_str(), text.as_str()))
    }

    fn perform(&mut self, op: &Op) {
        match op {
            Op::Text(channel, text) => {
                if self.live.is_none() {
                    self.items += 1;
                }
                let id = item(self.items);
                let (_, reasoning, answer) =
                    self.live.get_or_insert_with(|| (id, String::new(), String::new()));
                let whole = match channel {
                    DeltaChannel::Reasoning => reasoning,
                    DeltaChannel::Text => answer,
                };
                let (item_id, offset, text) = (id, whole.len(), text.clone());
                whole.push_str(&text);
                self.queue.push_delta(&Delta { item_id, channel: *channel, offset, text });
            }
            Op::Close => {
                self.live = None;
                self.append();
            }
            Op::Events(count) => (0..*count).for_each(|_| self.append()),
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
                self.next = self.next.max(head.0 + 1);
            }
            Some(Taken::Items(items)) => items.into_iter().for_each(|item| self.show(item)),
            Some(Taken::End(end)) => panic!("{end:?}"),
        }
        true
    }

    fn show(&mut self, item: Outgoing) {
        match item {
            Outgoing::Event(event) => {
                assert_eq!(event.seq.0, self.next, "a gap or a repetition");
                self.next += 1;
            }
            Outgoing::Delta(delta) => {
                if self.seen.as_ref().is_none_or(|seen| seen.0 != delta.item_id) {
                    self.seen = Some((delta.item_id, String::new(), String::new()));
                }
                let (_, reasoning, answer) = self.seen.as_mut().unwrap();
                let whole = match delta.channel {
                    DeltaChannel::Reasoning => reasoning,
                    DeltaChannel::Text => answer,
                };
                assert_eq!(whole.len(), delta.offset, "a gap or a repetition in the text");
                whole.push_str(&delta.text);
            }
            Outgoing::Presence(_) => panic!("nobody came or went"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_waits_merges_or_lags_the_terminal_ends_with_the_exact_text(
        before in prop::collection::vec(any_op(), 0..10),
        ops in prop::collection::vec(any_op(), 0..40),
    ) {
        let queue = subscriber();
        let mut pair =
            Pair { queue, log: Vec::new(), live: None, items: 0, next: 1, seen: None };
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
        let queue = pair.queue.lock();
        prop_assert_eq!((queue.events, queue.delta_bytes), (0, 0));
    }
}
