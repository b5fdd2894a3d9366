//! Tools that tell about the machine.

pub(crate) mod time;
