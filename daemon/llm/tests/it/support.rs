//! What the tests share.

use std::time::Duration;

use agentd_domain::{Capabilities, ToolSpec};
use agentd_llm::{
    Anthropic, AnthropicOptions, Completion, LlmError, Message, OpenAiCompatible, OpenAiOptions,
    OpenAiResponses, Provider, Request, ResponseStream, ResponsesOptions, StreamPart, Timeouts,
};
use agentd_testkit::{Api, LlmServer, Reply};
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

/// Makes a test of each of these for every API that we speak. They take the [`Api`].
macro_rules! on_every_api {
    ($($case:ident),+ $(,)?) => {
        $crate::support::on_every_api! { chat Chat [$($case),+] }
        $crate::support::on_every_api! { messages Messages [$($case),+] }
        $crate::support::on_every_api! { responses Responses [$($case),+] }
    };
    ($module:ident $api:ident [$($case:ident),+]) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $case() {
                    super::$case(agentd_testkit::Api::$api).await;
                }
            )+
        }
    };
}
pub(crate) use on_every_api;

/// A provider that speaks this API to the server.
pub(crate) fn provider_of(api: Api, llm: &LlmServer) -> Box<dyn Provider> {
    provider_of_with(api, llm, PATIENT)
}

pub(crate) fn provider_of_with(api: Api, llm: &LlmServer, timeouts: Timeouts) -> Box<dyn Provider> {
    let (url, key) = (llm.base_url(), Some("sk-test".to_owned().into()));
    match api {
        Api::Chat => Box::new(provider_with(llm, timeouts)),
        Api::Messages => {
            let options = AnthropicOptions { timeouts, ..AnthropicOptions::new(&url, key) };
            Box::new(Anthropic::new(options).expect("legal options"))
        }
        Api::Responses => {
            let options = ResponsesOptions { timeouts, ..ResponsesOptions::new(&url, key) };
            Box::new(OpenAiResponses::new(options).expect("legal options"))
        }
    }
}

/// What the provider of an API makes of one reply.
pub(crate) async fn answer_in(api: Api, reply: Reply) -> Answer {
    let llm = LlmServer::start().await;
    llm.push(reply);
    let answer = complete(&*provider_of(api, &llm), ask("hi")).await;
    assert_eq!(llm.wait_for_request(1).await.api(), Some(api));
    answer
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
        capabilities: Capabilities::PURE,
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

    /// Names, arguments, and whether the calls are whole.
    pub(crate) fn all_calls(&self) -> Vec<(&str, &str, bool)> {
        let calls = self.end.as_ref().map_or(&[][..], |end| &end.tool_calls);
        calls
            .iter()
            .map(|call| (call.name.as_str(), call.arguments_json.as_str(), call.is_whole))
            .collect()
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
