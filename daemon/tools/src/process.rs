//! Tools that run programs.

mod capture;
pub(crate) mod command;
mod hosts;
mod job;
mod jobs;
mod keys;
mod limits;
pub(crate) mod ocr_image;
mod per_session;
pub(crate) mod run_command;
pub(crate) mod run_python;
pub(crate) mod running;
mod screen;
mod terminal;
mod terminals;
pub(crate) mod told;

use std::sync::Arc;

use agentd_sandbox::Programs;

use crate::{Tool, tool};
use job::JobTool;
use jobs::Jobs;
use run_command::RunCommand;
use run_python::RunPython;
use terminal::TerminalTool;
use terminals::Terminals;

pub use limits::ProcessLimits;

/// The tools that run what the model says.
pub(crate) fn tools(programs: &Arc<Programs>, limits: ProcessLimits) -> Vec<Arc<dyn Tool>> {
    let jobs = Arc::new(Jobs::new(limits.jobs));
    let terminals = Arc::new(Terminals::new(limits.terminals));
    let programs = || Arc::clone(programs);
    vec![
        tool(RunCommand { programs: programs(), limits, jobs: Arc::clone(&jobs) }),
        tool(JobTool { jobs, limits }),
        tool(RunPython { programs: programs(), limits }),
        tool(TerminalTool { programs: programs(), terminals, limits }),
    ]
}
