//! Tries to break each promise of a sandbox, one after another.

use std::pin::Pin;
use std::sync::Arc;

use agentd_domain::ErrorKind;
use agentd_proto::v1;
use agentd_sandbox::{Backend, Programs, Promise, Sandbox, Verdict, prove};
use futures_util::{Stream, stream};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::grpc::{Context, status};

pub(super) type ProofStream =
    Pin<Box<dyn Stream<Item = Result<v1::TestSandboxResponse, Status>> + Send>>;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::TestSandboxRequest,
) -> Result<ProofStream, Status> {
    let v1::TestSandboxRequest { backend } = request;
    let programs = ctx.programs.clone().ok_or_else(|| {
        status::error(
            ErrorKind::Precondition,
            "this process runs no programs",
            "test the sandbox of a daemon that was started as agentd",
            None,
        )
    })?;
    let wanted = wanted(&backend)?;
    let turn = Arc::clone(&ctx.sandbox_test).try_acquire_owned().map_err(|_taken| {
        status::busy(
            "a test of the sandbox runs already",
            "wait until it has ended; it takes less than a minute",
            None,
        )
    })?;
    let sandbox = match wanted {
        Some(backend) => programs.sandbox_of(backend).await,
        None => programs.sandbox().await,
    };
    let sandbox = sandbox.map_err(|unavailable| {
        status::error(
            ErrorKind::Precondition,
            &unavailable.to_string(),
            "`agentctl doctor` says what is missing",
            None,
        )
    })?;
    let test = Test {
        programs,
        sandbox,
        left: Promise::ALL.iter(),
        stop: ctx.control.stop_token().clone(),
        _turn: turn,
    };
    Ok(Box::pin(stream::unfold(test, Test::next)))
}

/// The backend of a request; none: the one in force.
fn wanted(backend: &str) -> Result<Option<Backend>, Status> {
    if backend.is_empty() {
        return Ok(None);
    }
    Backend::named(backend).map(Some).ok_or_else(|| {
        let names = Backend::ALL.map(Backend::name).join(", ");
        status::bad_field(
            "backend",
            &format!("there is no backend '{backend}'"),
            &format!("give one of {names}, or none at all for the one in force"),
        )
    })
}

/// A test that runs. Dropping it ends what it has started.
struct Test {
    programs: Arc<Programs>,
    sandbox: Arc<dyn Sandbox>,
    left: std::slice::Iter<'static, Promise>,
    stop: CancellationToken,
    _turn: OwnedSemaphorePermit,
}

impl Test {
    async fn next(mut self) -> Option<(Result<v1::TestSandboxResponse, Status>, Self)> {
        let promise = *self.left.next()?;
        let proving = prove(&*self.sandbox, self.programs.policy(), promise);
        let verdict = tokio::select! {
            () = self.stop.cancelled() => return None,
            verdict = proving => verdict,
        };
        Some((Ok(to_proto(promise, self.sandbox.backend(), verdict)), self))
    }
}

fn to_proto(promise: Promise, backend: Backend, verdict: Verdict) -> v1::TestSandboxResponse {
    let (verdict, detail, remedy) = match verdict {
        Verdict::Held { detail } => (v1::SandboxVerdict::Held, detail, String::new()),
        Verdict::NotHeld { detail } => {
            let remedy = "choose another backend, and report it".to_owned();
            (v1::SandboxVerdict::NotHeld, detail, remedy)
        }
        Verdict::NotGiven { reason, remedy } => (v1::SandboxVerdict::NotGiven, reason, remedy),
        Verdict::NotTried { reason, remedy } => (v1::SandboxVerdict::NotTried, reason, remedy),
    };
    v1::TestSandboxResponse {
        promise: promise.name().to_owned(),
        text: promise.text().to_owned(),
        verdict: verdict.into(),
        detail,
        remedy,
        backend: backend.name().to_owned(),
    }
}
