//! What happens to a request between its caller and the provider, as layers of tower.
//!
//! `stack` lists the layers in order and is where a layer of one's own goes; read it first. Each layer
//! is a [`tower::Service`] that takes a [`Request`](crate::Request) and gives a
//! [`ResponseStream`](crate::ResponseStream), and each has a file. All of them are always ready: what
//! has to wait waits in the call's future, so that dropping the future ends the wait, and what has to
//! last as long as the answer, such as a place in the endpoint, is held by the stream.

mod adapt;
mod breaker;
mod clock;
mod concurrency;
mod embedding;
mod endpoint;
mod fallback;
mod meter;
mod observed;
mod progress;
mod rate;
mod retry;
mod stack;
mod trace;
mod watched;

#[cfg(test)]
mod tests;

pub use adapt::{ModelService, provider_service};
pub use clock::TokioClock;
pub use embedding::LimitedEmbedder;
pub use endpoint::{Circuit, Endpoint, EndpointLimits, EndpointState};
pub use fallback::FallbackPolicy;
pub use retry::RetryPolicy;
pub use stack::{Candidate, Stack};
