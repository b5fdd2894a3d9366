//! Model endpoints.

use agentd_llm::layers::{Circuit, EndpointState};
use agentd_proto::v1;

pub(crate) fn endpoint(state: EndpointState) -> v1::EndpointStatus {
    let EndpointState { base_url, circuit, requests, waiting } = state;
    let circuit = match circuit {
        Circuit::Closed => v1::CircuitState::Closed,
        Circuit::Open => v1::CircuitState::Open,
        Circuit::HalfOpen => v1::CircuitState::HalfOpen,
    };
    v1::EndpointStatus { base_url, circuit: circuit.into(), requests, waiting_requests: waiting }
}
