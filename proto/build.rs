//! Compiles `agentd/v1/*.proto` with protox, so that no `protoc` is needed.

use std::env;
use std::error::Error;
use std::path::PathBuf;

use prost::Message as _;

const FILES: [&str; 19] = [
    "agentd/v1/access.proto",
    "agentd/v1/action.proto",
    "agentd/v1/admin.proto",
    "agentd/v1/approval.proto",
    "agentd/v1/context.proto",
    "agentd/v1/diagnostics.proto",
    "agentd/v1/event.proto",
    "agentd/v1/goal.proto",
    "agentd/v1/memory.proto",
    "agentd/v1/model.proto",
    "agentd/v1/permission.proto",
    "agentd/v1/rule.proto",
    "agentd/v1/sandbox.proto",
    "agentd/v1/search.proto",
    "agentd/v1/session.proto",
    "agentd/v1/stream.proto",
    "agentd/v1/tool.proto",
    "agentd/v1/turn.proto",
    "agentd/v1/usage.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=agentd");
    let descriptors = protox::compile(FILES, ["."])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    std::fs::write(out.join("agentd_v1.binpb"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
