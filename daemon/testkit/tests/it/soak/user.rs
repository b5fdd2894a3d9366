//! A user who works without a pause: sends, steers, interrupts, takes back, leaves and comes back.

use std::collections::VecDeque;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::{
    AttachEvent, AttachPosition, AttachStream, AttachTarget, Attachment, Client, Endpoint,
    Identity, Recovery, Transcript, client_ids,
};
use fastrand::Rng;

use super::ledger::{Ledger, Tally};
use crate::support::check_log;

/// Steps after which a session is left for a new one, so that its length does not matter.
const STEPS: usize = 12;
/// Every this-many-th session that is left stays in the store; the others are removed.
const KEPT: u64 = 4;
/// Sessions of a user that stay at a time. None stays to the end of a round: the store's pages of those
/// that happen to be there would be what differs from rest to rest.
const MOST_KEPT: usize = 3;
/// Events that pass before a user acts on a running turn, at most.
const EVENTS_BEFORE: usize = 8;
/// Soon enough that a message behind a running turn expires.
const SHORT_TTL_MS: u64 = 1;
/// Events of a dump, from the end.
const DUMPED: usize = 30;

/// What the users of a run have in common.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) endpoint: Endpoint,
    pub(crate) workspace: String,
    /// Names of models to choose from, each on an endpoint of its own.
    pub(crate) models: Vec<String>,
    /// How many work.
    pub(crate) users: u64,
    /// Longest wait for an end that must come.
    pub(crate) patience: Duration,
}

/// One user, in one session after the other.
#[derive(Debug)]
pub(crate) struct User {
    number: u64,
    setting: Setting,
    client: Client,
    identity: Identity,
    rng: Rng,
    tally: Tally,
    /// The sessions that stay, the oldest first.
    kept: VecDeque<String>,
}

impl User {
    pub(crate) async fn connect(setting: Setting, number: u64, seed: u64) -> Self {
        let name = format!("user{number}");
        let client = Client::connect(&setting.endpoint).await.expect("connect to the daemon");
        let identity = Identity { client_id: name.clone(), name };
        let rng = Rng::with_seed(seed.wrapping_add(number));
        let (tally, kept) = (Tally::default(), VecDeque::new());
        Self { number, setting, client, identity, rng, tally, kept }
    }

    /// Works until `is_over`, ends what was begun, and leaves nothing open and nothing stored.
    pub(crate) async fn work(mut self, is_over: impl Fn() -> bool) -> Self {
        while !is_over() {
            let mut session = self.create().await;
            for _ in 0..STEPS {
                if is_over() {
                    break;
                }
                session.step(&mut self.rng).await;
            }
            let (id, tally) = session.leave().await;
            self.tally.add(tally);
            self.tally.sessions += 1;
            if self.tally.sessions.is_multiple_of(KEPT) {
                self.kept.push_back(id);
                if self.kept.len() > MOST_KEPT
                    && let Some(oldest) = self.kept.pop_front()
                {
                    self.delete(oldest).await;
                }
            } else {
                self.delete(id).await;
            }
        }
        while let Some(kept) = self.kept.pop_front() {
            self.delete(kept).await;
        }
        self
    }

    /// What became of the messages so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The same, when nobody works any more.
    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }

    async fn delete(&mut self, session_id: String) {
        let request = v1::DeleteSessionRequest { session_id };
        self.client.session().delete_session(request).await.expect("delete the session");
    }

    async fn create(&mut self) -> Session {
        // In turn, so that each is used however short the run.
        let mut models = self.setting.models.iter().cycle();
        let nth = usize::try_from(self.number + self.tally.sessions).expect("few");
        let request = v1::CreateSessionRequest {
            workspace: self.setting.workspace.clone(),
            model: models.nth(nth).cloned().unwrap_or_default(),
            ..Default::default()
        };
        let created = self.client.session().create_session(request).await;
        let created = created.expect("create a session").into_inner().session.expect("a session");
        let mut session = Session {
            id: created.session_id,
            setting: self.setting.clone(),
            client: self.client.clone(),
            identity: self.identity.clone(),
            stream: None,
            transcript: Transcript::default(),
            ledger: Ledger::default(),
            newest: Vec::new(),
        };
        session.attach();
        session
    }
}

/// A session and the terminal at it.
#[derive(Debug)]
struct Session {
    id: String,
    setting: Setting,
    client: Client,
    identity: Identity,
    /// None while the user is away.
    stream: Option<AttachStream>,
    transcript: Transcript,
    ledger: Ledger,
    /// The newest events, for a dump.
    newest: Vec<v1::Event>,
}

impl Session {
    /// Does one thing and waits until every message of it has reached its end.
    async fn step(&mut self, rng: &mut Rng) {
        let events = rng.usize(..EVENTS_BEFORE);
        let first = self.submit("what is 6 times 7?", v1::Delivery::Queue, 0).await;
        let mut sent = vec![first.clone()];
        match rng.u32(..100) {
            0..35 => {}
            35..45 => sent.push(self.submit("and after that?", v1::Delivery::Queue, 0).await),
            45..57 => {
                self.watch(&first, events).await;
                sent.push(self.submit("in metres", v1::Delivery::Steer, 0).await);
            }
            57..65 => {
                self.watch(&first, events).await;
                sent.push(self.submit("no, this", v1::Delivery::Interrupt, 0).await);
            }
            65..73 => {
                self.watch(&first, events).await;
                self.interrupt().await;
            }
            73..80 => {
                let second = self.submit("or rather not", v1::Delivery::Queue, 0).await;
                self.withdraw(&second).await;
                sent.push(second);
            }
            80..86 => {
                let late = self.submit("if soon", v1::Delivery::Queue, SHORT_TTL_MS).await;
                sent.push(late);
            }
            86..94 => {
                self.watch(&first, events).await;
                self.stream = None;
                self.ledger.tally.resumed += 1;
                // Half of the time things go on meanwhile.
                if rng.bool() {
                    sent.push(self.submit("still there?", v1::Delivery::Queue, 0).await);
                }
                self.attach();
            }
            _ => {
                let model = rng.choice(&self.setting.models).cloned();
                self.switch_model(model.unwrap_or_default()).await;
                sent.push(self.submit("and you?", v1::Delivery::Queue, 0).await);
            }
        }
        for item_id in sent {
            self.wait_until("the message's end", |session| session.ledger.is_over(&item_id)).await;
        }
    }

    /// Attaches behind what was seen.
    fn attach(&mut self) {
        let target = AttachTarget {
            session_id: self.id.clone(),
            identity: self.identity.clone(),
            position: AttachPosition::FromSeq(self.ledger.last_seq() + 1),
        };
        let endpoint = self.setting.endpoint.clone();
        self.stream = Some(Attachment::open(endpoint, target, Recovery::Wait));
    }

    /// Checks that the session is at rest and that what was seen is what is stored, then detaches.
    async fn leave(mut self) -> (String, Tally) {
        self.wait_until("rest", |session| session.ledger.is_at_rest()).await;
        let request = v1::GetSessionRequest { session_id: self.id.clone() };
        let stands = self.client.session().get_session(request).await.expect("get the session");
        let stands = stands.into_inner();
        let status = stands.session.as_ref().expect("the session").status();
        assert_eq!(status, v1::SessionStatus::Idle, "{}", self.dump());
        assert_eq!((stands.queue.len(), stands.open_questions.len()), (0, 0), "{}", self.dump());
        // A title may come at any time.
        let log = loop {
            let log = self.log().await;
            let newest = log.last().expect("events").seq;
            self.wait_until("all that is stored", |session| session.ledger.last_seq() >= newest)
                .await;
            if self.ledger.last_seq() == newest {
                break log;
            }
        };
        check_log(&log, &self.id);
        let mut stored = Transcript::default();
        for event in &log {
            stored.apply(event);
        }
        assert_eq!(self.transcript.items(), stored.items(), "{}", self.dump());
        assert_eq!(self.transcript.live(), [], "{}", self.dump());
        assert_eq!(self.transcript.usage(), stored.usage(), "{}", self.dump());
        (self.id, self.ledger.tally)
    }

    async fn submit(&self, text: &str, delivery: v1::Delivery, ttl_ms: u64) -> String {
        let priority = if ttl_ms > 0 { v1::Priority::Low } else { v1::Priority::Normal };
        let request = v1::SubmitMessageRequest {
            unattended: false,
            session_id: self.id.clone(),
            client_message_id: client_ids::new_ulid(),
            text: text.to_owned(),
            delivery: delivery.into(),
            author: Some(self.identity.author()),
            priority: priority.into(),
            ttl_ms,
        };
        let accepted = self.client.turn().submit_message(request).await;
        accepted.expect("submit a message").into_inner().item_id
    }

    async fn interrupt(&self) {
        let request = v1::InterruptTurnRequest {
            session_id: self.id.clone(),
            turn_id: String::new(),
            author: Some(self.identity.author()),
        };
        self.client.turn().interrupt_turn(request).await.expect("interrupt the turn");
    }

    /// Takes a message back, unless a turn has it already.
    async fn withdraw(&self, item_id: &str) {
        let request = v1::WithdrawMessageRequest {
            session_id: self.id.clone(),
            item_id: item_id.to_owned(),
            author: Some(self.identity.author()),
        };
        let _too_late = self.client.turn().withdraw_message(request).await;
    }

    async fn switch_model(&self, model: String) {
        let request = v1::UpdateSessionRequest {
            session_id: self.id.clone(),
            model: Some(model),
            author: Some(self.identity.author()),
            ..Default::default()
        };
        self.client.session().update_session(request).await.expect("change the model");
    }

    async fn log(&self) -> Vec<v1::Event> {
        let mut events = Vec::new();
        let mut from_seq = 1;
        while from_seq != 0 {
            let request =
                v1::ListEventsRequest { session_id: self.id.clone(), from_seq, page_size: 1000 };
            let page = self.client.event().list_events(request).await.expect("a page of the log");
            let page = page.into_inner();
            events.extend(page.events);
            from_seq = page.next_seq;
        }
        events
    }

    /// Lets some events pass, fewer when the message reaches its end before.
    async fn watch(&mut self, item_id: &str, events: usize) {
        let until = self.ledger.tally.events + u64::try_from(events).expect("few");
        self.wait_until("some events or the end", |session| {
            session.ledger.tally.events >= until || session.ledger.is_over(item_id)
        })
        .await;
    }

    async fn wait_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let patience = self.setting.patience;
        let waited = tokio::time::timeout(patience, async {
            while !done(self) {
                self.receive().await;
            }
        })
        .await;
        assert!(waited.is_ok(), "{} did not come in {patience:?}: {}", what, self.dump());
    }

    async fn receive(&mut self) {
        let stream = self.stream.as_mut().expect("it is attached");
        match stream.next().await {
            Some(AttachEvent::Event(event)) => {
                self.transcript.apply(&event);
                self.ledger.take(&event);
                if event.seq != 0 {
                    if self.newest.len() >= DUMPED {
                        self.newest.remove(0);
                    }
                    self.newest.push(*event);
                }
            }
            Some(AttachEvent::Attached(attached)) => drop(self.transcript.attached(&attached)),
            Some(AttachEvent::Lagged { .. }) => self.ledger.tally.lagged += 1,
            Some(AttachEvent::Lost { .. }) => self.ledger.tally.lost += 1,
            Some(AttachEvent::CaughtUp { .. } | AttachEvent::Restored) => {}
            Some(AttachEvent::Failed(error)) => panic!("refused: {error}: {}", self.dump()),
            None => panic!("the stream ended: {}", self.dump()),
        }
    }

    fn dump(&self) -> String {
        let newest: Vec<String> = self.newest.iter().map(|event| format!("{event:?}")).collect();
        format!("session {}, its newest events:\n  {}", self.id, newest.join("\n  "))
    }
}
