//! The direct way to the model: the daemon's own HTTP client without the daemon.

use agentd_llm::{Message, OpenAiCompatible, OpenAiOptions, Provider as _, Request, StreamPart};
use agentd_testkit::{LlmServer, RecordedRequest};
use anyhow::{Context as _, bail, ensure};
use futures_util::StreamExt as _;

#[derive(Debug)]
pub(crate) struct Direct {
    provider: OpenAiCompatible,
}

/// An answer as it arrives.
pub(crate) struct DirectAnswer {
    stream: agentd_llm::ResponseStream,
}

impl Direct {
    pub(crate) fn new(llm: &LlmServer) -> anyhow::Result<Self> {
        let provider = OpenAiCompatible::new(OpenAiOptions::new(&llm.base_url(), None))?;
        Ok(Self { provider })
    }

    pub(crate) async fn ask(&self, text: &str) -> anyhow::Result<DirectAnswer> {
        self.send(vec![Message::user(text)]).await
    }

    async fn send(&self, messages: Vec<Message>) -> anyhow::Result<DirectAnswer> {
        let request = Request { model: "scripted".to_owned(), messages, ..Request::default() };
        Ok(DirectAnswer { stream: self.provider.stream(request).await? })
    }

    /// Asks and reads the whole answer.
    pub(crate) async fn turn(&self, text: &str) -> anyhow::Result<String> {
        self.ask(text).await?.whole().await
    }

    /// Sends a conversation and reads the whole answer.
    pub(crate) async fn turn_of(&self, messages: Vec<Message>) -> anyhow::Result<String> {
        self.send(messages).await?.whole().await
    }
}

/// The conversation that the daemon sent.
pub(crate) fn messages_of(request: &RecordedRequest) -> anyhow::Result<Vec<Message>> {
    let message = |message: &serde_json::Value| {
        let part = |name: &str| message.get(name).and_then(serde_json::Value::as_str);
        let text = part("content").context("a message without text")?.to_owned();
        ensure!(message.get("tool_calls").is_none(), "no tools are called here");
        match part("role") {
            Some("system") => Ok(Message::System(text)),
            Some("user") => Ok(Message::user(text)),
            Some("assistant") => {
                let (reasoning, tool_calls) = (String::new(), Vec::new());
                Ok(Message::Assistant { native: None, reasoning, text, tool_calls })
            }
            other => bail!("a message of {other:?}"),
        }
    };
    request.messages().iter().map(message).collect()
}

impl DirectAnswer {
    async fn whole(mut self) -> anyhow::Result<String> {
        let mut text = String::new();
        while self.text(&mut text).await?.is_some() {}
        Ok(text)
    }

    /// Reads more of the answer; none when it is whole.
    pub(crate) async fn text(&mut self, so_far: &mut String) -> anyhow::Result<Option<()>> {
        match self.stream.next().await {
            Some(Ok(StreamPart::Text(text))) => {
                so_far.push_str(&text);
                Ok(Some(()))
            }
            Some(Ok(StreamPart::Reasoning(_))) => Ok(Some(())),
            Some(Ok(StreamPart::Restarted(_))) => bail!("the request broke off"),
            Some(Ok(StreamPart::Finished(_))) => Ok(None),
            Some(Err(error)) => Err(error.into()),
            None => bail!("the stream ended early"),
        }
    }
}
