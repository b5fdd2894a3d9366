//! Tools with which a model remembers, and finds what was said.

pub(crate) mod history_query;
pub(crate) mod manage_memory;
pub(crate) mod recall_output;
