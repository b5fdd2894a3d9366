//! What shuts in programs.

use agentd_proto::v1;
use agentd_sandbox::{Backend, Known, Programs};

/// What is known of the sandbox by now.
pub(in crate::grpc) fn sandbox(programs: Option<&Programs>) -> v1::SandboxStatus {
    let state = |state: v1::SandboxState, reason: String| v1::SandboxStatus {
        state: state.into(),
        backend: String::new(),
        reason,
        limits: String::new(),
    };
    let Some(programs) = programs else {
        return state(v1::SandboxState::Absent, "this process runs no programs".to_owned());
    };
    match programs.known() {
        Known::Nothing => state(v1::SandboxState::Unknown, "what works is being tried".to_owned()),
        Known::NoneWorks(unavailable) => state(v1::SandboxState::Refused, unavailable.to_string()),
        Known::InForce { backend, missing, accounting } => {
            let is_open = backend == Backend::None;
            v1::SandboxStatus {
                state: if is_open { v1::SandboxState::Open } else { v1::SandboxState::InForce }
                    .into(),
                backend: backend.name().to_owned(),
                reason: crate::checks::why_it_is(programs.choice(), &missing),
                limits: accounting.to_string(),
            }
        }
    }
}
