//! One short text from the cheap model, for work that no user waits for.

use std::sync::Arc;

use agentd_domain::UsagePurpose;
use agentd_llm::{LlmError, Message, Request, StreamPart};
use futures_util::StreamExt as _;

use crate::model::{ModelQuery, Role};
use crate::session::SessionDeps;
use crate::usage::Account;

/// What is asked.
pub(crate) struct Asked<'a> {
    /// The session's model: it decides which one is the cheap one.
    pub(crate) model: &'a str,
    pub(crate) instructions: &'a str,
    pub(crate) text: String,
    pub(crate) purpose: UsagePurpose,
    /// Bytes above which an answer is none.
    pub(crate) most_bytes: usize,
}

/// The whole answer; none when there is no model, it fails, or it writes too much. Failures are logged.
pub(crate) async fn ask(
    deps: &SessionDeps,
    account: &Arc<Account>,
    asked: Asked<'_>,
) -> Option<String> {
    let Asked { model, instructions, text, purpose, most_bytes } = asked;
    let what = purpose.as_str();
    let query = ModelQuery { role: Role::Cheap, model: model.to_owned(), effort: None };
    let resolved = deps.models.resolve(&query).await.ok().filter(|model| !model.is_offline())?;
    let request = Request {
        model: resolved.model,
        info: resolved.info,
        messages: vec![Message::System(instructions.to_owned()), Message::user(text)],
        tools: Vec::new(),
        max_output_tokens: None,
        effort: resolved.effort.and_then(|effort| effort.effective),
        cache_key: None,
        meter: Some(account.meter(purpose)),
    };
    let mut answer = String::new();
    let mut stream = match resolved.provider.stream(request).await {
        Ok(stream) => stream,
        // That was said already, once for today.
        Err(LlmError::Budget { .. }) => return None,
        Err(error) => {
            tracing::warn!(what, %error, "background work got no answer");
            return None;
        }
    };
    while let Some(part) = stream.next().await {
        match part {
            Ok(StreamPart::Text(text)) if answer.len() + text.len() <= most_bytes => {
                answer.push_str(&text);
            }
            Ok(StreamPart::Text(_)) => {
                tracing::warn!(what, most_bytes, "the model wrote too long an answer");
                return None;
            }
            Ok(StreamPart::Restarted(_)) => answer.clear(),
            Ok(StreamPart::Reasoning(_) | StreamPart::Finished(_)) => {}
            Err(error) => {
                tracing::warn!(what, %error, "background work got no whole answer");
                return None;
            }
        }
    }
    Some(answer)
}
