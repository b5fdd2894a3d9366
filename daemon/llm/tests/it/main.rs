//! Providers against the scripted server, over real HTTP.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "tests, which may fail this way")]

mod anthropic;
mod cases_history;
mod cases_streams;
mod cases_tools;
mod chaos;
mod embeddings;
mod endings;
mod local;
mod offline;
mod real_server;
mod reasoning;
mod refusals;
mod responses;
mod streams;
mod support;
mod throughput;
mod timeouts;
mod tool_args;
