//! The helper process by itself, for tests of this crate. The daemon is its own helper.

use std::process::ExitCode;

fn main() -> ExitCode {
    agentd_sandbox::run_helper(std::env::args_os().skip(2))
}
