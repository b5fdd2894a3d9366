//! The engine through its public surface: over a store in memory, with scripted models and paused time.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests panic as tests do"
)]

mod attaching;
mod budget;
mod consolidation;
mod copies;
mod crash;
mod failures;
mod faults;
mod folding;
mod goals;
mod histories;
mod history;
mod input;
mod lifecycle;
mod memories;
mod native;
mod overflow;
mod permissions;
mod pins;
mod plans;
mod priorities;
mod project;
mod questions;
mod rereading;
mod retries;
mod slow_turns;
mod spans;
mod store;
mod todo;
mod tools;
mod watch;
mod world;
