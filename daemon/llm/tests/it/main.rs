//! Providers against the scripted server, over real HTTP.

#![expect(clippy::expect_used, reason = "tests, which may fail this way")]

mod anthropic;
mod endings;
mod local;
mod offline;
mod reasoning;
mod refusals;
mod streams;
mod support;
mod throughput;
mod timeouts;
mod tool_args;
