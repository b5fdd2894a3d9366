//! Tools with which a model remembers.

pub(crate) mod manage_memory;
