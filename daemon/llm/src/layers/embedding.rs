//! The limits of an endpoint for requests that ask for vectors: circuit, places, rate, and tries.
//!
//! The endpoint's state is that of [`super::Endpoint`], but one of its own: vectors that fail must not
//! keep chats away.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::Usage;
use async_trait::async_trait;
use backon::{BackoffBuilder as _, ExponentialBuilder};
use tokio::time::Instant;

use super::breaker::Pass;
use super::endpoint::Endpoint;
use super::meter::{elapsed_ms, is_refusal};
use super::observed::Observer as _;
use super::progress::Progress;
use super::retry::RetryPolicy;
use crate::{Attempt, Embedded, Embedder, LlmError, Meter, Spent, TextKind, estimate_tokens};

/// An embedder within the limits of its endpoint. What somebody waits for is asked for once; what nobody
/// waits for is tried again as the policy says.
#[derive(Debug)]
pub struct LimitedEmbedder {
    inner: Arc<dyn Embedder>,
    endpoint: Arc<Endpoint>,
    retry: RetryPolicy,
    /// Who is told of each attempt.
    watcher: Option<Arc<dyn Meter>>,
}

impl LimitedEmbedder {
    /// Puts the limits around an embedder.
    pub fn new(
        inner: Arc<dyn Embedder>,
        endpoint: Arc<Endpoint>,
        retry: RetryPolicy,
        watcher: Option<Arc<dyn Meter>>,
    ) -> Self {
        Self { inner, endpoint, retry, watcher }
    }

    async fn attempt(
        &self,
        texts: &[String],
        kind: TextKind,
        progress: &Progress,
    ) -> Result<Embedded, LlmError> {
        let mut pass = Pass::ask(Arc::clone(&self.endpoint), progress.clone())?;
        let embedded = self.within_limits(texts, kind, progress).await;
        match &embedded {
            Ok(_vectors) => pass.answered(),
            Err(error) => pass.error(error),
        }
        embedded
    }

    async fn within_limits(
        &self,
        texts: &[String],
        kind: TextKind,
        progress: &Progress,
    ) -> Result<Embedded, LlmError> {
        let endpoint = &self.endpoint;
        let _place = endpoint.places.enter(&endpoint.base_url).await?;
        endpoint.rate.pass(&endpoint.base_url).await?;
        let attempt = self.admitted(texts)?;
        progress.sent();
        let _under_way = endpoint.under_way();
        let started = Instant::now();
        let embedded = self.inner.embed(texts, kind).await;
        if let Err(error) = &embedded {
            endpoint.rate.note(error);
        }
        if let (Some(attempt), Some(watcher)) = (attempt, &self.watcher) {
            watcher.record(spent(attempt, &embedded, elapsed_ms(started, Instant::now())));
        }
        embedded
    }

    fn admitted(&self, texts: &[String]) -> Result<Option<Attempt>, LlmError> {
        let Some(watcher) = &self.watcher else { return Ok(None) };
        let attempt = Attempt {
            provider: "embeddings",
            model: self.inner.model().to_owned(),
            prompt_tokens: texts.iter().map(|text| estimate_tokens(text)).sum(),
            max_output_tokens: Some(0),
            prices: None,
        };
        watcher.admit(&attempt)?;
        Ok(Some(attempt))
    }
}

fn spent(attempt: Attempt, embedded: &Result<Embedded, LlmError>, elapsed_ms: u64) -> Spent {
    let (usage, error_code) = match embedded {
        Ok(embedded) => (embedded.usage, None),
        Err(error) if is_refusal(error) => (Usage::default(), Some(error.code())),
        Err(error) => {
            let prompt_tokens = attempt.prompt_tokens;
            let usage = Usage { prompt_tokens, estimated: true, ..Usage::default() };
            (usage, Some(error.code()))
        }
    };
    let first_byte_ms = if error_code.is_none() { elapsed_ms } else { 0 };
    Spent { attempt, usage, first_byte_ms, elapsed_ms, error_code }
}

#[async_trait]
impl Embedder for LimitedEmbedder {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn place(&self) -> &str {
        self.inner.place()
    }

    fn space(&self) -> &str {
        self.inner.space()
    }

    async fn embed(&self, texts: &[String], kind: TextKind) -> Result<Embedded, LlmError> {
        let tries = match kind {
            TextKind::Query => 0,
            TextKind::Document => self.retry.max_attempts.saturating_sub(1),
        };
        let mut delays = ExponentialBuilder::default()
            .with_min_delay(self.retry.base)
            .with_max_delay(self.retry.max)
            .with_max_times(usize::try_from(tries).unwrap_or(0))
            .with_jitter()
            .build();
        let progress = Progress::default();
        loop {
            let error = match self.attempt(texts, kind, &progress).await {
                Ok(embedded) => return Ok(embedded),
                Err(error) if !error.is_retryable() => return Err(error),
                Err(error) => error,
            };
            let Some(delay) = delays.next() else { return Err(error) };
            let wanted = error.retry_after().unwrap_or(Duration::ZERO);
            if wanted > self.retry.max {
                return Err(error);
            }
            tracing::debug!(model = self.inner.model(), %error, "vectors are asked for again");
            tokio::time::sleep(delay.min(self.retry.max).max(wanted)).await;
        }
    }
}
