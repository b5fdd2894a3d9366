//! What is run, and how far it may go.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Network;

const MIB: u64 = 1024 * 1024;

/// A program to run.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program and its arguments. The program is looked up in the `PATH` of the box.
    pub argv: Vec<String>,
    /// Root of the workspace.
    pub workspace: PathBuf,
    /// Further directories, for which all that is said of the workspace holds.
    pub further_roots: Vec<PathBuf>,
    /// Where it starts, relative to the workspace or below a further root; links that lead out of them
    /// are refused.
    pub cwd: PathBuf,
    /// What it may do to the workspace.
    pub profile: Profile,
    /// What it may reach.
    pub network: Network,
    /// What it may use up. How long it may run is up to the caller.
    pub limits: Limits,
}

/// What a program may do to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Read it.
    ReadOnly,
    /// Read and change it, but for files that others run later, such as shell and CI files, and for
    /// git's own: one file among them is enough to make git run a program outside.
    WorkspaceWrite,
    /// The same for git itself, which changes its own files in the root, but for its settings and hooks,
    /// and runs no hook.
    GitWrite,
}

/// What a program may use up. Memory, address space and CPU time are per process; the number of
/// processes is for all of them. What is for all together beside that takes a control group, so that
/// it holds only where [`crate::Accounting`] says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of private memory that it can write to (`RLIMIT_DATA`).
    pub memory_bytes: u64,
    /// Bytes of addresses, used or not (`RLIMIT_AS`). Runtimes such as that of JavaScript reserve
    /// far more than they use.
    pub address_bytes: u64,
    /// Bytes of memory of all processes together, with the files that they keep in memory
    /// (`memory.max`; nothing is swapped out).
    pub total_memory_bytes: u64,
    /// Processes and threads at the same time (`RLIMIT_NPROC`).
    pub processes: u64,
    /// CPU time (`RLIMIT_CPU`).
    pub cpu: Duration,
    /// Share of the processors of all processes together, in percent of one (`cpu.max`); none: all
    /// that is free.
    pub cpu_percent: Option<u32>,
    /// Bytes of one file (`RLIMIT_FSIZE`).
    pub file_bytes: u64,
    /// Open files of one process (`RLIMIT_NOFILE`).
    pub open_files: u64,
    /// Bytes in the temporary directory, where the backend can bound them.
    pub temporary_bytes: u64,
}

impl Limits {
    /// For scripts that compute: 256 MiB, 64 processes, half a processor and half of 120 s (spec k.3).
    pub const SCRIPT: Self = Self {
        memory_bytes: 256 * MIB,
        address_bytes: 256 * MIB,
        total_memory_bytes: 256 * MIB,
        processes: 64,
        cpu: Duration::from_secs(60),
        cpu_percent: Some(50),
        file_bytes: 64 * MIB,
        open_files: 256,
        temporary_bytes: 64 * MIB,
    };

    /// For commands that build and test: compilers and their linkers fit in.
    pub const BUILD: Self = Self {
        memory_bytes: 2048 * MIB,
        address_bytes: 64 * 1024 * MIB,
        total_memory_bytes: 4096 * MIB,
        processes: 256,
        cpu: Duration::from_secs(600),
        cpu_percent: None,
        file_bytes: 1024 * MIB,
        open_files: 1024,
        temporary_bytes: 512 * MIB,
    };
}
