//! A client of the Chrome DevTools Protocol over the pipe of `--remote-debugging-pipe`: messages of
//! JSON, each followed by NUL. A page that asks something of its user is told no at once.

use std::collections::VecDeque;

use agentd_domain::cut_line;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Longest message of the browser in bytes.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Events that wait; past it the oldest are forgotten.
const MAX_EVENTS: usize = 256;

/// How much of the browser's own words is shown, in characters.
const MAX_TOLD: usize = 200;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// The connection.
#[derive(Debug)]
pub(super) struct Cdp<W, R> {
    to: W,
    from: R,
    /// What has come of messages that were not taken yet.
    come: Vec<u8>,
    last_id: u64,
    /// The page that is talked about.
    session: Option<String>,
    events: VecDeque<Event>,
}

/// Something that the browser tells by itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    pub(super) method: String,
    pub(super) params: Value,
}

/// Why the browser gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum CdpError {
    /// It has ended.
    #[error("the browser ended")]
    Ended,
    /// The process of the page has ended.
    #[error("the page crashed, or used more memory than allowed")]
    Crashed,
    /// What it says is not of the protocol.
    #[error("the browser's answer cannot be read: {0}")]
    Unreadable(String),
    /// It refuses.
    #[error("the browser refuses {method}: {why}")]
    Refused {
        /// What.
        method: &'static str,
        /// In its words.
        why: String,
    },
    /// Of the pipe.
    #[error("the browser cannot be reached: {0}")]
    Pipe(#[from] std::io::Error),
}

impl<W: AsyncWrite + Unpin, R: AsyncRead + Unpin> Cdp<W, R> {
    pub(super) fn new(to: W, from: R) -> Self {
        let (come, events) = (Vec::new(), VecDeque::new());
        Self { to, from, come, last_id: 0, session: None, events }
    }

    /// From here on calls are about this page.
    pub(super) fn enter(&mut self, session: String) {
        self.session = Some(session);
    }

    /// Calls a method and waits for its answer. What the browser tells meanwhile is kept.
    ///
    /// # Errors
    /// When there is no answer, or it is a refusal.
    pub(super) async fn call(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, CdpError> {
        let id = self.send(method, params).await?;
        loop {
            let Some(mut answer) = self.read().await? else { continue };
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(why) = answer.pointer("/error/message").and_then(Value::as_str) {
                return Err(CdpError::Refused { method, why: cut_line(why, MAX_TOLD) });
            }
            return Ok(answer.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }

    /// What the browser tells next.
    ///
    /// # Errors
    /// When it tells no more.
    ///
    /// # Cancel safety
    /// It can be dropped and called again.
    pub(super) async fn event(&mut self) -> Result<Event, CdpError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            // An answer here is one that nobody waits for.
            let _late = self.read().await?;
        }
    }

    async fn send(&mut self, method: &str, params: Value) -> Result<u64, CdpError> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let (Some(session), Some(message)) = (&self.session, message.as_object_mut()) {
            message.insert("sessionId".to_owned(), session.clone().into());
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).await?;
        self.to.flush().await?;
        Ok(self.last_id)
    }

    /// The next message when it is an answer; none: it was an event, which is kept.
    async fn read(&mut self) -> Result<Option<Value>, CdpError> {
        let message = self.message().await?;
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            return Ok(Some(message));
        };
        match method {
            "Inspector.targetCrashed" | "Target.targetCrashed" => return Err(CdpError::Crashed),
            // Nobody is there to answer, and the page waits until somebody does.
            "Page.javascriptDialogOpening" => {
                self.send("Page.handleJavaScriptDialog", json!({ "accept": false })).await?;
                return Ok(None);
            }
            _ => {}
        }
        let params = message.get("params").cloned().unwrap_or_default();
        let event = Event { method: method.to_owned(), params };
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
        Ok(None)
    }

    async fn message(&mut self) -> Result<Value, CdpError> {
        let mut looked_at = 0;
        loop {
            let unseen = self.come.get(looked_at..).unwrap_or_default();
            if let Some(at) = memchr::memchr(0, unseen) {
                let end = looked_at + at;
                let read = serde_json::from_slice(self.come.get(..end).unwrap_or_default());
                self.come.drain(..=end);
                return read.map_err(|error| CdpError::Unreadable(error.to_string()));
            }
            looked_at = self.come.len();
            if looked_at > MAX_MESSAGE {
                return Err(CdpError::Unreadable("it is too long".to_owned()));
            }
            self.come.reserve(PIECE);
            if self.from.read_buf(&mut self.come).await? == 0 {
                return Err(CdpError::Ended);
            }
        }
    }
}
