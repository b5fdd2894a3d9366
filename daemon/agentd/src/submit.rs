//! The way of a message from its client to the engine, as a tower stack.
//!
//! `stack` lists the layers in order and is where a layer of one's own goes; read it first. Requests
//! that the stack refuses cost nothing: the engine never hears of them.

mod client_rate;
mod deadline;
mod stack;
mod trace;
mod validate;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentd_domain::SessionId;
use agentd_engine::{Engine, Submission, Submitted};
use agentd_proto::v1;
use tokio::sync::watch;
use tonic::Status;
use tower::ServiceExt as _;

use crate::config::{Config, SubmitConfig};
use stack::SubmitService;

/// A message as it came in.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// What the client sent.
    pub(crate) request: v1::SubmitMessageRequest,
    /// How long the client will wait, if it said so.
    pub(crate) patience: Option<Duration>,
}

/// A message that makes sense.
#[derive(Debug)]
struct Checked {
    session_id: SessionId,
    submission: Submission,
    patience: Option<Duration>,
}

/// The stack, built anew when its configuration changes.
#[derive(Debug)]
pub(crate) struct SubmitPath {
    engine: Engine,
    config: watch::Receiver<Config>,
    built: Mutex<(SubmitConfig, SubmitService)>,
}

impl SubmitPath {
    /// The way to this engine.
    pub(crate) fn new(engine: Engine, config: watch::Receiver<Config>) -> Self {
        let now = config.borrow().submit.clone();
        let service = stack::build(engine.clone(), &now);
        Self { engine, config, built: Mutex::new((now, service)) }
    }

    /// Sends a message on its way.
    ///
    /// # Errors
    /// What a layer or the engine refuses it with.
    ///
    /// # Cancel safety
    /// A message that has reached the engine is accepted even when the future is dropped.
    pub(crate) async fn submit(&self, incoming: Incoming) -> Result<Submitted, Status> {
        self.service().oneshot(incoming).await
    }

    fn service(&self) -> SubmitService {
        let now = self.config.borrow().submit.clone();
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if built.0 != now {
            let service = stack::build(self.engine.clone(), &now);
            *built = (now, service);
        }
        built.1.clone()
    }
}

/// What the layers share: the engine behind them, as a function, so that tests can put another there.
type Accept = Arc<
    dyn Fn(Checked) -> futures_util::future::BoxFuture<'static, Result<Submitted, Status>>
        + Send
        + Sync,
>;
