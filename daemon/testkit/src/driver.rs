//! A client as tests want it: it acts, and waits for events, never for a time.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper that fails fails the test")]

use std::fmt::Write as _;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::{
    AttachEvent, AttachPosition, AttachStream, AttachTarget, Attachment, Client, Endpoint,
    Identity, Recovery, Transcript, client_ids,
};
use tonic::Status;
use v1::event::Body;

use crate::Home;

/// Longest wait for an event that must come.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Events of a dump, from the end.
const DUMPED: usize = 60;

/// A terminal that is attached to one session.
///
/// What arrives is kept in order. [`Self::wait_for`] looks at each event once: it goes on behind the
/// event that it found before.
#[derive(Debug)]
pub struct Driver {
    client: Client,
    session_id: String,
    author: v1::Author,
    stream: AttachStream,
    seen: Vec<AttachEvent>,
    looked: usize,
    transcript: Transcript,
    caught_up: bool,
    patience: Duration,
}

impl Driver {
    /// Creates a session in the home's workspace and attaches to it from its beginning.
    pub async fn create(home: &Home, name: &str) -> Self {
        let client = Client::connect(&home.endpoint()).await.expect("connect to the daemon");
        let request = v1::CreateSessionRequest {
            workspace: home.workspace().display().to_string(),
            ..Default::default()
        };
        let created = client.session().create_session(request).await.expect("create a session");
        let session = created.into_inner().session.expect("the session");
        Self::with(client, name, &session.session_id, AttachPosition::FromSeq(1)).await
    }

    /// Attaches to an existing session.
    pub async fn attach(
        endpoint: &Endpoint,
        name: &str,
        session_id: &str,
        position: AttachPosition,
    ) -> Self {
        let client = Client::connect(endpoint).await.expect("connect to the daemon");
        Self::with(client, name, session_id, position).await
    }

    async fn with(client: Client, name: &str, session_id: &str, position: AttachPosition) -> Self {
        let identity = Identity { client_id: name.to_owned(), name: name.to_owned() };
        let author = identity.author();
        let target = AttachTarget { session_id: session_id.to_owned(), identity, position };
        let stream = Attachment::open(client.endpoint().clone(), target, Recovery::Wait);
        let mut driver = Self {
            client,
            session_id: session_id.to_owned(),
            author,
            stream,
            seen: Vec::new(),
            looked: 0,
            transcript: Transcript::default(),
            caught_up: false,
            patience: PATIENCE,
        };
        driver.wait_until("attached and caught up", |driver| driver.caught_up).await;
        driver
    }

    /// Waits longer or shorter than [`PATIENCE`] for what must come.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The session.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Who it is.
    pub fn author(&self) -> v1::Author {
        self.author.clone()
    }

    /// The connection for commands.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a message that waits for its turn.
    pub async fn submit(&self, text: &str) -> v1::SubmitMessageResponse {
        self.submit_as(text, v1::Delivery::Queue).await
    }

    /// Sends a message.
    pub async fn submit_as(&self, text: &str, delivery: v1::Delivery) -> v1::SubmitMessageResponse {
        self.try_submit(&client_ids::new_ulid(), text, delivery).await.expect("submit a message")
    }

    /// Sends a message under an id of the test's choice.
    ///
    /// # Errors
    /// What the daemon answers.
    pub async fn try_submit(
        &self,
        client_message_id: &str,
        text: &str,
        delivery: v1::Delivery,
    ) -> Result<v1::SubmitMessageResponse, Status> {
        let request = v1::SubmitMessageRequest {
            unattended: false,
            priority: 0,
            ttl_ms: 0,
            session_id: self.session_id.clone(),
            client_message_id: client_message_id.to_owned(),
            text: text.to_owned(),
            delivery: delivery.into(),
            author: Some(self.author()),
        };
        Ok(self.client.turn().submit_message(request).await?.into_inner())
    }

    /// Interrupts the running turn. False: there was none.
    pub async fn interrupt(&self) -> bool {
        let request = v1::InterruptTurnRequest {
            session_id: self.session_id.clone(),
            turn_id: String::new(),
            author: Some(self.author()),
        };
        let response = self.client.turn().interrupt_turn(request).await;
        response.expect("interrupt the turn").into_inner().interrupted
    }

    /// Answers a question.
    ///
    /// # Errors
    /// What the daemon answers.
    pub async fn answer(&self, question_id: &str, choice: &str) -> Result<u64, Status> {
        let request = v1::AnswerQuestionRequest {
            session_id: self.session_id.clone(),
            question_id: question_id.to_owned(),
            choice: choice.to_owned(),
            author: Some(self.author()),
        };
        Ok(self.client.turn().answer_question(request).await?.into_inner().seq)
    }

    /// The session with its queue, questions and terminals.
    pub async fn session(&self) -> v1::GetSessionResponse {
        let request = v1::GetSessionRequest { session_id: self.session_id.clone() };
        self.client.session().get_session(request).await.expect("get the session").into_inner()
    }

    /// The whole log, read page by page.
    pub async fn log(&self) -> Vec<v1::Event> {
        let mut events = Vec::new();
        let mut from_seq = 1;
        while from_seq != 0 {
            let request = v1::ListEventsRequest {
                session_id: self.session_id.clone(),
                from_seq,
                page_size: 1000,
            };
            let page = self.client.event().list_events(request).await.expect("a page of the log");
            let page = page.into_inner();
            events.extend(page.events);
            from_seq = page.next_seq;
        }
        events
    }

    /// Waits for the next event for which `wanted` is true.
    pub async fn wait_for(&mut self, what: &str, wanted: impl Fn(&Body) -> bool) -> v1::Event {
        self.pick(what, |event| match event {
            AttachEvent::Event(event) if event.body.as_ref().is_some_and(&wanted) => {
                Some((**event).clone())
            }
            _ => None,
        })
        .await
    }

    /// Waits for the next step of the stream for which `pick` gives something.
    pub async fn pick<T>(&mut self, what: &str, pick: impl Fn(&AttachEvent) -> Option<T>) -> T {
        let found = tokio::time::timeout(self.patience, async {
            loop {
                while let Some(event) = self.seen.get(self.looked) {
                    self.looked += 1;
                    if let Some(found) = pick(event) {
                        return Some(found);
                    }
                }
                if !self.receive().await {
                    return None;
                }
            }
        })
        .await;
        match found {
            Ok(Some(found)) => found,
            Ok(None) => panic!("the stream ended before: {what}\n{}", self.dump()),
            Err(elapsed) => panic!("did not come: {what} ({elapsed})\n{}", self.dump()),
        }
    }

    /// Waits until `done` is true of what has arrived.
    pub async fn wait_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let waited = tokio::time::timeout(self.patience, async {
            while !done(self) {
                if !self.receive().await {
                    return false;
                }
            }
            true
        })
        .await;
        match waited {
            Ok(true) => {}
            Ok(false) => panic!("the stream ended before: {what}\n{}", self.dump()),
            Err(elapsed) => panic!("did not come: {what} ({elapsed})\n{}", self.dump()),
        }
    }

    /// Waits for the next end of a turn, whatever it is.
    pub async fn wait_turn_end(&mut self) -> Body {
        let ended = |body: &Body| {
            matches!(body, Body::TurnCompleted(_) | Body::TurnFailed(_) | Body::TurnInterrupted(_))
        };
        self.wait_for("the end of a turn", ended).await.body.expect("a body")
    }

    /// Waits for the next end of a turn, which must be an answer. Returns the turn's last text.
    pub async fn wait_answer(&mut self) -> String {
        match self.wait_turn_end().await {
            Body::TurnCompleted(completed) if completed.end() == v1::TurnEnd::Answered => {
                self.last_text()
            }
            other => panic!("the turn did not end with an answer: {other:?}\n{}", self.dump()),
        }
    }

    /// Sends a message and waits for the answer.
    pub async fn ask(&mut self, text: &str) -> String {
        self.submit(text).await;
        self.wait_answer().await
    }

    /// Waits for the next question.
    pub async fn wait_question(&mut self) -> v1::QuestionAsked {
        let asked = |event: &AttachEvent| match event {
            AttachEvent::Event(event) => match &event.body {
                Some(Body::QuestionAsked(asked)) => Some(asked.clone()),
                _ => None,
            },
            _ => None,
        };
        self.pick("a question", asked).await
    }

    /// Waits until the item that is being written has at least this text.
    pub async fn wait_live_text(&mut self, text: &str) {
        let shown =
            |driver: &Self| driver.transcript.live().iter().any(|item| item.text.contains(text));
        self.wait_until(&format!("the live text '{text}'"), shown).await;
    }

    /// Text of the newest assistant message; empty when there is none.
    pub fn last_text(&self) -> String {
        let texts = self.bodies().filter_map(|body| match body {
            Body::AssistantMessage(message) => Some(message.text.clone()),
            _ => None,
        });
        texts.last().unwrap_or_default()
    }

    /// The transcript of what has arrived.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// All that has arrived, in order.
    pub fn seen(&self) -> &[AttachEvent] {
        &self.seen
    }

    /// The events that have arrived, in order.
    pub fn events(&self) -> impl Iterator<Item = &v1::Event> {
        self.seen.iter().filter_map(|event| match event {
            AttachEvent::Event(event) => Some(&**event),
            _ => None,
        })
    }

    /// The bodies of the events that have arrived, in order.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.events().filter_map(|event| event.body.as_ref())
    }

    /// What the daemon said at the last attaching.
    pub fn attached(&self) -> v1::Attached {
        let attached = self.seen.iter().rev().find_map(|event| match event {
            AttachEvent::Attached(attached) => Some(attached.clone()),
            _ => None,
        });
        attached.expect("it is attached")
    }

    /// Takes in what is there already, without waiting.
    pub fn take_in(&mut self) {
        while let Some(event) = self.stream.try_next() {
            self.keep(event);
        }
    }

    /// Lets [`Self::wait_for`] and its kin pass over what has arrived so far, such as a replay.
    pub fn skip_seen(&mut self) {
        self.take_in();
        self.looked = self.seen.len();
    }

    /// Returns false when nothing more will come.
    async fn receive(&mut self) -> bool {
        match self.stream.next().await {
            Some(AttachEvent::Failed(error)) => {
                panic!("the daemon refused the stream: {error}\n{}", self.dump())
            }
            Some(event) => {
                self.keep(event);
                true
            }
            None => false,
        }
    }

    fn keep(&mut self, event: AttachEvent) {
        match &event {
            AttachEvent::Event(event) => drop(self.transcript.apply(event)),
            AttachEvent::Attached(attached) => drop(self.transcript.attached(attached)),
            AttachEvent::CaughtUp { .. } => self.caught_up = true,
            _ => {}
        }
        self.seen.push(event);
    }

    fn dump(&self) -> String {
        let skipped = self.seen.len().saturating_sub(DUMPED);
        let mut text = format!("seen by {} ({skipped} before are left out):\n", self.author.name);
        for event in self.seen.iter().skip(skipped) {
            let line = format!("{event:?}");
            let line: String = line.chars().take(300).collect();
            writeln!(text, "  {line}").expect("memory");
        }
        text
    }
}
