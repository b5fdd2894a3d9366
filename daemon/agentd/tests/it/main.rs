//! The daemon over its real wire, against a scripted model.

mod support;

mod attach;
mod config;
mod connections;
mod errors;
mod interrupts;
mod lifecycle;
mod limits;
mod long_sessions;
mod queue;
mod recovery;
mod sessions;
mod titles;
mod turns;
