//! The endpoint, its key and its model.

use std::time::Duration;

use agentd_engine::{ModelQuery, ModelSource as _, ResolvedModel};
use agentd_llm::{LlmError, Message, Request, StreamPart};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout};

use super::Check;
use crate::provider::Models;

/// Longest wait for the answer to the one question.
const PATIENCE: Duration = Duration::from_secs(30);
/// Tokens that the answer may have; reasoning models need some before the first word.
const ANSWER_TOKENS: u32 = 256;

const KEY: &str = "key";
const ENDPOINT: &str = "endpoint";
const MODEL: &str = "model";

pub(super) async fn checks(models: &Models, ask: bool) -> Vec<Check> {
    let resolved = match models.resolve(&ModelQuery::default()).await {
        Ok(resolved) => resolved,
        Err(error @ (LlmError::NoKey { .. } | LlmError::Auth { .. })) => {
            let why = "there is no usable key";
            return vec![
                Check::fail(KEY, error.to_string(), error.hint()),
                Check::skipped(ENDPOINT, why),
                Check::skipped(MODEL, why),
            ];
        }
        Err(error) => {
            return vec![
                Check::skipped(KEY, "the endpoint is not usable"),
                Check::fail(ENDPOINT, error.to_string(), error.hint()),
                Check::skipped(MODEL, "the endpoint is not usable"),
            ];
        }
    };
    if resolved.is_offline() {
        let remedy =
            "start a local server such as Ollama, or set OPENAI_API_KEY or provider.base_url";
        return vec![
            Check::skipped(KEY, "the offline engine needs none"),
            Check::warn(
                ENDPOINT,
                "no model is configured or found: the offline engine answers",
                remedy,
            ),
            Check::skipped(MODEL, "the offline engine is no model"),
        ];
    }
    let endpoint = if ask {
        endpoint(&resolved).await
    } else {
        Check::skipped(ENDPOINT, "it was not to be asked")
    };
    let key = match endpoint.outcome {
        super::Outcome::Ok => Check::ok(KEY, format!("{} takes it", resolved.provider.base_url())),
        _ => Check::ok(KEY, "one is there, or none is needed"),
    };
    vec![key, endpoint, model(&resolved)]
}

/// Asks one tiny question.
async fn endpoint(resolved: &ResolvedModel) -> Check {
    let place = format!("{} at {}", resolved.model, resolved.provider.base_url());
    let started = Instant::now();
    match timeout(PATIENCE, answer(resolved)).await {
        Err(_silent) => Check::fail(
            ENDPOINT,
            format!("{place} gave no answer in {} s", PATIENCE.as_secs()),
            "see whether the server is loading the model, or raise provider.first_byte_timeout_ms",
        ),
        Ok(Err(error)) => Check::fail(ENDPOINT, format!("{place}: {error}"), error.hint()),
        Ok(Ok(())) => {
            Check::ok(ENDPOINT, format!("{place} answered in {} ms", started.elapsed().as_millis()))
        }
    }
}

async fn answer(resolved: &ResolvedModel) -> Result<(), LlmError> {
    let limit = resolved.max_output_tokens.unwrap_or(ANSWER_TOKENS).min(ANSWER_TOKENS);
    let request = Request {
        model: resolved.model.clone(),
        messages: vec![Message::user("Answer with the word OK.")],
        max_output_tokens: Some(limit),
        ..Request::default()
    };
    let mut stream = resolved.provider.stream(request).await?;
    while let Some(part) = stream.next().await {
        if let StreamPart::Finished(_) = part? {
            return Ok(());
        }
    }
    Err(LlmError::Cut)
}

/// What is known about the model.
fn model(resolved: &ResolvedModel) -> Check {
    Check::ok(MODEL, format!("{}: {} tokens of context", resolved.model, resolved.context_tokens))
}
