//! The daemon over its real wire, against a scripted model.

mod support;

mod interrupts;
mod queue;
mod turns;
