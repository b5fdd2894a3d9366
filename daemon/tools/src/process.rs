//! Tools that run programs.

mod capture;
mod command;
mod limits;
pub(crate) mod run_command;
pub(crate) mod run_python;
pub(crate) mod running;
mod told;

pub use limits::ProcessLimits;
