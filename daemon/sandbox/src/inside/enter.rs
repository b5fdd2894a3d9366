//! Waiting until the daemon has taken this process into a control group, and becoming the box.
//!
//! Only the daemon may move processes between groups, and what is started before it has would not be
//! held. So the first process of a run waits for its word.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use super::{HELPER_COMMAND, NOT_CONFINED};

/// Becomes the program in `arguments` once a byte has come.
pub(super) fn enter(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut words = arguments.skip_while(|word| word == "--");
    let mut byte = [0];
    // Its end: the daemon is gone, or has given the run up. The standard input of the library would
    // read more than the byte, which is for who comes after.
    let told = rustix::io::read(rustix::stdio::stdin(), &mut byte);
    if told != Ok(1) {
        return ExitCode::from(NOT_CONFINED);
    }
    let error = Command::new(words.next().unwrap_or_default()).args(words).exec();
    let _unheard = writeln!(std::io::stderr(), "{HELPER_COMMAND}: {error}");
    ExitCode::from(NOT_CONFINED)
}
