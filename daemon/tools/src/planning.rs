//! Tools with which a model plans its work.

pub(crate) mod manage_goals;
pub(crate) mod manage_plan;
pub(crate) mod manage_todo_list;
