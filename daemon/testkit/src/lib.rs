//! What tests need and products do not: the scripted model server and, with the feature `daemon`, the
//! daemon in process.
//!
//! Its one job is to put the code under test into situations that real services seldom produce on
//! demand. It must never be a dependency of anything but tests and benchmarks. Servers own their
//! tasks: dropping one ends them.

mod llm_server;

pub use llm_server::{Gate, LlmServer, Pace, RecordedRequest, Reply};
