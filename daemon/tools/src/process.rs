//! Tools that run programs.

mod capture;
pub(crate) mod run_command;
pub(crate) mod running;
