//! Traces of the real daemon, as a collector of OpenTelemetry gets them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests panic as tests do"
)]

mod collector;
mod trace;

mod export;
mod turns;
