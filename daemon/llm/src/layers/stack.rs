//! The layers in order, from the caller to the provider. This is the one place that lists them.
//!
//! ```text
//! trace         one span for the request, with what it used in the end
//! fallback      the next model of the list when one cannot answer
//!   retry         more attempts at one model, with waits
//!     meter         budgets before each attempt, usage after it
//!       breaker       an endpoint that keeps failing is left alone
//!         concurrency   so many requests at once
//!           rate          so many requests a minute, and the endpoint's own Retry-After
//!             provider
//! ```
//!
//! The last three share their state over all requests to an endpoint ([`Endpoint`]).
//!
//! A layer of one's own is a function from a [`ModelService`] to a [`ModelService`]: add its file, and
//! its line in [`layered`] or in [`Stack::new`] at the place where it belongs. It must pass an answer
//! on as it comes, and hold what has to last as long as the answer in the stream that it gives.

use std::sync::Arc;

use agentd_domain::Effort;
use async_trait::async_trait;

use super::adapt::{ModelService, ask, provider_service};
use super::endpoint::Endpoint;
use super::fallback::FallbackPolicy;
use super::progress::Progress;
use super::retry::RetryPolicy;
use super::watched::Watched;
use super::{breaker, concurrency, fallback, meter, rate, retry, trace};
use crate::{LlmError, Meter, ModelInfo, Provider, Request, ResponseStream};

/// A model that may answer.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its name at the provider.
    pub model: String,
    /// What it can do.
    pub info: Arc<ModelInfo>,
    /// Where it is.
    pub provider: Arc<dyn Provider>,
    /// The limits of that place, shared by all who ask there.
    pub endpoint: Arc<Endpoint>,
    /// How often it is asked.
    pub retry: RetryPolicy,
    /// Most tokens of an answer, when it answers in place of another.
    pub max_output_tokens: Option<u32>,
    /// How long it may reason, when it answers in place of another.
    pub effort: Option<Effort>,
}

/// A provider with everything around it.
#[derive(Debug)]
pub struct Stack {
    service: ModelService,
    provider: Arc<dyn Provider>,
    watcher: Option<Arc<dyn Meter>>,
}

impl Stack {
    /// Puts the layers around `first`, with `fallbacks` to ask when it cannot answer.
    pub fn new(first: Candidate, fallbacks: Vec<Candidate>, policy: FallbackPolicy) -> Self {
        let provider = Arc::clone(&first.provider);
        let first = Layered::of(first, Place::First);
        let others = fallbacks.into_iter().map(|other| Layered::of(other, Place::Other)).collect();
        let service = fallback::layer(first, others, policy);
        let service = trace::layer(service, provider.kind());
        Self { service, provider, watcher: None }
    }

    /// Tells `watcher` of every attempt too, beside the requests' own meters.
    #[must_use]
    pub fn watched_by(mut self, watcher: Arc<dyn Meter>) -> Self {
        self.watcher = Some(watcher);
        self
    }
}

/// The layers around one model. Those below `retry` are made for each request, so that they can tell
/// each other how far it has come.
fn layered(candidate: &Candidate) -> ModelService {
    let (provider, endpoint) = (Arc::clone(&candidate.provider), Arc::clone(&candidate.endpoint));
    let for_one_request = move || {
        let progress = Progress::default();
        let service = provider_service(Arc::clone(&provider));
        let service = rate::layer(service, Arc::clone(&endpoint), progress.clone());
        let service = concurrency::layer(service, Arc::clone(&endpoint));
        let service = breaker::layer(service, Arc::clone(&endpoint), progress.clone());
        meter::layer(service, provider.kind(), progress)
    };
    retry::layer(for_one_request, candidate.retry)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    Other,
}

/// One model with its layers.
#[derive(Debug, Clone)]
pub(super) struct Layered {
    pub(super) model: String,
    pub(super) service: ModelService,
    info: Arc<ModelInfo>,
    place: Place,
    max_output_tokens: Option<u32>,
    effort: Option<Effort>,
}

impl Layered {
    fn of(candidate: Candidate, place: Place) -> Self {
        let service = layered(&candidate);
        let Candidate { model, info, max_output_tokens, effort, .. } = candidate;
        Self { model, service, info, place, max_output_tokens, effort }
    }

    /// False when so many tokens, which are an estimate, are clearly more than the model's known window.
    pub(super) fn may_hold(&self, tokens: u64) -> bool {
        let window = self.info.context_tokens;
        window == ModelInfo::SAFE_CONTEXT_TOKENS || tokens <= window.saturating_add(window / 4)
    }

    /// The request as it goes to this model. The first is asked what the caller asked for.
    pub(super) fn addressed(&self, request: Request) -> Request {
        match self.place {
            Place::First => request,
            Place::Other => Request {
                model: self.model.clone(),
                info: Arc::clone(&self.info),
                tools: if self.info.tools { request.tools } else { Vec::new() },
                max_output_tokens: self.max_output_tokens,
                effort: self.effort,
                ..request
            },
        }
    }
}

#[async_trait]
impl Provider for Stack {
    fn kind(&self) -> &'static str {
        self.provider.kind()
    }

    fn base_url(&self) -> &str {
        self.provider.base_url()
    }

    async fn stream(&self, mut request: Request) -> Result<ResponseStream, LlmError> {
        if let Some(watcher) = &self.watcher {
            let watcher = Arc::clone(watcher);
            let own = request.meter.take();
            request.meter = Some(Arc::new(Watched { watcher, own }));
        }
        ask(&self.service, request).await
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        self.provider.models().await
    }
}
