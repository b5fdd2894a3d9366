//! The endpoint, its key and its model.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::Effort;
use agentd_engine::{ModelQuery, ModelSource as _, ResolvedModel};
use agentd_llm::{InfoSource, LlmError, Message, ModelInfo, Request, Restart, StreamPart};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout};

use super::{Check, Outcome};
use crate::provider::{Models, Unusable};

/// Longest wait for the answer to the one question.
const PATIENCE: Duration = Duration::from_secs(30);
/// Tokens that the answer may have; reasoning models need some before the first word.
const ANSWER_TOKENS: u32 = 256;

/// Code of an error that says that the key was refused.
const REFUSED: &str = "PROVIDER_AUTH";

const KEY: &str = "key";
const ENDPOINT: &str = "endpoint";
const MODEL: &str = "model";
const ROLES: &str = "roles";

pub(super) async fn checks(models: &Models, ask: bool) -> Vec<Check> {
    let resolved = match models.resolve(&ModelQuery::default()).await {
        Ok(resolved) => resolved,
        Err(error @ (LlmError::NoKey { .. } | LlmError::Auth { .. })) => {
            let why = "there is no usable key";
            return vec![
                Check::fail(KEY, error.to_string(), error.hint()),
                Check::skipped(ENDPOINT, why),
                Check::skipped(MODEL, why),
                roles(&models.unusable().await),
            ];
        }
        Err(error) => {
            return vec![
                Check::skipped(KEY, "the endpoint is not usable"),
                Check::fail(ENDPOINT, error.to_string(), error.hint()),
                Check::skipped(MODEL, "the endpoint is not usable"),
                roles(&models.unusable().await),
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
            roles(&models.unusable().await),
        ];
    }
    let place = models.key_place().await;
    let (endpoint, is_refused) = if ask {
        endpoint(&resolved).await
    } else {
        (Check::skipped(ENDPOINT, "it was not to be asked"), false)
    };
    let key = key(place.as_deref(), resolved.provider.base_url(), &endpoint, is_refused);
    vec![key, endpoint, model(&resolved), roles(&models.unusable().await)]
}

/// Where the key is, and what came of it. The key itself is never told.
fn key(place: Option<&str>, base_url: &str, endpoint: &Check, is_refused: bool) -> Check {
    match (place, endpoint.outcome) {
        (Some(place), _) if is_refused => Check::fail(
            KEY,
            format!("{base_url} refuses the one in {place}"),
            "put the right key there, then run `agentctl reload` for a file, `agentctl shutdown` for a variable",
        ),
        (Some(place), Outcome::Ok) => {
            Check::ok(KEY, format!("{base_url} takes the one in {place}"))
        }
        (Some(place), _) => Check::ok(KEY, format!("there is one in {place}; it was not tried")),
        (None, _) if is_refused => Check::fail(
            KEY,
            format!("{base_url} wants one, and none was sent"),
            "set provider.api_key_file, or name a variable in provider.api_key_env",
        ),
        (None, Outcome::Ok) => Check::ok(KEY, format!("there is none, and {base_url} wants none")),
        (None, _) => Check::ok(KEY, "there is none"),
    }
}

/// Asks one tiny question. True: the key was refused.
async fn endpoint(resolved: &ResolvedModel) -> (Check, bool) {
    let place = format!("{} at {}", resolved.model, resolved.provider.base_url());
    let started = Instant::now();
    match timeout(PATIENCE, answer(resolved)).await {
        Err(_silent) => {
            let detail = format!("{place} gave no answer in {} s", PATIENCE.as_secs());
            let remedy = "see whether the server is loading the model, or raise provider.first_byte_timeout_ms";
            (Check::fail(ENDPOINT, detail, remedy), false)
        }
        Ok(Err(error)) => {
            let check = Check::fail(ENDPOINT, format!("{place}: {error}"), error.hint());
            (check, matches!(error, LlmError::Auth { .. } | LlmError::NoKey { .. }))
        }
        Ok(Ok(Some(other))) => {
            let Restart { model, error, .. } = &other;
            let message = &error.message;
            let detail = format!("{place} did not answer, {model} did in its place: {message}");
            let check = Check::fail(ENDPOINT, detail, error.hint.as_str());
            (check, error.code == REFUSED)
        }
        Ok(Ok(None)) => {
            let detail = format!("{place} answered in {} ms", started.elapsed().as_millis());
            (Check::ok(ENDPOINT, detail), false)
        }
    }
}

/// Asks as a turn does. Some: a fallback answered, with its name and why the model itself did not.
async fn answer(resolved: &ResolvedModel) -> Result<Option<Restart>, LlmError> {
    let limit = resolved.max_output_tokens.unwrap_or(ANSWER_TOKENS).min(ANSWER_TOKENS);
    let request = Request {
        model: resolved.model.clone(),
        info: Arc::clone(&resolved.info),
        effort: resolved.effort.and_then(|effort| effort.effective),
        messages: vec![Message::user("Answer with the word OK.")],
        max_output_tokens: Some(limit),
        ..Request::default()
    };
    let mut stream = resolved.provider.stream(request).await?;
    let mut other: Option<Restart> = None;
    while let Some(part) = stream.next().await {
        match part? {
            StreamPart::Finished(_) => return Ok(other),
            StreamPart::Restarted(restart) => match &mut other {
                Some(other) => other.model = restart.model,
                None if restart.model == resolved.model => {}
                None => other = Some(restart),
            },
            StreamPart::Text(_) | StreamPart::Reasoning(_) => {}
        }
    }
    Err(LlmError::Cut)
}

/// What is known about the model.
fn model(resolved: &ResolvedModel) -> Check {
    let ModelInfo { context_tokens, context_source, prices, vision, tools, reasoning, .. } =
        &*resolved.info;
    let name = &resolved.model;
    let from = match context_source {
        InfoSource::Config => "configured",
        InfoSource::Learned => "as the provider said",
        InfoSource::Catalogue => "from the catalogue",
        InfoSource::Default => "assumed, because the model is not known",
    };
    let efforts: Vec<&str> = reasoning.efforts().into_iter().map(Effort::as_str).collect();
    let efforts =
        if efforts.is_empty() { "cannot be chosen".to_owned() } else { efforts.join(", ") };
    let yes = |can: bool| if can { "yes" } else { "no" };
    let detail = format!(
        "{name}: {context_tokens} tokens of context ({from}); tools {}, images {}, effort {efforts}, price {}",
        yes(*tools),
        yes(*vision),
        if prices.is_some() { "known" } else { "not known" },
    );
    if *context_source == InfoSource::Default {
        let remedy = format!("set context_tokens in [models.{name:?}] of the configuration");
        return Check::warn(MODEL, detail, remedy);
    }
    Check::ok(MODEL, detail)
}

/// Whether everybody in `[roles]` can be asked.
fn roles(unusable: &[Unusable]) -> Check {
    if unusable.is_empty() {
        return Check::ok(ROLES, "all models of [roles] can be asked");
    }
    let details =
        unusable.iter().map(|Unusable { key, model, error, is_fallback: _ }| match error {
            Some(error) => format!("{key} {model}: {error}"),
            None => format!("{key} {model}: there is no model server"),
        });
    let detail = details.collect::<Vec<_>>().join("; ");
    let mut remedies: Vec<&str> = unusable
        .iter()
        .map(|unusable| {
            unusable
                .error
                .as_ref()
                .map_or("start the server, or name another model", LlmError::hint)
        })
        .collect();
    remedies.sort_unstable();
    remedies.dedup();
    let remedy = remedies.join("; ");
    // Where only fallbacks are missing, everything works as long as the others do.
    if unusable.iter().all(|unusable| unusable.is_fallback) {
        Check::warn(ROLES, detail, remedy)
    } else {
        Check::fail(ROLES, detail, remedy)
    }
}

#[cfg(test)]
mod tests;
