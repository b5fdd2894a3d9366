//! The wire contract `agentd.v1`: generated messages, clients and servers.
//!
//! Its one job is to hold the generated code of `proto/agentd/v1/*.proto`. It knows nothing of the
//! daemon's own types; conversions live with those who convert. `api.lock` beside this crate is the
//! text of the descriptor set: a test compares it, so that every change of the wire is a visible diff.

/// The generated package `agentd.v1`.
#[expect(
    missing_docs,
    unused_qualifications,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::large_enum_variant,
    clippy::pedantic,
    reason = "generated code"
)]
pub mod v1 {
    tonic::include_proto!("agentd.v1");
}

/// The encoded `FileDescriptorSet` of the package, for the reflection service.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agentd_v1.binpb"));
