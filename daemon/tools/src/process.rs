//! Tools that run programs.

mod capture;
pub(crate) mod command;
mod limits;
pub(crate) mod run_command;
pub(crate) mod run_python;
pub(crate) mod running;
pub(crate) mod told;

pub use limits::ProcessLimits;
