//! Titles made by a model, after the first answer and away from the session's own work.

use std::sync::Arc;

use agentd_domain::{EventBody, Seq, SessionId, Title, UsagePurpose, cut_line};

use crate::session::SessionDeps;
use crate::short_answer::{self, Asked};
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
    let asked = Asked {
        model,
        instructions: INSTRUCTIONS,
        text: conversation,
        purpose: UsagePurpose::Title,
        most_bytes: MAX_ANSWER,
    };
    let answer = short_answer::ask(deps, account, asked).await?;
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
