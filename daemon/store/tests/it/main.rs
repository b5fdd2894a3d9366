//! The store through its public surface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the helpers of tests panic as tests do"
)]

mod churn;
mod conformance;
mod damage;
mod kill;
mod lifecycle;
mod lock;
mod support;
