//! Writing answers. It cannot fail, and a new field or variant does not compile until it is mapped.

mod context;
mod endpoint;
mod event;
mod goal;
mod item;
mod memory;
mod model;
mod permission;
mod plan;
mod sandbox;
mod session;
mod todo;
mod tool;
mod usage;

pub(super) use context::{compacted, layer as context_layer, summary_line};
pub(super) use endpoint::endpoint;
pub(super) use event::{delta, event, presence};
pub(super) use goal::goal;
pub(super) use item::question_asked;
pub(super) use memory::{
    added_memory, memory, memory_change, memory_consolidation, memory_edit, memory_priority,
    memory_status_named, memory_step,
};
#[cfg(test)]
pub(super) use memory::{memory_category, memory_scope, memory_status};
pub(super) use model::{model, role};
pub(super) use permission::{requested as approval_requested, rule};
pub(super) use plan::plan;
pub(super) use sandbox::sandbox;
pub(super) use session::{participant, queued_message, record, summary, view};
pub(super) use todo::list as todo_list;
pub(super) use tool::{
    action, effect as tool_effect, finished as tool_call_finished, missing as missing_tool, tool,
};
pub(super) use usage::report as usage_report;

/// A length on the wire.
pub(super) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A small number on the wire.
pub(super) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
