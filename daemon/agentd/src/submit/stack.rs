//! The layers in order, from the client to the engine. This is the one place that lists them.
//!
//! ```text
//! trace         a span with session and client; says who was refused and why
//! validate      decodes the fields, checks their limits, applies the default TTL
//! client_rate   so many messages a second from one client
//! load shed     refuses at once when too many messages are on their way
//! deadline      as long as the client will wait, and no longer than configured
//!   the engine, which queues the message by priority
//! ```
//!
//! A layer of one's own is a `tower::Service` around the next one: write it in a file beside the
//! others, and add its line in [`build`] where it belongs. Above `validate` it sees the message as it
//! came ([`Incoming`]), below it as it is meant ([`Checked`]). Answer with a [`Status`] made in
//! `grpc/status.rs`, so that clients read a hint and know whether to come back.

use std::sync::Arc;
use std::time::Duration;

use agentd_engine::{Engine, Submitted};
use agentd_llm::layers::TokioClock;
use futures_util::FutureExt as _;
use tonic::Status;
use tower::layer::layer_fn;
use tower::util::{BoxCloneSyncService, service_fn};
use tower::{BoxError, ServiceBuilder};

use super::client_rate::{ClientRate, ClientRates};
use super::deadline::Deadline;
use super::trace::Trace;
use super::validate::Validate;
use super::{Accept, Checked, Incoming};
use crate::config::SubmitConfig;
use crate::grpc::status;

/// The whole way.
pub(super) type SubmitService = BoxCloneSyncService<Incoming, Submitted, Status>;

/// Builds the way to an engine.
pub(super) fn build(engine: Engine, config: &SubmitConfig) -> SubmitService {
    let accept = move |checked: Checked| {
        let engine = engine.clone();
        async move {
            let Checked { session_id, submission, patience: _ } = checked;
            let submitted = engine.submit(session_id, submission).await;
            submitted.map_err(|error| status::from_command(&error))
        }
        .boxed()
    };
    layered(Arc::new(accept), config, TokioClock::new())
}

/// Puts the layers around whoever accepts.
pub(super) fn layered(accept: Accept, config: &SubmitConfig, clock: TokioClock) -> SubmitService {
    let rates = Arc::new(ClientRates::new(config, clock));
    let default_ttl = Duration::from_millis(config.default_ttl_ms);
    let longest = Duration::from_millis(config.timeout_ms);
    let in_flight = usize::try_from(config.in_flight).unwrap_or(usize::MAX);
    let stack = ServiceBuilder::new()
        .layer(layer_fn(Trace::around))
        .layer(layer_fn(move |inner| Validate::around(inner, default_ttl)))
        .layer(layer_fn(move |inner| ClientRate::around(inner, Arc::clone(&rates))))
        .map_err(refused)
        .load_shed()
        .concurrency_limit(in_flight)
        .layer(layer_fn(move |inner| Deadline::around(inner, longest)))
        .service(service_fn(move |checked: Checked| accept(checked)));
    BoxCloneSyncService::new(stack)
}

/// What tower's own layers refuse a message with.
fn refused(error: BoxError) -> Status {
    match error.downcast::<Status>() {
        Ok(status) => *status,
        Err(_overloaded) => status::busy(
            "too many messages are on their way at this moment",
            "try again in a moment; submit.in_flight says how many may be",
            None,
        ),
    }
}
