//! The program as a user starts it: in a terminal, with a daemon.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod answers;
mod commands;
mod convergence;
mod first_run;
mod lists;
mod messages;
mod outages;
mod support;
mod terminal;
