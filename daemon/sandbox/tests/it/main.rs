//! Programs behind each backend that this machine has.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a helper that fails fails the test, and whoever runs them should know what was left out"
)]

mod boxes;
mod choice;
mod containers;
mod escape;
mod hosts;
mod lifetime;
mod ordinary_user;
mod promises;
mod python;
mod supervisor;
mod terminal;
mod workspace_files;
