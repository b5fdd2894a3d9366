//! Views of the sandbox.

use agentd_proto::v1;
use serde::Serialize;

/// What shuts in programs.
#[derive(Debug, Serialize)]
pub(crate) struct SandboxView<'a> {
    state: String,
    backend: &'a str,
    reason: &'a str,
    limits: &'a str,
}

impl<'a> From<&'a v1::SandboxStatus> for SandboxView<'a> {
    fn from(sandbox: &'a v1::SandboxStatus) -> Self {
        let v1::SandboxStatus { state, backend, reason, limits } = sandbox;
        Self { state: super::sandbox_state(*state), backend, reason, limits }
    }
}

/// What came of a promise.
#[derive(Debug, Serialize)]
pub(crate) struct PromiseView<'a> {
    promise: &'a str,
    text: &'a str,
    verdict: String,
    detail: &'a str,
    remedy: &'a str,
    backend: &'a str,
}

impl<'a> From<&'a v1::TestSandboxResponse> for PromiseView<'a> {
    fn from(response: &'a v1::TestSandboxResponse) -> Self {
        let v1::TestSandboxResponse { promise, text, verdict, detail, remedy, backend } = response;
        Self { promise, text, verdict: super::sandbox_verdict(*verdict), detail, remedy, backend }
    }
}
