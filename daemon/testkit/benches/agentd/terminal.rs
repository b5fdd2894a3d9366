//! A terminal: commands on one connection, one stream on another, as real clients do it.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use agentd_proto::v1;
use agentd_shared::{Client, DaemonChannel};
use anyhow::{Context as _, bail, ensure};
use v1::attach_request::Position;
use v1::attach_response::Payload;
use v1::event::Body;
use v1::event_service_client::EventServiceClient;

use crate::daemon_process::DaemonProcess;

static MESSAGES: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) client: Client,
    events: DaemonChannel,
    author: v1::Author,
}

impl Terminal {
    pub(crate) async fn connect(daemon: &DaemonProcess, name: &str) -> anyhow::Result<Self> {
        let client = daemon.connect().await?;
        let events = client.open_stream_channel().await?;
        let author = v1::Author { client_id: name.to_owned(), name: name.to_owned() };
        Ok(Self { client, events, author })
    }

    pub(crate) async fn create_session(&self) -> anyhow::Result<String> {
        self.created(v1::CreateSessionRequest::default()).await
    }

    pub(crate) async fn create_session_in(&self, workspace: &Path) -> anyhow::Result<String> {
        let workspace = workspace.to_str().context("a path of UTF-8")?.to_owned();
        self.created(v1::CreateSessionRequest { workspace, ..Default::default() }).await
    }

    async fn created(&self, request: v1::CreateSessionRequest) -> anyhow::Result<String> {
        let created = self.client.session().create_session(request).await?.into_inner();
        Ok(created.session.context("a session")?.session_id)
    }

    pub(crate) async fn submit(&self, session_id: &str, text: &str) -> anyhow::Result<()> {
        let number = MESSAGES.fetch_add(1, Ordering::Relaxed);
        let request = v1::SubmitMessageRequest {
            unattended: false,
            priority: 0,
            ttl_ms: 0,
            session_id: session_id.to_owned(),
            client_message_id: format!("{}-{number}", self.author.client_id),
            text: text.to_owned(),
            delivery: v1::Delivery::Queue.into(),
            author: Some(self.author.clone()),
        };
        self.client.turn().submit_message(request).await?;
        Ok(())
    }

    /// Attaches and reads up to the present.
    pub(crate) async fn attach(&self, session_id: &str) -> anyhow::Result<Follower> {
        let mut follower = self.attach_at(session_id, Position::OnlyNew(true)).await?;
        while follower.message().await?.is_some() {}
        Ok(follower)
    }

    pub(crate) async fn attach_at(
        &self,
        session_id: &str,
        position: Position,
    ) -> anyhow::Result<Follower> {
        let request = v1::AttachRequest {
            session_id: session_id.to_owned(),
            author: Some(self.author.clone()),
            position: Some(position),
        };
        let stream = EventServiceClient::new(self.events.clone()).attach(request).await?;
        Ok(Follower { stream: stream.into_inner(), waiting: VecDeque::new() })
    }

    /// Sends a message and waits for the end of its turn.
    pub(crate) async fn turn(
        &self,
        session_id: &str,
        follower: &mut Follower,
        text: &str,
    ) -> anyhow::Result<()> {
        self.submit(session_id, text).await?;
        follower.turn_end().await
    }
}

/// The stream of a session.
#[derive(Debug)]
pub(crate) struct Follower {
    stream: tonic::Streaming<v1::AttachResponse>,
    waiting: VecDeque<v1::Event>,
}

impl Follower {
    /// The events of the next message; none when it says that the present is reached.
    pub(crate) async fn message(&mut self) -> anyhow::Result<Option<Vec<v1::Event>>> {
        loop {
            let message = self.stream.message().await?.context("the stream ended")?;
            match message.payload {
                Some(Payload::Events(batch)) => return Ok(Some(batch.events)),
                Some(Payload::CaughtUp(_)) => return Ok(None),
                Some(Payload::Attached(_)) => {}
                Some(Payload::Lagged(_)) => bail!("this terminal reads too slowly"),
                None => bail!("a message of an unknown kind"),
            }
        }
    }

    pub(crate) async fn event(&mut self) -> anyhow::Result<Body> {
        loop {
            if let Some(body) = self.waiting.pop_front().and_then(|event| event.body) {
                return Ok(body);
            }
            if let Some(events) = self.message().await? {
                self.waiting.extend(events);
            }
        }
    }

    /// Reads up to the end of the running turn.
    pub(crate) async fn turn_end(&mut self) -> anyhow::Result<()> {
        loop {
            match self.event().await? {
                Body::TurnCompleted(_) => return Ok(()),
                Body::TurnFailed(failed) => bail!("the turn failed: {:?}", failed.error),
                Body::TurnInterrupted(_) => bail!("the turn was interrupted"),
                _ => {}
            }
        }
    }

    /// Reads more of the answer that is being written; none when it is whole, and then it must be
    /// what came in pieces.
    pub(crate) async fn text(&mut self, so_far: &mut String) -> anyhow::Result<Option<()>> {
        loop {
            match self.event().await? {
                Body::ItemDelta(delta) => {
                    let offset = usize::try_from(delta.offset)?;
                    let new = so_far.len().checked_sub(offset).and_then(|at| delta.text.get(at..));
                    so_far.push_str(new.context("a gap in the answer")?);
                    return Ok(Some(()));
                }
                Body::AssistantMessage(message) => {
                    ensure!(message.text == *so_far, "the pieces are not the answer");
                    return Ok(None);
                }
                Body::TurnFailed(failed) => bail!("the turn failed: {:?}", failed.error),
                _ => {}
            }
        }
    }
}
