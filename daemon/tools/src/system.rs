//! Tools that tell about the machine.

pub(crate) mod os_info;
pub(crate) mod query_packages;
pub(crate) mod time;
