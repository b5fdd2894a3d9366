//! Running programs that nobody vouches for.
//!
//! Its one job: take the description of a program (argv, directory, profile, limits), run it behind
//! a backend, and give its output, its exit, and the promise that nothing of it outlives the run. It
//! must not know of tools, sessions or permissions.
//!
//! Reading order: `command` (what is run), `sandbox` (the port, and which backend is taken),
//! `bubblewrap` and `landlock_box` (how each shuts a program in), `container`
//! (the same by an engine), `cgroup` (what all processes of a run may use together), `child` (the running program),
//! `egress` (its way to the hosts that it may reach), `git` (what git must not start),
//! `inside` (the helper process that supervises and confines it from within), `promise` and `proof`
//! (what is promised, and trying to break it).

mod boxes;
mod bubblewrap;
mod cgroup;
mod child;
mod command;
mod container;
mod egress;
mod environment;
mod git;
mod identity;
mod inside;
mod landlock_box;
mod launch;
mod leftovers;
mod output;
mod owner;
mod place;
mod process_run;
mod programs;
mod promise;
mod proof;
mod protected;
mod sandbox;
mod spawner;
mod terminal;

pub use cgroup::{Accounting, LimitsMet, remove_groups_of_process};
pub use child::{Child, Exit, WaitError};
pub use command::{Command, Limits, Profile};
pub use container::ContainerSettings;
pub use egress::address::refusal as address_refusal;
pub use egress::resolve::{Lookup, NoAddress, SystemLookup, addresses};
pub use egress::{AllowList, Grant, Network, Trust};
pub use git::{GIT_SETTINGS, git_variables};
pub use inside::{HELPER_COMMAND, run_helper};
pub use launch::SpawnError;
pub use output::Output;
pub use programs::{Known, Programs};
pub use promise::{Promise, Unpromised};
pub use proof::{Attempts, Verdict, attempt, prove};
pub use protected::runs_later;
pub use sandbox::{Backend, Choice, Missing, Policy, Sandbox, Unavailable, choose};
pub use terminal::{Terminal, TerminalSize};
