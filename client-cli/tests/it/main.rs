//! The program as a user starts it, without a daemon.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod command_line;
