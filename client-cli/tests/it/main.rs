//! The program as a user starts it: alone, and in terminals on one session of the real daemon.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod approvals;
mod coding_task;
mod command_line;
mod context;
mod first_run;
mod goals;
mod inside;
mod looks;
mod memory;
mod overview;
mod plans;
mod pty;
mod remote;
mod sandbox;
mod scripts;
mod search;
mod service;
mod tools;
mod two_terminals;
