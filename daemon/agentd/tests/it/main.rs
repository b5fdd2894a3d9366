//! The daemon over its real wire, against a scripted model.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests panic as tests do"
)]

mod approvals;
mod support;

mod attach;
mod check_project;
mod config;
mod connections;
mod context;
mod documents;
mod embeddings;
mod errors;
mod git;
mod goals;
mod hosts;
mod interrupts;
mod jobs;
mod lifecycle;
mod limits;
mod long_sessions;
mod memories;
mod models;
mod overload;
mod permissions;
mod plans;
mod programs;
mod queue;
mod recovery;
mod remote_access;
mod remote_connections;
mod remote_world;
mod render_page;
mod roots;
mod run_command;
mod run_python;
mod sessions;
mod setup;
mod supervised;
mod terminal;
mod titles;
mod told;
mod tools;
mod turns;
mod upgrade;
mod usage;
mod watch_sessions;
