//! Asks the request's meter before each attempt leaves, and tells it afterwards what was used.

use std::sync::Arc;

use agentd_domain::Usage;
use tokio::time::Instant;
use tower::util::{BoxCloneSyncService, service_fn};

use super::adapt::{ModelService, ask};
use super::observed::{Observer, observed};
use super::progress::Progress;
use crate::{
    Attempt, LlmError, Meter, Request, Spent, StreamPart, estimate_message_tokens, estimate_tokens,
};

/// Puts the layer around a service of a provider of this kind.
pub(super) fn layer(
    inner: ModelService,
    provider: &'static str,
    progress: Progress,
) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |request: Request| {
        let (inner, progress) = (inner.clone(), progress.clone());
        async move {
            let Some(meter) = request.meter.clone() else { return ask(&inner, request).await };
            let mut admitted = Admitted::ask(meter, provider, &request, progress)?;
            match ask(&inner, request).await {
                Ok(stream) => Ok(observed(stream, admitted)),
                Err(error) => {
                    admitted.error(&error);
                    Err(error)
                }
            }
        }
    }))
}

/// An attempt that was admitted. Its end is recorded when this is dropped, which happens also when the
/// caller has left.
struct Admitted {
    meter: Arc<dyn Meter>,
    progress: Progress,
    attempt: Attempt,
    started: Instant,
    first_part: Option<Instant>,
    reasoning: String,
    text: String,
    /// What the provider counted.
    counted: Option<Usage>,
    is_answered: bool,
    /// The connection failed, or the provider said that it does not answer.
    is_refused: bool,
    error_code: Option<&'static str>,
}

impl Admitted {
    fn ask(
        meter: Arc<dyn Meter>,
        provider: &'static str,
        request: &Request,
        progress: Progress,
    ) -> Result<Self, LlmError> {
        progress.begin_attempt();
        let attempt = Attempt {
            provider,
            model: request.model.clone(),
            prompt_tokens: estimated_prompt(request),
            max_output_tokens: request.max_output_tokens,
            prices: request.info.prices,
        };
        meter.admit(&attempt)?;
        Ok(Self {
            meter,
            progress,
            attempt,
            started: Instant::now(),
            first_part: None,
            reasoning: String::new(),
            text: String::new(),
            counted: None,
            is_answered: false,
            is_refused: false,
            error_code: None,
        })
    }

    /// What the provider counted, or our estimate of what came. A request that went out and that nobody
    /// refused is paid for, although nothing of its answer was seen.
    fn usage(&self) -> Usage {
        if let Some(counted) = self.counted {
            return counted;
        }
        if !self.is_answered && (self.is_refused || !self.progress.is_sent()) {
            return Usage::default();
        }
        let reasoning_tokens = estimate_tokens(&self.reasoning);
        Usage {
            prompt_tokens: self.attempt.prompt_tokens,
            completion_tokens: reasoning_tokens + estimate_tokens(&self.text),
            reasoning_tokens,
            estimated: true,
            ..Usage::default()
        }
    }
}

impl Observer for Admitted {
    fn part(&mut self, part: &StreamPart) {
        self.first_part.get_or_insert_with(Instant::now);
        self.is_answered = true;
        match part {
            StreamPart::Reasoning(reasoning) => self.reasoning.push_str(reasoning),
            StreamPart::Text(text) => self.text.push_str(text),
            StreamPart::Finished(completion) => {
                self.counted = completion.usage;
                for call in &completion.tool_calls {
                    self.text.push_str(&call.name);
                    self.text.push_str(&call.arguments_json);
                }
            }
            StreamPart::Restarted(_) => {}
        }
    }

    fn error(&mut self, error: &LlmError) {
        self.error_code = Some(error.code());
        self.is_refused = is_refusal(error);
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let first_byte_ms = self.first_part.map_or(0, |first| elapsed_ms(self.started, first));
        self.meter.record(Spent {
            attempt: self.attempt.clone(),
            usage: self.usage(),
            first_byte_ms,
            elapsed_ms: elapsed_ms(self.started, Instant::now()),
            error_code: self.error_code,
        });
    }
}

/// Whether an error that came before the answer says that there will be none to pay for.
pub(super) fn is_refusal(error: &LlmError) -> bool {
    !matches!(
        error,
        LlmError::FirstByteTimeout { .. }
            | LlmError::IdleTimeout { .. }
            | LlmError::Cut
            | LlmError::Empty
            | LlmError::TooLarge { .. }
    )
}

pub(super) fn elapsed_ms(from: Instant, to: Instant) -> u64 {
    u64::try_from((to - from).as_millis()).unwrap_or(u64::MAX)
}

/// Our estimate of what the request holds: its messages and the descriptions of its tools.
pub(super) fn estimated_prompt(request: &Request) -> u64 {
    let messages: u64 = request.messages.iter().map(estimate_message_tokens).sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|spec| {
            estimate_tokens(&spec.name)
                + estimate_tokens(&spec.description)
                + estimate_tokens(&spec.parameters.to_string())
        })
        .sum();
    messages + tools
}
