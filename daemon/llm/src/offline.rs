//! An engine without a model, for machines where none is configured.
//!
//! It recognises a few plain requests, has the tools carry them out, and shows what they put out. It
//! answers the same request the same way, says of each answer that it comes from no model, and for all
//! else says how to configure one.

mod answer;
mod intent;
mod place;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};

use crate::{
    AssembledCall, Completion, Finish, LlmError, Message, Provider, Request, ResponseStream,
    StreamPart,
};

/// What the offline engine tells users.
#[derive(Debug, Clone, Default)]
pub struct OfflineOptions {
    /// The configuration file in which a model can be named.
    pub config_path: String,
}

/// The engine. It keeps nothing between requests.
#[derive(Debug, Clone, Default)]
pub struct Offline {
    options: OfflineOptions,
}

impl Offline {
    /// An engine that names this configuration file.
    pub fn new(options: OfflineOptions) -> Self {
        Self { options }
    }

    fn respond(&self, request: &Request) -> (String, Vec<AssembledCall>) {
        let is_user = |message: &Message| matches!(message, Message::User { .. });
        let last_user = request.messages.iter().rposition(is_user);
        let turn = request.messages.get(last_user.unwrap_or(0)..).unwrap_or_default();
        if turn.iter().any(|message| matches!(message, Message::Tool { .. })) {
            return (answer::from_results(turn), Vec::new());
        }
        let text = match turn.first() {
            Some(Message::User { text, .. }) => text.as_str(),
            _ => "",
        };
        let has_tool = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        match intent::recognise(text).filter(|intent| has_tool(intent.tool)) {
            Some(intent) => {
                let call = AssembledCall {
                    name: intent.tool.to_owned(),
                    arguments_json: intent.arguments.to_string(),
                    is_whole: true,
                };
                (String::new(), vec![call])
            }
            None => (answer::help(&request.tools, &self.options.config_path), Vec::new()),
        }
    }
}

#[async_trait]
impl Provider for Offline {
    fn kind(&self) -> &'static str {
        "offline"
    }

    fn base_url(&self) -> &'static str {
        ""
    }

    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        let (text, tool_calls) = self.respond(&request);
        let lines = text.split_inclusive('\n').map(|line| StreamPart::Text(line.to_owned()));
        let mut parts: Vec<_> = lines.collect();
        parts.push(StreamPart::Finished(Completion {
            native: None,
            finish: Finish::Done,
            tool_calls,
            usage: None,
        }));
        Ok(stream::iter(parts.into_iter().map(Ok)).boxed())
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        Ok(vec!["offline".to_owned()])
    }
}
