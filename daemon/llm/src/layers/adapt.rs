//! From a provider to a service, and from a stack of services back to a provider.

use std::sync::Arc;

use tower::ServiceExt as _;
use tower::util::{BoxCloneSyncService, service_fn};

use crate::{LlmError, Provider, Request, ResponseStream};

/// Any service that answers model requests.
pub type ModelService = BoxCloneSyncService<Request, ResponseStream, LlmError>;

/// The innermost service: the provider itself.
pub fn provider_service(provider: Arc<dyn Provider>) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |request: Request| {
        let provider = Arc::clone(&provider);
        async move { provider.stream(request).await }
    }))
}

/// Asks a service once. All services here are always ready, so a clone is as good as the original.
pub(super) async fn ask(
    service: &ModelService,
    request: Request,
) -> Result<ResponseStream, LlmError> {
    service.clone().oneshot(request).await
}
