//! What the tests share.

use std::time::Duration;

use agentd_domain::{ToolEffect, ToolSpec};
use agentd_llm::{
    Completion, LlmError, Message, OpenAiCompatible, OpenAiOptions, Provider, Request,
    ResponseStream, StreamPart, Timeouts,
};
use agentd_testkit::{LlmServer, Reply};
use futures_util::StreamExt as _;

/// Limits that no test reaches by accident.
pub(crate) const PATIENT: Timeouts = Timeouts {
    connect: Duration::from_secs(50),
    first_byte: Duration::from_secs(50),
    idle: Duration::from_secs(50),
};

/// A provider for the server that waits as long as a test may take.
pub(crate) fn provider(llm: &LlmServer) -> OpenAiCompatible {
    provider_with(llm, PATIENT)
}

pub(crate) fn provider_with(llm: &LlmServer, timeouts: Timeouts) -> OpenAiCompatible {
    let options = OpenAiOptions { timeouts, ..OpenAiOptions::new(&llm.base_url(), None) };
    OpenAiCompatible::new(options).expect("legal options")
}

/// A request that says only this.
pub(crate) fn ask(text: &str) -> Request {
    Request {
        model: "scripted".to_owned(),
        messages: vec![Message::user(text)],
        ..Request::default()
    }
}

/// A tool without arguments.
pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "For tests.".to_owned(),
        parameters: serde_json::json!({"type": "object", "properties": {}}),
        effect: ToolEffect::Pure,
    }
}

/// A whole answer, or how far it got.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) parts: usize,
    pub(crate) end: Option<Completion>,
    pub(crate) error: Option<LlmError>,
}

impl Answer {
    /// Code of the error; empty when there is none.
    pub(crate) fn error_code(&self) -> &'static str {
        self.error.as_ref().map_or("", LlmError::code)
    }

    /// Names and arguments of the calls.
    pub(crate) fn calls(&self) -> Vec<(&str, &str)> {
        let calls = self.end.as_ref().map_or(&[][..], |end| &end.tool_calls);
        calls.iter().map(|call| (call.name.as_str(), call.arguments_json.as_str())).collect()
    }
}

/// Reads a stream to its end and checks that nothing follows an end or an error.
pub(crate) async fn read(mut stream: ResponseStream) -> Answer {
    let mut answer = Answer::default();
    while let Some(part) = stream.next().await {
        assert!(answer.end.is_none() && answer.error.is_none(), "something after the end");
        answer.parts += 1;
        match part {
            Ok(StreamPart::Reasoning(text)) => answer.reasoning.push_str(&text),
            Ok(StreamPart::Text(text)) => answer.text.push_str(&text),
            Ok(StreamPart::Restarted(_)) => {
                answer.reasoning.clear();
                answer.text.clear();
            }
            Ok(StreamPart::Finished(end)) => answer.end = Some(end),
            Err(error) => answer.error = Some(error),
        }
    }
    assert!(answer.end.is_some() || answer.error.is_some(), "a stream without end");
    answer
}

/// Sends a request and reads the whole answer.
pub(crate) async fn complete(provider: &dyn Provider, request: Request) -> Answer {
    match provider.stream(request).await {
        Ok(stream) => read(stream).await,
        Err(error) => Answer { error: Some(error), ..Answer::default() },
    }
}

/// What a provider makes of one reply.
pub(crate) async fn answer_to(reply: Reply) -> Answer {
    let llm = LlmServer::start().await;
    llm.push(reply);
    complete(&provider(&llm), ask("hi")).await
}
