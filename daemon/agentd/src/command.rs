//! Commands that run without a daemon, and their output.

pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod tls;

use std::io::Write as _;

/// Writes a text to standard output. A reader that has gone is no fault.
pub(crate) fn print(text: &str) {
    let _reader_gone = std::io::stdout().write_all(text.as_bytes());
}

/// Writes what is wrong and what to do to standard error.
pub(crate) fn complain(message: &str, hint: &str) {
    let _reader_gone = writeln!(std::io::stderr(), "agentd: {message}\n  {hint}");
}
