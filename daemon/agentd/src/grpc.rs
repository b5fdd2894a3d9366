//! The gRPC services: the only place that knows the wire.
//!
//! A handler decodes, checks, asks the engine and encodes. It owns no state and may be dropped at
//! any await, when its client goes away: what must finish runs in the engine.

mod access;
mod admin;
mod approval;
mod caller;
mod context;
mod detached;
mod diagnostics;
mod event;
mod from_proto;
mod gate;
mod goal;
mod memory;
mod model;
mod peer;
mod permission;
mod sandbox;
mod scopes;
mod search;
mod serve;
mod session;
pub(crate) mod status;
mod to_proto;
mod tool;
mod turn;
mod usage;

use std::path::PathBuf;
use std::sync::Arc;

use crate::control::Control;
use crate::logging::LogRing;
use crate::provider::Models;
use crate::remote::{Gauge, Remote};
use crate::submit::SubmitPath;
use crate::traces::TracesState;
use agentd_domain::Clock;
use agentd_engine::Engine;
use agentd_memory::Memories;
use agentd_sandbox::Programs;
use agentd_shared::Paths;
use tokio::sync::Semaphore;

pub(crate) use turn::decode_submission;

pub(crate) use peer::Peers;
pub(crate) use serve::{Services, serve_local, serve_remote};

/// What handlers need.
#[derive(Debug)]
pub(crate) struct Context {
    /// The sessions.
    pub(crate) engine: Engine,
    /// The way of messages to the sessions.
    pub(crate) submit: SubmitPath,
    /// The models, for `status`.
    pub(crate) models: Arc<Models>,
    /// The process, for `shutdown` and `reload`.
    pub(crate) control: Control,
    /// The time of day.
    pub(crate) clock: Arc<dyn Clock>,
    /// What is remembered.
    pub(crate) memories: Memories,
    /// Where imports are staged.
    pub(crate) imports_dir: PathBuf,
    /// Clients on other machines and their tokens.
    pub(crate) remote: Arc<Remote>,
    /// Connections on the socket.
    pub(crate) local_connections: Gauge,
    /// Workspace of sessions that name none.
    pub(crate) default_workspace: String,
    /// The newest log records, when this daemon keeps them.
    pub(crate) log_ring: Option<LogRing>,
    /// What becomes of traces, for `doctor`.
    pub(crate) traces: TracesState,
    /// How commands are run; none: this process runs none.
    pub(crate) programs: Option<Arc<Programs>>,
    /// One test of the sandbox at a time.
    pub(crate) sandbox_test: Arc<Semaphore>,
    /// Where the daemon's files are.
    pub(crate) paths: Paths,
}

/// One service; all share the context.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    ctx: Arc<Context>,
}

impl Service {
    /// Makes a service.
    pub(crate) fn new(ctx: Arc<Context>) -> Self {
        Self { ctx }
    }
}
