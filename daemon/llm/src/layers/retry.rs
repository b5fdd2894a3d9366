//! Tries again what may succeed later: bounded attempts with jittered exponential waits.
//!
//! The stream that this layer gives drives all attempts. When one breaks off in mid-answer, the stream
//! first says so with [`StreamPart::Restarted`], so that what was shown is discarded at once, then
//! waits, and then goes on with the next attempt.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use futures_util::{StreamExt as _, stream};
use tower::util::{BoxCloneSyncService, service_fn};

use super::adapt::{ModelService, ask};
use crate::{LlmError, Request, ResponseStream, Restart, StreamPart};

/// How often and how long apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most attempts, the first included.
    pub max_attempts: u32,
    /// Wait before the second attempt; it doubles each time, with jitter of up to as much again.
    pub base: Duration,
    /// Longest wait, jitter included, also when the provider asks for more.
    pub max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 3, base: Duration::from_millis(500), max: Duration::from_secs(30) }
    }
}

/// Puts the layer around the services that `inner` makes, one for each request.
pub(super) fn layer(
    inner: impl Fn() -> ModelService + Clone + Send + Sync + 'static,
    policy: RetryPolicy,
) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |request: Request| {
        let mut attempts = Attempts::new(inner(), request, policy);
        async move {
            attempts.open().await?;
            let parts = stream::unfold(attempts, |mut attempts| async move {
                let part = attempts.next().await?;
                Some((part, attempts))
            });
            Ok(Box::pin(parts) as ResponseStream)
        }
    }))
}

/// The attempts at one request.
struct Attempts {
    inner: ModelService,
    request: Request,
    policy: RetryPolicy,
    delays: ExponentialBackoff,
    /// Number of the attempt that runs or is waited for.
    attempt: u32,
    /// How long to wait before it.
    wait: Duration,
    /// Why the one before broke off.
    cause: Option<LlmError>,
    stream: Option<ResponseStream>,
    is_over: bool,
}

impl Attempts {
    fn new(inner: ModelService, request: Request, policy: RetryPolicy) -> Self {
        let delays = ExponentialBuilder::default()
            .with_min_delay(policy.base)
            .with_max_delay(policy.max)
            .with_max_times(usize::try_from(policy.max_attempts.saturating_sub(1)).unwrap_or(0))
            .with_jitter()
            .build();
        Self {
            inner,
            request,
            policy,
            delays,
            attempt: 1,
            wait: Duration::ZERO,
            cause: None,
            stream: None,
            is_over: false,
        }
    }

    /// Goes on until an answer begins.
    async fn open(&mut self) -> Result<(), LlmError> {
        loop {
            if !self.wait.is_zero() {
                tokio::time::sleep(self.wait).await;
            }
            match ask(&self.inner, self.request.clone()).await {
                Ok(stream) => {
                    self.stream = Some(stream);
                    return Ok(());
                }
                // What opened the circuit says more than that it is open.
                Err(LlmError::CircuitOpen { .. }) if self.cause.is_some() => {
                    return Err(self.cause.take().unwrap_or(LlmError::Cut));
                }
                Err(error) => self.broke_off(error)?,
            }
        }
    }

    async fn next(&mut self) -> Option<Result<StreamPart, LlmError>> {
        if self.is_over {
            return None;
        }
        if self.stream.is_none()
            && let Err(error) = self.open().await
        {
            self.is_over = true;
            return Some(Err(error));
        }
        let part = match &mut self.stream {
            Some(stream) => stream.next().await.unwrap_or(Err(LlmError::Cut)),
            None => Err(LlmError::Cut),
        };
        match part {
            Ok(part) => {
                self.is_over = matches!(part, StreamPart::Finished(_));
                Some(Ok(part))
            }
            Err(error) => {
                // Its place at the endpoint is free from now on.
                self.stream = None;
                let report = error.report();
                if let Err(error) = self.broke_off(error) {
                    self.is_over = true;
                    return Some(Err(error));
                }
                Some(Ok(StreamPart::Restarted(Restart {
                    attempt: self.attempt,
                    model: self.request.model.clone(),
                    error: report,
                })))
            }
        }
    }

    /// Prepares the next attempt, or says that there is none.
    fn broke_off(&mut self, error: LlmError) -> Result<(), LlmError> {
        if !error.is_retryable() {
            return Err(error);
        }
        // The jitter is added to a wait that is at its longest too.
        let Some(delay) = self.delays.next().map(|delay| delay.min(self.policy.max)) else {
            return Err(error);
        };
        self.wait = match error.retry_after() {
            // Waiting longer than users would is failing without saying so.
            Some(wanted) if wanted > self.policy.max => {
                return Err(too_long(error, wanted, self.policy.max));
            }
            Some(wanted) => delay.max(wanted),
            None => delay,
        };
        self.attempt += 1;
        tracing::warn!(
            attempt = self.attempt,
            model = self.request.model,
            %error,
            wait_ms = self.wait.as_millis(),
            "a model request broke off and is tried again"
        );
        self.cause = Some(error);
        Ok(())
    }
}

/// Adds to the error why it is not tried again.
fn too_long(error: LlmError, wanted: Duration, longest: Duration) -> LlmError {
    let add = |message: String| {
        format!(
            "{message} (it asks to wait {} s; provider.retry_max_ms allows {} s)",
            wanted.as_secs_f64().ceil(),
            longest.as_secs_f64()
        )
    };
    match error {
        LlmError::RateLimited { message, retry_after } => {
            LlmError::RateLimited { message: add(message), retry_after }
        }
        LlmError::Server { status, message, retry_after } => {
            LlmError::Server { status, message: add(message), retry_after }
        }
        other => other,
    }
}
