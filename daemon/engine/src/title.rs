//! Titles made by a model, after the first answer and away from the session's own work.

use std::sync::Arc;

use agentd_domain::{EventBody, Seq, SessionId, Title, UsagePurpose, cut_line};
use agentd_llm::{LlmError, Message, Request, StreamPart};
use futures_util::StreamExt as _;

use crate::model::{ModelQuery, Role};
use crate::session::SessionDeps;
use crate::usage::Account;

const INSTRUCTIONS: &str = "Write a title for the conversation that follows: at most eight words, in its language, no quotes, \
     no full stop. Answer with the title only.";
/// Characters of each text that the title is made from.
const EXCERPT: usize = 1_000;
/// Characters of a title that lists have room for.
const TITLE_CHARS: usize = 80;
/// Bytes of an answer after which it is no title.
const MAX_ANSWER: usize = 4_096;

/// Makes a title. What its request used is on the account when this returns, and also once the future is
/// dropped.
pub(crate) async fn title(
    deps: Arc<SessionDeps>,
    session_id: SessionId,
    model: String,
    account: Arc<Account>,
) -> Option<Title> {
    let limit = deps.config.borrow().title_timeout;
    let made = tokio::time::timeout(limit, make(&deps, session_id, &model, &account)).await;
    if made.is_err() {
        tracing::warn!(%session_id, "the model was too slow for a title");
    }
    made.ok().flatten()
}

async fn make(
    deps: &SessionDeps,
    session_id: SessionId,
    model: &str,
    account: &Arc<Account>,
) -> Option<Title> {
    let conversation = first_exchange(deps, session_id).await?;
    let query = ModelQuery { role: Role::Cheap, model: model.to_owned(), effort: None };
    let resolved = deps.models.resolve(&query).await.ok().filter(|model| !model.is_offline())?;
    let request = Request {
        model: resolved.model,
        info: resolved.info,
        messages: vec![Message::System(INSTRUCTIONS.to_owned()), Message::user(conversation)],
        tools: Vec::new(),
        max_output_tokens: None,
        effort: resolved.effort.and_then(|effort| effort.effective),
        cache_key: None,
        meter: Some(account.meter(UsagePurpose::Title)),
    };
    let mut answer = String::new();
    let mut stream = match resolved.provider.stream(request).await {
        Ok(stream) => stream,
        // That was said already, once for today.
        Err(LlmError::Budget { .. }) => return None,
        Err(error) => {
            tracing::warn!(%session_id, %error, "no title");
            return None;
        }
    };
    while let Some(part) = stream.next().await {
        match part {
            Ok(StreamPart::Text(text)) if answer.len() + text.len() <= MAX_ANSWER => {
                answer.push_str(&text);
            }
            Ok(StreamPart::Text(_)) => {
                tracing::warn!(%session_id, "the model wrote no title but a long text");
                return None;
            }
            Ok(StreamPart::Restarted(_)) => answer.clear(),
            Ok(StreamPart::Reasoning(_) | StreamPart::Finished(_)) => {}
            Err(error) => {
                tracing::warn!(%session_id, %error, "no title");
                return None;
            }
        }
    }
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let title = cut_line(line.trim_matches(['"', '\'', '“', '”', '*', '#', ' ']), TITLE_CHARS);
    title.parse().ok()
}

/// The first message and the first answer, cut.
async fn first_exchange(deps: &SessionDeps, session_id: SessionId) -> Option<String> {
    let page = deps.store.events(session_id, Seq(1), crate::session::LOAD_PAGE).await.ok()?;
    let mut question = None;
    let mut answer = None;
    for event in &page.events {
        match &event.body {
            EventBody::MessageAccepted(accepted) => {
                question.get_or_insert_with(|| cut_line(&accepted.text, EXCERPT));
            }
            EventBody::AssistantMessage(message) if !message.text.trim().is_empty() => {
                answer.get_or_insert_with(|| cut_line(&message.text, EXCERPT));
            }
            _ => {}
        }
    }
    Some(format!("User: {}\n\nAssistant: {}", question?, answer.unwrap_or_default()))
}
