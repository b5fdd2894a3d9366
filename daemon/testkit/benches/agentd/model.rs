//! The direct way to the model: the daemon's own HTTP client without the daemon.

use agentd_llm::{Message, OpenAiCompatible, OpenAiOptions, Provider as _, Request, StreamPart};
use agentd_testkit::LlmServer;
use anyhow::bail;
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
        let request = Request {
            model: "scripted".to_owned(),
            messages: vec![Message::User(text.to_owned())],
            ..Request::default()
        };
        Ok(DirectAnswer { stream: self.provider.stream(request).await? })
    }

    /// Asks and reads the whole answer.
    pub(crate) async fn turn(&self, text: &str) -> anyhow::Result<String> {
        let mut answer = self.ask(text).await?;
        let mut text = String::new();
        while answer.text(&mut text).await?.is_some() {}
        Ok(text)
    }
}

impl DirectAnswer {
    /// Reads more of the answer; none when it is whole.
    pub(crate) async fn text(&mut self, so_far: &mut String) -> anyhow::Result<Option<()>> {
        match self.stream.next().await {
            Some(Ok(StreamPart::Text(text))) => {
                so_far.push_str(&text);
                Ok(Some(()))
            }
            Some(Ok(StreamPart::Reasoning(_))) => Ok(Some(())),
            Some(Ok(StreamPart::Finished(_))) => Ok(None),
            Some(Err(error)) => Err(error.into()),
            None => bail!("the stream ended early"),
        }
    }
}
