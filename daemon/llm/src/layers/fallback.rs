//! Asks the next model of a list when the one before cannot answer now.
//!
//! What the others cannot take is no reason to change the conversation, which is the first model's: a
//! window of another that is too small is passed over, and its overflow is never told to the caller.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tower::util::{BoxCloneSyncService, service_fn};

use super::adapt::{ModelService, ask};
use super::meter::estimated_prompt;
use super::stack::Layered;
use super::trace::Tally;
use crate::{ErrorClass, LlmError, Request, ResponseStream, Restart, StreamPart};

/// When the next model is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FallbackPolicy {
    /// Also when the model refuses the request or the key. Off by default: a request that is wrong is
    /// wrong everywhere, and a key that is wrong should be noticed.
    pub after_refusal: bool,
}

impl FallbackPolicy {
    /// True when another model may do better. What may succeed later comes here only when its attempts
    /// are used up.
    fn moves_on(self, error: &LlmError) -> bool {
        match error.class() {
            ErrorClass::Retryable | ErrorClass::Quota => true,
            ErrorClass::Invalid if matches!(error, LlmError::NotFound { .. }) => true,
            ErrorClass::Invalid | ErrorClass::Auth => self.after_refusal,
            ErrorClass::Local => match error {
                LlmError::CircuitOpen { .. } | LlmError::Busy { .. } => true,
                LlmError::NoKey { .. } => self.after_refusal,
                // One's own limit holds for all models.
                _ => false,
            },
            ErrorClass::Overflow | ErrorClass::Refused => false,
        }
    }
}

/// Makes one service of several, the first of which is asked first.
pub(super) fn layer(first: Layered, others: Vec<Layered>, policy: FallbackPolicy) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |mut request: Request| {
        let (current, others) = (first.clone(), others.clone().into_iter());
        // The models below count their own attempts only.
        let tally = Tally::around(&mut request);
        async move {
            let mut models = Models {
                current,
                others,
                request,
                policy,
                tally,
                stream: None,
                announce: None,
                first_error: None,
                is_over: false,
            };
            models.open().await?;
            let parts = stream::unfold(models, |mut models| async move {
                let part = models.next().await?;
                Some((part, models))
            });
            Ok(Box::pin(parts) as ResponseStream)
        }
    }))
}

/// The models that one request may ask.
struct Models {
    current: Layered,
    others: std::vec::IntoIter<Layered>,
    request: Request,
    policy: FallbackPolicy,
    tally: Arc<Tally>,
    stream: Option<ResponseStream>,
    /// Another model answers than the caller asked, and was not told yet.
    announce: Option<Restart>,
    /// Why another model than the first is asked.
    first_error: Option<LlmError>,
    is_over: bool,
}

impl Models {
    /// Goes on to the next model until an answer begins.
    async fn open(&mut self) -> Result<(), LlmError> {
        loop {
            let request = self.current.addressed(self.request.clone());
            match ask(&self.current.service, request).await {
                Ok(stream) => {
                    self.stream = Some(stream);
                    return Ok(());
                }
                Err(error) => self.move_on(error)?,
            }
        }
    }

    /// Turns to the next model, or gives the error back.
    fn move_on(&mut self, error: LlmError) -> Result<(), LlmError> {
        let is_others_overflow =
            self.first_error.is_some() && error.class() == ErrorClass::Overflow;
        if !is_others_overflow && !self.policy.moves_on(&error) {
            return Err(error);
        }
        let Some(next) = self.next_that_fits() else {
            return Err(if is_others_overflow {
                self.first_error.take().unwrap_or(error)
            } else {
                error
            });
        };
        tracing::warn!(
            model = self.current.model,
            fallback = next.model,
            %error,
            "a model cannot answer, another is asked"
        );
        self.current = next;
        self.announce = Some(Restart {
            attempt: self.tally.attempts() + 1,
            model: self.current.model.clone(),
            error: error.report(),
        });
        self.first_error.get_or_insert(error);
        Ok(())
    }

    /// The next model whose window may hold the request.
    fn next_that_fits(&mut self) -> Option<Layered> {
        let request = &self.request;
        self.others.find(|model| {
            let tokens = estimated_prompt(&model.addressed(request.clone()));
            let fits = model.may_hold(tokens);
            if !fits {
                tracing::info!(model = model.model, tokens, "a fallback's window is too small");
            }
            fits
        })
    }

    async fn next(&mut self) -> Option<Result<StreamPart, LlmError>> {
        if self.is_over {
            return None;
        }
        // First of all, so that what was shown is void while the next model is asked.
        if let Some(restart) = self.announce.take() {
            return Some(Ok(StreamPart::Restarted(restart)));
        }
        if self.stream.is_none()
            && let Err(error) = self.open().await
        {
            self.is_over = true;
            return Some(Err(error));
        }
        if let Some(restart) = self.announce.take() {
            return Some(Ok(StreamPart::Restarted(restart)));
        }
        let part = match &mut self.stream {
            Some(stream) => stream.next().await.unwrap_or(Err(LlmError::Cut)),
            None => Err(LlmError::Cut),
        };
        match part {
            Ok(StreamPart::Restarted(restart)) => {
                let attempt = self.tally.attempts() + 1;
                Some(Ok(StreamPart::Restarted(Restart { attempt, ..restart })))
            }
            Ok(part) => {
                self.is_over = matches!(part, StreamPart::Finished(_));
                Some(Ok(part))
            }
            Err(error) => {
                self.stream = None;
                if let Err(error) = self.move_on(error) {
                    self.is_over = true;
                    return Some(Err(error));
                }
                self.announce.take().map(|restart| Ok(StreamPart::Restarted(restart)))
            }
        }
    }
}
