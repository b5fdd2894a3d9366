//! The daemon as a process that is killed, and the terminal driver.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests panic as tests do"
)]

mod crash_points;
mod daemon;
mod earlier_release;
mod pty;
mod random_kills;
mod real_server;
mod sigterm;
mod soak;
mod support;
