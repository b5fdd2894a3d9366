//! The daemon over its real wire, against a scripted model.

mod support;

mod attach;
mod connections;
mod limits;

mod interrupts;
mod queue;
mod turns;
