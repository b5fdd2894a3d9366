//! Tools that tell about the machine.

pub(crate) mod os_info;
pub(crate) mod time;
